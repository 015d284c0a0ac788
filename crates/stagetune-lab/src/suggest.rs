//! `stagetune-lab suggest`: one suggestion from raw arrays, timed, for comparisons with other optimisers.

mod engine;

use anyhow::{Context, Result, ensure};
use engine::suggest_once;
use serde::{Deserialize, Serialize};
use stagetune::space::Batch;
use std::time::Instant;

/// What is asked on standard input.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// Points of the unit cube, one row each.
    pub x: Vec<Vec<f64>>,
    /// The value at each point; smaller is better.
    pub y: Vec<f64>,
    /// Seed of everything random in the suggestion.
    #[serde(default)]
    pub seed: u64,
    /// Threads that the suggestion may use.
    #[serde(default = "one")]
    pub threads: usize,
    /// How often to do it all again, from the raw arrays.
    #[serde(default = "one")]
    pub repeats: usize,
}

fn one() -> usize {
    1
}

/// What is answered on standard output.
#[derive(Debug, Serialize)]
pub struct Answer {
    /// The suggested point of the unit cube.
    pub x: Vec<f64>,
    /// Seconds of each repeat: fit and maximisation.
    pub seconds: Vec<f64>,
    /// Seconds of each repeat's fit.
    pub fit_seconds: Vec<f64>,
    /// Seconds of each repeat's maximisation.
    pub maximise_seconds: Vec<f64>,
    /// The high-water mark of this process's memory; null where the system does not tell.
    pub peak_rss_mb: Option<f64>,
    /// The fitted hyper-parameters, in units of the standardised values.
    pub hyper: Hyper,
}

/// Hyper-parameters as other programs read them.
#[derive(Clone, Debug, Serialize)]
pub struct Hyper {
    /// One per coordinate.
    pub lengthscales: Vec<f64>,
    /// The variance of f.
    pub signal_variance: f64,
    /// The variance of the noise on y.
    pub noise_variance: f64,
    /// The constant mean.
    pub mean: f64,
}

/// A suggested point and how it came about.
pub struct Suggestion {
    /// The point.
    pub x: Vec<f64>,
    /// The model behind it.
    pub hyper: Hyper,
    /// When the model was fitted.
    pub fitted_at: Instant,
}

/// More threads than any machine has cores would only be a slip.
const MAX_THREADS: usize = 1_024;

/// Checks the request, does it as often as asked, and times each time.
pub fn answer(request: &Request) -> Result<Answer> {
    ensure!(request.repeats > 0, "repeats is 0; ask for at least one");
    ensure!(
        (1..=MAX_THREADS).contains(&request.threads),
        "threads is {}; ask for 1 to {MAX_THREADS}",
        request.threads
    );
    let dim = request.x.first().map_or(0, Vec::len);
    ensure!(dim > 0, "x holds no points, or points without coordinates");
    ensure!(
        request.x.len() == request.y.len(),
        "x has {} rows and y {} values",
        request.x.len(),
        request.y.len()
    );
    let outside = request.x.iter().position(|row| row.iter().any(|u| !(0.0..=1.0).contains(u)));
    ensure!(outside.is_none(), "x[{}] is outside the unit cube", outside.unwrap_or_default());
    let x = Batch::from_slices(dim, &request.x).context("the rows of x differ in length")?;
    let pool = rayon::ThreadPoolBuilder::new().num_threads(request.threads).build()?;

    let (mut seconds, mut fit_seconds, mut maximise_seconds) = (Vec::new(), Vec::new(), Vec::new());
    let mut last = None;
    for _ in 0..request.repeats {
        let started = Instant::now();
        let suggestion = pool.install(|| suggest_once(&x, &request.y, request.seed))?;
        let done = Instant::now();
        seconds.push((done - started).as_secs_f64());
        fit_seconds.push((suggestion.fitted_at - started).as_secs_f64());
        maximise_seconds.push((done - suggestion.fitted_at).as_secs_f64());
        last = Some(suggestion);
    }
    let Suggestion { x, hyper, .. } = last.context("no repeat was done")?;
    Ok(Answer { x, seconds, fit_seconds, maximise_seconds, peak_rss_mb: peak_rss_mb(), hyper })
}

/// VmHWM of this process, in MB of 1024² bytes.
pub(crate) fn peak_rss_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1024.0)
}
