//! Covariances between points, assembled in long vector loops.
//!
//! A kernel is a sum of parts: one over all coordinates, or one for each where the family is additive. Every part has its own slopes,
//! which follow each other as rows.
//!
//! Of a *category*, a large choice in one coordinate, a kernel only asks whether two values are the same: (x_d − x'_d)² is 1 where they are not. That is what a
//! coordinate for each value comes to when all of them share a lengthscale, in one comparison instead of a thousand subtractions.

use super::kernel::{Family, Hyper};
use crate::numeric::vector::{
    add_squared_distances, add_weighted_squares, add_where_unequal, dot_where_unequal, weighted_differences,
};
use crate::space::Batch;

/// The observed points divided by their lengthscales, one coordinate after the other, and the kernel over them.
#[derive(Clone, Debug)]
pub(crate) struct Covariance {
    family: Family,
    /// s² of each part.
    part_variance: f64,
    /// Coordinates of a part.
    width: usize,
    inverse_lengthscales: Vec<f64>,
    /// Coordinates of categories, in order; their codes are not divided by anything.
    categories: Vec<usize>,
    /// u_d\[i\] = x_id / ℓ_d at `columns[d * stride + i]`.
    columns: Vec<f64>,
    stride: usize,
    n: usize,
}

impl Covariance {
    /// Expects lengthscales that fit the points, which the caller has checked.
    pub(crate) fn new(family: Family, hyper: &Hyper, x: &Batch, categories: &[bool]) -> Self {
        let inverse_lengthscales: Vec<f64> = (0..x.dim()).map(|d| 1.0 / hyper.lengthscale(d)).collect();
        let categories: Vec<usize> =
            (0..x.dim()).filter(|&d| categories.get(d).copied().unwrap_or(false)).collect();
        let stride = x.len();
        let mut columns = vec![0.0; stride * x.dim()];
        for (i, row) in x.rows().enumerate() {
            for (d, value) in row.iter().enumerate() {
                let factor = if categories.contains(&d) { 1.0 } else { inverse_lengthscales[d] };
                columns[d * stride + i] = value * factor;
            }
        }
        Self {
            family,
            part_variance: hyper.signal_variance / if family.is_additive() { x.dim() as f64 } else { 1.0 },
            width: if family.is_additive() { 1 } else { x.dim().max(1) },
            inverse_lengthscales,
            categories,
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

    /// How many parts the kernel has, and so how many slopes there are for a pair of points.
    pub(crate) fn parts(&self) -> usize {
        self.dim().div_ceil(self.width).max(1)
    }

    /// The coordinates of categories, in order.
    pub(crate) fn categories(&self) -> &[usize] {
        &self.categories
    }

    /// x/ℓ of any point, and the codes of categories as they are.
    pub(crate) fn scale(&self, x: &[f64]) -> Vec<f64> {
        let mut scaled: Vec<f64> =
            x.iter().zip(&self.inverse_lengthscales).map(|(x, inverse)| x * inverse).collect();
        for &d in &self.categories {
            if let (Some(to), Some(from)) = (scaled.get_mut(d), x.get(d)) {
                *to = *from;
            }
        }
        scaled
    }

    /// x/ℓ of observed point `i`.
    pub(crate) fn scaled(&self, i: usize) -> Vec<f64> {
        (0..self.dim()).map(|d| self.columns[d * self.stride + i]).collect()
    }

    /// s²ρ between observed point `j` and observed points j.., the column of a covariance matrix from the diagonal down.
    pub(crate) fn column(&self, j: usize, out: &mut [f64]) {
        self.from(&self.scaled(j), j, out);
    }

    /// s²ρ between a scaled point and every observed one.
    pub(crate) fn against(&self, scaled: &[f64], out: &mut [f64]) {
        self.from(scaled, 0, out);
    }

    /// s²ρ between a scaled point and observed points first.. .
    fn from(&self, scaled: &[f64], first: usize, out: &mut [f64]) {
        let (head, others) = scaled.split_at(self.width.min(scaled.len()));
        self.distances(0, first, head, out);
        self.family.correlate(out);
        let mut part = vec![0.0; if others.is_empty() { 0 } else { out.len() }];
        for (p, centre) in others.chunks(self.width).enumerate() {
            self.distances(p + 1, first, centre, &mut part);
            self.family.correlate(&mut part);
            out.iter_mut().zip(&part).for_each(|(sum, part)| *sum += part);
        }
        self.multiply_by_variance(out);
    }

    /// s²ρ and, part after part, s²γ between a scaled point and observed points first.. .
    pub(crate) fn against_with_slope(
        &self,
        scaled: &[f64],
        first: usize,
        out: &mut [f64],
        slopes: &mut [f64],
    ) {
        let m = out.len();
        let (head, others) = scaled.split_at(self.width.min(scaled.len()));
        self.distances(0, first, head, out);
        self.family.correlate_with_slope(out, &mut slopes[..m]);
        let mut part = vec![0.0; if others.is_empty() { 0 } else { m }];
        for (p, centre) in others.chunks(self.width).enumerate() {
            self.distances(p + 1, first, centre, &mut part);
            self.family.correlate_with_slope(&mut part, &mut slopes[(p + 1) * m..(p + 2) * m]);
            out.iter_mut().zip(&part).for_each(|(sum, part)| *sum += part);
        }
        self.multiply_by_variance(out);
        self.multiply_by_variance(slopes);
    }

    /// s²ρ between any two points, and s²γ for each coordinate.
    pub(crate) fn between(&self, a: &[f64], b: &[f64]) -> (f64, Vec<f64>) {
        let mut squares: Vec<f64> = a
            .iter()
            .zip(b)
            .zip(&self.inverse_lengthscales)
            .map(|((a, b), inverse)| ((a - b) * inverse).powi(2))
            .collect();
        for &d in &self.categories {
            squares[d] = f64::from(a[d] != b[d]) * self.inverse_lengthscales[d].powi(2);
        }
        let (mut sum, mut slopes) = (0.0, Vec::with_capacity(squares.len()));
        for part in squares.chunks(self.width) {
            let (rho, gamma) = self.family.correlation(part.iter().sum());
            sum += self.part_variance * rho;
            slopes.extend(part.iter().map(|_| self.part_variance * gamma));
        }
        (sum, slopes)
    }

    /// sums\[d\] += Σ_i w_i (U_id − u_d)² over observed points first.. , with one row of weights for each part.
    pub(crate) fn add_weighted_squares(&self, first: usize, u: &[f64], weights: &[f64], sums: &mut [f64]) {
        let m = weights.len() / self.parts();
        for (p, (u, sums)) in u.chunks(self.width).zip(sums.chunks_mut(self.width)).enumerate() {
            let weights = &weights[p * m..(p + 1) * m];
            for (from, to) in self.runs(p, u.len()) {
                let (u, sums) = (&u[from..to], &mut sums[from..to]);
                add_weighted_squares(
                    &self.part(p)[from * self.stride..],
                    self.stride,
                    first,
                    u,
                    weights,
                    sums,
                );
            }
            for d in self.categories_of(p, u.len()) {
                let codes = &self.part(p)[d * self.stride + first..];
                let inverse = self.inverse_lengthscales[p * self.width + d];
                sums[d] += inverse * inverse * dot_where_unequal(codes, u[d], weights);
            }
        }
    }

    /// out\[d\] = Σ_i w_i (u_d − U_id) over all observed points, with one row of weights for each part.
    pub(crate) fn weighted_differences(&self, u: &[f64], weights: &[f64], out: &mut [f64]) {
        let m = weights.len() / self.parts();
        for (p, (u, out)) in u.chunks(self.width).zip(out.chunks_mut(self.width)).enumerate() {
            weighted_differences(self.part(p), self.stride, u, &weights[p * m..(p + 1) * m], out);
            // Nothing moves between the values of a category.
            self.categories_of(p, u.len()).for_each(|d| out[d] = 0.0);
        }
    }

    /// The columns from part `p` on.
    fn part(&self, p: usize) -> &[f64] {
        &self.columns[p * self.width * self.stride..]
    }

    /// r² of part `p` between a scaled point and observed points first.. .
    fn distances(&self, p: usize, first: usize, centre: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for (from, to) in self.runs(p, centre.len()) {
            let columns = &self.part(p)[from * self.stride..];
            add_squared_distances(columns, self.stride, first, &centre[from..to], out);
        }
        for d in self.categories_of(p, centre.len()) {
            let inverse = self.inverse_lengthscales[p * self.width + d];
            let codes = &self.part(p)[d * self.stride + first..];
            add_where_unequal(codes, centre[d], inverse * inverse, out);
        }
    }

    /// The categories among the first `len` coordinates of part `p`, counted from its first.
    fn categories_of(&self, p: usize, len: usize) -> impl Iterator<Item = usize> + '_ {
        let start = p * self.width;
        self.categories.iter().filter_map(move |d| d.checked_sub(start)).take_while(move |d| *d < len)
    }

    /// The runs of other coordinates between these, from first to past the last.
    fn runs(&self, p: usize, len: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let ends = self.categories_of(p, len).chain([len]);
        let starts = std::iter::once(0).chain(self.categories_of(p, len).map(|d| d + 1));
        starts.zip(ends).filter(|(from, to)| from < to)
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

    fn multiply_by_variance(&self, values: &mut [f64]) {
        values.iter_mut().for_each(|v| *v *= self.part_variance);
    }
}
