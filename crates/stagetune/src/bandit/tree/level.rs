//! One level of a tree: how its subtrees divide the arms into runs.

use std::ops::Range;
use std::sync::Arc;

/// Where the subtrees of a level end. Subtrees count from 0, in the order of their arms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Level {
    /// All have as many arms as this.
    Even(usize),
    /// The end of each run; levels that are the same share it.
    Runs(Arc<[usize]>),
}

impl Level {
    /// The number of subtrees that `arms` arms make.
    pub(super) fn len(&self, arms: usize) -> usize {
        match self {
            Self::Even(width) => arms / width,
            Self::Runs(ends) => ends.len(),
        }
    }

    /// The arms of a subtree.
    pub(super) fn run(&self, subtree: usize) -> Range<usize> {
        match self {
            Self::Even(width) => subtree * width..(subtree + 1) * width,
            Self::Runs(ends) => subtree.checked_sub(1).map_or(0, |before| ends[before])..ends[subtree],
        }
    }

    /// The subtree that holds an arm.
    pub(super) fn holder(&self, arm: usize) -> usize {
        match self {
            Self::Even(width) => arm / width,
            Self::Runs(ends) => ends.partition_point(|end| *end <= arm),
        }
    }

    /// How many subtrees end at `arm` or before it, where the first `known` of them do.
    pub(super) fn ended(&self, arm: usize, known: usize) -> usize {
        match self {
            Self::Even(width) => arm / width,
            // A search from the start would not be linear over a whole level.
            Self::Runs(ends) => known + ends[known..].iter().take_while(|end| **end <= arm).count(),
        }
    }
}
