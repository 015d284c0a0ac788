//! Random pipelines: each is run to its end, stopped and continued now and then, and run once more
//! over its cache.

use super::dice::Dice;
use super::kills::{ended_well, finish, run_to_its_end};
use super::sketch::{Shape, Sketch};
use super::tally::{Finding, Kind, Tally};
use super::world::{Place, Until, World};
use anyhow::Result;
use std::fs;
use std::time::Duration;

const SHAPE: Shape = Shape { most_stages: 7, trials: (1, 40), hangs_one_in: 25 };

/// One case.
pub fn run(place: &Place, dice: &mut Dice, case: u64) -> Result<(Tally, Vec<Finding>)> {
    let sketch = Sketch::draw(dice, SHAPE);
    let mut world = World::new(place, &format!("p{case}"), sketch)?;
    let mut stops = 0;
    while stops < 3 && dice.one_in(3) {
        stops += 1;
        let after = Duration::from_micros(dice.below(200_000));
        let signal = ["-INT", "-TERM", "-HUP"][dice.index(3)];
        let workers = world.sketch.workers.to_string();
        let until = Until::Signalled(after, signal);
        let ran = world.stagetune_does(&["run", "--json", "--workers", &workers], until)?;
        world.survivors()?;
        world.look()?;
        if ended_well(&ran) {
            break;
        }
        // Before it listens to signals, one ends it like any other program; the look above is what
        // matters then.
        world.findings.retain(|finding| !finding.what.contains("ended with signal"));
        if ran.code.is_some_and(|code| code != 130) {
            world.found(Kind::Refused, format!("{signal}: {:?} {}", ran.code, ran.words()));
        }
    }
    let last = run_to_its_end(&mut world)?;
    finish(&mut world, &last)?;
    let again = world.executed_again();
    // A stage that was stopped did not end; nothing that ended runs again.
    if again > 0 && world.sketch.limit.is_none() && stops == 0 {
        world.found(Kind::Wrong, format!("{again} stages ran again that had ended"));
    }
    once_more(&mut world)?;
    world.close()
}

/// Another study over the same cache: what is reused must be the right output.
pub fn once_more(world: &mut World) -> Result<()> {
    let before = world.executions();
    let first = world.name.clone();
    let file = fs::read_to_string(world.root().join("pipeline.toml"))?;
    world
        .begin_another(&file.replace(&format!("name = \"{first}\""), &format!("name = \"{first}-again\"")))?;
    let ran = run_to_its_end(world)?;
    if !ended_well(&ran) {
        world.found(Kind::Refused, format!("again: {:?} {}", ran.code, ran.words()));
    }
    world.look_at(&format!("{first}-again"))?;
    let kept = world.sketch.limit.is_none() && world.sketch.is_determined();
    let ended_again =
        world.executions().into_iter().filter(|(line, runs)| *runs > 1 && before.contains_key(line));
    let more = ended_again.filter(|(line, runs)| before.get(line).is_some_and(|known| runs > known)).count();
    if more > 0 && kept && world.tally.damages == 0 {
        world.found(Kind::Wrong, format!("{more} stages ran again although their outputs were there"));
    }
    Ok(())
}
