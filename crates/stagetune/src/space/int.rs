//! A range of whole numbers with a step, and its cells in the unit interval, linear or logarithmic.
//!
//! ```text
//! linear   cell i = [i/n, (i+1)/n],                         code = its centre (i + ½)/n
//! log      cell i = [t(vᵢ − s/2), t(vᵢ + s/2)],             code = its centre,      t(x) = ln(x/A)/L
//!          the first cell starts at A = v₀ − d,  d = min(s/2, v₀/2),  so that A > 0 for every v₀ ≥ 1
//! ```
//!
//! The logarithms are taken of 1 + (x − A)/A, where x − A = d + (i ± ½)·s needs no large number, so that a range next
//! to the largest 64-bit number keeps its values apart.
//!
//! - `n`: how many values (`len`);  `s`: `step`;  `vᵢ = v₀ + i·s`: the values
//! - `A`: `start`;  `d`: `lead`;  `L = ln((vₙ₋₁ + s/2)/A)`: `span`

use libm::{expm1, log1p};

/// Doubles in [0, 1] tell at most 2⁵³ equal cells apart.
pub(super) const MAX_VALUES: u64 = 1 << 53;

/// Bound on L·vₙ₋₁/s for a log range: the narrowest cell is s/(L·vₙ₋₁) wide, codes are 2⁻⁵³ apart near 1 and the
/// formulas lose a few bits; 2⁻⁴⁸ leaves five bits inside a cell.
const MAX_FINENESS: f64 = (1_u64 << 48) as f64;

/// Doubles searched beside a computed code or edge: their rounding error is below two units.
const NEIGHBOURS: u64 = 8;

/// Relative slack on the distance from A: libm's expm1 is accurate to one unit but not proven monotone.
const SLACK: f64 = 4.0 * f64::EPSILON;

/// Whole numbers from a lower to an upper bound in equal steps, on a linear or a logarithmic scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntRange {
    low: i64,
    high: i64,
    step: i64,
    len: u64,
    log: Option<LogCells>,
}

/// The constants of the logarithmic cells.
#[derive(Clone, Copy, Debug, PartialEq)]
struct LogCells {
    start: f64,
    lead: f64,
    span: f64,
}

/// Why a range of whole numbers cannot be made; [`super::ParamError`] adds the name.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum IntProblem {
    Reversed,
    Step,
    OffStep { below: i64, above: Option<i64> },
    TooMany(u128),
    LogThroughZero,
    TooFineForLog,
}

impl IntRange {
    pub(super) fn new(low: i64, high: i64, step: i64, log: bool) -> Result<Self, IntProblem> {
        if low > high {
            return Err(IntProblem::Reversed);
        }
        if step < 1 {
            return Err(IntProblem::Step);
        }
        let width = high.abs_diff(low);
        let excess = width % step.unsigned_abs();
        if excess != 0 {
            let below = (i128::from(high) - i128::from(excess)) as i64;
            return Err(IntProblem::OffStep { below, above: below.checked_add(step) });
        }
        let len = width / step.unsigned_abs();
        if len >= MAX_VALUES {
            return Err(IntProblem::TooMany(u128::from(len) + 1));
        }
        let mut range = Self { low, high, step, len: len + 1, log: None };
        if log {
            if low < 1 {
                return Err(IntProblem::LogThroughZero);
            }
            let (a, s) = (low as f64, step as f64);
            let lead = (0.5 * s).min(0.5 * a);
            let start = a - lead;
            let span = log1p((lead + (range.len as f64 - 0.5) * s) / start);
            if span * (high as f64 / s) > MAX_FINENESS {
                return Err(IntProblem::TooFineForLog);
            }
            range.log = Some(LogCells { start, lead, span });
        }
        Ok(range)
    }

    /// The smallest value.
    pub fn low(&self) -> i64 {
        self.low
    }

    /// The largest value.
    pub fn high(&self) -> i64 {
        self.high
    }

    /// The distance between neighbouring values.
    pub fn step(&self) -> i64 {
        self.step
    }

