//! A set of points of the unit cube, one row each: what surrogates and acquisition functions work on.

/// Points of equal dimension, stored one after the other.
///
/// ```
/// use stagetune::space::Batch;
/// let batch = Batch::from_rows(&[[0.1, 0.2], [0.3, 0.4]]);
/// assert_eq!((batch.len(), batch.dim()), (2, 2));
/// assert_eq!(batch.row(1), &[0.3, 0.4]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    dim: usize,
    data: Vec<f64>,
}

impl Batch {
    /// No points yet, of dimension `dim`.
    pub fn new(dim: usize) -> Self {
        Self { dim, data: Vec::new() }
    }

    /// `len` points at the origin.
    pub fn zeros(len: usize, dim: usize) -> Self {
        Self { dim, data: vec![0.0; len * dim] }
    }

    /// Copies rows of a length that the type fixes.
    pub fn from_rows<const D: usize>(rows: &[[f64; D]]) -> Self {
        Self { dim: D, data: rows.as_flattened().to_vec() }
    }

    /// Copies rows whose length is known at run time only; `None` if they differ in length.
    pub fn from_slices<R: AsRef<[f64]>>(dim: usize, rows: &[R]) -> Option<Self> {
        let mut batch = Self::new(dim);
        rows.iter().all(|row| batch.push(row.as_ref())).then_some(batch)
    }

    /// Copies coordinates that stand row after row; an incomplete last row is left out.
    pub fn of(dim: usize, data: &[f64]) -> Self {
        let complete = data.len() - data.len().checked_rem(dim).unwrap_or(data.len());
        Self { dim, data: data[..complete].to_vec() }
    }

    /// Adds a point; `false`, and nothing added, if its length is not [`Batch::dim`].
    #[must_use]
    pub fn push(&mut self, row: &[f64]) -> bool {
        let fits = row.len() == self.dim;
        if fits {
            self.data.extend_from_slice(row);
        }
        fits
    }

    /// Removes the points from index `len` on.
    pub fn truncate(&mut self, len: usize) {
        self.data.truncate(len.saturating_mul(self.dim));
    }

    /// How many points there are.
    pub fn len(&self) -> usize {
        self.data.len().checked_div(self.dim).unwrap_or(0)
    }

    /// Whether there are no points.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many coordinates a point has.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Point `i`, which must be below [`Batch::len`] as an index of a slice must.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.dim..(i + 1) * self.dim]
    }

    /// Point `i`, which must be below [`Batch::len`], to be written to.
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.data[i * self.dim..(i + 1) * self.dim]
    }

    /// The points in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f64]> + Clone {
        self.data.chunks_exact(self.dim.max(1))
    }

    /// All coordinates, row after row.
    pub fn as_slice(&self) -> &[f64] {
        &self.data
    }

    /// All coordinates, row after row, to be written to.
    pub fn as_mut_slice(&mut self) -> &mut [f64] {
        &mut self.data
    }
}
