//! A random function from a Gaussian process: `gp4@7` is the draw of seed 7 in four dimensions.
//!
//! ```text
//! f(x) = √(2/M) Σᵢ wᵢ cos(ωᵢ·x + bᵢ)      wᵢ ~ N(0, 1),  bᵢ ~ U(0, 2π),  ωᵢ ~ spectral density of the kernel
//! ```
//!
//! - `M`: [`FEATURES`];  kernel: Matérn 5/2 with lengthscale ℓ = [`LENGTHSCALE`]·√D on the unit cube, variance 1
//! - `ωᵢ = z √(5/u) / ℓ` with z ~ N(0, I) and u ~ χ²₅: the spectral density of Matérn 5/2 is a multivariate t of 5 degrees
//!
//! Rahimi and Recht, *Random features for large-scale kernel machines*, 2007. As M grows f tends to an exact draw.
//!
//! **Optimum.** Nobody knows the minimum of a random function. It is searched for: [`DENSE`] quasi-random points, then a
//! quasi-Newton search from each of the [`POLISHED`] lowest, with the analytic gradient. ℓ grows with √D so that a draw
//! has tens of local minima, not thousands, and each is met by many starts. The maximum is found in the same way.

use super::formula::{Dimensions, Formula};
use rand::SeedableRng;
use rand::distr::{Distribution, Open01};
use rand_chacha::ChaCha8Rng;
use stagetune::numeric::quasi_newton::{Options, QuasiNewton};
use stagetune::numeric::sobol::Sobol;
use std::f64::consts::TAU;

/// Letters of the name.
pub const NAME: &str = "gp";

/// Beyond ten dimensions the dense search would miss minima.
pub const MOST: usize = 10;

/// Cosines of a draw: the covariance of two points is met to about 1/√M.
const FEATURES: usize = 512;

/// ℓ/√D. Two random points of the cube are 0.41·√D apart: a model can learn such a function from a few dozen points, not from ten.
const LENGTHSCALE: f64 = 0.2;

/// Points of the dense search.
const DENSE: usize = 1 << 14;

/// Searches that start from the best of them.
const POLISHED: usize = 48;

/// A draw, with its lowest and highest value.
pub struct Draw {
    /// ωᵢ, D numbers each.
    frequencies: Vec<f64>,
    phases: Vec<f64>,
    weights: Vec<f64>,
    minimiser: Vec<f64>,
    maximum: f64,
}

impl Draw {
    /// The draw of a seed on the unit cube of `dim` dimensions.
    pub fn new(dim: usize, seed: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let scale = 1.0 / (LENGTHSCALE * (dim as f64).sqrt());
        let (mut frequencies, mut phases, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..FEATURES {
            let u: f64 = (0..5).map(|_| normal(&mut rng).powi(2)).sum();
            let stretch = scale * (5.0 / u).sqrt();
            frequencies.extend((0..dim).map(|_| stretch * normal(&mut rng)));
            let phase: f64 = Open01.sample(&mut rng);
            phases.push(TAU * phase);
            weights.push((2.0 / FEATURES as f64).sqrt() * normal(&mut rng));
        }
        let mut draw = Self { frequencies, phases, weights, minimiser: vec![0.0; dim], maximum: 0.0 };
        let (minimiser, _) = draw.lowest(1.0, seed);
        let (_, negative) = draw.lowest(-1.0, seed);
        draw.minimiser = minimiser;
        draw.maximum = -negative;
        draw
    }

    /// f and, if there is room for it, its gradient.
    fn evaluate(&self, x: &[f64], mut gradient: Option<&mut [f64]>) -> f64 {
        let dim = x.len();
        let mut value = 0.0;
        for ((omega, phase), weight) in
            self.frequencies.chunks_exact(dim).zip(&self.phases).zip(&self.weights)
        {
            let angle = omega.iter().zip(x).map(|(o, x)| o * x).sum::<f64>() + phase;
            value += weight * angle.cos();
            if let Some(gradient) = gradient.as_deref_mut() {
                let slope = -weight * angle.sin();
                gradient.iter_mut().zip(omega).for_each(|(g, o)| *g += slope * o);
            }
        }
        value
    }

    /// Where `sign`·f is lowest in the cube, and that number.
    fn lowest(&self, sign: f64, seed: u64) -> (Vec<f64>, f64) {
        let dim = self.minimiser.len();
        let mut sobol = Sobol::new(dim, seed);
        let mut seen: Vec<(f64, Vec<f64>)> = Vec::with_capacity(DENSE);
        for _ in 0..DENSE {
            let mut x = vec![0.5; dim];
            // The sequence is longer than 2¹⁴ points and has this dimension.
            let _ = sobol.next_into(&mut x);
            seen.push((sign * self.evaluate(&x, None), x));
        }
        seen.sort_by(|a, b| a.0.total_cmp(&b.0));
        let options = Options { value_tolerance: 0.0, gradient_tolerance: 1e-10, ..Options::default() };
        let mut best = (vec![0.5; dim], f64::INFINITY);
        for (_, start) in seen.iter().take(POLISHED) {
            let mut search = QuasiNewton::new(start, &vec![0.0; dim], &vec![1.0; dim], options);
            while let Some(x) = search.ask() {
                let mut gradient = vec![0.0; dim];
                let value = sign * self.evaluate(x, Some(&mut gradient));
                gradient.iter_mut().for_each(|g| *g *= sign);
                search.tell(value, &gradient);
            }
            if search.best().1 < best.1 {
                best = (search.best().0.to_vec(), search.best().1);
            }
        }
        best
    }
}

impl Formula for Draw {
    fn name(&self) -> &'static str {
        NAME
    }

