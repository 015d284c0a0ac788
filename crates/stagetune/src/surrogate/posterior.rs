//! What the process says of other points: mean, variance, covariance, and how they change with the point.
//!
//! A batch of q points goes through one triangular solve, V = L⁻¹K(X, X*); gradients need one more, W = L⁻ᵀV = K⁻¹K(X, X*):
//!   ∂mean/∂x_d = Σ_i α_i ∂k_i/∂x_d,   ∂var/∂x_d = −2 Σ_i W_i ∂k_i/∂x_d,   ∂k_i/∂x_d = −s²γ_i (x_d − X_id)/ℓ_d².

use super::error::SurrogateError;
use super::gp::{GaussianProcess, check_point};
use crate::numeric::vector::dot;
use crate::space::Batch;

/// A variance is never reported below this share of the prior's: smaller ones are rounding.
const VARIANCE_FLOOR: f64 = 1e-14;

/// Mean and variance of f (without noise) at each point of a batch.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// E\[f(x)\].
    pub mean: Vec<f64>,
    /// Var\[f(x)\].
    pub variance: Vec<f64>,
}

/// A prediction and its gradients in x, one row per point.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictionGradient {
    /// E\[f(x)\].
    pub mean: Vec<f64>,
    /// Var\[f(x)\].
    pub variance: Vec<f64>,
    /// ∂ mean / ∂x.
    pub d_mean: Batch,
    /// ∂ variance / ∂x.
    pub d_variance: Batch,
}

/// Mean vector and covariance matrix of f at q points together.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// E\[f(x_i)\].
    pub mean: Vec<f64>,
    /// Cov\[f(x_i), f(x_j)\] at `i * q + j`.
    pub covariance: Vec<f64>,
}

impl GaussianProcess {
    /// Mean and variance at each point.
    pub fn predict(&self, at: &Batch) -> Result<Prediction, SurrogateError> {
        self.check(at)?;
        let mut v = self.cross_covariance(at);
        let mean = self.means(&v);
        self.factor.solve_lower(&mut v, at.len());
        let variance = v.chunks_exact(self.len()).map(|v| self.variance_from(v)).collect();
        Ok(Prediction { mean, variance })
    }

    /// Mean, variance and their gradients at each point.
    pub fn predict_with_gradient(&self, at: &Batch) -> Result<PredictionGradient, SurrogateError> {
        self.check(at)?;
        let (n, q, dim) = (self.len(), at.len(), self.dim());
        let slopes_each = n * self.covariance.parts();
        let (mut w, mut slopes) = (vec![0.0; n * q], vec![0.0; slopes_each * q]);
        let scaled: Vec<Vec<f64>> = at.rows().map(|x| self.covariance.scale(x)).collect();
        for ((k, slopes), u) in w.chunks_exact_mut(n).zip(slopes.chunks_exact_mut(slopes_each)).zip(&scaled) {
            self.covariance.against_with_slope(u, 0, k, slopes);
        }
        let mean = self.means(&w);
        self.factor.solve_lower(&mut w, q);
        let variance: Vec<f64> = w.chunks_exact(n).map(|v| self.variance_from(v)).collect();
        self.factor.solve_upper(&mut w, q);
        let (mut d_mean, mut d_variance) = (Batch::zeros(q, dim), Batch::zeros(q, dim));
        let mut weights = vec![0.0; slopes_each];
        for (i, u) in scaled.iter().enumerate() {
            let (slopes, w) = (&slopes[i * slopes_each..(i + 1) * slopes_each], &w[i * n..(i + 1) * n]);
            weigh(slopes, &self.alpha, -1.0, &mut weights);
            self.gradient_from(u, &weights, d_mean.row_mut(i));
            weigh(slopes, w, 2.0, &mut weights);
            self.gradient_from(u, &weights, d_variance.row_mut(i));
        }
        Ok(PredictionGradient { mean, variance, d_mean, d_variance })
    }

