//! Partitions of a module: disjoint boxes of its coordinates in the unit cube, one of which is a module's part of an arm.
//!
//! Boxes are closed and disjoint on doubles: a cut at `at` leaves the double before it to the box below. A cell in which no allowed
//! point is found, the other modules being free, is left out by every constructor; the rest cover every allowed point. Points are
//! coded ones, as [`Space::encode`] and [`Space::snap`] give them: of one-hot coordinates one is 1 and the others are 0.

use rand::Rng;

use super::MAX_ARMS;
use crate::numeric::uniform::open_unit;
use crate::space::{Axis, Space, SpaceError, Verdict};
use side::{Ends, one_hot};

mod describe;
mod error;
mod side;

pub use error::PartitionError;
pub(super) use side::Side;

/// The most numbers that the corners of one partition's cells may take, each way: 128 MiB.
const MAX_NUMBERS: usize = 1 << 24;

/// A closed box of one module's coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    lower: Vec<f64>,
    upper: Vec<f64>,
}

/// Disjoint boxes that cover what is allowed of one module.
///
/// ```
/// use stagetune::bandit::Partition;
/// use stagetune::space::{Module, Param, Space};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let params = [Param::float("strength", 1.0, 15.0)?, Param::choice("norm", ["batch", "group", "none"])?];
/// let module = Module::new("denoise", params)?.cut("strength", [8.0])?.cut_where("norm == 'none'")?;
/// let space = Space::new([module, Module::new("train", [Param::float("lr", 0.0, 1.0)?])?])?;
/// let partition = Partition::by_cuts(&space, 0)?;
/// let described: Vec<String> = (0..4).map(|cell| partition.describe(&space, cell)).collect();
/// assert_eq!(described[0], "strength in [1, 8) and norm in {batch, group}");
/// assert_eq!(described[3], "strength in [8, 15] and norm = none");
/// assert_eq!(partition.locate(&[0.5, 0.0, 0.0, 1.0]), Some(3));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Partition {
    module: usize,
    cells: Vec<Cell>,
}

impl Cell {
    /// The lower corner.
    pub fn lower(&self) -> &[f64] {
        &self.lower
    }

    /// The upper corner.
    pub fn upper(&self) -> &[f64] {
        &self.upper
    }

    /// Whether a point of the module's coordinates lies inside.
    pub fn contains(&self, u: &[f64]) -> bool {
        u.len() == self.lower.len()
            && u.iter().zip(self.lower.iter().zip(&self.upper)).all(|(u, (l, h))| l <= u && u <= h)
    }

    fn whole(dim: usize) -> Self {
        Self { lower: vec![0.0; dim], upper: vec![1.0; dim] }
    }

    /// What it leaves of each parameter of its module, with the parameter's number.
    fn sides<'a>(&'a self, space: &'a Space, module: usize) -> impl Iterator<Item = (usize, Side)> + 'a {
        space.module_params(module).map(move |p| {
            let (lower, upper) = self.of_param(space, module, p);
            (p, Side::read(space, p, lower, upper))
        })
    }

    /// The corners, at the coordinates of one parameter.
    fn of_param(&self, space: &Space, module: usize, p: usize) -> (&[f64], &[f64]) {
        let (start, range) = (space.module_coordinates(module).start, space.param_coordinates(p));
        let range = range.start.saturating_sub(start)..range.end.saturating_sub(start);
        (self.lower.get(range.clone()).unwrap_or(&[]), self.upper.get(range).unwrap_or(&[]))
    }

    /// The same cell with other ends for one parameter.
    fn with(&self, space: &Space, module: usize, p: usize, (lower, upper): &Ends) -> Self {
        let mut cell = self.clone();
        let at = space.param_coordinates(p).start.saturating_sub(space.module_coordinates(module).start);
        for (i, (l, h)) in lower.iter().zip(upper).enumerate() {
            if let (Some(low), Some(high)) = (cell.lower.get_mut(at + i), cell.upper.get_mut(at + i)) {
                (*low, *high) = (*l, *h);
            }
        }
        cell
    }

    /// The two halves along parameter `p`; `None` if it has a single value here.
    fn halves(&self, space: &Space, module: usize, p: usize) -> Option<[Self; 2]> {
        let (lower, upper) = self.of_param(space, module, p);
        let halves = Side::read(space, p, lower, upper).halves(space, p, lower, upper)?;
        Some(halves.map(|ends| self.with(space, module, p, &ends)))
    }

    /// The two halves along a random parameter that has two values or more; `None` if there is none.
    fn random_halves<R: Rng + ?Sized>(&self, space: &Space, module: usize, rng: &mut R) -> Option<[Self; 2]> {
        let splittable: Vec<usize> =
            self.sides(space, module).filter(|(_, side)| side.splits()).map(|(p, _)| p).collect();
        if splittable.is_empty() {
            return None;
        }
        let k = (open_unit(rng) * splittable.len() as f64) as usize;
        self.halves(space, module, *splittable.get(k)?)
    }

