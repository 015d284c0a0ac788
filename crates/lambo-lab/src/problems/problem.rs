//! A test function of a given dimension and shift: its box, its values, its exact minimum.

use super::FORMULAS;
use super::formula::Formula;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::str::FromStr;

/// How far a shift may move the minimiser towards the nearer face, as a share of its distance to that face.
///
/// At 0.8 the minimiser of a centred function lands anywhere in the middle four fifths of each coordinate.
pub const SHIFT_SHARE: f64 = 0.8;

/// A test problem: minimise [`Problem::evaluate`] over a box.
pub struct Problem {
    name: String,
    formula: &'static dyn Formula,
    delta: Vec<f64>,
    minimiser: Vec<f64>,
    minimum: f64,
    maximum: f64,
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
    #[error("no test function is called `{letters}`; there are {known}")]
    UnknownFunction {
        /// The letters of the name.
        letters: String,
        /// The names that exist.
        known: String,
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
}

impl Problem {
    /// The name that parses to this problem.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many coordinates a point has.
    pub fn dim(&self) -> usize {
        self.delta.len()
    }

    /// The lower and upper end of every coordinate.
    pub fn interval(&self) -> (f64, f64) {
        self.formula.interval()
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

    /// The noise-free value at `x`, in the function's own coordinates.
    pub fn evaluate(&self, x: &[f64]) -> Result<f64, ProblemError> {
        if x.len() != self.dim() {
            let (problem, expected, given) = (self.name.clone(), self.dim(), x.len());
            return Err(ProblemError::WrongLength { problem, expected, given });
        }
        let z: Vec<f64> = x.iter().zip(&self.delta).map(|(x, delta)| x - delta).collect();
        Ok(self.formula.value(&z))
    }

    /// The point of the box that corresponds to a point of the unit cube.
    pub fn from_unit(&self, u: &[f64]) -> Vec<f64> {
        let (low, high) = self.interval();
        u.iter().map(|u| low + u * (high - low)).collect()
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

        let formula = *FORMULAS.iter().find(|f| f.name() == letters).ok_or_else(|| {
            let known = FORMULAS.map(|f| f.name()).join(", ");
            ProblemError::UnknownFunction { letters: letters.to_owned(), known }
        })?;
        if !formula.dimensions().contains(dim) {
            let allowed = formula.dimensions().to_string();
            return Err(ProblemError::UnknownDimension { function: formula.name(), dim, allowed });
        }

        let (low, high) = formula.interval();
        let centre = formula.minimiser(dim);
        let delta = seed.map_or_else(|| vec![0.0; dim], |seed| seeded_offset(seed, &centre, low, high));
        let intervals: Vec<_> = delta.iter().map(|delta| (low - delta, high - delta)).collect();
        Ok(Self {
            name: name.to_owned(),
            formula,
            minimiser: centre.iter().zip(&delta).map(|(centre, delta)| centre + delta).collect(),
            minimum: formula.minimum(dim),
            maximum: formula.maximum(&intervals),
            delta,
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

fn seeded_offset(seed: u64, minimiser: &[f64], low: f64, high: f64) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let offset = |&centre: &f64| {
        // The top 53 bits make a uniform double in [0, 1).
        let unit = (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        (2.0 * unit - 1.0) * SHIFT_SHARE * (centre - low).min(high - centre)
    };
    minimiser.iter().map(offset).collect()
}
