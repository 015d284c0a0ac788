//! The Gittins index of a trial: the incumbent at which its price is exactly worth paying (Xie et al. 2024).
//!
//! ```text
//! g solves  E[(g − f)₊] = λ c,  that is  s h(z) = λ c,  z = (g − μ)/s
//! take the smallest g, so  value = −g
//! ∂g/∂μ = 1,  ∂g/∂s = −φ(z)/Φ(z)      (implicit function theorem)
//! ```
//!
//! h rises, so z is unique. Where λc ≥ s h(0), h is convex and Newton's method descends on it from z = λc/s, which is right of
//! the root because h(z) ≥ z. Below, ln h is concave and Newton's method climbs on it from z = −√(−2 ln(√(2π) λc/s)), which is left
//! of the root because h(z) ≤ φ(z) there. Both sequences are monotone, so neither needs a bracket. Where s = 0, g = μ + λ c.
//!
//! Glossary: μ `mean`, s `sd`, λ c `lambda_cost` (price of the trial in units of f), g the index, z `z`.

use super::{Acquisition, AcquisitionError, Score, is_posterior};
use crate::numeric::normal;

/// Newton's method took 6 steps at most over λc/s from e^−700 to e^23; the rest is headroom.
const MAX_STEPS: usize = 20;

/// value = −g, where E[(g − f)₊] = λ c.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gittins {
    lambda_cost: f64,
}

impl Gittins {
    /// For trials that cost `lambda_cost` = λ c in units of f, finite and above 0.
    pub fn new(lambda_cost: f64) -> Result<Self, AcquisitionError> {
        if lambda_cost.is_finite() && lambda_cost > 0.0 {
            Ok(Self { lambda_cost })
        } else {
            Err(AcquisitionError::LambdaCost { lambda_cost })
        }
    }

    /// The index g itself, smaller being better; `None` for a posterior that is none.
    pub fn index(&self, mean: f64, sd: f64) -> Option<f64> {
        is_posterior(mean, sd).then(|| self.solve(mean, sd).0)
    }

    /// g and its slope by sd.
    fn solve(&self, mean: f64, sd: f64) -> (f64, f64) {
        let ratio = self.lambda_cost / sd;
        if ratio == f64::INFINITY {
            return (mean + self.lambda_cost, 0.0);
        }
        let z = if ratio >= normal::FRAC_1_SQRT_TAU {
            descend(ratio)
        } else {
            climb(self.lambda_cost.ln() - sd.ln())
        };
        (mean + sd * z, -normal::pdf_over_cdf(z))
    }
}

impl Acquisition for Gittins {
    fn score(&self, mean: f64, sd: f64) -> Score {
        if !is_posterior(mean, sd) {
            return Score::NEVER;
        }
        let (g, d_sd) = self.solve(mean, sd);
        Score { value: -g, d_mean: -1.0, d_sd: -d_sd }.tamed()
    }
}

/// The z ≥ 0 with h(z) = `ratio`.
fn descend(ratio: f64) -> f64 {
    newton(ratio, |z| (normal::h(z) - ratio) / normal::cdf(z))
}

/// The z < 0 with ln h(z) = `ln_ratio`.
fn climb(ln_ratio: f64) -> f64 {
    let start = -(-2.0 * (ln_ratio + normal::HALF_LN_TAU)).max(0.0).sqrt();
    newton(start, |z| {
        let ln_h = normal::ln_h(z);
        (ln_h.value - ln_ratio) / ln_h.slope
    })
}

/// Steps until the root moves by no more than rounding.
fn newton(start: f64, step: impl Fn(f64) -> f64) -> f64 {
    let mut z = start;
    for _ in 0..MAX_STEPS {
        let dz = step(z);
        if !dz.is_finite() {
            break;
        }
        z -= dz;
        // h and ln h carry a rounding error of their own, so smaller steps than this would go on for ever.
        if dz.abs() <= 4.0 * f64::EPSILON * z.abs().max(1.0) {
            break;
        }
    }
    z
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acquisition::LogEi;

    fn index(mean: f64, sd: f64, lambda_cost: f64) -> f64 {
        Gittins::new(lambda_cost).unwrap().index(mean, sd).unwrap()
    }

    #[test]
    fn a_price_of_sd_over_root_two_pi_is_worth_paying_at_the_mean() {
        assert!((index(0.25, 2.0, 2.0 * normal::FRAC_1_SQRT_TAU) - 0.25).abs() < 1e-15);
    }

    #[test]
    fn improvement_over_the_index_is_the_price_from_1e_minus_300_to_1e10() {
        for exponent in -300..=10 {
            let lambda_cost = 10f64.powi(exponent);
            for sd in [1e-6, 0.007, 1.0, 30.0] {
                let g = index(0.0, sd, lambda_cost);
                let log_ei = LogEi::new(g).unwrap().score(0.0, sd);
                // A relative error ε of g moves ln EI by ε·|g|·|∂ ln EI/∂g|.
                let slack = 1e-13 * (1.0 + (g * log_ei.d_mean).abs() + lambda_cost.ln().abs());
                assert!((log_ei.value - lambda_cost.ln()).abs() < slack, "λc {lambda_cost:e}, sd {sd}");
            }
        }
    }

    #[test]
    fn an_almost_certain_trial_has_its_mean_plus_its_price_as_index() {
        assert!((index(1.0, 0.007, 0.9) - 1.9).abs() < 1e-15);
        assert_eq!(index(1.0, 0.0, 0.9), 1.9);
        assert_eq!(index(1.0, 5e-324, 0.9), 1.9);
    }

    #[test]
    fn a_price_must_be_positive() {
        for lambda_cost in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(Gittins::new(lambda_cost), Err(AcquisitionError::LambdaCost { .. })));
        }
    }
}
