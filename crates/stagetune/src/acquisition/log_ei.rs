//! The logarithm of expected improvement, with slopes that never vanish (Ament et al. 2023).
//!
//! ```text
//! LogEI = ln s + ln h(z),  h(z) = φ(z) + z Φ(z),  z = (f* − μ)/s
//! z > −1           ln h = ln(φ + zΦ)
//! −1e6 < z ≤ −1    ln h = ln φ + ln(1 − |z| M),  M = √(π/2) erfcx(|z|/√2)
//! z ≤ −1e6         ln h = ln φ − 2 ln|z|
//! ∂/∂μ = −(Φ/h)/s,  ∂/∂s = 1/s − z (Φ/h)/s = (φ/h)/s
//! ```
//!
//! [`normal::ln_h`] joins the two lower branches: past |z| = 10 it sums the series of 1 − |z| M, whose first term is the
//! third branch, so value and slopes are smooth across both boundaries.
//!
//! Where s = 0 the value is ln(f* − μ)₊: with μ < f* the derivatives are −1/(f* − μ) and 0; with μ ≥ f* nothing can improve,
//! and the point scores [`Score::NEVER`] (its slope by s has no finite limit).
//!
//! Glossary: μ `mean`, s `sd`, f* `best`, z `z`.

use super::{Acquisition, AcquisitionError, Scale, Score, is_posterior, standardised};
use crate::numeric::normal;

/// value = ln E[(best − f)₊].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogEi {
    best: f64,
}

impl LogEi {
    /// Improvement over `best`, which must be finite.
    pub fn new(best: f64) -> Result<Self, AcquisitionError> {
        if best.is_finite() { Ok(Self { best }) } else { Err(AcquisitionError::Best { best }) }
    }
}

impl Acquisition for LogEi {
    fn score(&self, mean: f64, sd: f64) -> Score {
        if !is_posterior(mean, sd) {
            return Score::NEVER;
        }
        let z = standardised(self.best, mean, sd);
        if z == f64::INFINITY {
            let certain = self.best - mean;
            return Score { value: certain.ln(), d_mean: -certain.recip(), d_sd: 0.0 }.tamed();
        }
        let ln_h = normal::ln_h(z);
        Score { value: sd.ln() + ln_h.value, d_mean: -ln_h.slope / sd, d_sd: ln_h.pdf_over_h / sd }.tamed()
    }

    fn scale(&self) -> Scale {
        Scale::Log
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_right_where_expected_improvement_has_long_underflowed() {
        // mpmath, 200 digits: ln h(−1e6) and ln h(−38).
        let score = LogEi::new(0.0).unwrap().score(1e6, 1.0);
        assert!((score.value / -500000000028.55 - 1.0).abs() < 1e-15);
        assert!((score.d_mean / -1.000_000_000_002e6 - 1.0).abs() < 1e-14);
        assert!((score.d_sd / 1.000_000_000_003e12 - 1.0).abs() < 1e-14);
        let score = LogEi::new(0.0).unwrap().score(19.0, 0.5);
        assert!((score.value - (0.5f64.ln() - 730.1961834021138)).abs() < 1e-11);
    }

    #[test]
    fn certainty_gives_the_documented_limits() {
        let log_ei = LogEi::new(3.0).unwrap();
        assert_eq!(log_ei.score(1.0, 0.0), Score { value: 2f64.ln(), d_mean: -0.5, d_sd: 0.0 });
        assert_eq!(log_ei.score(3.0, 0.0), Score::NEVER);
        assert_eq!(log_ei.score(4.0, 0.0), Score::NEVER);
    }
}
