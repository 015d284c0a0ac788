//! Damage: a study that ended, or was killed, has one of its files damaged, and is continued and
//! run once more.

use super::damage::{self, Damage, Target};
use super::dice::Dice;
use super::kills::{ended_well, run_to_its_end};
use super::pipelines::once_more;
use super::sketch::{Shape, Sketch};
use super::tally::{Finding, Kind, Tally};
use super::world::{Place, Ran, Until, World};
use anyhow::Result;
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;

const SHAPE: Shape = Shape { most_stages: 4, trials: (8, 20), hangs_one_in: u64::MAX };

/// One case.
pub fn run(place: &Place, dice: &mut Dice, case: u64) -> Result<(Tally, Vec<Finding>)> {
    let mut sketch = Sketch::draw(dice, SHAPE);
    sketch.cost_budget = None;
    if dice.one_in(2) {
        sketch.limit = None;
    }
    let mut world = World::new(place, &format!("c{case}"), sketch)?;
    // Half of the studies were killed: their log has a part that was not taken into the main file.
    if dice.one_in(2) {
        let after = Duration::from_micros(30_000 + dice.below(150_000));
        let workers = world.sketch.workers.to_string();
        world.stagetune_does(&["run", "--json", "--workers", &workers], Until::Killed(after))?;
        world.survivors()?;
    } else {
        run_to_its_end(&mut world)?;
        world.look()?;
    }
    if !world.findings.is_empty() {
        return world.close();
    }
    let target = if dice.one_in(2) { Target::Log } else { Target::Cache };
    let Some(damage) = damage::inflict(&world.state(), target, dice)? else { return world.close() };
    world.tally.damages += 1;
    world.tally.count(&damage.name);
    after(&mut world, target, &damage, dice)?;
    for finding in &mut world.findings {
        finding.what = format!("{}: {}", damage.what, finding.what);
    }
    world.close()
}

/// Every command ends in words, and whatever is told is right.
fn after(world: &mut World, target: Target, damage: &Damage, dice: &mut Dice) -> Result<()> {
    let verified = world.stagetune_does(&["cache", "verify"], Until::Itself)?;
    if damage.changes_content && verified.code == Some(0) {
        world.found(Kind::Unseen, "cache verify found nothing");
    }
    for look in [["status", "--json"], ["best", "--json"], ["cache", "ls"]] {
        if dice.one_in(2) {
            world.stagetune_does(&look, Until::Itself)?;
        }
    }
    let told = if target == Target::Log { world.forget() } else { BTreeMap::new() };
    let ran = run_to_its_end(world)?;
    world.survivors()?;
    match target {
        Target::Log => log_was_damaged(world, &told, &ran)?,
        Target::Cache => {
            if !ended_well(&ran) {
                world.found(Kind::Refused, format!("{:?} {}", ran.code, ran.words()));
            }
            world.look()?;
        }
    }
    if ended_well(&ran) {
        once_more(world)?;
    }
    Ok(())
}

/// A damaged log is either good enough, which means that nothing told is missing, or it is said
/// what is wrong.
fn log_was_damaged(world: &mut World, told: &BTreeMap<u64, Value>, ran: &Ran) -> Result<()> {
    let words = ran.words().to_owned();
    if ended_well(ran) {
        let said = world.look()?;
        let kept = |(trial, value): (&u64, &Value)| {
            said.ended.get(trial).is_some_and(|right| value.as_f64() == right.map(|right| right as f64))
        };
        let missing = told.iter().filter(|one| !kept(*one)).count();
        let warned = ran.error.contains("warning") || ran.out.contains("\"news\":\"warning\"");
        if missing > 0 && !warned {
            let what = format!("{missing} of {} told trials are gone without a word", told.len());
            world.found(Kind::Lost, what);
        }
        world.tally.named += u64::from(missing > 0 && warned);
        return Ok(());
    }
    let names_it = words.contains("journal") || words.contains(".stagetune") || words.contains("study `");
    if matches!(ran.code, Some(1 | 6 | 7 | 10)) && names_it {
        world.tally.named += 1;
        world.tally.count(&format!("log refused with exit code {}", ran.code.unwrap_or_default()));
        // What can still be read is right, however little it is.
        if let Ok(records) = world.records() {
            world.compare(&records);
        }
    } else {
        world.found(Kind::Refused, format!("{:?}: {words}", ran.code));
    }
    Ok(())
}
