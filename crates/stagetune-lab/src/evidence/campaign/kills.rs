//! Kills: a study whose owner is killed again and again, at random instants and at random writes,
//! until it comes to its end.

use super::dice::Dice;
use super::owner;
use super::sketch::{Shape, Sketch};
use super::tally::{Finding, Kind, Tally};
use super::world::{Place, Ran, Until, World};
use anyhow::Result;
use stagetune::study::Event;
use stagetune_pipeline::log::Record;
use std::time::Duration;

/// So often at most in one case; then it may come to its end.
const MOST: u64 = 40;

const SHAPE: Shape = Shape { most_stages: 5, trials: (12, 40), hangs_one_in: 30 };

/// One case.
pub fn run(place: &Place, dice: &mut Dice, case: u64) -> Result<(Tally, Vec<Finding>)> {
    let sketch = Sketch::draw(dice, SHAPE);
    let reference = if sketch.is_determined() && dice.one_in(2) {
        let mut undisturbed = World::new(place, &format!("k{case}u"), sketch.clone())?;
        let ran = run_to_its_end(&mut undisturbed)?;
        undisturbed.look()?;
        let told = story(undisturbed.before.iter());
        let (_, findings) = undisturbed.close()?;
        if !findings.is_empty() || !ended_well(&ran) {
            return Ok((Tally::default(), findings));
        }
        Some(told)
    } else {
        None
    };
    let mut world = World::new(place, &format!("k{case}"), sketch)?;
    // From before the journal exists to several trials later.
    let longest = [15_000, 50_000, 120_000, 300_000][dice.index(4)];
    let longest =
        if world.sketch.stages.iter().any(|stage| stage.hangs.is_some()) { 3_000_000 } else { longest };
    let last = loop {
        if world.tally.kills >= MOST {
            break run_to_its_end(&mut world)?;
        }
        let ran = killed(&mut world, dice, longest)?;
        if dice.one_in(2) {
            world.survivors()?;
        }
        if !ran.killed {
            break ran;
        }
        if !dice.one_in(3) {
            world.look()?;
            compare(&mut world, reference.as_deref());
        }
        if dice.one_in(10) {
            world.verify()?;
        }
        // Whatever is found first is what there is to see.
        if !world.findings.is_empty() {
            return world.close();
        }
    };
    finish(&mut world, &last)?;
    compare(&mut world, reference.as_deref());
    world.close()
}

/// An owner that is killed, unless it comes to the end of the study before.
fn killed(world: &mut World, dice: &mut Dice, longest: u64) -> Result<Ran> {
    let ran = if dice.one_in(3) {
        let most = if dice.one_in(2) { 40 } else { 400 };
        let at = 1 + dice.below(most);
        let mut command = owner::command(world, owner::Fault::Killed, at)?;
        let ran = world.does(&mut command, Until::KillsItself)?;
        world.tally.kills_at_writes += u64::from(ran.killed);
        ran
    } else {
        let workers = world.sketch.workers.to_string();
        let after = Duration::from_micros(dice.below(longest));
        world.stagetune_does(&["run", "--json", "--workers", &workers], Until::Killed(after))?
    };
    world.tally.kills += u64::from(ran.killed);
    Ok(ran)
}

/// An owner that nobody disturbs.
pub fn run_to_its_end(world: &mut World) -> Result<Ran> {
    let workers = world.sketch.workers.to_string();
    world.stagetune_does(&["run", "--json", "--workers", &workers], Until::Itself)
}

/// Whether the study came to its end: a budget was reached, or no trial had a value.
pub fn ended_well(ran: &Ran) -> bool {
    matches!(ran.code, Some(0 | 5))
}

/// Everything that must hold when a study has come to its end.
pub fn finish(world: &mut World, last: &Ran) -> Result<()> {
    if !ended_well(last) && !last.killed {
        world.found(
            Kind::Refused,
            format!(
                "run ended with {:?}: {} {}",
                last.code,
                last.words(),
                last.out.lines().last().unwrap_or_default()
            ),
        );
    }
    world.survivors()?;
    let said = world.look()?;
    if ended_well(last) {
        if last.code == Some(5) && said.finished > 0 {
            let what = format!("exit code {:?} with {} trials that have a value", last.code, said.finished);
            world.found(Kind::Wrong, what);
        }
        complete(world, said.ended.len() as u64);
        world.look_at_trials(&said)?;
    }
    world.verify()?;
    let again = world.executed_again();
    // At each kill every stage that ran may have been at the very end of its run, and where writes
    // fail their ends cannot be written down.
    let at_once = world.sketch.workers * world.sketch.width();
    let allowed = (world.tally.kills + world.tally.failed_writes) * at_once;
    if again > allowed && world.sketch.limit.is_none() && !said.made_again {
        world.found(
            Kind::Wrong,
            format!("{again} stages ran again that had ended, after {} kills", world.tally.kills),
        );
    }
    Ok(())
}

/// As many trials as the budget says, or as there are points.
fn complete(world: &mut World, ended: u64) {
    let sketch = &world.sketch;
    let few_points = sketch.points().is_some_and(|points| points <= 4 * sketch.trials);
    if ended > sketch.trials || (ended < sketch.trials && !few_points && sketch.cost_budget.is_none()) {
        let what = format!("{ended} trials ended, and the budget is {}", sketch.trials);
        world.found(Kind::Lost, what);
    }
}

/// The events of trials, without owners and attempts: of those a study that was killed has more to tell.
fn story<'a>(records: impl Iterator<Item = &'a Record>) -> Vec<Event> {
    let is_told = |event: &Event| {
        matches!(event, Event::Started(_))
            || (event.trial().is_some() && !matches!(event, Event::Launched { .. }))
    };
    records.map(|record| record.event.clone()).filter(is_told).collect()
}

/// A determined study that is killed is the study that was not.
fn compare(world: &mut World, reference: Option<&[Event]>) {
    let Some(reference) = reference else { return };
    let now = story(world.before.iter());
    if let Some(at) = now.iter().enumerate().position(|(i, event)| reference.get(i) != Some(event)) {
        let (found, right) = (now.get(at), reference.get(at));
        let what = format!("another study than the undisturbed one, at event {at}: {found:?}, not {right:?}");
        world.found(Kind::Wrong, what);
    }
}
