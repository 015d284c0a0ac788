//! Rastrigin's function: a bowl with a regular lattice of local minima.
//!
//! f(x) = Σ xⱼ² + 10 (1 − cos 2πxⱼ), on [−5.12, 5.12]ᴰ.
//!
//! Rastrigin, *Systems of extremal control*, 1974. f ≥ 0 on ℝᴰ with equality at 0 only.

use super::formula::{Dimensions, Formula, MOST_DIMENSIONS, maximise_term};
use std::f64::consts::TAU;

/// Rastrigin's function.
pub struct Rastrigin;

impl Formula for Rastrigin {
    fn name(&self) -> &'static str {
        "rastrigin"
    }

    fn dimensions(&self) -> Dimensions {
        Dimensions::Range(1..=MOST_DIMENSIONS)
    }

    fn interval(&self) -> (f64, f64) {
        (-5.12, 5.12)
    }

    fn value(&self, z: &[f64]) -> f64 {
        z.iter().map(|&z| term(z)).sum()
    }

    fn minimiser(&self, dim: usize) -> Vec<f64> {
        vec![0.0; dim]
    }

    /// Exact up to rounding: f is a sum of terms of one coordinate each.
    fn maximum(&self, intervals: &[(f64, f64)]) -> f64 {
        intervals.iter().map(|&(low, high)| maximise_term(low, high, term).1).sum()
    }
}

fn term(z: f64) -> f64 {
    z * z + 10.0 * (1.0 - (TAU * z).cos())
}
