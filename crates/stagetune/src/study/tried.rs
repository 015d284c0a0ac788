//! Which points of a space that can be counted were tried.

use std::collections::BTreeMap;

use crate::space::{Point, Space};

/// Points past which nobody asks: no study has as many trials.
const MOST_POINTS: u64 = 10_000;

/// The points that were asked for, of a space of few.
#[derive(Clone, Debug)]
pub(super) struct Tried {
    points: u64,
    /// How often each was asked for.
    seen: BTreeMap<Point, usize>,
}

impl Tried {
    /// None yet; `None` where there are too many to be counted.
    pub(super) fn of(space: &Space) -> Option<Self> {
        space.count_allowed(MOST_POINTS).map(|points| Self { points, seen: BTreeMap::new() })
    }

    /// A point was asked for.
    pub(super) fn note(&mut self, point: &Point) {
        match self.seen.get_mut(point) {
            Some(times) => *times += 1,
            None => drop(self.seen.insert(point.clone(), 1)),
        }
    }

    /// A trial of a point was withdrawn.
    pub(super) fn take_back(&mut self, point: &Point) {
        if let Some(times) = self.seen.get_mut(point) {
            *times -= 1;
            if *times == 0 {
                self.seen.remove(point);
            }
        }
    }

    /// How many points there are, once all of them were asked for.
    pub(super) fn all(&self) -> Option<u64> {
        (self.seen.len() as u64 >= self.points).then_some(self.points)
    }
}
