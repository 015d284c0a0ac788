//! A problem: a test function of a given dimension and shift, or a table; its box, its values, its exact minimum.

use super::FORMULAS;
use super::draw::{self, Draw};
use super::formula::{Dimensions, Formula};
use super::table::Table;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::str::FromStr;
use std::sync::Arc;

/// How far a shift may move the minimiser towards the nearer face, as a share of its distance to that face.
///
/// At 0.8 the minimiser of a centred function lands anywhere in the middle four fifths of each coordinate.
pub const SHIFT_SHARE: f64 = 0.8;

/// A test problem: minimise [`Problem::evaluate`] over a box.
pub struct Problem {
    name: String,
    shape: Shape,
    delta: Vec<f64>,
    minimiser: Vec<f64>,
    minimum: f64,
    maximum: f64,
}

/// Where the values come from.
#[derive(Clone)]
enum Shape {
    Known(&'static dyn Formula),
    Drawn(Arc<Draw>),
    Listed(Arc<Table>),
}

/// Why there is no such problem, or no value.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum ProblemError {
    /// The name is not letters, a dimension and perhaps a seed.
    #[error(
        "`{name}` is not a problem: write letters, a dimension and perhaps a seed, such as ackley8 or ackley8@7"
    )]
    Malformed {
        /// The name as given.
        name: String,
    },
    /// No function has these letters.
    #[error("no test function is called `{letters}`; there are {known} and gp")]
    UnknownFunction {
        /// The letters of the name.
        letters: String,
        /// The names that exist.
        known: String,
    },
    /// A draw from a Gaussian process has no seed.
    #[error("`{name}` is a draw from a Gaussian process and needs a seed; write {name}@7, say")]
    Unseeded {
        /// The name as given.
        name: String,
    },
    /// The function does not exist in this dimension.
    #[error("{function} has no variant of dimension {dim}; it has {allowed}")]
    UnknownDimension {
        /// The function.
        function: &'static str,
        /// The dimension asked for.
        dim: usize,
        /// The dimensions that exist.
        allowed: String,
    },
    /// The point has the wrong number of coordinates.
    #[error("{problem} takes {expected} coordinates, not {given}")]
    WrongLength {
        /// The problem.
        problem: String,
        /// How many it takes.
        expected: usize,
        /// How many were given.
        given: usize,
    },
    /// A table has no setting there.
    #[error("{problem} has no setting at {x:?}: it takes whole indices from 0, below {lengths:?}")]
    OffGrid {
        /// The problem.
        problem: String,
        /// The point as given.
        x: Vec<f64>,
        /// Values of each parameter.
        lengths: Vec<usize>,
    },
}

impl Problem {
    /// Minimise minus the score of a table, over the indices of its grid.
    pub fn of_table(table: Table) -> Self {
        let minimiser: Vec<f64> = table.best_indices().into_iter().map(|index| index as f64).collect();
        Self {
            name: table.name().to_owned(),
            delta: vec![0.0; minimiser.len()],
            minimiser,
            minimum: -table.best(),
            maximum: -table.worst(),
            shape: Shape::Listed(Arc::new(table)),
        }
    }

    /// The table, if it is one.
    pub fn table(&self) -> Option<&Table> {
        match &self.shape {
            Shape::Listed(table) => Some(table),
            Shape::Known(_) | Shape::Drawn(_) => None,
        }
    }

    /// The name that parses to this problem; of a table, its own name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many coordinates a point has.
    pub fn dim(&self) -> usize {
        self.delta.len()
    }

    /// The lower and upper end of a coordinate: of a table, the first and the last index.
    pub fn interval(&self, coordinate: usize) -> (f64, f64) {
        match &self.shape {
            Shape::Known(formula) => formula.interval(),
            Shape::Drawn(draw) => draw.interval(),
            Shape::Listed(table) => {
                let length = table.params().nth(coordinate).map_or(1, |param| param.values.len());
                (0.0, (length - 1) as f64)
            }
        }
    }

    /// The offset δ of the shifted variant; all 0 without one.
    pub fn delta(&self) -> &[f64] {
        &self.delta
    }

    /// Where the global minimum is.
    pub fn minimiser(&self) -> &[f64] {
        &self.minimiser
    }

    /// The global minimum.
    pub fn minimum(&self) -> f64 {
        self.minimum
    }

    /// A number that no value exceeds.
    pub fn maximum(&self) -> f64 {
        self.maximum
    }