    /// Whether the scale is logarithmic.
    pub fn is_log(&self) -> bool {
        self.log.is_some()
    }

    /// How many values there are; at least one.
    #[allow(clippy::len_without_is_empty)] // A range is never empty.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Value number `index`, counted from 0; the last one if there are fewer.
    pub fn value(&self, index: u64) -> i64 {
        let index = index.min(self.len - 1);
        (i128::from(self.low) + i128::from(index) * i128::from(self.step)) as i64
    }

    /// The number of a value, if it is one of the range.
    pub fn index_of(&self, value: i64) -> Option<u64> {
        let distance = value.abs_diff(self.low);
        let inside = self.low <= value && value <= self.high;
        (inside && distance.is_multiple_of(self.step.unsigned_abs()))
            .then(|| distance / self.step.unsigned_abs())
    }

    /// The values on each side of one that is in the range but between two steps.
    pub(super) fn neighbours(&self, value: i64) -> (i64, i64) {
        let index = value.clamp(self.low, self.high).abs_diff(self.low) / self.step.unsigned_abs();
        (self.value(index), self.value(index + 1))
    }

    /// How many values are below `threshold`, or at most `threshold` if `inclusive`.
    pub(super) fn count_below(&self, threshold: f64, inclusive: bool) -> u64 {
        let (mut first, mut last) = (0, self.len);
        while first < last {
            let middle = first + (last - first) / 2;
            let value = self.value(middle) as f64;
            if value < threshold || (inclusive && value == threshold) {
                first = middle + 1;
            } else {
                last = middle;
            }
        }
        first
    }

    /// The index of the cell that holds `u`, which the caller keeps in [0, 1].
    pub(super) fn decode(&self, u: f64) -> u64 {
        self.cell(u, 1.0)
    }

    /// The centre of cell `index`.
    pub(super) fn code(&self, index: u64) -> f64 {
        let i = index.min(self.len - 1);
        let guess = match self.log {
            None => (i as f64 + 0.5) / self.len as f64,
            Some(cells) => 0.5 * (self.log_edge(&cells, i) + self.log_edge(&cells, i + 1)),
        };
        self.settle(guess, |u| self.decode(u) == i)
    }

    /// The least code of cell `index`: everything below it decodes to a smaller value.
    pub(super) fn edge(&self, index: u64) -> f64 {
        let i = index.min(self.len - 1);
        let guess = match self.log {
            None => i as f64 / self.len as f64,
            Some(cells) => self.log_edge(&cells, i),
        };
        self.settle(guess, |u| self.decode(u) >= i && (u <= 0.0 || self.decode(u.next_down()) < i))
    }

    /// The first and last cell that codes in [lower, upper] can fall into.
    pub(super) fn reach(&self, lower: f64, upper: f64) -> (u64, u64) {
        if lower == upper || self.log.is_none() {
            return (self.decode(lower), self.decode(upper));
        }
        (self.cell(lower, 1.0 - SLACK), self.cell(upper, 1.0 + SLACK))
    }

    /// The cell of `u`, with the distance from A multiplied by `stretch`.
    fn cell(&self, u: f64, stretch: f64) -> u64 {
        let position = match self.log {
            None => u * self.len as f64,
            Some(cells) => {
                let y = cells.start * expm1(u * cells.span) * stretch;
                (y - cells.lead) / self.step as f64 + 0.5
            }
        };
        // The conversion saturates: a negative position is cell 0.
        (position as u64).min(self.len - 1)
    }

    /// Where cell `index` of the logarithmic cells starts.
    fn log_edge(&self, cells: &LogCells, index: u64) -> f64 {
        if index == 0 {
            return 0.0;
        }
        let y = cells.lead + (index as f64 - 0.5) * self.step as f64;
        (log1p(y / cells.start) / cells.span).min(1.0)
    }

