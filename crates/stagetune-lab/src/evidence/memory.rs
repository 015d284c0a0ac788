//! Peak memory of a warm fit and a suggestion, in units of one matrix of covariances, 8n² bytes.
//!
//! A high-water mark belongs to a process, so the work is done in one of its own.

use super::Finding;
use super::data::{Draw, rng, suggest, uniform};
use crate::suggest::peak_rss_mb;
use anyhow::{Context, Result, ensure};
use clap::Args;
use serde::{Deserialize, Serialize};
use stagetune::surrogate::{Family, Fit, Hyper};
use std::process::{Command, Stdio};

pub const CLAIM: &str = "a fit and a suggestion stay below three matrices of covariances";

/// Matrices that may not be reached.
const MATRICES: f64 = 3.0;

/// The size of the run.
#[derive(Debug, Args)]
pub struct Options {
    /// Observations.
    #[arg(long, default_value_t = 5_000)]
    n: usize,
    /// Coordinates.
    #[arg(long, default_value_t = 8)]
    dim: usize,
    /// Likelihood evaluations per start and subset: memory does not grow with them, time does.
    #[arg(long, default_value_t = 3)]
    evaluations: usize,
}

/// High-water marks in MB of 1024² bytes.
#[derive(Debug, Serialize, Deserialize)]
pub struct Peaks {
    before_mb: f64,
    after_fit_mb: f64,
    after_suggestion_mb: f64,
}

#[derive(Serialize)]
struct Numbers {
    n: usize,
    dim: usize,
    evaluations: usize,
    matrix_mb: f64,
    peaks: Peaks,
    matrices: f64,
}

/// Does the work in a child process and reads its peaks.
pub fn run(options: &Options, seed: u64) -> Result<Finding> {
    ensure!(options.n > 1, "--n {}: the work needs two observations or more", options.n);
    eprintln!("memory: one fit and one suggestion with {} observations", options.n);
    let output = Command::new(std::env::current_exe()?)
        .args(["evidence", "memory-of-this-process", "--n", &options.n.to_string()])
        .args(["--dim", &options.dim.to_string(), "--evaluations", &options.evaluations.to_string()])
        .args(["--seed", &seed.to_string()])
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start a process to measure")?;
    ensure!(output.status.success(), "the measured process ended with {}", output.status);
    let peaks: Peaks =
        serde_json::from_slice(&output.stdout).context("the measured process printed no peaks")?;
    let Options { n, dim, evaluations } = *options;
    let matrix_mb = 8.0 * (n as f64).powi(2) / 1024f64.powi(2);
    let matrices = peaks.after_suggestion_mb / matrix_mb;
    Finding::new(matrices < MATRICES, &Numbers { n, dim, evaluations, matrix_mb, peaks, matrices })
}

/// The work itself, with the high-water mark after each part.
pub fn measure(options: &Options, seed: u64) -> Result<Peaks> {
    let mark =
        || peak_rss_mb().context("this system does not tell the high-water mark of a process's memory");
    let mut rng = rng(seed, 0);
    let x = uniform(options.n, options.dim, &mut rng);
    let y = Draw::new(options.dim, &mut rng).observe(&x, 0.1, &mut rng);
    let before_mb = mark()?;
    let warm =
        Hyper { lengthscales: vec![1.0; options.dim], signal_variance: 1.0, noise_variance: 1e-2, mean: 0.0 };
    let fit = Fit {
        warm: Some(warm),
        max_evaluations: options.evaluations,
        seed,
        ..Fit::with_priors(Family::SquaredExponential, options.dim)
    };
    let mut gp = fit.run(&x, &y)?.gp;
    let after_fit_mb = mark()?;
    let suggested = suggest(&gp, seed)?;
    // The observation that comes back makes the factor grow.
    gp.append(&suggested.x, 0.0)?;
    Ok(Peaks { before_mb, after_fit_mb, after_suggestion_mb: mark()? })
}
