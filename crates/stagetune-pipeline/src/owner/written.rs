//! What the dispatcher enters into the log, and what it does when that is written: workers get
//! their answers, trials begin, results are told.

use std::sync::mpsc::Sender;

use stagetune::space::Point;
use stagetune::study::{Event, Next, Study, StudyError};
use stagetune::trial::{End, StageReport, TrialId};

use super::book::Make;
use super::desk::{Answer, StageDone};
use super::dispatcher::{Dispatcher, Lines};
use super::error::RunError;
use super::log_writer::LogNews;
use super::news::News;
use super::open::Context;
use crate::ledger::TrialState;
use crate::log::Record;

/// What is done when an entry is written.
pub(super) enum WhenWritten {
    /// The attempt may start.
    Launch(Sender<Answer<()>>),
    /// The worker is told how to go on with its trial.
    Report { trial: TrialId, done: Vec<StageDone>, answer: Sender<Answer<Next>> },
    /// The worker gets the settled values.
    Settle { point: Point, answer: Sender<Answer<Point>> },
    /// The trial begins.
    Begin,
    /// The result is told, as soon as it would survive a power cut.
    Tell(TrialId),
}

/// A result that is written, and not told yet.
pub(super) struct Untold {
    trial: TrialId,
    improved: bool,
    /// It is in the log's first so many records.
    position: u64,
}

impl Dispatcher {
    /// Enters what `make` makes; where it is refused, whoever waited for it is told.
    pub(super) fn enter(
        &mut self,
        context: &Context<'_>,
        make: Make,
        when: WhenWritten,
    ) -> Result<(), RunError> {
        match self.book.enter(make, when) {
            Ok(()) => Ok(()),
            Err((when, error)) => self.refuse(context, when, error),
        }
    }

    /// Enters one event, whatever the study is like by then.
    pub(super) fn enter_event(
        &mut self,
        context: &Context<'_>,
        event: Event,
        when: WhenWritten,
    ) -> Result<(), RunError> {
        self.enter(context, Box::new(move |_: &Study| Ok(vec![Record::from(event.clone())])), when)
    }

    /// Enters what stages of a trial did. What ran of a trial that was withdrawn meanwhile is
    /// charged all the same.
    pub(super) fn report(
        &mut self,
        context: &Context<'_>,
        trial: TrialId,
        done: Vec<StageDone>,
        answer: Sender<Answer<Next>>,
    ) -> Result<(), RunError> {
        let named: Vec<(String, StageDone)> =
            done.iter().map(|done| (self.book.stage_name(done.stage), done.clone())).collect();
        let make = Box::new(move |study: &Study| {
            // Where somebody else has reported the stage meanwhile, what ran is charged beside it.
            let is_known =
                |m: usize| study.reports(trial).and_then(|reports| reports.get(m)?.as_ref()).is_some();
            let records = named.iter().map(|(stage, done)| {
                let again = done.report.again || is_known(done.stage);
                let report = StageReport { again, ..done.report.clone() };
                let event = Event::Reported { trial, stage: stage.clone(), report };
                Record { run: Some(done.run.clone()), ..Record::from(event) }
            });
            Ok(records.collect())
        });
        self.enter(context, make, WhenWritten::Report { trial, done, answer })
    }

    /// Enters the end of a trial.
    pub(super) fn end(&mut self, context: &Context<'_>, trial: TrialId, end: End) -> Result<(), RunError> {
        let reason = end.reason().map(str::to_owned);
        let make = Box::new(move |study: &Study| Ok(vec![Record::from(study.ended(trial, end.clone())?)]));
        self.enter(context, make, WhenWritten::Tell(trial))?;
        self.give_up(context, reason.as_deref(), trial.index())
    }

    /// An entry was refused, when it was made or when it was made again after somebody else's.
    fn refuse(&mut self, context: &Context<'_>, when: WhenWritten, error: RunError) -> Result<(), RunError> {
        match (when, error) {
            // Somebody else has ended the trial.
            (WhenWritten::Launch(answer), RunError::Study(StudyError::Closed { .. })) => {
                let _ = answer.send(Answer::Gone);
            }
            (WhenWritten::Report { answer, .. }, RunError::Study(StudyError::Closed { .. })) => {
                let _ = answer.send(Answer::Gone);
            }
            (WhenWritten::Settle { answer, .. }, RunError::Study(StudyError::Closed { .. })) => {
                let _ = answer.send(Answer::Gone);
            }
            (WhenWritten::Tell(_), RunError::Study(StudyError::Closed { .. })) => {}
            // A value that the engine cannot use is a failure with a reason.
            (
                WhenWritten::Tell(trial),
                RunError::Study(error @ (StudyError::Trial(_) | StudyError::NoValue { .. })),
            ) => {
                let finished = self.book.study.space().modules().len();
                return self.end(
                    context,
                    trial,
                    End::Failed { stage: None, finished, reason: error.to_string() },
                );
            }
            (WhenWritten::Begin, error) => {
                self.beginning = self.beginning.saturating_sub(1);
                return Err(error);
            }
            (_, error) => return Err(error),
        }
        Ok(())
    }

