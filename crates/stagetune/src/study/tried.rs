//! Which points of a space that can be counted were tried.

use std::collections::BTreeSet;

use crate::space::{Point, Space};

/// Points past which nobody asks: no study has as many trials.
const MOST_POINTS: u64 = 10_000;

/// The points that were asked for, of a space of few.
#[derive(Debug)]
pub(super) struct Tried {
    points: u64,
    seen: BTreeSet<Point>,
}

impl Tried {
    /// None yet; `None` where there are too many to be counted.
    pub(super) fn of(space: &Space) -> Option<Self> {
        space.count_allowed(MOST_POINTS).map(|points| Self { points, seen: BTreeSet::new() })
    }

    /// A point was asked for.
    pub(super) fn note(&mut self, point: &Point) {
        if !self.seen.contains(point) {
            self.seen.insert(point.clone());
        }
    }

    /// How many points there are, once all of them were asked for.
    pub(super) fn all(&self) -> Option<u64> {
        (self.seen.len() as u64 >= self.points).then_some(self.points)
    }
}
