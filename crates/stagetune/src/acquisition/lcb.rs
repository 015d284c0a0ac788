//! Lower confidence bound: optimism about a minimum.
//!
//! ```text
//! α_t(x) = μ(x) − β_t s(x), to be minimised;  value = −α_t = β_t s − μ, to be maximised
//! β_t = 0.2 · D · ln(2t)    as the paper prints it (LaMBO, experiments)
//! β_t = √(0.2 · D · ln(2t)) as Kandasamy et al. (2015), whom it follows, use it
//! ```
//!
//! GP-UCB, the upper confidence bound for maximising F, is the mirror image: with f = −F the posterior has mean −μ_F and
//! the same s, and β s − μ = μ_F + β s. So maximising F needs no function of its own: negate the observations.
//!
//! Glossary: μ `mean`, s `sd`, D `dim` (number of variables), t `t` (iteration, from 1), β_t `beta_t`.

use serde::{Deserialize, Serialize};

use super::{Acquisition, AcquisitionError, Score, is_posterior};

/// The paper's factor before D ln(2t).
const SCALE: f64 = 0.2;

/// How the weight of the standard deviation grows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Beta {
    /// 0.2 · D · ln(2t), as printed: 6.4 at D = 6, t = 100.
    Printed,
    /// Its square root: 2.5 at D = 6, t = 100.
    Sqrt,
    /// The same weight always.
    Fixed(f64),
}

impl Beta {
    /// β_t for `dim` variables at iteration `t`, which counts from 1 (0 is taken as 1).
    pub fn at(self, dim: usize, t: usize) -> f64 {
        let printed = SCALE * dim as f64 * (2.0 * t.max(1) as f64).ln();
        match self {
            Self::Printed => printed,
            Self::Sqrt => printed.sqrt(),
            Self::Fixed(beta) => beta,
        }
    }
}

/// value = β_t s − μ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lcb {
    beta_t: f64,
}

impl Lcb {
    /// With this weight of the standard deviation, finite and not negative.
    pub fn new(beta_t: f64) -> Result<Self, AcquisitionError> {
        if beta_t.is_finite() && beta_t >= 0.0 {
            Ok(Self { beta_t })
        } else {
            Err(AcquisitionError::Beta { beta: beta_t })
        }
    }

    /// With the weight that `beta` has for `dim` variables at iteration `t`.
    pub fn at(beta: Beta, dim: usize, t: usize) -> Result<Self, AcquisitionError> {
        Self::new(beta.at(dim, t))
    }

    /// The weight of the standard deviation.
    pub fn beta_t(&self) -> f64 {
        self.beta_t
    }
}

impl Acquisition for Lcb {
    fn score(&self, mean: f64, sd: f64) -> Score {
        if !is_posterior(mean, sd) {
            return Score::NEVER;
        }
        Score { value: self.beta_t * sd - mean, d_mean: -1.0, d_sd: self.beta_t }.tamed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beta_is_what_the_paper_prints_or_its_root() {
        // 0.2 · 6 · ln 200 = 6.35798…
        assert!((Beta::Printed.at(6, 100) - 6.357_980_839_857_642).abs() < 1e-12);
        assert!((Beta::Sqrt.at(6, 100) - 2.521503686266916).abs() < 1e-12);
        assert_eq!(Beta::Fixed(2.0).at(6, 100), 2.0);
        assert_eq!(Beta::Printed.at(6, 0), Beta::Printed.at(6, 1));
    }

    #[test]
    fn the_value_is_the_negated_lower_bound() {
        let score = Lcb::new(2.0).unwrap().score(0.75, 0.5);
        assert_eq!(score, Score { value: 0.25, d_mean: -1.0, d_sd: 2.0 });
    }

    #[test]
    fn a_weight_that_is_no_number_is_refused() {
        for beta in [f64::NAN, f64::INFINITY, -1.0] {
            assert!(matches!(Lcb::at(Beta::Fixed(beta), 2, 1), Err(AcquisitionError::Beta { .. })));
        }
    }
}
