//! How fast the dense kernels run beside the matrix product that bounds them, on one thread.
//!
//! Predictions and gradients go through the engine's public face, so their time holds more than the counted operations: covariances are
//! assembled, memory is fetched. Counted are only the leading terms, for n observations and q test points. Building a process, most of whose
//! time beside the factorisation is assembly, is shown but not judged.
//!
//! | kernel | operations |
//! | --- | --- |
//! | matrix product (faer) | 2n³ |
//! | factorisation | n³/3 |
//! | building a process: assembly and factorisation | n³/3 |
//! | prediction of a batch, one triangular solve | qn² |
//! | likelihood gradient, the inverse from the factor | 2n³/3 |
//!
//! Kernels take turns within a repeat, and the fastest time of each counts: whatever else the machine does only adds.

use super::Finding;
use super::data::{Draw, rng, uniform};
use anyhow::{Result, ensure};
use clap::Args;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use serde::Serialize;
use stagetune::numeric::dense::cholesky;
use stagetune::surrogate::{Family, GaussianProcess, Hyper};
use std::hint::black_box;
use std::time::Instant;

pub const CLAIM: &str = "on one thread every dense kernel runs at half the speed of a matrix product or more";

/// The share of the product's speed that is claimed.
const SHARE: f64 = 0.5;

/// Shown, but not judged.
const BUILDING: &str = "building a process";

/// The size of the run.
#[derive(Debug, Args)]
pub struct Options {
    /// Observations.
    #[arg(long, default_value_t = 1_000)]
    n: usize,
    /// Test points of a batch.
    #[arg(long, default_value_t = 512)]
    q: usize,
    /// Coordinates.
    #[arg(long, default_value_t = 8)]
    dim: usize,
    /// Rounds over all kernels.
    #[arg(long, default_value_t = 25)]
    repeats: usize,
}

#[derive(Serialize)]
struct Numbers {
    n: usize,
    q: usize,
    dim: usize,
    repeats: usize,
    threads: usize,
    kernels: Vec<Kernel>,
}

#[derive(Serialize)]
struct Kernel {
    name: &'static str,
    operations: f64,
    best_seconds: f64,
    gflops: f64,
    share_of_product: f64,
    /// Whether the claim is about it.
    judged: bool,
    holds: bool,
}

/// Measures on a pool of one thread.
pub fn run(options: &Options, seed: u64) -> Result<Finding> {
    ensure!(
        options.repeats > 0 && options.n > 0 && options.q > 0 && options.dim > 0,
        "every size must be at least 1"
    );
    rayon::ThreadPoolBuilder::new().num_threads(1).build()?.install(|| measure(options, seed))
}

fn measure(options: &Options, seed: u64) -> Result<Finding> {
    let Options { n, q, dim, repeats } = *options;
    let mut rng = rng(seed, 0);
    let x = uniform(n, dim, &mut rng);
    let y = Draw::new(dim, &mut rng).observe(&x, 0.1, &mut rng);
    let at = uniform(q, dim, &mut rng);
    let hyper = Hyper { lengthscales: vec![1.0; dim], signal_variance: 1.0, noise_variance: 1e-2, mean: 0.0 };
    let process = || GaussianProcess::new(Family::SquaredExponential, hyper.clone(), x.clone(), y.clone());
    let gp = process()?;
    let a = Mat::from_fn(n, n, |i, j| ((i * 31 + j * 17) % 101) as f64 / 101.0);
    let mut product = Mat::<f64>::zeros(n, n);

    let covariance: Vec<f64> = {
        let scaled =
            |i: usize, j: usize| x.row(i).iter().zip(x.row(j)).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        let entry = |i: usize, j: usize| (-0.5 * scaled(i, j)).exp() + if i == j { 1e-2 } else { 0.0 };
        (0..n * n).map(|k| entry(k % n, k / n)).collect()
    };
    let mut factor = covariance.clone();

    let mut best = [f64::INFINITY; 5];
    for repeat in 0..repeats {
        let seconds = [
            timed(|| {
                matmul(&mut product, Accum::Replace, &a, &a, 1.0, Par::Seq);
                Ok(())
            })?,
            {
                factor.copy_from_slice(&covariance);
                timed(|| Ok(cholesky(&mut factor, n, n)?))?
            },
            timed(|| Ok(process()?))?,
            timed(|| Ok(gp.predict(&at)?))?,
            timed(|| Ok(gp.likelihood_gradient()))?,
        ];
        best.iter_mut().zip(seconds).for_each(|(best, seconds)| *best = best.min(seconds));
        eprintln!("kernels: repeat {} of {repeats}", repeat + 1);
    }

    let (n3, qn2) = ((n as f64).powi(3), q as f64 * (n as f64).powi(2));
    let named = [
        ("matrix product", 2.0 * n3),
        ("factorisation", n3 / 3.0),
        (BUILDING, n3 / 3.0),
        ("prediction", qn2),
        ("likelihood gradient", 2.0 * n3 / 3.0),
    ];
    let speed = |k: usize| 1e-9 * named[k].1 / best[k];
    let kernels: Vec<Kernel> = (0..named.len())
        .map(|k| Kernel {
            name: named[k].0,
            operations: named[k].1,
            best_seconds: best[k],
            gflops: speed(k),
            share_of_product: speed(k) / speed(0),
            judged: named[k].0 != BUILDING,
            holds: speed(k) >= SHARE * speed(0),
        })
        .collect();
    let holds = kernels.iter().all(|kernel| kernel.holds || !kernel.judged);
    Finding::new(holds, &Numbers { n, q, dim, repeats, threads: 1, kernels })
}

fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<f64> {
    let started = Instant::now();
    let made = black_box(work()?);
    let seconds = started.elapsed().as_secs_f64();
    // Giving memory back is not part of the kernel.
    drop(made);
    Ok(seconds)
}
