//! Expected improvement (Močkus 1975; Jones et al. 1998).
//!
//! ```text
//! EI = E[(f* − f)₊] = s (φ(z) + z Φ(z)) = s h(z),  z = (f* − μ)/s
//! ∂EI/∂μ = −Φ(z),  ∂EI/∂s = φ(z)
//! ```
//!
//! Where s = 0 these are the limits: (f* − μ)₊, with ∂/∂μ = −1, −½ or 0 for μ below, at or above f*, and ∂/∂s = 0
//! (φ(0) at f*). EI underflows some 38 standard deviations above f*; to climb from there use [`LogEi`](super::LogEi).
//!
//! Glossary: μ `mean`, s `sd`, f* `best`, z `z`.

use super::{Acquisition, AcquisitionError, Score, is_posterior, standardised};
use crate::numeric::normal;

/// value = E[(best − f)₊].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ei {
    best: f64,
}

impl Ei {
    /// Improvement over `best`, which must be finite.
    pub fn new(best: f64) -> Result<Self, AcquisitionError> {
        if best.is_finite() { Ok(Self { best }) } else { Err(AcquisitionError::Best { best }) }
    }
}

impl Acquisition for Ei {
    fn score(&self, mean: f64, sd: f64) -> Score {
        if !is_posterior(mean, sd) {
            return Score::NEVER;
        }
        let z = standardised(self.best, mean, sd);
        // An infinite z means that sd vanishes beside the distance: the improvement is certain, or nil.
        let value = if z.is_finite() { sd * normal::h(z) } else { (self.best - mean).max(0.0) };
        Score { value, d_mean: -normal::cdf(z), d_sd: normal::pdf(z) }.tamed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(mean: f64, sd: f64, best: f64) -> Score {
        Ei::new(best).unwrap().score(mean, sd)
    }

    #[test]
    fn a_posterior_at_the_incumbent_improves_by_sd_over_root_two_pi() {
        let at = score(1.5, 2.0, 1.5);
        assert!((at.value - 2.0 * normal::FRAC_1_SQRT_TAU).abs() < 1e-15);
        assert_eq!((at.d_mean, at.d_sd), (-0.5, normal::FRAC_1_SQRT_TAU));
    }

    #[test]
    fn hand_computed_values_are_met() {
        // h(1) = φ(1) + Φ(1) = 0.24197072451914337 + 0.8413447460685429, and h(−1) = h(1) − 1.
        assert!((score(0.0, 0.5, 0.5).value - 0.5 * 1.083_315_470_587_686_3).abs() < 1e-15);
        assert!((score(0.5, 0.5, 0.0).value - 0.5 * 0.083_315_470_587_686_3).abs() < 1e-15);
    }

    #[test]
    fn certainty_gives_the_limits() {
        assert_eq!(score(1.0, 0.0, 3.0), Score { value: 2.0, d_mean: -1.0, d_sd: 0.0 });
        assert_eq!(score(3.0, 0.0, 1.0), Score { value: 0.0, d_mean: 0.0, d_sd: 0.0 });
        assert_eq!(score(3.0, 0.0, 3.0), Score { value: 0.0, d_mean: -0.5, d_sd: normal::FRAC_1_SQRT_TAU });
        assert_eq!(score(1.0, 5e-324, 3.0), Score { value: 2.0, d_mean: -1.0, d_sd: 0.0 });
    }

    #[test]
    fn there_is_no_improvement_over_infinity() {
        assert!(matches!(Ei::new(f64::INFINITY), Err(AcquisitionError::Best { .. })));
    }
}
