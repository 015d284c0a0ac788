//! A statistical test: on a smooth function everybody must beat chance.

use super::contestants::study;
use super::{bowl, drive, spaces};
use stagetune::strategy::NAMES;

/// Runs per strategy, and wins from which on chance is out of the question: P(≥ 15 of 20 by fair coins) = 0.02.
const RUNS: u64 = 20;
const WINS: usize = 15;

#[test]
fn everybody_beats_chance_on_a_smooth_function() {
    let space = spaces::plain();
    let best = |name: &str, seed: u64| {
        let points = drive(&mut study(name, &space, seed), 40, |_, point| Some(bowl(&space, point)));
        points.iter().map(|point| bowl(&space, point)).fold(f64::INFINITY, f64::min)
    };
    let chance: Vec<f64> = (0..RUNS).map(|seed| best("random", seed)).collect();
    for name in NAMES.into_iter().filter(|name| *name != "random") {
        let wins = (0..RUNS).filter(|&seed| best(name, seed) < chance[seed as usize]).count();
        assert!(wins >= WINS, "{name} beats chance in {wins} of {RUNS} runs");
    }
}
