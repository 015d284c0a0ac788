//! Random problems: functions drawn from a Gaussian process prior, and observations of them.
//!
//!   f(x) = √(2/M) Σ_m cos(w_mᵀx + b_m),   w_md ~ Normal(0, 1)/ℓ_d,   b_m ~ Uniform(0, 2π)
//!
//! With M features f is close to a draw from the squared exponential prior with lengthscales ℓ (Rahimi & Recht 2007).

use anyhow::Result;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stagetune::acquisition::{Best, LogEi, Maximiser, Region, Surface};
use stagetune::space::Batch;
use stagetune::surrogate::{GaussianProcess, OutputScale};
use std::f64::consts::TAU;

/// Features of a drawn function: more change nothing that a fit of some hundred observations could see.
const FEATURES: usize = 400;

/// Lengthscales of drawn functions, for all coordinates together: from wiggly to nearly quadratic over the cube.
const LENGTHSCALES: (f64, f64) = (0.3, 2.0);

/// The random numbers of draw number `index` of a run.
pub fn rng(seed: u64, index: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(index);
    rng
}

/// A function over the unit cube.
pub struct Draw {
    frequencies: Batch,
    phases: Vec<f64>,
}

impl Draw {
    /// A function of `dim` coordinates whose lengthscales are random, too.
    pub fn new(dim: usize, rng: &mut ChaCha8Rng) -> Self {
        let (low, high) = LENGTHSCALES;
        let common = low * (high / low).powf(rng.random::<f64>());
        // Coordinates differ by factors up to 2 either way.
        let lengthscales: Vec<f64> =
            (0..dim).map(|_| common * 4f64.powf(rng.random::<f64>() - 0.5)).collect();
        let mut frequencies = Batch::zeros(FEATURES, dim);
        for m in 0..FEATURES {
            for (w, lengthscale) in frequencies.row_mut(m).iter_mut().zip(&lengthscales) {
                *w = normal(rng) / lengthscale;
            }
        }
        Self { frequencies, phases: (0..FEATURES).map(|_| TAU * rng.random::<f64>()).collect() }
    }

    /// f(x).
    pub fn at(&self, x: &[f64]) -> f64 {
        let wave = |(w, b): (&[f64], &f64)| (w.iter().zip(x).map(|(w, x)| w * x).sum::<f64>() + b).cos();
        let sum: f64 = self.frequencies.rows().zip(&self.phases).map(wave).sum();
        (2.0 / FEATURES as f64).sqrt() * sum
    }

    /// f at each point, and noise of this standard deviation, standardised.
    pub fn observe(&self, x: &Batch, noise_sd: f64, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let y: Vec<f64> = x.rows().map(|x| self.at(x) + noise_sd * normal(rng)).collect();
        OutputScale::of(&y).standardise_all(&y)
    }
}

/// `n` uniform points of the cube.
pub fn uniform(n: usize, dim: usize, rng: &mut ChaCha8Rng) -> Batch {
    let mut points = Batch::zeros(n, dim);
    points.as_mut_slice().fill_with(|| rng.random());
    points
}

/// A standard normal number (Box & Muller 1958).
pub fn normal(rng: &mut ChaCha8Rng) -> f64 {
    // 1 − u lies in (0, 1], where the logarithm is finite.
    let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
    radius * (TAU * rng.random::<f64>()).cos()
}

/// The position of the smallest of values that are all numbers.
pub fn smallest(y: &[f64]) -> usize {
    y.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(i, _)| i)
}

/// The point that the engine would suggest, without a fit.
pub fn suggest(gp: &GaussianProcess, seed: u64) -> Result<Best> {
    let incumbent = smallest(gp.y());
    let surface = Surface::new(gp, LogEi::new(gp.y()[incumbent])?);
    let hints = Batch::of(gp.dim(), gp.x().row(incumbent));
    Ok(Maximiser { seed, ..Maximiser::default() }.maximise(&surface, &Region::cube(gp.dim()), &hints)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawn_functions_have_about_unit_variance_and_streams_differ() {
        let mut squares = 0.0;
        for index in 0..200 {
            squares += Draw::new(3, &mut rng(5, index)).at(&[0.2, 0.7, 0.4]).powi(2) / 200.0;
        }
        assert!((squares - 1.0).abs() < 0.5, "{squares}");
        assert_ne!(normal(&mut rng(5, 0)), normal(&mut rng(5, 1)));
    }
}
