//! Object-level F1: found cells are matched one to one with true cells by overlap.
//!
//! overlap(a, b) = |a ∩ b| / |a ∪ b|; pairs of at least [`OVERLAP`] are taken greedily, the largest first.
//! precision = TP / found, recall = TP / true, F1 = 2 TP / (found + true), each 0 where its denominator is.
//! Only objects whose centroid lies past the first quarter of the slices count, on both sides.

use super::components::Run;
use super::shape::Object;
use crate::parts::scored_from;
use crate::volume::Size;
use anyhow::{Result, ensure};
use ndarray::ArrayView3;

/// The least overlap of a match: a found cell one voxel too thin all round a body 8 voxels across still has 0.42.
pub const OVERLAP: f64 = 0.3;

/// The true cells in the form that scoring needs: the scored ones, as runs of voxels.
#[derive(Debug, Clone)]
pub struct Truth {
    size: Size,
    /// The scored cells: instance number and voxels, by ascending number.
    cells: Vec<(u16, usize)>,
    /// Runs with the index of their cell, in reading order.
    runs: Vec<(Run, usize)>,
}

/// How many cells were found, how many there are, and how many of the found are true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Score {
    /// Scored objects that the shape rule calls cells.
    pub found: usize,
    /// Scored true cells.
    pub truth: usize,
    /// Matched pairs of the two.
    pub matched: usize,
}

/// A found object and a true cell that overlap enough to be matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) object: usize,
    pub(super) cell: usize,
    shared: usize,
    union: usize,
}

impl Truth {
    /// Refuses a truth against which every result would score 0.
    pub fn check(&self) -> Result<()> {
        ensure!(
            self.cells() > 0,
            "the true cells hold none that is scored: cells count from slice {} of {} on; give a deeper volume or other cells",
            scored_from(self.size().0),
            self.size().0
        );
        Ok(())
    }

    /// The truth of a volume of instance numbers, 0 where there is no cell.
    pub fn new(instances: ArrayView3<u16>) -> Self {
        let size = instances.dim();
        // Voxels and sum of z for each instance number.
        let mut measures = vec![(0_usize, 0_usize); usize::from(u16::MAX) + 1];
        let mut runs: Vec<(Run, usize)> = Vec::new();
        for (row, values) in instances.rows().into_iter().enumerate() {
            for (x, instance) in values.iter().map(|&instance| usize::from(instance)).enumerate() {
                if instance == 0 {
                    continue;
                }
                measures[instance].0 += 1;
                measures[instance].1 += row / size.1;
                match runs.last_mut() {
                    Some((run, of)) if *of == instance && run.row == row && run.end == x => run.end = x + 1,
                    _ => runs.push((Run { row, start: x, end: x + 1 }, instance)),
                }
            }
        }
        let scored = |instance: usize| {
            let (voxels, sum) = measures[instance];
            voxels > 0 && sum >= scored_from(size.0) * voxels
        };
        let numbers = (1..=u16::MAX).filter(|&number| scored(usize::from(number)));
        let cells: Vec<(u16, usize)> =
            numbers.map(|number| (number, measures[usize::from(number)].0)).collect();
        let index =
            |instance: usize| cells.binary_search_by_key(&instance, |&(number, _)| usize::from(number)).ok();
        let runs = runs.iter().filter_map(|&(run, instance)| Some((run, index(instance)?))).collect();
        Self { size, cells, runs }
    }

    /// Voxels along z, y and x.
    pub fn size(&self) -> Size {
        self.size
    }

    /// Number of scored true cells.
    pub fn cells(&self) -> usize {
        self.cells.len()
    }

    /// The instance number of a scored cell.
    pub(super) fn number(&self, cell: usize) -> Option<u16> {
        self.cells.get(cell).map(|&(number, _)| number)
    }

    /// The pairs that may be matched, best first; `found` are the runs in reading order with their objects.
    pub(super) fn pairs(&self, objects: &[Object], found: impl Iterator<Item = (Run, usize)>) -> Vec<Pair> {
        // A true cell meets few objects, so each keeps a short list of them.
        let mut shared: Vec<Vec<(usize, usize)>> = vec![Vec::new(); self.cells.len()];
        let mut rest = self.runs.as_slice();
        for (run, object) in found {
            // The true runs that end before this one starts meet no later one either.
            let passed =
                rest.iter().take_while(|(truth, _)| (truth.row, truth.end) <= (run.row, run.start)).count();
            rest = &rest[passed..];
            for (truth, cell) in
                rest.iter().take_while(|(truth, _)| (truth.row, truth.start) < (run.row, run.end))
            {
                let voxels = truth.end.min(run.end) - truth.start.max(run.start);
                match shared[*cell].iter_mut().find(|(other, _)| *other == object) {
                    Some((_, sum)) => *sum += voxels,
                    None => shared[*cell].push((object, voxels)),
                }
            }
        }
        let pairs = shared.iter().enumerate().flat_map(|(cell, list)| {
            list.iter().map(move |&(object, shared)| {
                let union = objects[object].voxels + self.cells[cell].1 - shared;
                Pair { object, cell, shared, union }
            })
        });
        let scored = |pair: &Pair| pair.overlap() >= OVERLAP && objects[pair.object].is_scored(self.size.0);
        let mut pairs: Vec<Pair> = pairs.filter(scored).collect();
        pairs.sort_by(Pair::better_first);
        pairs
    }
}

impl Pair {
    fn overlap(&self) -> f64 {
        self.shared as f64 / self.union as f64
    }

    /// By descending overlap, compared as exact fractions; ties go to the first object, then the first cell.
    fn better_first(&self, other: &Self) -> std::cmp::Ordering {
        let (one, two) =
            (self.shared as u128 * other.union as u128, other.shared as u128 * self.union as u128);
        two.cmp(&one).then((self.object, self.cell).cmp(&(other.object, other.cell)))
    }
}

impl Score {
    /// The harmonic mean of precision and recall.
    pub fn f1(&self) -> f64 {
        ratio(2 * self.matched, self.found + self.truth)
    }

    /// The share of found cells that are true.
    pub fn precision(&self) -> f64 {
        ratio(self.matched, self.found)
    }

    /// The share of true cells that are found.
    pub fn recall(&self) -> f64 {
        ratio(self.matched, self.truth)
    }
}

/// Takes pairs greedily in their order, one per object and cell, among objects that `is_cell` admits.
pub(super) fn matches<'a>(
    pairs: &'a [Pair],
    objects: usize,
    cells: usize,
    is_cell: impl Fn(usize) -> bool + 'a,
) -> impl Iterator<Item = &'a Pair> {
    let (mut taken_objects, mut taken_cells) = (vec![false; objects], vec![false; cells]);
    pairs.iter().filter(move |pair| {
        let free = !taken_objects[pair.object] && !taken_cells[pair.cell] && is_cell(pair.object);
        if free {
            taken_objects[pair.object] = true;
            taken_cells[pair.cell] = true;
        }
        free
    })
}

fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
