//! Rosenbrock's function: a long curved valley, nearly flat along its floor.
//!
//! f(x) = Σ_{j<D} 100 (xⱼ₊₁ − xⱼ²)² + (1 − xⱼ)², on [−5, 10]ᴰ.
//!
//! Rosenbrock, *An automatic method for finding the greatest or least value of a function*, 1960. A sum of squares that
//! all vanish at (1, …, 1) only, on ℝᴰ.

use super::formula::{Dimensions, Formula, MOST_DIMENSIONS};

/// Rosenbrock's function.
pub struct Rosenbrock;

impl Formula for Rosenbrock {
    fn name(&self) -> &'static str {
        "rosenbrock"
    }

    fn dimensions(&self) -> Dimensions {
        Dimensions::Range(2..=MOST_DIMENSIONS)
    }

    fn interval(&self) -> (f64, f64) {
        (-5.0, 10.0)
    }

    fn value(&self, z: &[f64]) -> f64 {
        let link = |pair: &[f64]| {
            let (bend, rest) = (pair[1] - pair[0] * pair[0], 1.0 - pair[0]);
            100.0 * bend * bend + rest * rest
        };
        z.windows(2).map(link).sum()
    }

    fn minimiser(&self, dim: usize) -> Vec<f64> {
        vec![1.0; dim]
    }

    /// The sum of the largest values of the links, each on its own: reached in two dimensions, a bound beyond.
    fn maximum(&self, intervals: &[(f64, f64)]) -> f64 {
        let link = |pair: &[(f64, f64)]| {
            let ((low, high), (next_low, next_high)) = (pair[0], pair[1]);
            let most = (low * low).max(high * high);
            let least = if low <= 0.0 && high >= 0.0 { 0.0 } else { (low * low).min(high * high) };
            let bend = (most - next_low).abs().max((next_high - least).abs());
            let rest = (1.0 - low).abs().max((1.0 - high).abs());
            100.0 * bend * bend + rest * rest
        };
        intervals.windows(2).map(link).sum()
    }
}