    /// Means and the full covariance matrix.
    pub fn joint(&self, at: &Batch) -> Result<Joint, SurrogateError> {
        self.check(at)?;
        let (n, q) = (self.len(), at.len());
        let mut v = self.cross_covariance(at);
        let mean = self.means(&v);
        self.factor.solve_lower(&mut v, q);
        let mut covariance = vec![0.0; q * q];
        for i in 0..q {
            for j in 0..=i {
                let (prior, _) = self.covariance.between(at.row(i), at.row(j));
                let c = if i == j {
                    self.variance_from(&v[i * n..(i + 1) * n])
                } else {
                    prior - dot(&v[i * n..(i + 1) * n], &v[j * n..(j + 1) * n])
                };
                covariance[i * q + j] = c;
                covariance[j * q + i] = c;
            }
        }
        Ok(Joint { mean, covariance })
    }

    /// ∂Cov\[f(x_i), f(x_j)\]/∂x_i at row `i * q + j`; for i = j both arguments move, as in a gradient of the variance.
    pub fn joint_gradient(&self, at: &Batch) -> Result<Batch, SurrogateError> {
        self.check(at)?;
        let (n, q) = (self.len(), at.len());
        let mut w = self.cross_covariance(at);
        self.factor.solve_lower(&mut w, q);
        self.factor.solve_upper(&mut w, q);
        let mut gradient = Batch::zeros(q * q, self.dim());
        let parts = self.covariance.parts();
        let (mut k, mut slopes, mut weights) = (vec![0.0; n], vec![0.0; n * parts], vec![0.0; n * parts]);
        for i in 0..q {
            let u = self.covariance.scale(at.row(i));
            self.covariance.against_with_slope(&u, 0, &mut k, &mut slopes);
            for j in 0..q {
                let both = if i == j { 2.0 } else { 1.0 };
                weigh(&slopes, &w[j * n..(j + 1) * n], both, &mut weights);
                let row = gradient.row_mut(i * q + j);
                self.gradient_from(&u, &weights, row);
                if i != j {
                    let (_, slopes) = self.covariance.between(at.row(i), at.row(j));
                    for (d, inverse) in self.covariance.inverse_lengthscales().iter().enumerate() {
                        row[d] -= slopes[d] * (at.row(i)[d] - at.row(j)[d]) * inverse * inverse;
                    }
                }
            }
        }
        Ok(gradient)
    }

    pub(super) fn check(&self, at: &Batch) -> Result<(), SurrogateError> {
        if at.dim() != self.dim() {
            let (expected, found) = (self.dim(), at.dim());
            return Err(SurrogateError::WrongDimension { what: "every test point", expected, found });
        }
        at.rows().enumerate().try_for_each(|(i, x)| check_point(x, self.dim(), "test point", i))
    }

    /// K(X, X*), column after column.
    fn cross_covariance(&self, at: &Batch) -> Vec<f64> {
        let n = self.len();
        let mut k = vec![0.0; n * at.len()];
        for (column, x) in k.chunks_exact_mut(n).zip(at.rows()) {
            self.covariance.against(&self.covariance.scale(x), column);
        }
        k
    }

    fn means(&self, k: &[f64]) -> Vec<f64> {
        k.chunks_exact(self.len()).map(|k| self.hyper().mean + dot(k, &self.alpha)).collect()
    }

    fn variance_from(&self, v: &[f64]) -> f64 {
        let prior = self.hyper().signal_variance;
        (prior - dot(v, v)).max(VARIANCE_FLOOR * prior)
    }

    /// out_d = (1/ℓ_d) Σ_i w_i (u_d − U_id), with one row of weights for each part of the kernel.
    pub(super) fn gradient_from(&self, u: &[f64], weights: &[f64], out: &mut [f64]) {
        self.covariance.weighted_differences(u, weights, out);
        out.iter_mut().zip(self.covariance.inverse_lengthscales()).for_each(|(o, inverse)| *o *= inverse);
    }
}

/// out = factor · slope · w, every row of slopes by the same w.
pub(super) fn weigh(slopes: &[f64], w: &[f64], factor: f64, out: &mut [f64]) {
    let m = w.len().max(1);
    for (out, slopes) in out.chunks_mut(m).zip(slopes.chunks(m)) {
        out.iter_mut().zip(slopes).zip(w).for_each(|((o, s), w)| *o = factor * s * w);
    }
}
