//! The maximiser of acquisition functions: many quasi-random points, then quasi-Newton steps from the best of them.
//!
//! 1. *Raw points*: a scrambled Sobol' sequence over the free coordinates, and points scattered around hints (such as the best
//!    observations), evaluated in large batches.
//! 2. *Starts*: the best raw points that are not close to a better one.
//! 3. *Climbing*: groups of starts advance together, so that each step of a group is one batch. Continuous coordinates take
//!    bounded quasi-Newton steps; ints and choices then jump to the best of their neighbours, and so on in turn until neither helps
//!    (Wan et al. 2021 alternate the same way).
//!
//! The outcome depends on the seed alone: batches and groups have fixed sizes, whatever the number of threads.

mod climb;
mod raw;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::region::Region;
use super::surface::Objective;
use crate::space::{Batch, SpaceError};
use crate::surrogate::SurrogateError;

/// Points per batch of raw evaluations: enough columns for the blocked triangular solve to run at full speed.
const BATCH: usize = 256;

/// Starts that climb together: one step of all is one batch, which the posterior shares among threads.
const GROUP: usize = 64;

/// No more raw points, points near hints or starts than this: a slip of the pen should not take all memory.
const MAX_POINTS: usize = 1 << 22;

/// Starts closer than this in every coordinate count as one.
const APART: f64 = 0.02;

/// How hard to look.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Maximiser {
    /// Quasi-random points over the whole region.
    pub raw: usize,
    /// Points scattered around the hints, in all.
    pub near_hints: usize,
    /// Raw points from which to climb.
    pub starts: usize,
    /// Evaluations per start and climb.
    pub max_evaluations: usize,
    /// Seed of the quasi-random points.
    #[serde(skip)]
    pub seed: u64,
}

impl Default for Maximiser {
    fn default() -> Self {
        // With five hints, within 1% of a search sixteen times as wide in all of 140 runs on the data of `cargo xtask peers`; with one
        // hint in nine of ten.
        Self { raw: 512, near_hints: 128, starts: 12, max_evaluations: 80, seed: 0 }
    }
}

/// The best point found.
#[derive(Clone, Debug, PartialEq)]
pub struct Best {
    /// Where, in the unit cube; ints and choices are at their codes.
    pub x: Vec<f64>,
    /// The value there.
    pub value: f64,
}

/// Why nothing was found.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MaximiseError {
    /// A corner, hint or frozen point has the wrong length.
    #[error("{found} coordinates where the region has {expected}")]
    WrongDimension {
        /// Coordinates of the region.
        expected: usize,
        /// Coordinates given.
        found: usize,
    },
    /// A side of the box is empty or leaves the unit cube.
    #[error(
        "coordinate {coordinate} of the box runs from {low} to {high}: it must lie in [0, 1] and not be empty"
    )]
    BadBox {
        /// Which coordinate.
        coordinate: usize,
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// The region has no coordinates.
    #[error("the region has no coordinates: give it at least one parameter")]
    NoCoordinates,
    /// The box holds no value of some int or choice.
    #[error(
        "no point in the box: it lies between the values of an int or choice; widen it or freeze the parameter"
    )]
    NothingAllowed,
    /// The forbidden regions leave nothing of the box.
    #[error("in the box to search, {0}")]
    Forbidden(#[from] SpaceError),
    /// The objective is NaN or −∞ wherever it was evaluated.
    #[error(
        "the acquisition function has no finite value anywhere in the region: check the posterior it is given"
    )]
    NothingFinite,
    /// The surrogate refused a prediction.
    #[error(transparent)]
    Surrogate(#[from] SurrogateError),
}

impl Maximiser {
    /// The point of the region with the highest value found; `hints` are points worth looking around.
    pub fn maximise(
        &self,
        objective: &dyn Objective,
        region: &Region<'_>,
        hints: &Batch,
    ) -> Result<Best, MaximiseError> {
        if region.dim() == 0 {
            return Err(MaximiseError::NoCoordinates);
        }
        if !hints.is_empty() && hints.dim() != region.dim() {
            return Err(MaximiseError::WrongDimension { expected: region.dim(), found: hints.dim() });
        }
        let bounded = Self {
            raw: self.raw.min(MAX_POINTS),
            near_hints: self.near_hints.min(MAX_POINTS),
            starts: self.starts.clamp(1, MAX_POINTS),
            ..*self
        };
        let walk = climb::Walk::new(region)?;
        let raw = match raw::points(&bounded, region, &walk, hints) {
            // Once every point of a space was told, the best of them may be asked for again.
            Err(MaximiseError::NothingAllowed) => match region.with_told() {
                Some(all) => return self.maximise(objective, &all, hints),
                None => return Err(MaximiseError::NothingAllowed),
            },
            raw => raw?,
        };
        let values = evaluate(objective, &raw)?;
        let mut order: Vec<usize> = (0..raw.len()).filter(|&i| values[i] > f64::NEG_INFINITY).collect();
        // A stable sort: among equals the earlier point stays first.
        order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
        let (Some(&top), Some(&median)) = (order.first(), order.get(order.len() / 2)) else {
            return Err(MaximiseError::NothingFinite);
        };
        let spread = values[top] - values[median];
        let starts: Vec<Best> = spread_out(region, &raw, &order, bounded.starts)
            .into_iter()
            .map(|i| Best { x: raw.row(i).to_vec(), value: values[i] })
            .collect();
        let climbed: Vec<Result<Vec<Best>, MaximiseError>> = starts
            .par_chunks(GROUP)
            .map(|group| walk.climb(objective, group.to_vec(), spread, self.max_evaluations))
            .collect();
        let mut best = Best { x: raw.row(top).to_vec(), value: values[top] };
        for group in climbed {
            for found in group? {
                if found.value > best.value {
                    best = found;
                }
            }
        }
        // The climb works in units of the spread; the value that is reported is the objective's own.
        best.value = evaluate(objective, &Batch::of(region.dim(), &best.x))?[0];
        Ok(best)
    }
}

/// Values at all points, in batches of a fixed size that threads share.
fn evaluate(objective: &dyn Objective, at: &Batch) -> Result<Vec<f64>, MaximiseError> {
    let parts: Vec<Result<Vec<f64>, SurrogateError>> = at
        .as_slice()
        .par_chunks(BATCH * at.dim())
        .map(|rows| objective.values(&Batch::of(at.dim(), rows)))
        .collect();
    let mut values = Vec::with_capacity(at.len());
    for part in parts {
        values.extend(part?.into_iter().map(|v| if v.is_nan() { f64::NEG_INFINITY } else { v }));
    }
    Ok(values)
}

/// The first `count` of `order` that keep apart from those before them; if too few do, the first of the others.
fn spread_out(region: &Region<'_>, points: &Batch, order: &[usize], count: usize) -> Vec<usize> {
    let close = |a: usize, b: usize| {
        let (a, b) = (points.row(a), points.row(b));
        a.iter().zip(b).all(|(a, b)| (a - b).abs() < APART) && region.same_categories(a, b)
    };
    let mut chosen: Vec<usize> = Vec::new();
    for &i in order {
        if chosen.len() == count {
            return chosen;
        }
        if !chosen.iter().any(|&j| close(i, j)) {
            chosen.push(i);
        }
    }
    let rest: Vec<usize> = order.iter().copied().filter(|i| !chosen.contains(i)).collect();
    chosen.extend(rest.into_iter().take(count - chosen.len()));
    chosen
}