    fn dimensions(&self) -> Dimensions {
        Dimensions::Range(1..=MOST)
    }

    fn interval(&self) -> (f64, f64) {
        (0.0, 1.0)
    }

    fn value(&self, z: &[f64]) -> f64 {
        self.evaluate(z, None)
    }

    fn minimiser(&self, _: usize) -> Vec<f64> {
        self.minimiser.clone()
    }

    /// The highest value that the search found; a draw is never shifted, so that the box is always the cube.
    fn maximum(&self, _: &[(f64, f64)]) -> f64 {
        self.maximum
    }
}

/// A standard normal number by Box and Muller.
fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let (u, v): (f64, f64) = (Open01.sample(rng), Open01.sample(rng));
    (-2.0 * u.ln()).sqrt() * (TAU * v).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_random_search_finds_nothing_beyond_the_stated_optimum() {
        for (dim, seed) in [(2, 1), (4, 2)] {
            let draw = Draw::new(dim, seed);
            let (lowest, highest) = (draw.minimum(dim), draw.maximum);
            let mut rng = ChaCha8Rng::seed_from_u64(99);
            for _ in 0..50_000 {
                let x: Vec<f64> = (0..dim).map(|_| Open01.sample(&mut rng)).collect();
                let value = draw.value(&x);
                assert!(lowest <= value && value <= highest, "{value} outside {lowest}..{highest}");
            }
        }
    }

    #[test]
    fn gradients_meet_finite_differences() {
        let draw = Draw::new(3, 5);
        let x = [0.3, 0.6, 0.2];
        let mut gradient = [0.0; 3];
        draw.evaluate(&x, Some(&mut gradient));
        for j in 0..3 {
            let (mut up, mut down) = (x, x);
            (up[j], down[j]) = (x[j] + 1e-6, x[j] - 1e-6);
            let slope = (draw.value(&up) - draw.value(&down)) / 2e-6;
            assert!((slope - gradient[j]).abs() < 1e-6 * slope.abs().max(1.0));
        }
    }

    #[test]
    fn draws_at_one_point_have_variance_1_and_the_covariance_of_the_kernel() {
        // Searches for optima would dominate the time: features alone are drawn here.
        let (a, b) = ([0.2], [0.4]);
        let draw = |seed| {
            let mut rng = ChaCha8Rng::seed_from_u64(seed);
            let mut sums = (0.0, 0.0);
            for _ in 0..64 {
                let u: f64 = (0..5).map(|_| normal(&mut rng).powi(2)).sum();
                let omega = normal(&mut rng) * (5.0 / u).sqrt() / LENGTHSCALE;
                let phase: f64 = Open01.sample(&mut rng);
                let weight = (2.0f64 / 64.0).sqrt() * normal(&mut rng);
                sums.0 += weight * (omega * a[0] + TAU * phase).cos();
                sums.1 += weight * (omega * b[0] + TAU * phase).cos();
            }
            sums
        };
        let draws: Vec<(f64, f64)> = (0..4_000).map(draw).collect();
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| draws.iter().map(of).sum::<f64>() / 4_000.0;
        // k(ℓ) = (1 + √5 + 5/3) e^(−√5) of Matérn 5/2; the standard errors are 0.023 and 0.018.
        let kernel = (1.0 + 5f64.sqrt() + 5.0 / 3.0) * (-(5f64.sqrt())).exp();
        assert!((mean(&|d| d.0 * d.0) - 1.0).abs() < 0.1);
        assert!((mean(&|d| d.0 * d.1) - kernel).abs() < 0.08);
    }
}
