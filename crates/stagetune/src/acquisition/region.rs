//! Where the maximiser may look: a box of the unit cube, with the space's grids, choices and forbidden regions.

use std::sync::Arc;

use super::maximise::MaximiseError;
use super::told::Told;
use crate::space::{Axis, Space};

/// A box of the unit cube; where its sides have no length, coordinates are frozen.
///
/// Values of ints and choices are those whose code lies in the box.
///
/// ```
/// use stagetune::acquisition::Region;
/// let region = Region::cube(3).freeze(0, &[0.25])?.within(&[0.0, 0.5, 0.0], &[1.0, 1.0, 1.0])?;
/// assert_eq!(region.lower(), &[0.25, 0.5, 0.0]);
/// # Ok::<(), stagetune::acquisition::MaximiseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Region<'a> {
    space: Option<&'a Space>,
    lower: Vec<f64>,
    upper: Vec<f64>,
    told: Option<Arc<Told>>,
}

/// Values of a large choice that were tried and are looked at, those of the best trials: each is a prediction at every jump.
const MOST_TRIED: usize = 24;

/// Others that are looked at beside them.
const MOST_UNTRIED: u64 = 8;

/// A decision that is not a real number: one coordinate on a grid, or several that encode a choice.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Block {
    /// Coordinate `at` takes the codes of values `first..=last`.
    Grid { at: usize, first: u64, last: u64 },
    /// Coordinate `at` takes one of these codes of a large choice.
    Category { at: usize, codes: Vec<f64> },
    /// Of the coordinates from `at` on, `len` of them, one of `options` is 1 and the others 0.
    OneHot { at: usize, len: usize, options: Vec<usize> },
}

impl<'a> Region<'a> {
    /// The whole unit cube of continuous coordinates.
    pub fn cube(dim: usize) -> Self {
        Self { space: None, lower: vec![0.0; dim], upper: vec![1.0; dim], told: None }
    }

    /// The whole of a space.
    pub fn of(space: &'a Space) -> Self {
        Self { space: Some(space), ..Self::cube(space.dim()) }
    }

    /// The part inside a box. Coordinates frozen before stay as they are.
    pub fn within(mut self, lower: &[f64], upper: &[f64]) -> Result<Self, MaximiseError> {
        let dim = self.dim();
        for found in [lower.len(), upper.len()] {
            if found != dim {
                return Err(MaximiseError::WrongDimension { expected: dim, found });
            }
        }
        for i in 0..dim {
            let inside = |v: f64| (0.0..=1.0).contains(&v);
            if !(inside(lower[i]) && inside(upper[i]) && lower[i] <= upper[i]) {
                return Err(MaximiseError::BadBox { coordinate: i, low: lower[i], high: upper[i] });
            }
            if self.lower[i] < self.upper[i] {
                let (low, high) = (self.lower[i].max(lower[i]), self.upper[i].min(upper[i]));
                if low > high {
                    return Err(MaximiseError::BadBox { coordinate: i, low, high });
                }
                (self.lower[i], self.upper[i]) = (low, high);
            }
        }
        Ok(self)
    }

    /// Holds the coordinates from `first` on at these values, bit for bit.
    pub fn freeze(mut self, first: usize, values: &[f64]) -> Result<Self, MaximiseError> {
        let dim = self.dim();
        if first.checked_add(values.len()).is_none_or(|end| end > dim) {
            return Err(MaximiseError::WrongDimension {
                expected: dim,
                found: first.saturating_add(values.len()),
            });
        }
        for (i, &value) in values.iter().enumerate() {
            if !(0.0..=1.0).contains(&value) {
                return Err(MaximiseError::BadBox { coordinate: first + i, low: value, high: value });
            }
            (self.lower[first + i], self.upper[first + i]) = (value, value);
        }
        Ok(self)
    }

    /// The same without these points, if only finitely many are left: no continuous coordinate is free.
    pub(crate) fn beside(mut self, told: &Arc<Told>) -> Self {
        self.told = (!told.is_empty()).then(|| told.clone());
        self
    }

    /// The same with the points that were left out, if there are any and nothing else bounds the region.
    pub(super) fn with_told(&self) -> Option<Self> {
        let whole = self.lower.iter().all(|l| *l == 0.0) && self.upper.iter().all(|u| *u == 1.0);
        (whole && self.leaves_out()).then(|| Self { told: None, ..self.clone() })
    }

