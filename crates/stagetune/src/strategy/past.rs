//! What a strategy may look at when a proposal becomes a trial.

use std::fmt;

use crate::space::{Point, Space};
use crate::trial::Trial;

/// The space and the points of earlier trials, without what became of them.
///
/// A proposal is computed on a snapshot of a study while results keep coming in. What a strategy becomes by
/// accepting it must not depend on these results, so there is no way to read them here.
#[derive(Clone, Copy)]
pub struct Past<'a> {
    space: &'a Space,
    trials: &'a [Trial],
}

impl<'a> Past<'a> {
    /// Of these trials, all in the order asked.
    pub fn new(space: &'a Space, trials: &'a [Trial]) -> Self {
        Self { space, trials }
    }

    /// What can be tuned.
    pub fn space(&self) -> &'a Space {
        self.space
    }

    /// How many trials there are: the number of the one that is about to be made.
    pub fn trials(&self) -> usize {
        self.trials.len()
    }

    /// The point of a trial, counted from 0 in the order asked.
    pub fn point(&self, trial: usize) -> Option<&'a Point> {
        self.trials.get(trial).map(Trial::point)
    }
}

impl fmt::Debug for Past<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.trials.iter().map(|trial| trial.point().to_string())).finish()
    }
}
