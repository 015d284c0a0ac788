//! The gradient of the log marginal likelihood in the logarithm of every hyper-parameter.
//!
//!   ∂ln p/∂θ = ½ tr( (ααᵀ − K⁻¹) ∂K/∂θ )      (Rasmussen & Williams 2006, eq. 5.9)
//!
//! K⁻¹ comes in panels of columns, each contracted with the derivatives of the same columns of K, which are computed
//! anew from the points: no n × n matrix is kept for any hyper-parameter.

use super::gp::GaussianProcess;
use crate::numeric::dense::{PANEL, Scratch};
use crate::numeric::vector::dot;

/// Derivatives of the log marginal likelihood: in the natural logarithm of each positive hyper-parameter, in the mean itself.
#[derive(Clone, Debug, PartialEq)]
pub struct LogGradient {
    /// ∂/∂ln ℓ, as many as there are lengthscales.
    pub lengthscales: Vec<f64>,
    /// ∂/∂ln s².
    pub signal_variance: f64,
    /// ∂/∂ln σ².
    pub noise_variance: f64,
    /// ∂/∂m.
    pub mean: f64,
}

impl GaussianProcess {
    /// The gradient at the current hyper-parameters, in O(n³) and one n × n matrix of working memory.
    pub fn likelihood_gradient(&self) -> LogGradient {
        self.likelihood_gradient_in(&mut Scratch::default())
    }

    /// As [`GaussianProcess::likelihood_gradient`], with working memory that is kept between calls.
    pub(super) fn likelihood_gradient_in(&self, scratch: &mut Scratch) -> LogGradient {
        let dim = self.dim();
        let panels = self.factor.inverse_panels(scratch, |c, panel| self.contract_panel(c, panel));
        let mut by_coordinate = vec![0.0; dim];
        let (mut with_k, mut trace) = (0.0, 0.0);
        for panel in panels {
            by_coordinate.iter_mut().zip(&panel.by_coordinate).for_each(|(sum, part)| *sum += part);
            with_k += panel.with_k;
            trace += panel.trace;
        }
        let lengthscales = if self.hyper().lengthscales.len() == 1 && dim > 1 {
            vec![by_coordinate.iter().sum()]
        } else {
            by_coordinate
        };
        LogGradient {
            lengthscales,
            signal_variance: with_k,
            noise_variance: self.hyper().noise_variance * trace,
            mean: self.alpha.iter().sum(),
        }
    }

    /// Sums over the lower triangle of columns c.. of the symmetric product; off-diagonal pairs count twice, which cancels the ½.
    fn contract_panel(&self, c: usize, panel: &[f64]) -> PanelSums {
        let n = self.len();
        let mut sums = PanelSums { by_coordinate: vec![0.0; self.dim()], with_k: 0.0, trace: 0.0 };
        let parts = self.covariance.parts();
        let (mut k, mut slopes) = (vec![0.0; n - c], vec![0.0; parts * (n - c)]);
        let width = PANEL.min(n - c);
        for j in 0..width {
            let column = &panel[j * (n - c) + j..(j + 1) * (n - c)];
            let m = column.len();
            let (k, slopes) = (&mut k[..m], &mut slopes[..parts * m]);
            let u = self.covariance.scaled(c + j);
            self.covariance.against_with_slope(&u, c + j, k, slopes);
            // G = αα − K⁻¹ on this column, folded into the slopes and the covariances.
            let alpha = &self.alpha[c + j..];
            let alpha_j = alpha[0];
            let diagonal = alpha_j * alpha_j - column[0];
            sums.trace += 0.5 * diagonal;
            sums.with_k += 0.5 * diagonal * k[0];
            k[0] = 0.0;
            for slope in slopes.chunks_exact_mut(m) {
                slope[0] = 0.0;
                for ((s, &w), &a) in slope.iter_mut().zip(column).zip(alpha) {
                    *s *= a * alpha_j - w;
                }
            }
            sums.with_k += alpha_j * dot(k, alpha) - dot(k, column);
            self.covariance.add_weighted_squares(c + j, &u, slopes, &mut sums.by_coordinate);
        }
        sums
    }
}

/// ½ Σ G ∘ ∂K over some columns: for each lengthscale, for s², for σ² (without the factor σ²).
struct PanelSums {
    by_coordinate: Vec<f64>,
    with_k: f64,
    trace: f64,
}
