//! Styblinski and Tang's function: a quartic with two wells in every coordinate, one deeper than the other.
//!
//! f(x) = ½ Σ (xⱼ⁴ − 16 xⱼ² + 5 xⱼ), on [−5, 5]ᴰ.
//!
//! Styblinski and Tang, *Experiments in nonconvex optimization*, Neural Networks 3, 1990. Every term is a quartic of one
//! coordinate whose global minimum on ℝ is the same number, a root of 4x³ − 32x + 5.

use super::formula::{Dimensions, Formula, MOST_DIMENSIONS, maximise_term};

/// Styblinski and Tang's function.
pub struct Styblinski;

/// The lowest root of 4x³ − 32x + 5, to the last digit of a double.
const ROOT: f64 = -2.903_534_027_771_177;

impl Formula for Styblinski {
    fn name(&self) -> &'static str {
        "styblinski"
    }

    fn dimensions(&self) -> Dimensions {
        Dimensions::Range(1..=MOST_DIMENSIONS)
    }

    fn interval(&self) -> (f64, f64) {
        (-5.0, 5.0)
    }

    fn value(&self, z: &[f64]) -> f64 {
        z.iter().copied().map(term).sum()
    }

    fn minimiser(&self, dim: usize) -> Vec<f64> {
        vec![ROOT; dim]
    }

    /// Exact up to rounding: f is a sum of terms of one coordinate each.
    fn maximum(&self, intervals: &[(f64, f64)]) -> f64 {
        intervals.iter().map(|&(low, high)| maximise_term(low, high, term).1).sum()
    }
}

fn term(z: f64) -> f64 {
    0.5 * (z.powi(4) - 16.0 * z * z + 5.0 * z)
}
