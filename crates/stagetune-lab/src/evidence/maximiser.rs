//! The default maximiser against brute force, over random problems.
//!
//! A problem is a drawn function observed at random points; in every second one a third of the points crowd around a very good
//! point, as they do late in an optimisation. Families of kernels take turns.
//!
//! Brute force knows nothing of the maximiser: random points over the cube and around the best observations, the best of them by
//! log expected improvement, some of which must be apart, polished one by one. Expected improvement itself has the same maximiser, so one
//! search serves both; its polish just never stalls where the plain function is flat.

use super::Finding;
use super::data::{Draw, normal, rng, smallest, uniform};
use anyhow::{Context, Result, ensure};
use clap::Args;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::Serialize;
use stagetune::acquisition::{Acquisition, Ei, LogEi, Maximiser, Objective, Region, Surface};
use stagetune::numeric::quasi_newton;
use stagetune::numeric::quasi_newton::QuasiNewton;
use stagetune::space::Batch;
use stagetune::surrogate::{Family, Fit, GaussianProcess};
use std::sync::atomic::{AtomicUsize, Ordering};

pub const CLAIM: &str =
    "the default maximiser reaches 99% of the brute-force acquisition value in 95% of random problems";

/// What counts as having found the maximum.
const CLOSE: f64 = 0.99;
/// How many of the problems must be close.
const SHARE: f64 = 0.95;
/// Points per batch of brute force.
const BATCH: usize = 1_000;
/// Random points among which the centre of a crowd is the best.
const CANDIDATES: usize = 2_000;
/// A tenth of brute force looks around this many of the best observations: peaks beside them may be narrow.
const AROUND: usize = 10;
/// Half of the polished points keep this far from each other in some coordinate.
const APART: f64 = 0.15;

/// The size of the run.
#[derive(Debug, Args)]
pub struct Options {
    /// How many random problems; a share of 95% takes some hundred to be told from 93% or 97%.
    #[arg(long, default_value_t = 500)]
    problems: u64,
    /// Random points of brute force.
    #[arg(long, default_value_t = 200_000)]
    points: usize,
    /// How many of them are polished.
    #[arg(long, default_value_t = 50)]
    polished: usize,
    /// Coordinates.
    #[arg(long, default_value_t = 6)]
    dim: usize,
    /// Observations.
    #[arg(long, default_value_t = 60)]
    n: usize,
    /// List every problem, not only those that were missed.
    #[arg(long)]
    each: bool,
}

#[derive(Serialize)]
struct Numbers {
    problems: u64,
    points: usize,
    polished: usize,
    dim: usize,
    n: usize,
    close: f64,
    ei: Summary,
    log_ei: Summary,
    /// Problems where either was not close, or all of them.
    listed: Vec<Outcome>,
}

/// How one acquisition function fared.
#[derive(Serialize)]
struct Summary {
    share_close: f64,
    /// The ten smallest ratios to brute force.
    worst: Vec<f64>,
    median: f64,
    /// Problems where the maximiser found at least 1% more than brute force, which then is no measure.
    beat_brute_force: usize,
}

#[derive(Serialize)]
struct Outcome {
    problem: u64,
    family: String,
    crowded: bool,
    brute_log_ei: f64,
    /// Value found with expected improvement over the brute-force value.
    ei: f64,
    /// The same with its logarithm: the exponential of the difference.
    log_ei: f64,
}

/// Runs every problem.
pub fn run(options: &Options, seed: u64) -> Result<Finding> {
    let sizes = [options.problems as usize, options.points, options.polished, options.dim, options.n];
    ensure!(sizes.iter().all(|&size| size > 0), "every size must be at least 1");
    let done = AtomicUsize::new(0);
    let mut each: Vec<Outcome> = (0..options.problems)
        .into_par_iter()
        .map(|problem| {
            let outcome = compare(options, problem, seed).with_context(|| format!("problem {problem}"));
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            if done.is_multiple_of(10) {
                eprintln!("maximiser: {done} of {} problems", options.problems);
            }
            outcome
        })
        .collect::<Result<_>>()?;
    let ei = summary(each.iter().map(|outcome| outcome.ei));
    let log_ei = summary(each.iter().map(|outcome| outcome.log_ei));
    let holds = ei.share_close >= SHARE && log_ei.share_close >= SHARE;
    let Options { problems, points, polished, dim, n, .. } = *options;
    each.retain(|outcome| options.each || outcome.ei.min(outcome.log_ei) < CLOSE);
    Finding::new(
        holds,
        &Numbers { problems, points, polished, dim, n, close: CLOSE, ei, log_ei, listed: each },
    )
}

fn compare(options: &Options, problem: u64, seed: u64) -> Result<Outcome> {
    let mut rng = rng(seed, problem);
    let family = if problem.is_multiple_of(2) { Family::SquaredExponential } else { Family::Matern52 };
    let crowded = problem / 2 % 2 == 1;
    let function = Draw::new(options.dim, &mut rng);
    let x =
        if crowded { crowd(options, &function, &mut rng) } else { uniform(options.n, options.dim, &mut rng) };
    let y = function.observe(&x, 0.01, &mut rng);
    let gp = Fit { seed: problem, ..Fit::with_priors(family, options.dim) }.run(&x, &y)?.gp;
    let best = smallest(&y);
    let (ei, log_ei) = (Ei::new(y[best])?, LogEi::new(y[best])?);

    let brute = brute_force(options, &gp, log_ei, &mut rng)?;
    let brute_log_ei = Surface::new(&gp, log_ei).values(&brute)?[0];
    let brute_ei = Surface::new(&gp, ei).values(&brute)?[0];
    let found_log = maximise(&gp, log_ei, x.row(best), problem)?;
    let found = maximise(&gp, ei, x.row(best), problem)?;
    Ok(Outcome {
        problem,
        family: format!("{family:?}"),
        crowded,
        brute_log_ei,
        ei: found / brute_ei,
        log_ei: (found_log - brute_log_ei).exp(),
    })
}

