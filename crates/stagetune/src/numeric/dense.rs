//! Blocked dense kernels on column-major storage: Cholesky factor and inverse, with threads that share panels of columns.
//!
//! faer supplies the matrix products and the small factorisations; every call is sequential, and threads take whole panels of
//! 64 columns, so that results are the same to the bit whatever the number of threads. One panel is at most what a
//! single column of blocks needs, hence nothing is allocated per thread but the panel itself.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltError, cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;
use std::sync::Mutex;

/// Columns that go through one kernel call: wide enough for the products to run near their peak, narrow enough to be shared.
pub(crate) const PANEL: usize = 64;

/// Why a matrix has no Cholesky factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CholeskyError {
    /// The numbers are too few for the matrix.
    #[error(
        "{found} numbers for {n} columns {stride} apart: the stride must be n or more, and every column whole"
    )]
    Shape {
        /// Rows and columns.
        n: usize,
        /// Distance between columns.
        stride: usize,
        /// Numbers given.
        found: usize,
    },
    /// The matrix is not positive definite.
    #[error("the pivot of row {row} is not positive")]
    NotPositive {
        /// The row.
        row: usize,
    },
}

/// Replaces the lower triangle of a symmetric n × n matrix by its Cholesky factor; columns start `stride` apart.
///
/// Right-looking: factor a diagonal block, solve for the rows below it, subtract their product from all columns to the right.
pub fn cholesky(data: &mut [f64], n: usize, stride: usize) -> Result<(), CholeskyError> {
    if stride < n || n.checked_mul(stride).is_none_or(|needed| needed > data.len()) {
        return Err(CholeskyError::Shape { n, stride, found: data.len() });
    }
    let mut memory = MemBuffer::new(cholesky_in_place_scratch::<f64>(PANEL, Par::Seq, Default::default()));
    for c in (0..n).step_by(PANEL) {
        let width = PANEL.min(n - c);
        let (left, right) = data.split_at_mut((c + width) * stride);
        let panel =
            MatMut::from_column_major_slice_with_stride_mut(&mut left[c * stride..], n, width, stride);
        let (mut diagonal, mut below) = panel.split_at_row_mut(c).1.split_at_row_mut(width);
        let stack = MemStack::new(&mut memory);
        cholesky_in_place(diagonal.as_mut(), Default::default(), Par::Seq, stack, Default::default())
            .map_err(|LltError::NonPositivePivot { index }| CholeskyError::NotPositive { row: c + index })?;
        if n == c + width {
            break;
        }
        solve_rows(diagonal.as_ref(), below.as_mut());
        let below = below.as_ref();
        right[..(n - c - width) * stride].par_chunks_mut(stride * PANEL).enumerate().for_each(
            |(p, chunk)| {
                let (first, columns) = (p * PANEL, chunk.len() / stride);
                let rows = n - c - width - first;
                let target = MatMut::from_column_major_slice_with_stride_mut(chunk, n, columns, stride);
                let target = target.split_at_row_mut(n - rows).1;
                let factors = (below.subrows(first, rows), below.subrows(first, columns).transpose());
                matmul(target, Accum::Add, factors.0, factors.1, -1.0, Par::Seq);
            },
        );
    }
    Ok(())
}

/// X ← X L⁻ᵀ, in blocks of rows that threads share.
fn solve_rows(l: MatRef<'_, f64>, x: MatMut<'_, f64>) {
    if x.nrows() <= PANEL {
        solve_lower_triangular_in_place(l, x.transpose_mut(), Par::Seq);
    } else {
        let (above, below) = x.split_at_row_mut(PANEL);
        rayon::join(|| solve_rows(l, above), || solve_rows(l, below));
    }
}

/// Working memory that is kept between calls: fresh pages from the system cost more than a small factorisation.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    inverse: Vec<f64>,
    /// Panels that no thread is using.
    spare: Mutex<Vec<Vec<f64>>>,
}

impl Scratch {
    /// A panel of `len` zeros.
    fn take(&self, len: usize) -> Vec<f64> {
        let mut panel = self.spare.lock().ok().and_then(|mut spare| spare.pop()).unwrap_or_default();
        panel.clear();
        panel.resize(len, 0.0);
        panel
    }

    fn give_back(&self, panel: Vec<f64>) {
        if let Ok(mut spare) = self.spare.lock() {
            spare.push(panel);
        }
    }
}

