//! How the movement regret grows: the slope of ln R⁺(t) against ln t, over the second part of long runs.
//!
//! ```text
//! R⁺(t) = Σ_{s≤t} ( f(x^s) − f* + λ Γ^s ),  λ = 0.1,  c_N left out of Γ as in the theory
//! ```
//!
//! A strategy that pays for the first module at every trial ends up with slope 1; sublinear growth keeps a slope below 1. A large regret at the
//! start lowers the slope of what follows, so that the slope over the second half and the growth per trial at the end are given, too.

use super::Finding;
use super::settings::variant;
use crate::simulate::{Pipeline, in_parallel};
use anyhow::{Result, ensure};
use clap::Args;
use serde::Serialize;
use stagetune::study::MovementRegret;

pub const CLAIM: &str = "the movement regret of lambo grows with a slope below 0.9";

/// The slope that counts as sublinear.
const SUBLINEAR: f64 = 0.9;

/// The paper's weight of costs.
const LAMBDA: f64 = 0.1;

/// The size of the runs.
#[derive(Debug, Args)]
pub struct Options {
    /// Strategies or variants of settings, separated by commas; the claim is about `lambo` and `gp-ucb`.
    #[arg(long, default_value = "lambo,lambo-paper,gp-ucb", value_delimiter = ',')]
    strategies: Vec<String>,
    /// Runs per strategy.
    #[arg(long, default_value_t = 50)]
    runs: u64,
    /// The first t of the slope; trials of the starting design count.
    #[arg(long, default_value_t = 50)]
    from: usize,
    /// The last t, which is the length of a run.
    #[arg(long, default_value_t = 400)]
    to: usize,
    /// The test function.
    #[arg(long, default_value = "hartmann6")]
    problem: String,
    /// Variables of each module.
    #[arg(long, default_value = "3,3", value_delimiter = ',')]
    split: Vec<usize>,
    /// Cost of each module; the last is charged nothing.
    #[arg(long, default_value = "10,1", value_delimiter = ',')]
    costs: Vec<f64>,
}

#[derive(Serialize)]
struct Row {
    strategy: String,
    /// Slope of the logarithm of the mean curve.
    slope: f64,
    /// Mean over runs of the slope of each run's own curve, and its standard error.
    mean_slope: f64,
    standard_error: f64,
    /// Slope of the logarithm of the mean curve over the second half of the run.
    late_slope: f64,
    /// What R⁺ grows by per trial over the last eighth of the run.
    growth_at_end: f64,
    /// R⁺ at the last t: mean over runs; and its two parts.
    movement_regret: f64,
    regret_part: f64,
    movement_part: f64,
    /// Share of trials in which the first module moved, and the best value at the end: means over runs.
    first_module_moves: f64,
    simple_regret: f64,
    /// The mean curve at t = 50, 100, ….
    curve: Vec<(usize, f64)>,
}

/// R⁺(t) of a run, the part of it that movement makes up, the share of trials that move the first module, the lowest value.
type Outcome = (Vec<f64>, f64, f64, f64);

/// Runs every strategy on the same seeds.
pub fn run(options: &Options, seed: u64) -> Result<Finding> {
    ensure!(options.runs > 1, "--runs {}: a standard error needs two", options.runs);
    ensure!(
        0 < options.from && options.from + 1 < options.to,
        "--from and --to must leave a slope between them"
    );
    let pipeline = Pipeline::new(&options.problem, &options.split, &options.costs, 0.01)?;
    let space = pipeline.space()?;
    let mut charged = options.costs.clone();
    if let Some(last) = charged.last_mut() {
        *last = 0.0;
    }
    let seeds: Vec<u64> = (0..options.runs).map(|run| seed.wrapping_add(run)).collect();
    let mut rows: Vec<Row> = Vec::new();
    for name in &options.strategies {
        let runs = in_parallel(&format!("regret of {name}"), &seeds, |seed| {
            let steps = pipeline.run(variant(name, &space, seed)?, options.to, seed)?;
            let mut regret = MovementRegret::new(LAMBDA, 0.0)?;
            let mut movement = 0.0;
            for step in &steps {
                let cost = step.movement.cost(&charged)?;
                movement += LAMBDA * cost;
                regret.record(step.value, cost)?;
            }
            let moves = steps.iter().filter(|step| step.movement.first_changed == Some(0)).count();
            let best = steps.iter().map(|step| step.value).fold(f64::INFINITY, f64::min);
            Ok((regret.curve().to_vec(), movement, moves as f64 / steps.len() as f64, best))
        })?;
        let count = runs.len() as f64;
        let mean = |of: &dyn Fn(&Outcome) -> f64| runs.iter().map(of).sum::<f64>() / count;
        let curve: Vec<f64> = (0..options.to).map(|t| mean(&|run| run.0[t])).collect();
        let slopes: Vec<f64> = runs.iter().map(|run| slope(&run.0, options.from)).collect();
        let mean_slope = slopes.iter().sum::<f64>() / count;
        let variance = slopes.iter().map(|s| (s - mean_slope).powi(2)).sum::<f64>() / (count - 1.0);
        let total = curve[options.to - 1];
        let eighth = (options.to / 8).max(1);
        let movement_part = mean(&|run| run.1);
        rows.push(Row {
            strategy: name.clone(),
            slope: slope(&curve, options.from),
            mean_slope,
            standard_error: (variance / count).sqrt(),
            late_slope: slope(&curve, options.to / 2),
            growth_at_end: (total - curve[options.to - 1 - eighth]) / eighth as f64,
            movement_regret: total,
            regret_part: total - movement_part,
            movement_part,
            first_module_moves: mean(&|run| run.2),
            simple_regret: mean(&|run| run.3),
            curve: (50..=options.to).step_by(50).map(|t| (t, curve[t - 1])).collect(),
        });
    }
    let slope_of = |name: &str| rows.iter().find(|row| row.strategy == name).map(|row| row.mean_slope);
    let holds = slope_of("lambo").is_some_and(|s| s < SUBLINEAR);
    let rival_is_not = slope_of("gp-ucb").map(|s| s >= SUBLINEAR);
    Finding::new(
        holds,
        &serde_json::json!({
            "problem": options.problem, "split": options.split, "costs": options.costs, "charged": charged, "lambda": LAMBDA,
            "gp_ucb_slope_is_0.9_or_more": rival_is_not,
        "noise": 0.01, "runs": options.runs, "from": options.from, "to": options.to, "rows": rows,
        }),
    )
}

/// The slope of the least-squares line through (ln t, ln R⁺(t)) for t = `from` and on; `curve[t − 1]` is R⁺(t).
fn slope(curve: &[f64], from: usize) -> f64 {
    super::scaling::slope((from..=curve.len()).map(|t| (t, curve[t - 1])))
}
