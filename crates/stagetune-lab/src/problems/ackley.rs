//! Ackley's function: a funnel covered with ripples, flat far from the centre.
//!
//! f(x) = −20 exp(−0.2 √(1/D Σ xⱼ²)) − exp(1/D Σ cos 2πxⱼ) + 20 + e, on [−32.768, 32.768]ᴰ.
//!
//! Ackley, *A connectionist machine for genetic hillclimbing*, 1987. f ≥ 0 on ℝᴰ with equality at 0 only, since each
//! exponential is largest there.

use super::formula::{Dimensions, Formula, MOST_DIMENSIONS};
use std::f64::consts::{E, TAU};

/// Ackley's function.
pub struct Ackley;

impl Formula for Ackley {
    fn name(&self) -> &'static str {
        "ackley"
    }

    fn dimensions(&self) -> Dimensions {
        Dimensions::Range(1..=MOST_DIMENSIONS)
    }

    fn interval(&self) -> (f64, f64) {
        (-32.768, 32.768)
    }

    fn value(&self, z: &[f64]) -> f64 {
        let d = z.len() as f64;
        let radius = (z.iter().map(|z| z * z).sum::<f64>() / d).sqrt();
        let ripple = z.iter().map(|z| (TAU * z).cos()).sum::<f64>() / d;
        // Differences of exponentials from their values at 0, so that f(0) is 0 and not a rounding error.
        -20.0 * (-0.2 * radius).exp_m1() - E * (ripple - 1.0).exp_m1()
    }

    fn minimiser(&self, dim: usize) -> Vec<f64> {
        vec![0.0; dim]
    }

    /// The supremum over ℝᴰ, which f all but reaches at the corners of its box (22.32 of 22.35).
    fn maximum(&self, _: &[(f64, f64)]) -> f64 {
        20.0 + E - (-1f64).exp()
    }
}