    /// Whether an allowed point is found inside, the other modules being free.
    fn allowed(&self, space: &Space, module: usize) -> Result<bool, SpaceError> {
        if space.forbidden().is_empty() {
            return Ok(true);
        }
        let (mut lower, mut upper) = (vec![0.0; space.dim()], vec![1.0; space.dim()]);
        let range = space.module_coordinates(module);
        lower[range.clone()].copy_from_slice(&self.lower);
        upper[range].copy_from_slice(&self.upper);
        box_allowed(space, &lower, &upper)
    }
}

impl Partition {
    /// One cell: the module undivided.
    pub fn whole(space: &Space, module: usize) -> Result<Self, PartitionError> {
        let modules = space.modules().len();
        if module >= modules {
            return Err(PartitionError::NoModule { module, modules });
        }
        Self::of(space, module, vec![Cell::whole(space.module_coordinates(module).len())])
    }

    /// Two cells, halved along a random parameter as the paper starts; one if no parameter has two values.
    pub fn bisected<R: Rng + ?Sized>(
        space: &Space,
        module: usize,
        rng: &mut R,
    ) -> Result<Self, PartitionError> {
        Ok(Self::whole(space, module)?.bisect(space, rng).0)
    }

    /// The user's partition: every combination of the intervals between the cuts of the module's parameters.
    pub fn by_cuts(space: &Space, module: usize) -> Result<Self, PartitionError> {
        let whole = Self::whole(space, module)?;
        let pieces: Vec<(usize, Vec<Ends>)> = space
            .module_params(module)
            .map(|p| (p, pieces(space, module, p)))
            .filter(|(_, pieces)| pieces.len() > 1)
            .collect();
        let limit = max_cells(space.module_coordinates(module).len());
        let total = pieces
            .iter()
            .try_fold(1usize, |n, (_, of_param)| n.checked_mul(of_param.len()).filter(|n| *n <= limit));
        if total.is_none() {
            return Err(PartitionError::TooManyCells { module: name(space, module), limit });
        }
        let mut cells = whole.cells;
        for (p, of_param) in &pieces {
            cells = cells
                .iter()
                .flat_map(|cell| of_param.iter().map(|ends| cell.with(space, module, *p, ends)))
                .collect();
        }
        Self::of(space, module, cells)
    }

    /// Cells no wider than `diameter`: round by round, every wider one is halved along its longest side.
    ///
    /// Distances are between codes, so that a cell with a single value has diameter 0. A round that would end with more than `max_cells`
    /// cells is left out, so the cells may stay wider.
    pub fn by_diameter(
        space: &Space,
        module: usize,
        diameter: f64,
        max_cells: usize,
    ) -> Result<Self, PartitionError> {
        if !(diameter >= 0.0) {
            return Err(PartitionError::Diameter { diameter });
        }
        let mut partition = Self::whole(space, module)?;
        let limit = max_cells.min(self::max_cells(space.module_coordinates(module).len()));
        loop {
            let longest: Vec<Option<usize>> =
                partition.cells.iter().map(|cell| too_long(space, module, cell, diameter)).collect();
            let more = longest.iter().flatten().count();
            if more == 0 || partition.cells.len().saturating_add(more) > limit {
                return Ok(partition);
            }
            let mut cells = Vec::with_capacity(partition.cells.len() + more);
            for (cell, longest) in partition.cells.iter().zip(longest) {
                match longest.and_then(|p| cell.halves(space, module, p)) {
                    Some(halves) => cells.extend(halves),
                    None => cells.push(cell.clone()),
                }
            }
            partition = Self::of(space, module, cells)?;
        }
    }

    /// Every cell halved along a random parameter of its own, and the cell that each new one comes from.
    ///
    /// A cell with a single point stays whole, and so do all if their corners would take too much memory.
    pub fn bisect<R: Rng + ?Sized>(&self, space: &Space, rng: &mut R) -> (Self, Vec<usize>) {
        let limit = max_cells(self.dim());
        let room = self.cells.len().checked_mul(2).is_some_and(|cells| cells <= limit) && self.fits(space);
        let (mut cells, mut parents) = (Vec::new(), Vec::new());
        for (parent, cell) in self.cells.iter().enumerate() {
            let halves = if room { cell.random_halves(space, self.module, rng) } else { None };
            let first = cells.len();
            for half in halves.into_iter().flatten() {
                if matches!(half.allowed(space, self.module), Ok(true)) {
                    cells.push(half);
                }
            }
            if cells.len() == first {
                // An allowed point was found in the whole, so it is not given up if none is found in the halves.
                cells.push(cell.clone());
            }
            parents.resize(cells.len(), parent);
        }
        (Self { module: self.module, cells }, parents)
    }

    /// The cells whose flag is set.
    pub fn keep(&self, keep: &[bool]) -> Result<Self, PartitionError> {
        let (found, expected) = (keep.len(), self.cells.len());
        if found != expected {
            return Err(PartitionError::Flags { what: "cells", found, expected });
        }
        let kept = self.cells.iter().zip(keep).filter(|(_, keep)| **keep);
        let cells: Vec<Cell> = kept.map(|(cell, _)| cell.clone()).collect();
        if cells.is_empty() {
            return Err(PartitionError::NothingLeft { what: "cells" });
        }
        Ok(Self { module: self.module, cells })
    }

