//! The desk: how threads of trials speak with the dispatcher. Every request has one answer.

use std::sync::mpsc::{self, Sender};

use stagetune::space::Point;
use stagetune::strategy::Proposal;
use stagetune::study::{Next, StudyError};
use stagetune::trial::{End, StageReport, TrialId};

use super::error::RunError;
use super::log_writer::LogNews;
use crate::log::Run;

/// A stage of a trial that is done, with its report and how it ran.
#[derive(Clone, Debug)]
pub(super) struct StageDone {
    pub(super) stage: usize,
    pub(super) report: StageReport,
    pub(super) run: Run,
}

/// What reaches the dispatcher.
pub(super) enum Message {
    /// An attempt is about to start: it is written down first.
    Launch { trial: TrialId, stage: usize, key: String, token: String, answer: Sender<Answer<()>> },
    /// Stages are done; the answer says how to go on with the trial.
    Report { trial: TrialId, done: Vec<StageDone>, answer: Sender<Answer<Next>> },
    /// The later values of the trial are to be settled.
    Settle { trial: TrialId, answer: Sender<Answer<Point>> },
    /// The thread of a trial has ended: with an end to tell, or without one because it was stopped or withdrawn.
    TrialOver { trial: TrialId, end: Result<Option<End>, RunError> },
    /// The threads of the log have something to say.
    Log(LogNews),
    /// The proposer has an answer.
    Proposed(Box<Result<Proposal, StudyError>>),
    /// The proposer has settled the values of a trial.
    Settled { trial: TrialId, point: Result<Point, StudyError>, answer: Sender<Answer<Point>> },
}

/// What the dispatcher answers.
pub(super) enum Answer<T> {
    /// It is done, and written down.
    Done(T),
    /// The trial has ended meanwhile, by somebody else's word: leave it.
    Gone,
    /// The owner is about to end: leave everything as it is.
    Closing,
}

/// One trial's place at the desk.
#[derive(Clone)]
pub(super) struct Desk {
    trial: TrialId,
    requests: Sender<Message>,
}

impl Desk {
    pub(super) fn new(trial: TrialId, requests: Sender<Message>) -> Self {
        Self { trial, requests }
    }

    /// Writes down that an attempt is about to start.
    pub(super) fn launch(&self, stage: usize, key: String, token: String) -> Answer<()> {
        let trial = self.trial;
        self.ask(|answer| Message::Launch { trial, stage, key, token, answer })
    }

    /// Hands in what stages did.
    pub(super) fn report(&self, done: Vec<StageDone>) -> Answer<Next> {
        let trial = self.trial;
        self.ask(|answer| Message::Report { trial, done, answer })
    }

    /// Has the later values settled.
    pub(super) fn settle(&self) -> Answer<Point> {
        let trial = self.trial;
        self.ask(|answer| Message::Settle { trial, answer })
    }

    fn ask<T>(&self, request: impl FnOnce(Sender<Answer<T>>) -> Message) -> Answer<T> {
        let (answer, answered) = mpsc::channel();
        if self.requests.send(request(answer)).is_err() {
            return Answer::Closing;
        }
        // Whoever drops the question without an answer is about to end.
        answered.recv().unwrap_or(Answer::Closing)
    }
}
