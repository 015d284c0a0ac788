//! Points whose values are known, which a search among finitely many leaves out.
//!
//! Where a coordinate is continuous nobody lands on the same point twice, and looks right beside it. On a grid the best place is often one that was
//! told: asking for it again costs a trial and, where outputs are kept, brings the number that is there already.

use std::collections::{BTreeMap, BTreeSet};

/// Points of the unit cube, compared bit for bit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    codes: BTreeSet<Vec<u64>>,
    /// Codes of large choices, by coordinate: each that was tried once, those of the best points first.
    tried: BTreeMap<usize, Vec<f64>>,
}

impl Told {
    /// These points.
    pub(crate) fn new(points: impl IntoIterator<Item = Vec<f64>>) -> Self {
        Self { codes: points.into_iter().map(|point| bits(&point)).collect(), tried: BTreeMap::new() }
    }

    /// The same with what was tried of large choices.
    pub(crate) fn with_tried(self, tried: BTreeMap<usize, Vec<f64>>) -> Self {
        Self { tried, ..self }
    }

    /// What was tried of the large choice at a coordinate, best first.
    pub(crate) fn tried(&self, coordinate: usize) -> &[f64] {
        self.tried.get(&coordinate).map_or(&[], Vec::as_slice)
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.codes.is_empty()
    }

    /// Whether this is one of them.
    pub(crate) fn contains(&self, x: &[f64]) -> bool {
        !self.codes.is_empty() && self.codes.contains(&bits(x))
    }
}

fn bits(x: &[f64]) -> Vec<u64> {
    // The sum makes one zero of two.
    x.iter().map(|x| (x + 0.0).to_bits()).collect()
}
