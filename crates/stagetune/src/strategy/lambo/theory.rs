//! Theory mode: the settings under which the paper proves sublinear movement regret, for a known number of iterations T.
//!
//! ```text
//! r_m = (D_m / L) T^(−1/3) ln T                                   diameters of the boxes of module m
//! d_m = ⌊ −log₂( Σ_{j>m} c_j / Σ_j c_j ) − ½ log₂ λ ⌋ − Σ_{n<m} d_n     m ≤ N−2, at least 1
//! d_{N−1} = log₂( T^(1/3) / ln|K| ) − Σ_{m<N−1} d_m               at least 1
//! η = √( 2^(−H) ln|K| / T )
//! β_t = 1 + σ √( 2 (γ_{t−1} + 1 + ln T) ),  γ = ½ ln det(I + σ⁻²K)
//! ```
//!
//! Theorem 1 and its proof; the sign of log λ is the proof's, not the lemma's. L, the Lipschitz constant, comes from the user or from the
//! fitted kernel: 1/ℓ for the shortest lengthscale ℓ of the module.
//!
//! Glossary: T `horizon`, L `lipschitz`, D_m coordinates of module m, |K| `arms`, H the sum of the depths, σ noise standard deviation.

use serde::{Deserialize, Serialize};

use crate::strategy::StrategyError;
use crate::surrogate::GaussianProcess;

/// A known horizon.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Theory {
    /// T, how many iterations there will be after the starting design.
    pub horizon: usize,
    /// L, the Lipschitz constant over the unit cube; taken from the fitted kernel if not given.
    pub lipschitz: Option<f64>,
}

/// The deepest that a module sits: 2⁻¹⁶ is rarer than any horizon that anybody will run.
const MAX_DEPTH: f64 = 16.0;

impl Theory {
    pub(super) fn check(self) -> Result<(), StrategyError> {
        let refuse = |problem: String| Err(StrategyError::Option { option: "theory", problem });
        match self.lipschitz {
            _ if self.horizon < 2 => refuse("the horizon is at least 2 iterations".into()),
            Some(l) if !(l.is_finite() && l > 0.0) => {
                refuse(format!("the Lipschitz constant is {l}; give a finite number above 0"))
            }
            _ => Ok(()),
        }
    }

    /// r_m for a module of `coordinates` coordinates with these lengthscales.
    pub(super) fn diameter(self, coordinates: usize, lengthscales: &[f64]) -> f64 {
        let shortest = lengthscales.iter().copied().fold(f64::INFINITY, f64::min);
        let lipschitz = self.lipschitz.unwrap_or(1.0 / shortest);
        let t = self.horizon as f64;
        coordinates as f64 / lipschitz * t.powf(-1.0 / 3.0) * t.ln()
    }

    /// d_1 … d_{N−1} for N costs.
    pub(super) fn depths(self, costs: &[f64], lambda: f64, arms: usize) -> Vec<usize> {
        let partitioned = costs.len().saturating_sub(1);
        let total: f64 = costs.iter().sum();
        let mut depths: Vec<usize> = Vec::with_capacity(partitioned);
        for m in 0..partitioned {
            let above: usize = depths.iter().sum();
            let level = if m + 1 < partitioned {
                let below: f64 = costs[m + 1..].iter().sum();
                (-(below / total).log2() - 0.5 * lambda.log2()).floor()
            } else {
                ((self.horizon as f64).cbrt() / (arms.max(2) as f64).ln()).log2().floor()
            };
            // Costs of zero make the quotient 0/0 or infinite: NaN and −∞ give 1, ∞ the deepest.
            depths.push((level - above as f64).clamp(1.0, MAX_DEPTH).max(1.0) as usize);
        }
        depths
    }

    /// η for a tree of this height with this many arms.
    pub(super) fn eta(self, height: usize, arms: usize) -> f64 {
        // One arm has nothing to learn; ln 2 keeps η above 0.
        ((arms.max(2) as f64).ln() / (2f64.powi(height.min(64) as i32) * self.horizon as f64)).sqrt()
    }

    /// β_t for what the process has learnt so far, open trials counted as told.
    ///
    /// The theorem has |f| of norm 1, so that σ is the noise as a share of the signal, whatever the metric's units.
    pub(super) fn beta(self, gp: &GaussianProcess) -> f64 {
        let gain = gp.information_gain() + 1.0 + (self.horizon as f64).ln();
        let noise_share = gp.hyper().noise_variance / gp.hyper().signal_variance;
        1.0 + (noise_share * 2.0 * gain).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THEORY: Theory = Theory { horizon: 1000, lipschitz: Some(4.0) };

    #[test]
    fn settings_are_those_of_the_theorem() {
        // (3/4) · 1000^(−1/3) · ln 1000 = 0.75 · 0.1 · 6.907755…
        assert!((THEORY.diameter(3, &[0.1]) - 0.518_081_645_923_660_3).abs() < 1e-12);
        // Costs 40, 10, 1: −log₂(11/51) − ½ log₂ 0.1 = 2.213 + 1.661, so d_1 = 3; log₂(10/ln 4) = 2.85, so d_2 = 2 − 3 → 1.
        assert_eq!(THEORY.depths(&[40.0, 10.0, 1.0], 0.1, 4), [3, 1]);
        // √(2⁻⁴ · 1000⁻¹ · ln 4)
        assert!((THEORY.eta(4, 4) - (4f64.ln() / 16_000.0).sqrt()).abs() < 1e-15);
    }

    #[test]
    fn costs_of_zero_and_single_arms_keep_depths_and_rates_usable() {
        for costs in [&[0.0, 0.0, 0.0][..], &[1.0, 0.0, 0.0], &[0.0, 1.0, 0.0], &[1.0, 1.0]] {
            let depths = THEORY.depths(costs, 0.1, 1);
            assert!(
                depths.len() == costs.len() - 1 && depths.iter().all(|d| (1..=16).contains(d)),
                "{depths:?}"
            );
        }
        assert!(THEORY.eta(1, 1) > 0.0);
    }
}
