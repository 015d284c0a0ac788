//! Blocked dense kernels on column-major storage: Cholesky factor and inverse, with threads that share panels of columns.
//!
//! faer supplies the matrix products and the small factorisations; every call is sequential, and threads take whole panels of
//! [`PANEL`] columns, so that results are the same to the bit whatever the number of threads. One panel is at most what a
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

/// B ← L⁻¹B for q columns stored one after the other.
pub(crate) fn solve_lower(l: MatRef<'_, f64>, b: &mut [f64], q: usize) {
    solve_lower_triangular_in_place(l, MatMut::from_column_major_slice_mut(b, l.nrows(), q), Par::Seq);
}

/// B ← L⁻ᵀB.
pub(crate) fn solve_upper(l: MatRef<'_, f64>, b: &mut [f64], q: usize) {
    solve_upper_triangular_in_place(
        l.transpose(),
        MatMut::from_column_major_slice_mut(b, l.nrows(), q),
        Par::Seq,
    );
}