/// Calls `visit(c, panel)` with columns c.. of (L Lᵀ)⁻¹, a panel at a time, rows c..n of each, and collects what it returns in order.
///
/// The whole inverse never exists: L⁻¹ takes one n × n matrix (`scratch`), each panel n × [`PANEL`] numbers. In a panel only the part on
/// and below the diagonal is meaningful.
pub(crate) fn inverse_panels<T: Send>(
    l: MatRef<'_, f64>,
    scratch: &mut Scratch,
    visit: impl Fn(usize, &[f64]) -> T + Sync,
) -> Vec<T> {
    let n = l.nrows();
    scratch.inverse.resize(n * n, 0.0);
    invert_lower(l, &mut scratch.inverse);
    let scratch = &*scratch;
    let inverse = MatRef::from_column_major_slice(&scratch.inverse, n, n);
    (0..n.div_ceil(PANEL))
        .into_par_iter()
        .map(|p| {
            let c = p * PANEL;
            let width = PANEL.min(n - c);
            let mut panel = scratch.take((n - c) * width);
            let mut product = MatMut::from_column_major_slice_mut(&mut panel, n - c, width);
            // Rows k.. of L⁻¹ reach only the columns up to their own, so each block of rows adds to the top of the panel.
            for k in (c..n).step_by(PANEL) {
                let rows = PANEL.min(n - k);
                matmul(
                    product.as_mut().subrows_mut(0, k + rows - c),
                    Accum::Add,
                    inverse.submatrix(k, c, rows, k + rows - c).transpose(),
                    inverse.submatrix(k, c, rows, width),
                    1.0,
                    Par::Seq,
                );
            }
            let visited = visit(c, &panel);
            scratch.give_back(panel);
            visited
        })
        .collect()
}

/// Writes L⁻¹, with zeros above the diagonal inside its diagonal blocks.
fn invert_lower(l: MatRef<'_, f64>, out: &mut [f64]) {
    let n = l.nrows();
    out.par_chunks_mut(n * PANEL).enumerate().for_each(|(p, chunk)| {
        let (c, width) = (p * PANEL, chunk.len() / n);
        for (j, column) in chunk.chunks_exact_mut(n).enumerate() {
            // Nothing reads the rows above the panel's own diagonal block.
            column[c..].fill(0.0);
            column[c + j] = 1.0;
        }
        let mut panel = MatMut::from_column_major_slice_mut(chunk, n, width);
        // Forward substitution by blocks of rows: subtract what the rows above contribute, then solve with the diagonal block.
        for k in (c..n).step_by(PANEL) {
            let rows = PANEL.min(n - k);
            let (above, below) = panel.as_mut().split_at_row_mut(k);
            let mut block = below.subrows_mut(0, rows);
            if k > c {
                let known = above.as_ref().subrows(c, k - c);
                matmul(block.as_mut(), Accum::Add, l.submatrix(k, c, rows, k - c), known, -1.0, Par::Seq);
            }
            solve_lower_triangular_in_place(l.submatrix(k, k, rows, rows), block, Par::Seq);
        }
    });
}

/// Rows above which a solve with few columns is shared by rows: there L no longer fits into the caches, so that every pass over it counts
/// and all columns should ride on the same one.
const SHARE_ROWS_FROM: usize = 1_024;

/// Columns that one thread solves for, where columns are shared: as many as keep the solve efficient.
const COLUMNS: usize = 6;

/// Columns from which on even a large L is better shared by columns: the solve is then bound by arithmetic.
const MANY_COLUMNS: usize = 64;

/// Block of rows of a shared solve, and rows of a block product that one thread takes.
const BLOCK: usize = 128;
const ROWS: usize = 512;

/// B ← L⁻¹B for q columns stored one after the other, on the threads of the pool.
pub(crate) fn solve_lower(l: MatRef<'_, f64>, b: &mut [f64], q: usize) {
    let n = l.nrows();
    if shares_rows(n, q) {
        return shared_lower(l, MatMut::from_column_major_slice_mut(b, n, q));
    }
    each_chunk(b, n, q, |chunk, columns| {
        let b = MatMut::from_column_major_slice_mut(chunk, n, columns);
        solve_lower_triangular_in_place(l, b, Par::Seq);
    });
}

/// B ← L⁻ᵀB.
pub(crate) fn solve_upper(l: MatRef<'_, f64>, b: &mut [f64], q: usize) {
    let n = l.nrows();
    if shares_rows(n, q) {
        return shared_upper(l, MatMut::from_column_major_slice_mut(b, n, q));
    }
    each_chunk(b, n, q, |chunk, columns| {
        let b = MatMut::from_column_major_slice_mut(chunk, n, columns);
        solve_upper_triangular_in_place(l.transpose(), b, Par::Seq);
    });
}

fn shares_rows(n: usize, q: usize) -> bool {
    n > SHARE_ROWS_FROM && q < MANY_COLUMNS
}

/// Calls `solve` with chunks of columns whose size depends on n and q alone.
fn each_chunk(b: &mut [f64], n: usize, q: usize, solve: impl Fn(&mut [f64], usize) + Sync) {
    let columns = if q < MANY_COLUMNS { COLUMNS } else { MANY_COLUMNS };
    // Below a hundredth of a millisecond of work, handing it to another thread costs more than it saves.
    if n * n * q < 1_000_000 || q <= columns {
        solve(b, q);
    } else {
        b.par_chunks_mut(n * columns).for_each(|chunk| solve(chunk, chunk.len() / n));
    }
}

