//! Covariances between points, assembled in long vector loops.

use super::kernel::{Family, Hyper};
use crate::numeric::vector::squared_distances;
use crate::space::Batch;

/// The observed points divided by their lengthscales, one coordinate after the other, and the kernel over them.
#[derive(Clone, Debug)]
pub(crate) struct Covariance {
    pub(crate) family: Family,
    pub(crate) signal_variance: f64,
    inverse_lengthscales: Vec<f64>,
    /// u_d\[i\] = x_id / ℓ_d at `columns[d * stride + i]`.
    columns: Vec<f64>,
    stride: usize,
    n: usize,
}

impl Covariance {
    /// Expects lengthscales that fit the points, which the caller has checked.
    pub(crate) fn new(family: Family, hyper: &Hyper, x: &Batch) -> Self {
        let inverse_lengthscales: Vec<f64> = (0..x.dim()).map(|d| 1.0 / hyper.lengthscale(d)).collect();
        let stride = x.len();
        let mut columns = vec![0.0; stride * x.dim()];
        for (i, row) in x.rows().enumerate() {
            for (d, value) in row.iter().enumerate() {
                columns[d * stride + i] = value * inverse_lengthscales[d];
            }
        }
        Self {
            family,
            signal_variance: hyper.signal_variance,
            inverse_lengthscales,
            columns,
            stride,
            n: x.len(),
        }
    }

    pub(crate) fn dim(&self) -> usize {
        self.inverse_lengthscales.len()
    }

    /// 1/ℓ for each coordinate.
    pub(crate) fn inverse_lengthscales(&self) -> &[f64] {
        &self.inverse_lengthscales
    }

    /// The scaled coordinates and their stride.
    pub(crate) fn columns(&self) -> (&[f64], usize) {
        (&self.columns, self.stride)
    }

    /// x/ℓ of any point.
    pub(crate) fn scale(&self, x: &[f64]) -> Vec<f64> {
        x.iter().zip(&self.inverse_lengthscales).map(|(x, inverse)| x * inverse).collect()
    }

    /// x/ℓ of observed point `i`.
    pub(crate) fn scaled(&self, i: usize) -> Vec<f64> {
        (0..self.dim()).map(|d| self.columns[d * self.stride + i]).collect()
    }

    /// s²ρ between observed point `j` and observed points j.., the column of a covariance matrix from the diagonal down.
    pub(crate) fn column(&self, j: usize, out: &mut [f64]) {
        squared_distances(&self.columns, self.stride, j, &self.scaled(j), out);
        self.family.correlate(out);
        self.multiply_by_signal(out);
    }

    /// s²ρ between a scaled point and every observed one.
    pub(crate) fn against(&self, scaled: &[f64], out: &mut [f64]) {
        squared_distances(&self.columns, self.stride, 0, scaled, out);
        self.family.correlate(out);
        self.multiply_by_signal(out);
    }

    /// s²ρ and s²γ between a scaled point and observed points first.. .
    pub(crate) fn against_with_slope(
        &self,
        scaled: &[f64],
        first: usize,
        out: &mut [f64],
        slope: &mut [f64],
    ) {
        squared_distances(&self.columns, self.stride, first, scaled, out);
        self.family.correlate_with_slope(out, slope);
        self.multiply_by_signal(out);
        self.multiply_by_signal(slope);
    }

    /// Adds an observed point.
    pub(crate) fn push(&mut self, x: &[f64]) {
        let scaled = self.scale(x);
        if self.n == self.stride {
            let stride = self.stride + self.stride / 8 + 64;
            let mut columns = vec![0.0; stride * self.dim()];
            for d in 0..self.dim() {
                columns[d * stride..d * stride + self.n]
                    .copy_from_slice(&self.columns[d * self.stride..d * self.stride + self.n]);
            }
            (self.columns, self.stride) = (columns, stride);
        }
        for (d, value) in scaled.into_iter().enumerate() {
            self.columns[d * self.stride + self.n] = value;
        }
        self.n += 1;
    }

    /// Forgets observed points from `n` on.
    pub(crate) fn truncate(&mut self, n: usize) {
        self.n = self.n.min(n);
    }

    fn multiply_by_signal(&self, values: &mut [f64]) {
        values.iter_mut().for_each(|v| *v *= self.signal_variance);
    }
}
