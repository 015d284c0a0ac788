//! What a cell leaves of one parameter, and how that is halved.
//!
//! A float is cut in the middle of its codes; an int, a bool or a choice of two between two codes; a one-hot choice is one decision,
//! cut between two of the options that are left. Options that a cell excludes have upper end 0; where one is left, its lower end is 1.

use crate::space::{Axis, Space};

/// The box of a parameter's coordinates: lower and upper ends.
pub(super) type Ends = (Vec<f64>, Vec<f64>);

/// What a cell leaves of one parameter.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::bandit) enum Side {
    /// Codes of a float, both ends included.
    Codes(f64, f64),
    /// Numbers of values on a grid, both included.
    Indices(u64, u64),
    /// Some options of a one-hot choice.
    Options(Vec<usize>),
    /// No value.
    Nothing,
}

impl Side {
    /// Reads the box `lower`, `upper` of the coordinates of parameter `p`.
    pub(in crate::bandit) fn read(space: &Space, p: usize, lower: &[f64], upper: &[f64]) -> Self {
        let at = space.param_coordinates(p).start;
        match (space.axes().get(at), lower, upper) {
            (Some(Axis::Continuous), &[a], &[b]) if a <= b => Self::Codes(a, b),
            (Some(Axis::Grid { .. } | Axis::Category { .. }), &[a], &[b]) => {
                Self::indices(space, at, a, b).unwrap_or(Self::Nothing)
            }
            (Some(Axis::OneHot { len, .. }), _, _) if lower.len() == *len && upper.len() == *len => {
                let can_be = |j: usize, v: f64| lower[j] <= v && v <= upper[j];
                let fits = |k: usize| (0..*len).all(|j| can_be(j, if j == k { 1.0 } else { 0.0 }));
                let options: Vec<usize> = (0..*len).filter(|&k| fits(k)).collect();
                if options.is_empty() { Self::Nothing } else { Self::Options(options) }
            }
            _ => Self::Nothing,
        }
    }

    /// The numbers of the codes of a grid coordinate that lie in [a, b].
    fn indices(space: &Space, at: usize, a: f64, b: f64) -> Option<Self> {
        let (mut first, mut last) = (space.grid_index(at, a)?, space.grid_index(at, b)?);
        // The codes next to the ends may lie on either side of them.
        if space.grid_code(at, first)? < a {
            first += 1;
        }
        if space.grid_code(at, last)? > b {
            last = last.checked_sub(1)?;
        }
        (first <= last).then_some(Self::Indices(first, last))
    }

    /// Whether there are two values or more.
    pub(super) fn splits(&self) -> bool {
        match self {
            Self::Codes(a, b) => a < b,
            Self::Indices(first, last) => first < last,
            Self::Options(options) => options.len() > 1,
            Self::Nothing => false,
        }
    }

    /// The largest distance between the codes of two values.
    pub(super) fn length(&self, space: &Space, p: usize) -> f64 {
        match self {
            Self::Codes(a, b) => open_end(*b) - a,
            Self::Indices(first, last) => {
                let code = |k: &u64| space.grid_code(space.param_coordinates(p).start, *k).unwrap_or(0.0);
                code(last) - code(first)
            }
            // Two codes differ by 1 in two coordinates.
            Self::Options(options) if options.len() > 1 => std::f64::consts::SQRT_2,
            Self::Options(_) | Self::Nothing => 0.0,
        }
    }

    /// Writes the code of the value at a position from 0 to 1.
    pub(in crate::bandit) fn write(&self, space: &Space, p: usize, position: f64, u: &mut [f64]) {
        match self {
            Self::Codes(a, b) => u.fill((a + position * (b - a)).clamp(*a, *b)),
            Self::Indices(first, last) => {
                let k = (position * ((last - first) as f64 + 1.0)) as u64;
                let code = space.grid_code(space.param_coordinates(p).start, first + k.min(last - first));
                u.fill(code.unwrap_or(0.0));
            }
            Self::Options(options) => {
                let k = (position * options.len() as f64) as usize;
                u.fill(0.0);
                if let Some(one) = options.get(k).and_then(|k| u.get_mut(*k)) {
                    *one = 1.0;
                }
            }
            Self::Nothing => {}
        }
    }

    /// The boxes of the two halves, inside the box it was read from; `None` for a single value.
    pub(super) fn halves(&self, space: &Space, p: usize, lower: &[f64], upper: &[f64]) -> Option<[Ends; 2]> {
        if !self.splits() {
            return None;
        }
        let range = space.param_coordinates(p);
        match self {
            Self::Codes(a, b) => {
                let middle = a + 0.5 * (open_end(*b) - a);
                // Between neighbouring doubles there is no middle.
                Some(cut(lower, upper, if *a < middle && middle <= *b { middle } else { *b }))
            }
            Self::Indices(first, last) => {
                let at = grid_edge(space, range.start, first + (last - first) / 2)?;
                Some(cut(lower, upper, at))
            }
            Self::Options(options) => {
                let (left, right) = options.split_at(options.len() / 2);
                Some([one_hot(range.len(), left), one_hot(range.len(), right)])
            }
            Self::Nothing => None,
        }
    }
}

/// The box of a one-hot choice that leaves these options.
pub(super) fn one_hot(len: usize, options: &[usize]) -> Ends {
    let upper = (0..len).map(|k| if options.contains(&k) { 1.0 } else { 0.0 }).collect();
    let mut lower = vec![0.0; len];
    if let [only] = options
        && let Some(end) = lower.get_mut(*only)
    {
        // The lower end tells the only option from the point 0, which decodes to the first option.
        *end = 1.0;
    }
    (lower, upper)
}

/// The end of the half-open interval that a closed one stands for: cuts leave the double before them as the end.
pub(super) fn open_end(upper: f64) -> f64 {
    if upper < 1.0 { upper.next_up() } else { 1.0 }
}

/// The parts of a box of one coordinate below `at` and from `at` on.
fn cut(lower: &[f64], upper: &[f64], at: f64) -> [Ends; 2] {
    [(lower.to_vec(), vec![at.next_down()]), (vec![at], upper.to_vec())]
}

/// The least double between the codes of values `k` and `k + 1` that decodes to the latter.
fn grid_edge(space: &Space, at: usize, k: u64) -> Option<f64> {
    // Doubles of [0, 1] are in the order of their bits.
    let (mut below, mut above) =
        (space.grid_code(at, k)?.to_bits(), space.grid_code(at, k.checked_add(1)?)?.to_bits());
    while above.saturating_sub(below) > 1 {
        let middle = below + (above - below) / 2;
        if space.grid_index(at, f64::from_bits(middle))? > k { above = middle } else { below = middle }
    }
    Some(f64::from_bits(above))
}