/// Forward substitution by blocks: solve a block of rows, subtract its part from all rows below, which threads share.
fn shared_lower(l: MatRef<'_, f64>, mut b: MatMut<'_, f64>) {
    let n = l.nrows();
    for k in (0..n).step_by(BLOCK) {
        let rows = BLOCK.min(n - k);
        let (mut block, below) = b.as_mut().split_at_row_mut(k).1.split_at_row_mut(rows);
        solve_lower_triangular_in_place(l.submatrix(k, k, rows, rows), block.as_mut(), Par::Seq);
        subtract_product(l.submatrix(k + rows, k, n - k - rows, rows), block.as_ref(), below);
    }
}

/// B ← B − A X, in blocks of rows.
fn subtract_product(a: MatRef<'_, f64>, x: MatRef<'_, f64>, b: MatMut<'_, f64>) {
    if b.nrows() <= ROWS {
        matmul(b, Accum::Add, a, x, -1.0, Par::Seq);
    } else {
        // Halves at a multiple of ROWS, so that the blocks are the same whoever computes them.
        let middle = (b.nrows() / 2).next_multiple_of(ROWS);
        let (above, below) = b.split_at_row_mut(middle);
        let (a_above, a_below) = a.split_at_row(middle);
        rayon::join(|| subtract_product(a_above, x, above), || subtract_product(a_below, x, below));
    }
}

/// Backward substitution by blocks: the part of the rows below is a sum over blocks of rows, added in a fixed order.
fn shared_upper(l: MatRef<'_, f64>, mut b: MatMut<'_, f64>) {
    let (n, q) = (l.nrows(), b.ncols());
    for k in (0..n).step_by(BLOCK).rev() {
        let rows = BLOCK.min(n - k);
        let (mut block, below) = b.as_mut().split_at_row_mut(k).1.split_at_row_mut(rows);
        let (below, m) = (below.as_ref(), n - k - rows);
        let parts: Vec<Vec<f64>> = (0..m.div_ceil(ROWS))
            .into_par_iter()
            .map(|p| {
                let (first, count) = (p * ROWS, ROWS.min(m - p * ROWS));
                let mut part = vec![0.0; rows * q];
                let a = l.submatrix(k + rows + first, k, count, rows).transpose();
                let target = MatMut::from_column_major_slice_mut(&mut part, rows, q);
                matmul(target, Accum::Replace, a, below.subrows(first, count), 1.0, Par::Seq);
                part
            })
            .collect();
        for part in parts {
            block -= MatRef::from_column_major_slice(&part, rows, q);
        }
        solve_upper_triangular_in_place(l.submatrix(k, k, rows, rows).transpose(), block.as_mut(), Par::Seq);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A lower triangle with a dominant diagonal.
    fn lower(n: usize) -> Vec<f64> {
        let entry = |i: usize, j: usize| match i.cmp(&j) {
            std::cmp::Ordering::Less => f64::NAN,
            std::cmp::Ordering::Equal => 2.0 + (i % 3) as f64,
            std::cmp::Ordering::Greater => ((i * 7 + j * 13) % 11) as f64 / (11.0 * n as f64),
        };
        (0..n * n).map(|k| entry(k % n, k / n)).collect()
    }

    #[test]
    fn every_way_of_sharing_a_solve_gives_the_solution() {
        for n in [5, 300, SHARE_ROWS_FROM + 200] {
            let data = lower(n);
            let l = MatRef::from_column_major_slice(&data, n, n);
            for q in [1, COLUMNS + 1, MANY_COLUMNS + 3] {
                let b: Vec<f64> = (0..n * q).map(|i| ((i * 31) % 17) as f64).collect();
                for transposed in [false, true] {
                    let mut x = b.clone();
                    if transposed {
                        solve_upper(l, &mut x, q)
                    } else {
                        solve_lower(l, &mut x, q)
                    }
                    for c in [0, q - 1] {
                        for i in (0..n).step_by(37) {
                            let product: f64 = if transposed {
                                (i..n).map(|k| data[i * n + k] * x[c * n + k]).sum()
                            } else {
                                (0..=i).map(|k| data[k * n + i] * x[c * n + k]).sum()
                            };
                            assert!((product - b[c * n + i]).abs() < 1e-10, "n {n} q {q} row {i}: {product}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn wrong_shapes_and_indefinite_matrices_are_refused() {
        assert_eq!(cholesky(&mut [1.0; 3], 2, 2), Err(CholeskyError::Shape { n: 2, stride: 2, found: 3 }));
        assert_eq!(cholesky(&mut [1.0; 4], 2, 1), Err(CholeskyError::Shape { n: 2, stride: 1, found: 4 }));
        assert_eq!(cholesky(&mut [1.0, 2.0, 2.0, 1.0], 2, 2), Err(CholeskyError::NotPositive { row: 1 }));
        assert_eq!(cholesky(&mut [], 0, 0), Ok(()));
    }
}
