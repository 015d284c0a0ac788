//! The Cholesky factor of a covariance matrix, which grows by a row in O(n²) and shrinks for nothing.
//!
//! K + τI = L Lᵀ, L lower triangular, stored column after column with room to grow.
//!
//! **Jitter ladder.** Duplicated points with little noise make K singular to working precision. Then τ climbs
//! 0, 1e-10, 1e-9, …, 1e-4 times the mean diagonal until every pivot is positive beyond rounding; past the last rung the
//! answer is [`SurrogateError::Singular`]. 1e-10 disturbs a posterior less than 1e-8 of the signal's sd in f; 1e-4 equals a noise
//! of 1% of that sd, beyond which a jitter would no longer be a numerical matter.

use faer::MatRef;
use rayon::prelude::*;

use super::error::SurrogateError;
use crate::numeric::dense::{self, CholeskyError, PANEL, Scratch};
use crate::numeric::vector::dot;

/// Rungs of the jitter ladder, relative to the mean diagonal.
const LADDER: [f64; 8] = [0.0, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4];

/// L with L Lᵀ = K + τI.
#[derive(Clone, Debug)]
pub(crate) struct Factor {
    n: usize,
    stride: usize,
    data: Vec<f64>,
    jitter: f64,
}

impl Factor {
    /// Factors a matrix whose lower triangle `fill` writes column after column: `fill(j, column)` gets rows j..n of column j.
    ///
    /// `fill` is called again for every rung of the ladder: keeping a copy of K would cost another n² numbers.
    pub(crate) fn new(
        n: usize,
        buffer: Vec<f64>,
        fill: impl Fn(usize, &mut [f64]) + Sync,
    ) -> Result<Self, SurrogateError> {
        let mut factor = Self { n, stride: n.max(1), data: buffer, jitter: 0.0 };
        // Freshly made room is zero already; old room keeps stale numbers only above the diagonal, which nothing reads.
        factor.data.resize(factor.stride * n, 0.0);
        let mut worst = 0;
        let mut jitter = 0.0;
        for rung in LADDER {
            let diagonal = factor.fill(&fill);
            jitter = rung * diagonal;
            match factor.factorise(jitter, diagonal) {
                Ok(()) => {
                    factor.jitter = jitter;
                    return Ok(factor);
                }
                Err(row) => worst = row,
            }
        }
        Err(SurrogateError::Singular { n, row: worst, jitter })
    }

    pub(crate) fn jitter(&self) -> f64 {
        self.jitter
    }

    /// Gives the memory back for another factorisation.
    pub(crate) fn into_buffer(self) -> Vec<f64> {
        self.data
    }

    /// ln det(K + τI) = 2 Σ ln L_ii.
    pub(crate) fn log_det(&self) -> f64 {
        2.0 * (0..self.n).map(|i| self.data[i * self.stride + i].ln()).sum::<f64>()
    }

    /// Adds the row and column (k, diagonal) to K; `None` if that makes it singular.
    pub(crate) fn append(&mut self, k: &[f64], diagonal: f64) -> Option<()> {
        let n = self.n;
        let mut row = k.to_vec();
        self.solve_lower(&mut row, 1);
        let pivot = diagonal + self.jitter - dot(&row, &row);
        if !(pivot > pivot_floor(n + 1, diagonal)) {
            return None;
        }
        if n + 1 > self.stride {
            self.grow();
        }
        for (j, &l) in row.iter().enumerate() {
            self.data[j * self.stride + n] = l;
        }
        self.data[n * self.stride + n] = pivot.sqrt();
        self.n += 1;
        Some(())
    }

    /// The last row of L.
    pub(crate) fn last_row(&self) -> Vec<f64> {
        (0..self.n).map(|j| self.data[j * self.stride + self.n - 1]).collect()
    }

    /// Forgets the rows from `n` on: the factor of a leading block is the leading block of the factor.
    pub(crate) fn truncate(&mut self, n: usize) {
        self.n = self.n.min(n);
    }

    /// B ← L⁻¹B for n × q numbers stored column after column.
    pub(crate) fn solve_lower(&self, b: &mut [f64], q: usize) {
        dense::solve_lower(self.lower(), b, q);
    }

    /// B ← L⁻ᵀB.
    pub(crate) fn solve_upper(&self, b: &mut [f64], q: usize) {
        dense::solve_upper(self.lower(), b, q);
    }

    /// Panels of columns of (K + τI)⁻¹, see [`dense::inverse_panels`].
    pub(crate) fn inverse_panels<T: Send>(
        &self,
        scratch: &mut Scratch,
        visit: impl Fn(usize, &[f64]) -> T + Sync,
    ) -> Vec<T> {
        dense::inverse_panels(self.lower(), scratch, visit)
    }

    fn lower(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice_with_stride(&self.data, self.n, self.n, self.stride)
    }