    /// Takes in what the threads of the log say.
    pub(super) fn hear<'scope, 'env>(
        &mut self,
        context: &'env Context<'env>,
        lines: &Lines<'scope, 'env>,
        news: LogNews,
    ) -> Result<(), RunError>
    where
        'env: 'scope,
    {
        match news {
            LogNews::Written(count) => {
                for _ in 0..count {
                    self.written(context, lines)?;
                }
            }
            LogNews::Safe(position) => {
                while let Some(untold) = self.untold.pop_front_if(|untold| untold.position <= position) {
                    self.tell(context, &untold);
                }
            }
            LogNews::Others(others) => {
                let refused = self.book.take_others(&others).inspect_err(|_| self.close_book())?;
                for stamped in &others {
                    context.watcher.see(&News::Control { event: &stamped.record.event });
                }
                for (when, error) in refused {
                    self.refuse(context, when, error)?;
                }
                self.resumed.extend(self.book.take_attached());
                let book = &self.book;
                self.resumed.retain(|trial| book.is_open(trial.id()));
                context.patience.keep(|trial| book.is_open(TrialId::new(trial)));
            }
            LogNews::Failed(error) => {
                self.close_book();
                return Err(error);
            }
        }
        Ok(())
    }

    /// Nothing more is written: whoever waits for it is let go.
    fn close_book(&mut self) {
        self.book.close();
        self.untold.clear();
        self.beginning = 0;
    }

    /// The first entry is written.
    fn written<'scope, 'env>(
        &mut self,
        context: &'env Context<'env>,
        lines: &Lines<'scope, 'env>,
    ) -> Result<(), RunError>
    where
        'env: 'scope,
    {
        let best_before = self.book.ledger.best.clone();
        let Some((records, when)) = self.book.written() else { return Ok(()) };
        match when {
            WhenWritten::Launch(answer) => drop(answer.send(Answer::Done(()))),
            WhenWritten::Settle { point, answer } => drop(answer.send(Answer::Done(point))),
            WhenWritten::Report { trial, done, answer } => {
                // Somebody may have withdrawn it.
                let is_open = self.book.is_open(trial);
                let next = if is_open { Some(self.book.study.next(trial)?) } else { None };
                let _ = answer.send(next.map_or(Answer::Gone, Answer::Done));
                if is_open {
                    self.show(context, trial, &done);
                }
            }
            WhenWritten::Begin => {
                self.beginning = self.beginning.saturating_sub(1);
                let asked = records.first().and_then(|stamped| stamped.record.event.trial());
                let trial = self.book.study.open().find(|open| Some(open.id()) == asked).cloned();
                // One that was asked when a stop came is the next owner's to begin.
                if let Some(trial) = trial.filter(|_| !self.must_end(context)) {
                    self.begin(context, lines, trial, false)?;
                }
            }
            WhenWritten::Tell(trial) => {
                let improved = self.book.ledger.best != best_before;
                self.untold.push_back(Untold { trial, improved, position: self.book.position() });
            }
        }
        Ok(())
    }

    fn tell(&self, context: &Context<'_>, untold: &Untold) {
        let trial = untold.trial.index();
        let row = self.book.ledger.trials.get(trial as usize);
        let (value, reason) = row.map_or((None, None), |row| (row.value, row.reason.as_deref()));
        context.watcher.see(&News::Told {
            trial,
            state: row.map_or(TrialState::Open, |row| row.state),
            value,
            reason,
            improved: untold.improved,
            charged: row.and_then(|row| row.cost),
            standing: self.standing(),
        });
    }

    fn show(&self, context: &Context<'_>, trial: TrialId, done: &[StageDone]) {
        let row = self.book.ledger.trials.get(trial.index() as usize);
        for done in done {
            let stage = self.book.stage_name(done.stage);
            if let Some(row) = row.and_then(|row| row.stages.iter().find(|row| row.stage == stage)) {
                context.watcher.see(&News::StageEnded { trial: trial.index(), row });
            }
        }
    }

    /// A pipeline that has never worked will not work by itself.
    fn give_up(&self, context: &Context<'_>, reason: Option<&str>, trial: u64) -> Result<(), RunError> {
        let Some(reason) = reason else { return Ok(()) };
        let failed = self.book.failed();
        if self.book.study.account().best().is_some() || failed < context.pipeline.study.give_up_after {
            return Ok(());
        }
        let logs = context.pipeline.stages.iter().map(|stage| context.log_path(trial, &stage.name, 1));
        let log = logs.filter(|log| log.exists()).last();
        Err(RunError::EverythingFailed { failed, reason: reason.to_owned(), log })
    }
}
