//! The exponent of n in the time of one suggestion without a refit: an observation is appended, the acquisition maximised.
//!
//! Exponents are slopes of least-squares lines through (ln n, ln seconds). The fit, which is cubic, is timed beside it.

use super::Finding;
use super::data::{Draw, rng, suggest, uniform};
use anyhow::{Result, ensure};
use clap::Args;
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use stagetune::surrogate::{Family, Fit, GaussianProcess};
use std::time::Instant;

pub const CLAIM: &str = "the time of a suggestion without a refit grows no faster than n²";

/// The exponent and what the noise of timings, and factors that outgrow the caches on the way, may add to it.
const EXPONENT: f64 = 2.0;
const MARGIN: f64 = 0.15;

/// The size of the run.
#[derive(Debug, Args)]
pub struct Options {
    /// Numbers of observations, separated by commas.
    #[arg(long, default_value = "500,1000,2000,5000", value_delimiter = ',')]
    points: Vec<usize>,
    /// Coordinates.
    #[arg(long, default_value_t = 8)]
    dim: usize,
    /// Suggestions per number of observations; the fastest counts.
    #[arg(long, default_value_t = 5)]
    repeats: usize,
}

#[derive(Serialize)]
struct Numbers {
    dim: usize,
    repeats: usize,
    exponent: f64,
    exponent_allowed: f64,
    fit_exponent: f64,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    n: usize,
    append_seconds: f64,
    maximise_seconds: f64,
    suggestion_seconds: f64,
    fit_seconds: f64,
    fit_evaluations: usize,
}

/// Times every number of observations.
pub fn run(options: &Options, seed: u64) -> Result<Finding> {
    ensure!(options.points.len() > 1, "--points: a slope needs two numbers of observations or more");
    ensure!(options.points.iter().all(|&n| n > 1), "--points: a model needs two observations or more");
    ensure!(options.repeats > 0, "--repeats 0: ask for at least one");
    let mut cases: Vec<Case> =
        options.points.iter().map(|&n| fit(options, n, seed)).collect::<Result<_>>()?;
    // Sizes take turns, so that whatever else the machine does falls on all of them.
    for repeat in 0..options.repeats {
        for case in &mut cases {
            suggest_again(case, seed.wrapping_add(repeat as u64))?;
        }
        eprintln!("scaling: repeat {} of {}", repeat + 1, options.repeats);
    }
    let rows: Vec<Row> = cases.into_iter().map(|case| case.row).collect();
    let exponent = slope(rows.iter().map(|row| (row.n, row.suggestion_seconds)));
    let fit_exponent = slope(rows.iter().map(|row| (row.n, row.fit_seconds)));
    let (dim, repeats, exponent_allowed) = (options.dim, options.repeats, EXPONENT + MARGIN);
    let numbers = Numbers { dim, repeats, exponent, exponent_allowed, fit_exponent, rows };
    Finding::new(exponent <= exponent_allowed, &numbers)
}

/// A fitted process, random numbers for what it is told next, and the times so far.
struct Case {
    gp: GaussianProcess,
    rng: ChaCha8Rng,
    row: Row,
}

fn fit(options: &Options, n: usize, seed: u64) -> Result<Case> {
    // One function and one sequence of points for all sizes, so that n alone makes the difference.
    let mut rng = rng(seed, 0);
    let function = Draw::new(options.dim, &mut rng);
    let x = uniform(n, options.dim, &mut rng);
    let y = function.observe(&x, 0.1, &mut rng);
    let started = Instant::now();
    let fitted = Fit { seed, ..Fit::with_priors(Family::SquaredExponential, options.dim) }.run(&x, &y)?;
    let row = Row {
        n,
        append_seconds: f64::INFINITY,
        maximise_seconds: f64::INFINITY,
        suggestion_seconds: f64::INFINITY,
        fit_seconds: started.elapsed().as_secs_f64(),
        fit_evaluations: fitted.evaluations,
    };
    eprintln!("scaling: n = {n}, fit {:.3} s", row.fit_seconds);
    Ok(Case { gp: fitted.gp, rng, row })
}

/// Appends a random point with the mean value, since following the suggestions would change the problem, and maximises.
fn suggest_again(case: &mut Case, seed: u64) -> Result<()> {
    let new = uniform(1, case.gp.dim(), &mut case.rng);
    let started = Instant::now();
    case.gp.append(new.row(0), 0.0)?;
    let append = started.elapsed().as_secs_f64();
    suggest(&case.gp, seed)?;
    let suggestion = started.elapsed().as_secs_f64();
    let row = &mut case.row;
    row.append_seconds = row.append_seconds.min(append);
    row.maximise_seconds = row.maximise_seconds.min(suggestion - append);
    row.suggestion_seconds = row.suggestion_seconds.min(suggestion);
    Ok(())
}

/// The slope of the least-squares line through the logarithms.
pub(super) fn slope(pairs: impl Iterator<Item = (usize, f64)>) -> f64 {
    let logs: Vec<(f64, f64)> = pairs.map(|(n, seconds)| ((n as f64).ln(), seconds.ln())).collect();
    let count = logs.len() as f64;
    let (mean_n, mean_t) = logs.iter().fold((0.0, 0.0), |sum, p| (sum.0 + p.0 / count, sum.1 + p.1 / count));
    let (covariance, variance) = logs
        .iter()
        .fold((0.0, 0.0), |sum, p| (sum.0 + (p.0 - mean_n) * (p.1 - mean_t), sum.1 + (p.0 - mean_n).powi(2)));
    covariance / variance
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_of_a_power_is_its_exponent() {
        let cubes = [10, 20, 50].map(|n| (n, 3e-9 * (n as f64).powi(3)));
        assert!((slope(cubes.into_iter()) - 3.0).abs() < 1e-12);
    }
}