    /// The module it divides, counted from 0.
    pub fn module(&self) -> usize {
        self.module
    }

    /// The cells in order.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// How many cells there are; at least one.
    #[allow(clippy::len_without_is_empty)] // A partition is never empty.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// The cell that holds a coded point of the module's coordinates; `None` if that part was dropped.
    pub fn locate(&self, u: &[f64]) -> Option<usize> {
        self.cells.iter().position(|cell| cell.contains(u))
    }

    /// Whether its cells have the coordinates of this module of the space.
    pub(super) fn fits(&self, space: &Space) -> bool {
        self.module < space.modules().len() && self.dim() == space.module_coordinates(self.module).len()
    }

    fn dim(&self) -> usize {
        self.cells.first().map_or(0, |cell| cell.lower.len())
    }

    /// The cells in which an allowed point is found.
    fn of(space: &Space, module: usize, cells: Vec<Cell>) -> Result<Self, PartitionError> {
        let mut kept = Vec::with_capacity(cells.len());
        for cell in cells {
            if cell.allowed(space, module)? {
                kept.push(cell);
            }
        }
        if kept.is_empty() {
            return Err(PartitionError::NothingAllowed { module: name(space, module) });
        }
        Ok(Self { module, cells: kept })
    }
}

/// Whether an allowed point is found in a box of the whole cube.
///
/// A box in which the search gives up counts as forbidden, as it does when a space is built: nothing could be proposed there.
pub(super) fn box_allowed(space: &Space, lower: &[f64], upper: &[f64]) -> Result<bool, SpaceError> {
    match space.forbids(lower, upper)? {
        Verdict::Never => Ok(true),
        Verdict::Always => Ok(false),
        Verdict::Sometimes => match space.find_allowed(lower, upper) {
            Ok(_) => Ok(true),
            Err(SpaceError::Region(_)) => Ok(false),
            Err(error) => Err(error),
        },
    }
}

fn max_cells(dim: usize) -> usize {
    (MAX_NUMBERS / dim.max(1)).clamp(1, MAX_ARMS)
}

fn name(space: &Space, module: usize) -> std::sync::Arc<str> {
    space.modules().get(module).map_or_else(|| "".into(), |module| module.name().clone())
}

/// The parts into which the user's cuts divide parameter `p`.
fn pieces(space: &Space, module: usize, p: usize) -> Vec<Ends> {
    let range = space.param_coordinates(p);
    let cuts = space.cuts(module).iter().filter(|cut| cut.param == p);
    if let Some(Axis::OneHot { len, .. }) = space.axes().get(range.start) {
        // Each cut takes one option out of the rest.
        let single: Vec<usize> = cuts.map(|cut| cut.coordinate.saturating_sub(range.start)).collect();
        let rest: Vec<usize> = (0..*len).filter(|k| !single.contains(k)).collect();
        let rest = (!rest.is_empty()).then(|| one_hot(*len, &rest));
        return rest.into_iter().chain(single.iter().map(|&k| one_hot(*len, &[k]))).collect();
    }
    if let Some(Axis::Category { len }) = space.axes().get(range.start) {
        // A cut is the code of the value that it takes out of the rest, which stays in runs between them.
        let mut edges: Vec<f64> = cuts
            .filter_map(|cut| space.grid_index(cut.coordinate, cut.at))
            .flat_map(|k| {
                let edge = |k: u64| k as f64 / *len as f64;
                [edge(k), edge(k + 1)]
            })
            .collect();
        edges.retain(|edge| 0.0 < *edge && *edge < 1.0);
        edges.sort_by(f64::total_cmp);
        edges.dedup();
        let lows = std::iter::once(0.0).chain(edges.iter().copied());
        let highs = edges.iter().map(|edge| edge.next_down()).chain([1.0]);
        return lows.zip(highs).map(|(low, high)| (vec![low], vec![high])).collect();
    }
    let mut pieces = Vec::new();
    let mut low = 0.0;
    // The space keeps cuts in order and each once.
    for cut in cuts {
        pieces.push((vec![low], vec![cut.at.next_down()]));
        low = cut.at;
    }
    pieces.push((vec![low], vec![1.0]));
    pieces.retain(|(lower, upper)| Side::read(space, p, lower, upper) != Side::Nothing);
    pieces
}

/// The parameter with the longest side that can be halved, if the cell is wider than `diameter`.
fn too_long(space: &Space, module: usize, cell: &Cell, diameter: f64) -> Option<usize> {
    let (mut square, mut longest) = (0.0, None);
    for (p, side) in cell.sides(space, module) {
        let length = side.length(space, p);
        square += length * length;
        if side.splits() && longest.is_none_or(|(_, known)| length > known) {
            longest = Some((p, length));
        }
    }
    (f64::sqrt(square) > diameter).then_some(longest?.0)
}
