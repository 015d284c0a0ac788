//! How often the first module moves: the slowly moving bandit's promise, measured over whole runs.
//!
//! Two modules of three variables each, Hartmann 6D, costs 10 and 1, the paper's settings without growth. By T7 the first module moves in a
//! share 2^(−d) of iterations at most, refreshes and new partitions aside.

use super::Finding;
use crate::simulate::{Pipeline, in_parallel};
use anyhow::{Result, ensure};
use clap::Args;
use serde::Serialize;
use stagetune::strategy::lambo::Depths;
use stagetune::strategy::{Lambo, LamboOptions};

pub const CLAIM: &str = "the first module moves in at most half of the iterations with depth 1, in at most one of eight with depth 4";

/// Depth, and the share of iterations in which the first module may move.
const CASES: [(usize, f64); 2] = [(1, 0.5), (4, 0.125)];

/// The size of the runs.
#[derive(Debug, Args)]
pub struct Options {
    /// Runs per depth.
    #[arg(long, default_value_t = 100)]
    runs: u64,
    /// Iterations of a run after its starting design.
    #[arg(long, default_value_t = 100)]
    iterations: usize,
}

#[derive(Serialize)]
struct Row {
    depth: usize,
    allowed: f64,
    /// Share of iterations in which the first module moved: mean over runs, its standard error, and the largest of a run.
    share: f64,
    standard_error: f64,
    largest: f64,
    holds: bool,
}

/// Runs both depths.
pub fn run(options: &Options, seed: u64) -> Result<Finding> {
    ensure!(options.runs > 1 && options.iterations > 0, "at least two runs of one iteration are needed");
    let pipeline = Pipeline::new("hartmann6", &[3, 3], &[10.0, 1.0], 0.01)?;
    let space = pipeline.space()?;
    let seeds: Vec<u64> = (0..options.runs).map(|run| seed.wrapping_add(run)).collect();
    let mut rows = Vec::new();
    for (depth, allowed) in CASES {
        let settings = LamboOptions { depths: Depths::All(depth), growth: None, ..LamboOptions::paper() };
        let start = settings.design.len();
        let shares = in_parallel("laziness", &seeds, |seed| {
            let strategy = Lambo::new(&space, settings.clone(), seed)?;
            let steps = pipeline.run(Box::new(strategy), start + options.iterations, seed)?;
            let moved = steps[start..].iter().filter(|step| step.movement.first_changed == Some(0)).count();
            Ok(moved as f64 / options.iterations as f64)
        })?;
        let count = shares.len() as f64;
        let share = shares.iter().sum::<f64>() / count;
        let variance = shares.iter().map(|s| (s - share).powi(2)).sum::<f64>() / (count - 1.0);
        let standard_error = (variance / count).sqrt();
        let largest = shares.iter().copied().fold(0.0, f64::max);
        // Past the line only if it is past it by more than chance explains.
        rows.push(Row {
            depth,
            allowed,
            share,
            standard_error,
            largest,
            holds: share <= allowed + 3.0 * standard_error,
        });
    }
    Finding::new(
        rows.iter().all(|row| row.holds),
        &serde_json::json!({
            "problem": "hartmann6", "split": [3, 3], "costs": [10, 1], "strategy": "lambo-paper without growth",
            "runs": options.runs, "iterations": options.iterations, "rows": rows,
        }),
    )
}
