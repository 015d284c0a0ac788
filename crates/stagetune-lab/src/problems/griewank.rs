//! Griewank's function: a wide bowl with a fine product ripple.
//!
//! f(x) = Σ xⱼ²/4000 − Π cos(xⱼ/√j) + 1 with j from 1, on [−600, 600]ᴰ.
//!
//! Griewank, *Generalized descent for global optimization*, 1981. f ≥ 0 on ℝᴰ with equality at 0 only, since the
//! product never exceeds 1.

use super::formula::{Dimensions, Formula, MOST_DIMENSIONS};

/// Griewank's function.
pub struct Griewank;

impl Formula for Griewank {
    fn name(&self) -> &'static str {
        "griewank"
    }

    fn dimensions(&self) -> Dimensions {
        Dimensions::Range(1..=MOST_DIMENSIONS)
    }

    fn interval(&self) -> (f64, f64) {
        (-600.0, 600.0)
    }

    fn value(&self, z: &[f64]) -> f64 {
        let bowl: f64 = z.iter().map(|z| z * z / 4000.0).sum();
        let ripple: f64 = z.iter().enumerate().map(|(j, z)| (z / ((j + 1) as f64).sqrt()).cos()).product();
        bowl - ripple + 1.0
    }

    fn minimiser(&self, dim: usize) -> Vec<f64> {
        vec![0.0; dim]
    }

    /// The bowl at the farthest corner, and 2 for the ripple: above the true maximum by 2 in some hundreds at most.
    fn maximum(&self, intervals: &[(f64, f64)]) -> f64 {
        2.0 + intervals.iter().map(|(low, high)| (low * low).max(high * high) / 4000.0).sum::<f64>()
    }
}
