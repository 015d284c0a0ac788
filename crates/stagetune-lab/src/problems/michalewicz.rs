//! Michalewicz's function: steep narrow valleys with no slope between them.
//!
//! f(x) = −Σ sin(xⱼ) sin²ᵐ(j xⱼ²/π) with j from 1 and m = 10, on [0, π]ᴰ.
//!
//! Michalewicz, *Genetic algorithms + data structures = evolution programs*, 1992. f is a sum of terms of one
//! coordinate each, so that its minimiser is found by D searches in one variable. On (−π, 0) and (π, 2π) sin is negative
//! and no term is below 0: a shift by less than π brings in no lower point.

use super::formula::{Dimensions, Formula, MOST_DIMENSIONS, maximise_term};
use std::f64::consts::PI;

/// Michalewicz's function.
pub struct Michalewicz;

impl Formula for Michalewicz {
    fn name(&self) -> &'static str {
        "michalewicz"
    }

    /// Beyond 100 dimensions the valleys are narrower than the search for the minimiser resolves.
    fn dimensions(&self) -> Dimensions {
        Dimensions::Range(1..=MOST_DIMENSIONS.min(100))
    }

    fn interval(&self) -> (f64, f64) {
        (0.0, PI)
    }

    fn value(&self, z: &[f64]) -> f64 {
        z.iter().enumerate().map(|(j, &z)| term(j, z)).sum()
    }

    fn minimiser(&self, dim: usize) -> Vec<f64> {
        (0..dim).map(|j| maximise_term(0.0, PI, |z| -term(j, z)).0).collect()
    }

    /// Exact up to rounding: f is a sum of terms of one coordinate each.
    fn maximum(&self, intervals: &[(f64, f64)]) -> f64 {
        let highest = |(j, &(low, high)): (usize, &(f64, f64))| maximise_term(low, high, |z| term(j, z)).1;
        intervals.iter().enumerate().map(highest).sum()
    }
}

fn term(j: usize, z: f64) -> f64 {
    let steepness = ((j + 1) as f64 * z * z / PI).sin();
    -z.sin() * steepness.powi(20)
}