    /// Writes K into the lower triangle and returns its mean diagonal.
    fn fill(&mut self, fill: &(impl Fn(usize, &mut [f64]) + Sync)) -> f64 {
        let (n, stride) = (self.n, self.stride);
        self.data.par_chunks_mut(stride * PANEL).enumerate().for_each(|(p, chunk)| {
            for (i, column) in chunk.chunks_exact_mut(stride).enumerate() {
                let j = p * PANEL + i;
                fill(j, &mut column[j..n]);
            }
        });
        (0..n).map(|i| self.data[i * stride + i]).sum::<f64>() / n.max(1) as f64
    }

    fn factorise(&mut self, jitter: f64, diagonal: f64) -> Result<(), usize> {
        let (n, stride) = (self.n, self.stride);
        for i in 0..n {
            self.data[i * stride + i] += jitter;
        }
        dense::cholesky(&mut self.data, n, stride).map_err(|error| match error {
            CholeskyError::NotPositive { row } => row,
            CholeskyError::Shape { .. } => 0,
        })?;
        // A pivot of the size of rounding errors is a coin toss, not a variance; NaN fails too.
        let floor = pivot_floor(n, diagonal);
        match (0..n).find(|i| !(self.data[i * stride + i].powi(2) > floor)) {
            Some(row) => Err(row),
            None => Ok(()),
        }
    }

    /// Makes room for an eighth more rows and 64: seldom enough to be cheap, little enough not to double the memory.
    fn grow(&mut self) {
        let stride = self.stride + self.stride / 8 + 64;
        let mut data = vec![0.0; stride * stride];
        for j in 0..self.n {
            let (from, to) = (j * self.stride, j * stride);
            data[to + j..to + self.n].copy_from_slice(&self.data[from + j..from + self.n]);
        }
        (self.data, self.stride) = (data, stride);
    }
}

/// Below this a pivot of a matrix with this diagonal is indistinguishable from rounding (Higham 2002, thm 10.3: n·ε·diagonal).
fn pivot_floor(n: usize, diagonal: f64) -> f64 {
    n as f64 * f64::EPSILON * diagonal
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covariance(i: usize, j: usize) -> f64 {
        let d = i as f64 - j as f64;
        (-0.1 * d * d).exp() + if i == j { 0.1 } else { 0.0 }
    }

    fn factor(n: usize) -> Factor {
        Factor::new(n, Vec::new(), |j, column| {
            column.iter_mut().enumerate().for_each(|(i, v)| *v = covariance(i + j, j));
        })
        .unwrap()
    }

    #[test]
    fn growing_row_by_row_gives_the_factor_of_the_whole() {
        let whole = factor(150);
        let mut grown = factor(1);
        for n in 1..150 {
            let k: Vec<f64> = (0..n).map(|i| covariance(i, n)).collect();
            grown.append(&k, covariance(n, n)).unwrap();
        }
        assert!((whole.log_det() - grown.log_det()).abs() < 1e-10);
        grown.truncate(70);
        assert!((grown.log_det() - factor(70).log_det()).abs() < 1e-10);
    }

    #[test]
    fn inverse_panels_times_the_matrix_give_the_identity() {
        for n in [1, 5, PANEL, PANEL + 1, 2 * PANEL + 30] {
            let mut inverse = vec![vec![0.0; n]; n];
            for (c, columns) in
                factor(n).inverse_panels(&mut Scratch::default(), |c, panel| (c, panel.to_vec()))
            {
                for (j, column) in columns.chunks_exact(n - c).enumerate() {
                    for i in j..column.len() {
                        inverse[c + i][c + j] = column[i];
                        inverse[c + j][c + i] = column[i];
                    }
                }
            }
            for i in 0..n {
                for j in 0..n {
                    let entry: f64 = (0..n).map(|k| inverse[i][k] * covariance(k, j)).sum();
                    let identity = if i == j { 1.0 } else { 0.0 };
                    assert!((entry - identity).abs() < 1e-9, "n = {n}, ({i}, {j}): {entry}");
                }
            }
        }
    }

    #[test]
    fn singular_matrices_climb_the_ladder_and_hopeless_ones_are_refused() {
        let ones = Factor::new(40, Vec::new(), |_, column| column.fill(1.0)).unwrap();
        assert_eq!(ones.jitter(), 1e-10);
        let indefinite = Factor::new(3, Vec::new(), |j, column| {
            column.iter_mut().enumerate().for_each(|(i, v)| *v = if i == 0 && j == 1 { -1.0 } else { 1.0 });
        });
        assert!(matches!(indefinite, Err(SurrogateError::Singular { n: 3, row: 1, .. })), "{indefinite:?}");
        assert!(Factor::new(2, Vec::new(), |_, column| column.fill(f64::NAN)).is_err());
    }
}