    /// Whether points are left out because they were told.
    pub(super) fn leaves_out(&self) -> bool {
        let moves = |i: usize| self.lower[i] < self.upper[i] && self.axis(i) == Axis::Continuous;
        self.told.is_some() && !(0..self.dim()).any(moves)
    }

    /// How many coordinates there are.
    pub fn dim(&self) -> usize {
        self.lower.len()
    }

    /// The lower corner.
    pub fn lower(&self) -> &[f64] {
        &self.lower
    }

    /// The upper corner.
    pub fn upper(&self) -> &[f64] {
        &self.upper
    }

    /// Whether a point lies in the box, in no forbidden region, and is not left out.
    pub fn contains(&self, x: &[f64]) -> bool {
        x.len() == self.dim()
            && x.iter().zip(self.lower.iter().zip(&self.upper)).all(|(x, (l, u))| l <= x && x <= u)
            && self.space.is_none_or(|space| space.allows_coded(x))
            && !(self.leaves_out() && self.told.as_ref().is_some_and(|told| told.contains(x)))
    }

    /// Coordinates that move freely between their bounds.
    pub(super) fn continuous(&self) -> Vec<usize> {
        (0..self.dim())
            .filter(|&i| self.lower[i] < self.upper[i] && self.axis(i) == Axis::Continuous)
            .collect()
    }

    /// Decisions that jump between the values that the box leaves, which may be a single one; an error where it leaves none.
    pub(super) fn blocks(&self) -> Result<Vec<Block>, MaximiseError> {
        let Some(space) = self.space else { return Ok(Vec::new()) };
        let mut blocks = Vec::new();
        let mut i = 0;
        while i < self.dim() {
            match self.axis(i) {
                Axis::OneHot { len, .. } => {
                    let can_be = |j: usize, v: f64| self.lower[j] <= v && v <= self.upper[j];
                    let fits = |k: usize| (0..len).all(|j| can_be(i + j, if j == k { 1.0 } else { 0.0 }));
                    let options: Vec<usize> = (0..len).filter(|&k| fits(k)).collect();
                    if options.is_empty() {
                        return Err(MaximiseError::NothingAllowed);
                    }
                    blocks.push(Block::OneHot { at: i, len, options });
                    i += len;
                }
                Axis::Grid { len } => {
                    blocks.push(self.grid_block(space, i, len)?);
                    i += 1;
                }
                Axis::Category { len } => {
                    let block = self.grid_block(space, i, len)?;
                    blocks.push(self.category_block(space, block));
                    i += 1;
                }
                Axis::Continuous => i += 1,
            }
        }
        Ok(blocks)
    }

    /// The values of the grid coordinate `i` whose codes lie in the box.
    fn grid_block(&self, space: &Space, i: usize, len: u64) -> Result<Block, MaximiseError> {
        let (low, high) = (self.lower[i], self.upper[i]);
        let code = |k: u64| space.grid_code(i, k);
        // The codes next to the ends of the box may lie on either side of them.
        let mut first = space.grid_index(i, low).unwrap_or(0);
        if code(first).is_some_and(|code| code < low) {
            first += 1;
        }
        let mut last = space.grid_index(i, high).unwrap_or(0);
        if last > 0 && code(last).is_some_and(|code| code > high) {
            last -= 1;
        }
        let fits = first < len && first <= last && code(last).is_some_and(|code| code <= high);
        if fits { Ok(Block::Grid { at: i, first, last }) } else { Err(MaximiseError::NothingAllowed) }
    }

