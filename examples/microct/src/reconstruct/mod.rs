//! From probabilities to cells: threshold, 3-D opening, connected components, the shape rule, and the F1 of what was found.
//!
//! 1. mask = P(cell) ≥ purity
//! 2. opening of the mask with a ball
//! 3. connected components of 6 neighbours; specks are dropped
//! 4. extent at least the threshold: cell, else vessel
//! 5. matching with the true cells: F1
//!
//! Purity and opening decide the objects, the extent only chooses among them: [`grid`] makes the objects once for all
//! extents and so gives a table of settings in a small part of the time of one by one.

mod bits;
mod command;
mod components;
mod opening;
mod score;
mod shape;
#[cfg(test)]
mod tests;

pub use command::{Options, run};
pub use score::{OVERLAP, Score, Truth};
pub use shape::{Object, SPECK};

use anyhow::{Context, Result, bail, ensure};
use bits::Bits;
use components::Run;
use ndarray::{Array3, ArrayView3};
use score::Pair;

/// The largest radius of the opening: a ball of radius 3 no longer enters a cell body of 8 voxels across whose rim is uncertain.
pub const LARGEST_OPENING: usize = 2;

/// The knobs of the stage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// The least probability of a voxel of a cell, in [0, 1].
    pub purity: f64,
    /// Radius of the opening's ball: 0 (none), 1 or 2 voxels.
    pub opening: usize,
    /// The least share of its bounding box that a cell fills, in [0, 1].
    pub extent: f64,
}

/// What a setting finds.
#[derive(Debug)]
pub struct Reconstruction {
    /// The cells in reading order of their first voxels.
    pub cells: Vec<Cell>,
    /// Numbers of the cells from 1, 0 elsewhere.
    pub labels: Array3<u16>,
    /// Objects that the shape rule calls vessels.
    pub vessels: usize,
    /// How the cells compare with the truth.
    pub score: Score,
}

/// A found cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Its measures.
    pub object: Object,
    /// The mean probability over its voxels.
    pub probability: f64,
    /// The number of the true cell that it matches.
    pub matched: Option<u16>,
}

impl Settings {
    /// Refuses settings out of range.
    pub fn check(&self) -> Result<()> {
        check_share("purity", self.purity)?;
        check_opening(self.opening)?;
        check_share("extent", self.extent)
    }
}

/// Finds and scores the cells of a volume of probabilities in 255ths.
pub fn reconstruct(
    probability: ArrayView3<u8>,
    truth: &Truth,
    settings: &Settings,
) -> Result<Reconstruction> {
    settings.check()?;
    let values = probability.as_standard_layout();
    let values = contiguous(values.as_slice(), probability, truth)?;
    let mask = Bits::at_least(values, truth.size(), least(settings.purity));
    let candidates = Candidates::new(&mask, settings.opening, truth);

    let is_cell = |object: usize| candidates.objects[object].extent() >= settings.extent;
    let mut cells = Vec::new();
    // The number of each object among the cells, from 1; 0 for vessels.
    let mut numbers = vec![0_u16; candidates.objects.len()];
    for (number, object) in candidates.objects.iter().enumerate().filter(|&(number, _)| is_cell(number)) {
        cells.push(Cell { object: object.clone(), probability: 0.0, matched: None });
        let Ok(label) = u16::try_from(cells.len()) else {
            bail!("more than {} cells were found: raise the purity or the opening", u16::MAX);
        };
        numbers[number] = label;
    }
    for pair in score::matches(&candidates.pairs, candidates.objects.len(), truth.cells(), is_cell) {
        cells[usize::from(numbers[pair.object]) - 1].matched = truth.number(pair.cell);
    }

    let mut labels = vec![0_u16; values.len()];
    let mut sums = vec![0_u64; cells.len()];
    for &(run, object) in &candidates.runs {
        let number = numbers[object];
        if let Some(sum) = usize::from(number).checked_sub(1).and_then(|index| sums.get_mut(index)) {
            let voxels = run.row * truth.size().2 + run.start..run.row * truth.size().2 + run.end;
            *sum += values[voxels.clone()].iter().map(|&value| u64::from(value)).sum::<u64>();
            labels[voxels].fill(number);
        }
    }
    for (cell, sum) in cells.iter_mut().zip(sums) {
        cell.probability = sum as f64 / (255.0 * cell.object.voxels as f64);
    }
    let score = candidates.score(settings.extent, truth);
    let labels = Array3::from_shape_vec(truth.size(), labels).context("the labels do not fill the volume")?;
    Ok(Reconstruction { vessels: candidates.objects.len() - cells.len(), cells, labels, score })
}

