//! Every write of a study fails in turn: it and all after it, or it alone.
//!
//! A case is one eighth of the writes of one pipeline and one way of failing: numbers r + 1, r + 9,
//! r + 17, … until a number is larger than that of the last write.

use super::dice::Dice;
use super::kills::{finish, run_to_its_end};
use super::owner::{self, Fault, REACHED};
use super::sketch::{Leaves, Shape, Sketch};
use super::tally::{Finding, Kind, Tally};
use super::world::{Place, Until, World};
use anyhow::Result;

const SHAPE: Shape = Shape { most_stages: 3, trials: (4, 6), hangs_one_in: u64::MAX };

/// Parts of the writes of one pipeline.
const PARTS: u64 = 8;

const FAULTS: [Fault; 3] = [Fault::Full, Fault::Refused, Fault::FullOnce];

/// How many cases so many pipelines are.
pub fn cases(pipelines: u64) -> u64 {
    pipelines * PARTS * FAULTS.len() as u64
}

/// One case.
pub fn run(place: &Place, seed: u64, case: u64) -> Result<(Tally, Vec<Finding>)> {
    let (part, rest) = (case % PARTS, case / PARTS);
    let fault = FAULTS[(rest % FAULTS.len() as u64) as usize];
    let mut sketch = drawn(seed, rest / FAULTS.len() as u64);
    // A fault that lasts ends the run at once; one that passes is waited for.
    sketch.patience = if fault == Fault::FullOnce { "10 min" } else { "0 s" };
    let mut tally = Tally::default();
    let mut at = part + 1;
    loop {
        let mut world = World::new(place, &format!("w{case}x{at}"), sketch.clone())?;
        let reached = fails_at(&mut world, fault, at)?;
        let (counted, mut findings) = world.close()?;
        tally.add(&counted);
        if !findings.is_empty() {
            findings.iter_mut().for_each(|one| one.what = format!("write {at}, {fault:?}: {}", one.what));
            return Ok((tally, findings));
        }
        if !reached {
            return Ok((tally, findings));
        }
        at += PARTS;
    }
}

/// One worker and four take turns, so do limits, trees of files and failures.
fn drawn(seed: u64, pipeline: u64) -> Sketch {
    let mut dice = Dice::of(seed, "pipeline of writes", pipeline);
    let mut sketch = Sketch::draw(&mut dice, SHAPE);
    sketch.workers = if pipeline.is_multiple_of(2) { 1 } else { 4 };
    sketch.limit = (pipeline % 3 == 1).then_some(3000);
    sketch.cost_budget = None;
    // A thread that supervises stages cannot find what left their session.
    sketch.stages.iter_mut().for_each(|stage| stage.escapes = None);
    if let Some(first) = sketch.stages.first_mut() {
        first.leaves = [Leaves::Tree, Leaves::Nothing, Leaves::Large][(pipeline % 3) as usize];
    }
    sketch
}

/// Whether there was such a write.
fn fails_at(world: &mut World, fault: Fault, at: u64) -> Result<bool> {
    let mut command = owner::command(world, fault, at)?;
    let ran = world.does(&mut command, Until::Itself)?;
    let reached = ran.out.contains(REACHED);
    world.tally.failed_writes += u64::from(reached);
    if ran.code != Some(0) {
        world.tally.count("refusals by name");
        let fault_was_named = reached && ran.error.contains("injected");
        if !fault_was_named {
            world.found(Kind::Refused, format!("{:?}: {}", ran.code, ran.words()));
        }
    }
    world.survivors()?;
    world.look()?;
    let last = run_to_its_end(world)?;
    finish(world, &last)?;
    Ok(reached)
}