    /// The noise-free value at `x`, in the function's own coordinates; for a table, indices.
    pub fn evaluate(&self, x: &[f64]) -> Result<f64, ProblemError> {
        if x.len() != self.dim() {
            let (problem, expected, given) = (self.name.clone(), self.dim(), x.len());
            return Err(ProblemError::WrongLength { problem, expected, given });
        }
        let z: Vec<f64> = x.iter().zip(&self.delta).map(|(x, delta)| x - delta).collect();
        match &self.shape {
            Shape::Known(formula) => Ok(formula.value(&z)),
            Shape::Drawn(draw) => Ok(draw.value(&z)),
            Shape::Listed(table) => {
                let whole = |x: &f64| (x.fract() == 0.0 && *x >= 0.0).then_some(*x as usize);
                let indices = x.iter().map(whole).collect::<Option<Vec<usize>>>();
                indices.and_then(|indices| table.at(&indices)).map(|score| -score).ok_or_else(|| {
                    let lengths = table.params().map(|param| param.values.len()).collect();
                    ProblemError::OffGrid { problem: self.name.clone(), x: x.to_vec(), lengths }
                })
            }
        }
    }

    /// The point of the box that corresponds to a point of the unit cube; on a grid, the index whose cell of equal width it is in.
    pub fn from_unit(&self, u: &[f64]) -> Vec<f64> {
        let place = |(i, u): (usize, &f64)| {
            let (low, high) = self.interval(i);
            match self.table() {
                Some(_) => (u * (high + 1.0)).floor().clamp(low, high),
                None => low + u * (high - low),
            }
        };
        u.iter().enumerate().map(place).collect()
    }

    /// The value mapped linearly so that the minimum becomes 0 and the maximum 1.
    pub fn normalise(&self, value: f64) -> f64 {
        (value - self.minimum) / (self.maximum - self.minimum)
    }
}

impl FromStr for Problem {
    type Err = ProblemError;

    fn from_str(name: &str) -> Result<Self, ProblemError> {
        let malformed = || ProblemError::Malformed { name: name.to_owned() };
        let (base, seed) = match name.split_once('@') {
            Some((base, seed)) => (base, Some(digits::<u64>(seed).ok_or_else(malformed)?)),
            None => (name, None),
        };
        let split = base.find(|c: char| c.is_ascii_digit()).ok_or_else(malformed)?;
        let (letters, dim) = base.split_at(split);
        let dim = digits::<usize>(dim).filter(|_| !letters.is_empty()).ok_or_else(malformed)?;

        let (shape, shift) = match seed {
            // A draw has its seed as its identity, and is not shifted.
            Some(seed) if letters == draw::NAME => {
                check_dimension(draw::NAME, &Dimensions::Range(1..=draw::MOST), dim)?;
                (Shape::Drawn(Arc::new(Draw::new(dim, seed))), None)
            }
            None if letters == draw::NAME => {
                return Err(ProblemError::Unseeded { name: name.to_owned() });
            }
            shift => {
                let formula = *FORMULAS.iter().find(|f| f.name() == letters).ok_or_else(|| {
                    let known = FORMULAS.map(|f| f.name()).join(", ");
                    ProblemError::UnknownFunction { letters: letters.to_owned(), known }
                })?;
                check_dimension(formula.name(), &formula.dimensions(), dim)?;
                (Shape::Known(formula), shift)
            }
        };
        let formula: &dyn Formula = match &shape {
            Shape::Known(formula) => *formula,
            Shape::Drawn(draw) => draw.as_ref(),
            Shape::Listed(_) => return Err(malformed()),
        };

        let (low, high) = formula.interval();
        let centre = formula.minimiser(dim);
        let delta = shift.map_or_else(|| vec![0.0; dim], |seed| seeded_offset(seed, &centre, low, high));
        let intervals: Vec<_> = delta.iter().map(|delta| (low - delta, high - delta)).collect();
        Ok(Self {
            name: name.to_owned(),
            minimiser: centre.iter().zip(&delta).map(|(centre, delta)| centre + delta).collect(),
            minimum: formula.minimum(dim),
            maximum: formula.maximum(&intervals),
            delta,
            shape: shape.clone(),
        })
    }
}

impl std::fmt::Debug for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Problem({})", self.name)
    }
}

/// A whole number in plain digits: `parse` alone would take `+6` for 6 and give one problem two names.
fn digits<T: FromStr>(text: &str) -> Option<T> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

fn check_dimension(function: &'static str, known: &Dimensions, dim: usize) -> Result<(), ProblemError> {
    if known.contains(dim) {
        return Ok(());
    }
    Err(ProblemError::UnknownDimension { function, dim, allowed: known.to_string() })
}

fn seeded_offset(seed: u64, minimiser: &[f64], low: f64, high: f64) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let offset = |&centre: &f64| {
        // The top 53 bits make a uniform double in [0, 1).
        let unit = (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        (2.0 * unit - 1.0) * SHIFT_SHARE * (centre - low).min(high - centre)
    };
    minimiser.iter().map(offset).collect()
}