/// Uniform points, the last third of them moved to the neighbourhood of a point as good as a long search would know.
fn crowd(options: &Options, function: &Draw, rng: &mut ChaCha8Rng) -> Batch {
    let mut x = uniform(options.n, options.dim, rng);
    let candidates = uniform(CANDIDATES, options.dim, rng);
    let values: Vec<f64> = candidates.rows().map(|x| function.at(x)).collect();
    let centre = candidates.row(smallest(&values));
    // From a fifth of the cube, where a search begins to settle, down to a fiftieth, where it ends.
    let width = 0.2 * 0.1f64.powf(rng.random::<f64>());
    for i in options.n - options.n / 3..options.n {
        x.row_mut(i).copy_from_slice(&near(centre, width, rng));
    }
    x
}

/// The default maximiser, with the best observation as its hint, as a suggestion uses it.
fn maximise(gp: &GaussianProcess, acquisition: impl Acquisition, hint: &[f64], seed: u64) -> Result<f64> {
    let surface = Surface::new(gp, acquisition);
    let maximiser = Maximiser { seed, ..Maximiser::default() };
    Ok(maximiser.maximise(&surface, &Region::cube(gp.dim()), &Batch::of(gp.dim(), hint))?.value)
}

/// The best point that a search without finesse finds.
fn brute_force(
    options: &Options,
    gp: &GaussianProcess,
    log_ei: LogEi,
    rng: &mut ChaCha8Rng,
) -> Result<Batch> {
    let surface = Surface::new(gp, log_ei);
    let mut order: Vec<usize> = (0..gp.len()).collect();
    order.sort_by(|&a, &b| gp.y()[a].total_cmp(&gp.y()[b]));
    order.truncate(AROUND);
    let mut points = uniform(options.points, gp.dim(), rng);
    for i in 0..options.points / 10 {
        // From a fifth of the cube down to a hundredth.
        let width = 0.2 * 0.05f64.powf(rng.random::<f64>());
        let point = near(gp.x().row(order[i % order.len()]), width, rng);
        points.row_mut(i).copy_from_slice(&point);
    }
    let mut scored = Vec::with_capacity(points.len());
    for chunk in points.as_slice().chunks(BATCH * gp.dim()) {
        scored.extend(surface.values(&Batch::of(gp.dim(), chunk))?);
    }
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|&a, &b| scored[b].total_cmp(&scored[a]));
    let mut best = (points.row(order[0]).to_vec(), scored[order[0]]);
    for start in starts(&points, &order, options.polished) {
        let (x, value) = polish(&surface, points.row(start))?;
        if value > best.1 {
            best = (x, value);
        }
    }
    Ok(Batch::of(gp.dim(), &best.0))
}

/// Half of the count straight from the top, the other half apart from all chosen before.
fn starts(points: &Batch, order: &[usize], count: usize) -> Vec<usize> {
    let mut chosen: Vec<usize> = order.iter().copied().take(count.div_ceil(2)).collect();
    let apart =
        |a: usize, b: usize| points.row(a).iter().zip(points.row(b)).any(|(a, b)| (a - b).abs() > APART);
    for &i in order {
        if chosen.len() >= count {
            break;
        }
        if chosen.iter().all(|&j| apart(i, j)) {
            chosen.push(i);
        }
    }
    chosen
}

fn polish(surface: &dyn Objective, start: &[f64]) -> Result<(Vec<f64>, f64)> {
    let dim = start.len();
    let options = quasi_newton::Options { max_evaluations: 300, ..quasi_newton::Options::default() };
    let mut search = QuasiNewton::new(start, &vec![0.0; dim], &vec![1.0; dim], options);
    while let Some(x) = search.ask() {
        let (values, gradients) = surface.values_and_gradients(&Batch::of(dim, x))?;
        let gradient: Vec<f64> = gradients.row(0).iter().map(|g| -g).collect();
        search.tell(-values[0], &gradient);
    }
    let (x, value) = search.best();
    Ok((x.to_vec(), -value))
}

/// A normal step of this width from `centre`, kept in the cube.
fn near(centre: &[f64], width: f64, rng: &mut ChaCha8Rng) -> Vec<f64> {
    centre.iter().map(|c| (c + width * normal(rng)).clamp(0.0, 1.0)).collect()
}

fn summary(ratios: impl Iterator<Item = f64>) -> Summary {
    let mut sorted: Vec<f64> = ratios.collect();
    sorted.sort_by(f64::total_cmp);
    let count = |which: &dyn Fn(f64) -> bool| sorted.iter().filter(|&&ratio| which(ratio)).count();
    Summary {
        share_close: count(&|ratio| ratio >= CLOSE) as f64 / sorted.len().max(1) as f64,
        worst: sorted.iter().copied().take(10).collect(),
        median: sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN),
        beat_brute_force: count(&|ratio| ratio > 1.01),
    }
}
