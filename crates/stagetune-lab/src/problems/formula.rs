//! What every test function states about itself: its formula, its box and its exact minimum.

use std::ops::RangeInclusive;

/// A test function f: ℝᴰ → ℝ together with what is known about it.
///
/// Formulas are total: they have a value at every real point, not only inside the box. Shifting relies on it.
pub trait Formula: Sync {
    /// The letters of the name, such as `ackley`.
    fn name(&self) -> &'static str;

    /// The dimensions in which it exists.
    fn dimensions(&self) -> Dimensions;

    /// The lower and upper end of every coordinate of the box.
    fn interval(&self) -> (f64, f64);

    /// f(z), where z has an admissible dimension.
    fn value(&self, z: &[f64]) -> f64;

    /// The global minimiser inside the box.
    fn minimiser(&self, dim: usize) -> Vec<f64>;

    /// f at the minimiser.
    fn minimum(&self, dim: usize) -> f64 {
        self.value(&self.minimiser(dim))
    }

    /// A number that f does not exceed on the box given by the interval of each coordinate.
    fn maximum(&self, intervals: &[(f64, f64)]) -> f64;
}

/// The dimensions in which a function exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dimensions {
    /// Every dimension in the range.
    Range(RangeInclusive<usize>),
    /// These only.
    Only(&'static [usize]),
}

/// More coordinates than any experiment has; it keeps a mistyped name from asking for terabytes.
pub const MOST_DIMENSIONS: usize = 10_000;

impl Dimensions {
    /// Whether `dim` is among them.
    pub fn contains(&self, dim: usize) -> bool {
        match self {
            Self::Range(range) => range.contains(&dim),
            Self::Only(list) => list.contains(&dim),
        }
    }
}

impl std::fmt::Display for Dimensions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Range(range) => write!(f, "{} to {}", range.start(), range.end()),
            Self::Only(list) => {
                write!(f, "{}", list.iter().map(usize::to_string).collect::<Vec<_>>().join(" or "))
            }
        }
    }
}

/// The largest value of a function of one variable on [low, high], and where it is.
///
/// A scan brackets the best hump, golden-section search sharpens it. The terms of our separable functions have
/// humps no narrower than 1/100 of their interval, and 20,000 steps put many points on each.
pub fn maximise_term(low: f64, high: f64, term: impl Fn(f64) -> f64) -> (f64, f64) {
    const STEPS: usize = 20_000;
    let step = (high - low) / STEPS as f64;
    let at = |i: usize| if i == STEPS { high } else { low + step * i as f64 };
    let best = (0..=STEPS).map(at).fold((low, f64::NEG_INFINITY), |best, z| {
        let value = term(z);
        if value > best.1 { (z, value) } else { best }
    });
    let (mut a, mut b) = ((best.0 - step).max(low), (best.0 + step).min(high));
    // Golden section: 80 steps shrink the bracket by 2e-17, beyond what a double resolves.
    let ratio = (5f64.sqrt() - 1.0) / 2.0;
    for _ in 0..80 {
        let (left, right) = (b - ratio * (b - a), a + ratio * (b - a));
        if term(left) >= term(right) { b = right } else { a = left }
    }
    let middle = 0.5 * (a + b);
    if term(middle) > best.1 { (middle, term(middle)) } else { best }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_in_one_variable_finds_inner_and_boundary_maxima() {
        let (z, value) = maximise_term(0.0, 3.0, f64::sin);
        assert!((z - std::f64::consts::FRAC_PI_2).abs() < 1e-7 && (value - 1.0).abs() < 1e-15);
        assert_eq!(maximise_term(-1.0, 2.0, |z| z * z), (2.0, 4.0));
    }
}