/// The F1 of every combination of settings, purity by purity, within it opening by opening, within it extent by extent.
///
/// Equal to calling [`reconstruct`] for each, in a small part of the time; uses one thread.
pub fn grid(
    probability: ArrayView3<u8>,
    truth: &Truth,
    purities: &[f64],
    openings: &[usize],
    extents: &[f64],
) -> Result<Vec<f64>> {
    purities.iter().try_for_each(|&purity| check_share("purity", purity))?;
    openings.iter().try_for_each(|&opening| check_opening(opening))?;
    extents.iter().try_for_each(|&extent| check_share("extent", extent))?;
    let values = probability.as_standard_layout();
    let values = contiguous(values.as_slice(), probability, truth)?;
    let mut table = Vec::with_capacity(purities.len() * openings.len() * extents.len());
    for &purity in purities {
        let mask = Bits::at_least(values, truth.size(), least(purity));
        for &opening in openings {
            let candidates = Candidates::new(&mask, opening, truth);
            table.extend(extents.iter().map(|&extent| candidates.score(extent, truth).f1()));
        }
    }
    Ok(table)
}

/// The objects of a mask before the shape rule.
struct Candidates {
    objects: Vec<Object>,
    /// Runs of voxels with the number of their object.
    runs: Vec<(Run, usize)>,
    /// Objects and true cells that overlap, best first.
    pairs: Vec<Pair>,
    /// Extents of the scored objects, ascending.
    extents: Vec<f64>,
}

impl Candidates {
    fn new(mask: &Bits, opening: usize, truth: &Truth) -> Self {
        let components = components::components(&opening::open(mask, opening));
        let (objects, numbers) = shape::objects(&components);
        let runs = components.runs.iter().zip(&components.component);
        let runs: Vec<_> = runs.filter_map(|(&run, &component)| Some((run, numbers[component]?))).collect();
        let pairs = truth.pairs(&objects, runs.iter().copied());
        let scored = objects.iter().filter(|object| object.is_scored(truth.size().0));
        let mut extents: Vec<f64> = scored.map(Object::extent).collect();
        extents.sort_by(f64::total_cmp);
        Self { objects, runs, pairs, extents }
    }

    fn score(&self, extent: f64, truth: &Truth) -> Score {
        let found = self.extents.len() - self.extents.partition_point(|&other| other < extent);
        let is_cell = |object: usize| self.objects[object].extent() >= extent;
        let matched = score::matches(&self.pairs, self.objects.len(), truth.cells(), is_cell).count();
        Score { found, truth: truth.cells(), matched }
    }
}

/// The least of the 255ths that is at least `purity`.
fn least(purity: f64) -> u8 {
    (0..u8::MAX).find(|&value| f64::from(value) / 255.0 >= purity).unwrap_or(u8::MAX)
}

fn contiguous<'a>(values: Option<&'a [u8]>, probability: ArrayView3<u8>, truth: &Truth) -> Result<&'a [u8]> {
    ensure!(
        probability.dim() == truth.size(),
        "the probabilities have {:?} voxels along z, y and x, the true cells {:?}; both must come from the same phantom",
        probability.dim(),
        truth.size()
    );
    values.filter(|values| !values.is_empty()).context("the probabilities have no voxels")
}

fn check_share(knob: &str, value: f64) -> Result<()> {
    ensure!((0.0..=1.0).contains(&value), "{knob} is {value}; it is a share and must be between 0 and 1");
    Ok(())
}

fn check_opening(opening: usize) -> Result<()> {
    ensure!(
        opening <= LARGEST_OPENING,
        "opening is {opening}; it is the radius of a ball in voxels and must be 0 (no opening), 1 or {LARGEST_OPENING}"
    );
    Ok(())
}
