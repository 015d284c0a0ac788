//! The proposer: computes on snapshots, so that nobody waits for a fit.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender};

use stagetune::space::Point;
use stagetune::study::{Study, StudyError};
use stagetune::trial::TrialId;

use super::desk::{Answer, Message};

/// What there is to compute.
pub(super) enum Task {
    /// What to try next.
    Propose(Box<Study>),
    /// The later values of a trial.
    Settle { study: Box<Study>, trial: TrialId, answer: Sender<Answer<Point>> },
}

/// Computes one task after the other until nobody sends any more.
pub(super) fn work(tasks: &Receiver<Task>, results: &Sender<Message>) {
    for task in tasks {
        let result = match task {
            Task::Propose(study) => Message::Proposed(Box::new(guarded(|| study.propose()))),
            Task::Settle { study, trial, answer } => {
                Message::Settled { trial, point: guarded(|| study.settle(trial)), answer }
            }
        };
        if results.send(result).is_err() {
            return;
        }
    }
}

/// A panic in a strategy of somebody else's must not leave the dispatcher waiting without end.
fn guarded<T>(work: impl FnOnce() -> Result<T, StudyError>) -> Result<T, StudyError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(StudyError::Panicked))
}