    /// The values of a large choice that are looked at: the best ones that were tried, and others by number. A process knows nothing of the
    /// difference between two values that nobody tried, so that a few of them stand for all.
    fn category_block(&self, space: &Space, block: Block) -> Block {
        let Block::Grid { at, first, last } = block else { return block };
        let code = |k: u64| space.grid_code(at, k);
        let tried = self.told.as_ref().map_or(&[][..], |told| told.tried(at));
        let inside = |code: &&f64| self.lower[at] <= **code && **code <= self.upper[at];
        let mut codes: Vec<f64> = tried.iter().filter(inside).take(MOST_TRIED).copied().collect();
        let count = last - first + 1;
        // Others are taken at equal distances, from another value on after every trial that tried one.
        let step = (count / MOST_UNTRIED).max(1);
        let numbers =
            (0..count).map(|k| (k % MOST_UNTRIED * step + k / MOST_UNTRIED + tried.len() as u64) % count);
        let mut others = 0;
        for other in numbers.filter_map(|k| code(first + k)) {
            if others == MOST_UNTRIED {
                break;
            }
            if !tried.contains(&other) && !codes.contains(&other) {
                codes.push(other);
                others += 1;
            }
        }
        // Where all were tried, and none of the best is left by the box.
        codes.extend(code(first).filter(|_| codes.is_empty()));
        Block::Category { at, codes }
    }

    /// Whether two points have the same value of every large choice.
    pub(super) fn same_categories(&self, a: &[f64], b: &[f64]) -> bool {
        let Some(space) = self.space else { return true };
        let mut axes = space.axes().iter().zip(a.iter().zip(b));
        axes.all(|(axis, (a, b))| !matches!(axis, Axis::Category { .. }) || a == b)
    }

    pub(super) fn space(&self) -> Option<&'a Space> {
        self.space
    }

    fn axis(&self, i: usize) -> Axis {
        self.space.map_or(Axis::Continuous, |space| space.axes()[i])
    }
}

impl Block {
    /// How many values it can take.
    pub(super) fn len(&self) -> u64 {
        match self {
            Block::Grid { first, last, .. } => (last - first).saturating_add(1),
            Block::Category { codes, .. } => codes.len() as u64,
            Block::OneHot { options, .. } => options.len() as u64,
        }
    }

    /// Writes the code of value number `k` of those it can take.
    pub(super) fn write(&self, region: &Region<'_>, k: u64, x: &mut [f64]) {
        match self {
            Block::Grid { at, first, .. } => {
                if let Some(code) =
                    region.space().and_then(|space| space.grid_code(*at, first.saturating_add(k)))
                {
                    x[*at] = code;
                }
            }
            Block::Category { at, codes } => {
                x[*at] = codes[(k as usize).min(codes.len() - 1)];
            }
            Block::OneHot { at, len, options } => {
                x[*at..at + len].fill(0.0);
                x[at + options[(k as usize).min(options.len() - 1)]] = 1.0;
            }
        }
    }

    /// The number of the value that a point has here.
    pub(super) fn read(&self, region: &Region<'_>, x: &[f64]) -> u64 {
        match self {
            Block::Grid { at, first, last } => {
                let index = region.space().and_then(|space| space.grid_index(*at, x[*at]));
                index.map_or(0, |index| index.clamp(*first, *last) - first)
            }
            Block::Category { at, codes } => {
                codes.iter().position(|code| *code == x[*at]).unwrap_or(0) as u64
            }
            Block::OneHot { at, options, .. } => {
                options.iter().position(|&k| x[at + k] > 0.5).unwrap_or(0) as u64
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{Module, Param};

    #[test]
    fn told_points_are_left_out_where_finitely_many_are_left_and_only_there() {
        let params = [Param::float("a", 0.0, 1.0).unwrap(), Param::int("b", 0, 1).unwrap()];
        let space = Space::new([Module::new("m", params).unwrap()]).unwrap();
        let told = Arc::new(Told::new([vec![0.5, 0.25]]));
        let free = Region::of(&space).beside(&told);
        assert!(free.contains(&[0.5, 0.25]) && !free.leaves_out());
        let frozen = free.freeze(0, &[0.5]).unwrap();
        assert!(!frozen.contains(&[0.5, 0.25]) && frozen.contains(&[0.5, 0.75]));
        // A region that is bounded by more than what was told may be empty; only the whole space opens again.
        assert!(frozen.with_told().is_none());
        let grid = Space::new([Module::new("m", [Param::bool("b").unwrap()]).unwrap()]).unwrap();
        let whole = Region::of(&grid).beside(&Arc::new(Told::new([vec![0.0]])));
        assert!(!whole.contains(&[0.0]) && whole.with_told().is_some_and(|all| all.contains(&[0.0])));
        assert!(Region::of(&grid).beside(&Arc::default()).with_told().is_none());
    }
}