    /// The double nearest to `guess` that satisfies `fits`; `guess` itself if none beside it does.
    fn settle(&self, guess: f64, fits: impl Fn(f64) -> bool) -> f64 {
        let (middle, top) = (guess.clamp(0.0, 1.0).to_bits(), 1.0_f64.to_bits());
        (0..=NEIGHBOURS)
            .flat_map(|k| [middle.saturating_sub(k), middle.saturating_add(k).min(top)])
            .map(f64::from_bits)
            .find(|&u| fits(u))
            .unwrap_or_else(|| f64::from_bits(middle))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trips(range: &IntRange, indices: impl IntoIterator<Item = u64>) {
        for i in indices {
            let code = range.code(i);
            assert!((0.0..=1.0).contains(&code));
            assert_eq!(range.decode(code), i, "{range:?}");
            let edge = range.edge(i);
            assert_eq!(range.decode(edge), i, "{range:?}");
            assert!(i == 0 || range.decode(edge.next_down()) < i, "{range:?} {i}");
            assert_eq!(range.index_of(range.value(i)), Some(i));
        }
    }

    #[test]
    fn even_batch_sizes_have_equal_cells() {
        let range = IntRange::new(2, 14, 2, false).unwrap();
        assert_eq!(range.len(), 7);
        assert_eq!(range.code(0), 0.5 / 7.0);
        assert_eq!((range.value(0), range.value(6)), (2, 14));
        assert_eq!((range.index_of(4), range.index_of(5), range.index_of(16)), (Some(1), None, None));
        assert_eq!(range.neighbours(5), (4, 6));
        round_trips(&range, 0..7);
    }

    #[test]
    fn powers_of_two_are_evenly_spread_on_a_log_scale() {
        let range = IntRange::new(1, 1024, 1, true).unwrap();
        round_trips(&range, 0..1024);
        let gap =
            |a: i64, b: i64| range.code(range.index_of(b).unwrap()) - range.code(range.index_of(a).unwrap());
        assert!((gap(64, 128) - gap(512, 1024)).abs() < 1e-4);
    }

    #[test]
    fn the_widest_ranges_keep_their_values() {
        let linear = IntRange::new(0, (1 << 53) - 1, 1, false).unwrap();
        let n = linear.len();
        round_trips(&linear, (0..200).chain(n / 2 - 100..n / 2 + 100).chain(n - 200..n));
        let top = IntRange::new(i64::MAX - 5, i64::MAX, 1, true).unwrap();
        round_trips(&top, 0..6);
        let bottom = IntRange::new(i64::MIN, i64::MAX, i64::MAX, false).unwrap_err();
        assert_eq!(bottom, IntProblem::OffStep { below: i64::MAX - 1, above: None });
        let whole = IntRange::new(i64::MIN, i64::MAX - 1, i64::MAX, false).unwrap();
        assert_eq!((0..3).map(|i| whole.value(i)).collect::<Vec<_>>(), [i64::MIN, -1, i64::MAX - 1]);
        round_trips(&whole, 0..3);
        let log = IntRange::new(1, 1_000_000_000_000, 1, true).unwrap();
        round_trips(&log, (0..500).chain(log.len() - 500..log.len()));
    }

    #[test]
    fn a_single_value_is_a_range_of_one_cell() {
        for log in [false, true] {
            let range = IntRange::new(3, 3, 1, log).unwrap();
            round_trips(&range, [0]);
            assert_eq!(range.decode(1.0), 0);
        }
    }

    #[test]
    fn ranges_that_doubles_cannot_resolve_are_refused() {
        assert!(matches!(IntRange::new(0, 1 << 53, 1, false), Err(IntProblem::TooMany(_))));
        assert!(matches!(IntRange::new(i64::MIN, i64::MAX, 1, false), Err(IntProblem::TooMany(_))));
        assert_eq!(IntRange::new(1, 1 << 52, 1, true), Err(IntProblem::TooFineForLog));
        assert_eq!(IntRange::new(0, 8, 1, true), Err(IntProblem::LogThroughZero));
        assert_eq!(IntRange::new(2, 15, 2, false), Err(IntProblem::OffStep { below: 14, above: Some(16) }));
        assert_eq!(IntRange::new(2, 1, 1, false), Err(IntProblem::Reversed));
        assert_eq!(IntRange::new(2, 3, 0, false), Err(IntProblem::Step));
    }
}
