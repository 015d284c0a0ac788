//! The proposer: computes on snapshots, so that nobody waits for a fit.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, Sender};

use stagetune::space::Point;
use stagetune::study::{Study, StudyError};
use stagetune::trial::TrialId;

use super::desk::{Answer, Message};
use super::error::RunError;

/// What there is to compute.
pub(super) enum Task {
    /// What to try next.
    Propose(Box<Study>),
    /// The later values of a trial.
    Settle { study: Box<Study>, trial: TrialId, answer: Sender<Answer<Point>> },
}

/// Starts a thread for tasks. Nobody waits for its last one: it has a copy of the study, and ends by itself.
pub(super) fn start(what: &'static str, results: Sender<Message>) -> Result<Sender<Task>, RunError> {
    let (tasks, to_do) = mpsc::channel();
    let thread = std::thread::Builder::new().spawn(move || work(&to_do, &results));
    thread.map_err(|source| RunError::NoThread { what, source })?;
    Ok(tasks)
}

/// Computes one task after the other until nobody sends any more.
fn work(tasks: &Receiver<Task>, results: &Sender<Message>) {
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
