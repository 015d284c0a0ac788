//! Observations that every benchmark shares: scrambled Sobol' points and a smooth function with some noise.

use stagetune::numeric::Batch;
use stagetune::numeric::sobol::Sobol;
use stagetune::surrogate::{Family, GaussianProcess, Hyper, OutputScale};

/// Coordinates of a point.
pub const DIM: usize = 8;

/// Past this a size is left out when benchmarks only have to show that they work.
const LARGEST_TESTED: usize = 1_000;

/// The numbers of observations up to `largest`.
pub fn sizes(largest: usize) -> Vec<usize> {
    let testing = std::env::args().any(|argument| argument == "--test");
    let largest = if testing { largest.min(LARGEST_TESTED) } else { largest };
    [50, 200, 500, 1_000, 2_000, 5_000, 20_000].into_iter().filter(|&n| n <= largest).collect()
}

/// The size `n` alone, or the largest that tests allow.
pub fn only(n: usize) -> Vec<usize> {
    sizes(n).into_iter().max().into_iter().collect()
}

/// `n` points of the cube.
pub fn points(n: usize, seed: u64) -> Batch {
    let mut points = Batch::zeros(n, DIM);
    Sobol::new(DIM, seed).fill(&mut points).unwrap();
    points
}

/// Standardised values at each point: a bowl, a wave and a hundredth of something that looks like noise.
pub fn values(x: &Batch) -> Vec<f64> {
    let f = |x: &[f64]| {
        let bowl: f64 = x.iter().map(|u| (u - 0.4).powi(2)).sum();
        bowl + 0.3 * (7.0 * x[0] + 3.0 * x[1]).sin() + 0.01 * (1e4 * x[2]).sin()
    };
    let y: Vec<f64> = x.rows().map(f).collect();
    OutputScale::of(&y).standardise_all(&y)
}

/// Hyper-parameters near those that a fit finds.
pub fn hyper() -> Hyper {
    Hyper { lengthscales: vec![1.0; DIM], signal_variance: 1.0, noise_variance: 1e-2, mean: 0.0 }
}

/// A process conditioned on `n` observations.
pub fn process(n: usize) -> GaussianProcess {
    let x = points(n, 1);
    let y = values(&x);
    GaussianProcess::new(Family::SquaredExponential, hyper(), x, y).unwrap()
}
