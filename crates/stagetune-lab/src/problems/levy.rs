//! Lévy's function: a rippled valley with a gentle slope.
//!
//! With wⱼ = 1 + (xⱼ − 1)/4, on [−10, 10]ᴰ:
//! f(x) = sin²(πw₁) + Σ_{j<D} (wⱼ − 1)² (1 + 10 sin²(πwⱼ + 1)) + (w_D − 1)² (1 + sin²(2πw_D)).
//!
//! Laguna and Martí, *Experimental testing of advanced scatter search designs for global optimization*, 2005. Every
//! term is non-negative on ℝᴰ and all vanish at (1, …, 1) only.

use super::formula::{Dimensions, Formula, MOST_DIMENSIONS, maximise_term};
use std::f64::consts::PI;

/// Lévy's function.
pub struct Levy;

impl Formula for Levy {
    fn name(&self) -> &'static str {
        "levy"
    }

    fn dimensions(&self) -> Dimensions {
        Dimensions::Range(1..=MOST_DIMENSIONS)
    }

    fn interval(&self) -> (f64, f64) {
        (-10.0, 10.0)
    }

    fn value(&self, z: &[f64]) -> f64 {
        z.iter().enumerate().map(|(j, &z_j)| term(j, z.len(), z_j)).sum()
    }

    fn minimiser(&self, dim: usize) -> Vec<f64> {
        vec![1.0; dim]
    }

    /// sin²(π) is 1e-32 in doubles; the true minimum is 0.
    fn minimum(&self, _: usize) -> f64 {
        0.0
    }

    /// Exact up to rounding: f is a sum of terms of one coordinate each.
    fn maximum(&self, intervals: &[(f64, f64)]) -> f64 {
        let d = intervals.len();
        intervals
            .iter()
            .enumerate()
            .map(|(j, &(low, high))| maximise_term(low, high, |z| term(j, d, z)).1)
            .sum()
    }
}

fn term(j: usize, d: usize, z: f64) -> f64 {
    let w = 1.0 + (z - 1.0) / 4.0;
    let square = |x: f64| x * x;
    let head = if j == 0 { square((PI * w).sin()) } else { 0.0 };
    let ripple = if j + 1 < d { 10.0 * square((PI * w + 1.0).sin()) } else { square((2.0 * PI * w).sin()) };
    head + square(w - 1.0) * (1.0 + ripple)
}
