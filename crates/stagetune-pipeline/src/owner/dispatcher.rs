//! The dispatcher: one loop that has the study and the log to itself.
//!
//! Whatever takes time happens elsewhere: fits on the proposer's thread, stages and their files on the threads of trials. So a
//! result is told, and a stage that is ready starts, while a proposal is still being computed.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::Scope;
use std::time::{Duration, Instant};

use stagetune::strategy::{Proposal, StrategyError};
use stagetune::study::{Event, Study, StudyError};
use stagetune::trial::{End, Proposed, TrialId};

use super::book::Book;
use super::desk::{Answer, Desk, Message, StageDone};
use super::error::RunError;
use super::news::{News, Reached, Standing};
use super::open::{Context, Ended};
use super::patience::Then;
use super::proposer::{self, Task};
use crate::ledger::{Ledger, TrialState};
use crate::log::{LogError, Record};

/// After so many proposals in a row that had been made before, the strategy has nothing left: a finite space is used up.
const STALE: usize = 50;

/// How long to begin no trial after the system had no thread for one.
const NO_THREAD: Duration = Duration::from_secs(1);

/// How often to look for control records and for a stop, while nothing happens.
const LOOK: Duration = Duration::from_millis(100);

/// The loop's state.
pub(super) struct Dispatcher {
    book: Book,
    began: Instant,
    wall_before: f64,
    /// Trials that an earlier owner had begun.
    resumed: VecDeque<Proposed>,
    /// Trials that have a thread.
    active: BTreeMap<TrialId, Proposed>,
    /// Points that were proposed, as text.
    seen: BTreeSet<String>,
    /// How many proposals in a row had been made before.
    stale: usize,
    proposing: bool,
    reached: Option<Reached>,
    failure: Option<RunError>,
    /// No trial begins before, since the system had no thread for the last one.
    hold_until: Option<Instant>,
    last_look: Instant,
}

/// Where requests come in, and whom the dispatcher speaks to.
struct Lines<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    requests: Sender<Message>,
    inbox: Receiver<Message>,
    tasks: Sender<Task>,
}

impl Dispatcher {
    pub(super) fn new(book: Book) -> Self {
        let resumed: VecDeque<Proposed> = book.study.open().cloned().collect();
        let (mut seen, mut stale) = (BTreeSet::new(), 0);
        for trial in book.study.trials() {
            stale = if seen.insert(trial.point().to_string()) { 0 } else { stale + 1 };
        }
        let (wall_before, now) = (book.ledger.wall, Instant::now());
        Self {
            book,
            began: now,
            wall_before,
            resumed,
            active: BTreeMap::new(),
            seen,
            stale,
            proposing: false,
            reached: None,
            failure: None,
            hold_until: None,
            last_look: now,
        }
    }

    /// Runs trials until a budget is reached or a stop is asked for.
    pub(super) fn run(mut self, context: &Context<'_>) -> Result<Ended, RunError> {
        std::thread::scope(|scope| {
            let (requests, inbox) = mpsc::channel();
            let (tasks, to_do) = mpsc::channel();
            let results = requests.clone();
            // Nobody waits for its last fit: it has a copy of the study, and ends by itself.
            let proposer = std::thread::Builder::new().spawn(move || proposer::work(&to_do, &results));
            if let Err(error) = proposer {
                self.failure = Some(RunError::NoThread { what: "propose trials", source: error });
                return;
            }
            let lines = Lines { scope, requests, inbox, tasks };
            self.work(context, &lines);
        });
        if let Some(failure) = self.failure.take() {
            // The log may be what failed: a last word is welcome, not needed.
            let _ = self.book.release(false, failure.to_string());
            return Err(failure);
        }
        let reached = self.reached.unwrap_or(Reached::Asked).at_last(self.book.study.account());
        let open = self.book.study.open().count();
        self.book.release(reached.is_finished() && open == 0, reached.to_string())?;
        Ok(Ended { reached, ledger: self.book.ledger })
    }

    fn work<'scope, 'env>(&mut self, context: &'env Context<'env>, lines: &Lines<'scope, 'env>)
    where
        'env: 'scope,
    {
        loop {
            if let Err(error) = self.look_around(context).and_then(|()| self.begin_trials(context, lines)) {
                self.fail(context, error);
            }
            if self.active.is_empty() && self.is_done(context) {
                // A proposal that is still being computed is not waited for beyond its fit: nobody needs it.
                return;
            }
            let message = match lines.inbox.recv_timeout(LOOK) {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            if let Err(error) = self.handle(context, lines, message) {
                self.fail(context, error);
            }
        }
    }

    /// The first error is the one to tell; what follows from it is not.
    fn fail(&mut self, context: &Context<'_>, error: RunError) {
        let error = match error {
            RunError::Journal(log) if log.is_of_the_world() => {
                context.lost_patience(None, RunError::Journal(log))
            }
            error => error,
        };
        self.failure.get_or_insert(error);
        context.options.stop.now();
    }

    /// Whether no new trial will begin.
    fn is_done(&self, context: &Context<'_>) -> bool {
        let ends = self.reached.is_some() || self.failure.is_some();
        (ends || context.options.stop.is_asked()) && (self.resumed.is_empty() || self.must_end(context))
    }

    fn must_end(&self, context: &Context<'_>) -> bool {
        self.failure.is_some() || context.options.stop.is_asked()
    }

    /// Reads what others have appended.
    fn look_around(&mut self, context: &Context<'_>) -> Result<(), RunError> {
        if self.failure.is_some() || self.last_look.elapsed() < LOOK {
            return Ok(());
        }
        self.last_look = Instant::now();
        context.live.write(context.patience.list());
        for stamped in self.book.follow()? {
            context.watcher.see(&News::Control { event: &stamped.record.event });
        }
        self.resumed.extend(self.book.take_attached());
        let book = &self.book;
        self.resumed.retain(|trial| book.is_open(trial.id()));
        Ok(())
    }

    /// Begins trials while there is room: first those that an earlier owner had begun.
    fn begin_trials<'scope, 'env>(
        &mut self,
        context: &'env Context<'env>,
        lines: &Lines<'scope, 'env>,
    ) -> Result<(), RunError>
    where
        'env: 'scope,
    {
        loop {
            if self.must_end(context) {
                self.reached.get_or_insert(Reached::Asked);
                return Ok(());
            }
            let held = self.hold_until.is_some_and(|until| Instant::now() < until);
            if held || self.active.len() >= context.options.workers.max(1) {
                return Ok(());
            }
            if let Some(trial) = self.resumed.pop_front() {
                self.begin(context, lines, trial, true);
                continue;
            }
            if self.proposing
                || self.reached.is_some()
                || self.book.study.paused().is_some()
                || self.must_wait(context)
                || context.patience.is_tried()
            {
                return Ok(());
            }
            if let Some(reached) = self.limit(context) {
                self.reach(context, reached);
                return Ok(());
            }
            self.proposing = true;
            let snapshot = Box::new(self.book.study.snapshot());
            lines.tasks.send(Task::Propose(snapshot)).map_err(|_| RunError::Worker)?;
            return Ok(());
        }
    }

    /// A limit that is reached, as far as that can be seen without a model; the proposer sees the rest.
    fn limit(&self, context: &Context<'_>) -> Option<Reached> {
        let wall = context.pipeline.study.budget.wall.map(|wall| wall.as_secs_f64());
        if let Some(reason) = self.book.study.limit_reached() {
            return Some(Reached::Rule(reason));
        }
        if let Some(limit) = wall.filter(|limit| self.wall() >= *limit) {
            return Some(Reached::Wall(limit));
        }
        (self.stale >= STALE).then_some(Reached::NothingNew(STALE))
    }

    fn reach(&mut self, context: &Context<'_>, reached: Reached) {
        if self.reached.is_none() {
            self.reached = Some(reached);
            context.watcher.see(&News::Reached { reason: &reached });
        }
    }

    /// Whether the trials that are running are expected to spend what is left: then nothing new begins before one of them has ended.
    ///
    /// A single worker never waits, since nothing runs when it asks.
    fn must_wait(&self, context: &Context<'_>) -> bool {
        let Some(limit) = context.pipeline.study.budget.cost else { return false };
        let spent = self.book.study.account().spent();
        !self.active.is_empty() && spent < limit && spent + self.book.study.expected_open_cost() >= limit
    }

    fn begin<'scope, 'env>(
        &mut self,
        context: &'env Context<'env>,
        lines: &Lines<'scope, 'env>,
        trial: Proposed,
        resumed: bool,
    ) where
        'env: 'scope,
    {
        let why = self.book.study.why(trial.id()).map(ToString::to_string).unwrap_or_default();
        context.watcher.see(&News::Asked { trial: &trial, why, resumed });
        self.active.insert(trial.id(), trial.clone());
        let trial_again = trial.clone();
        let desk = Desk::new(trial.id(), lines.requests.clone());
        let (over, id) = (lines.requests.clone(), trial.id());
        let reported = self.book.study.reports(id).map(<[_]>::to_vec).unwrap_or_default();
        let stages = context.pipeline.stages.iter();
        let expected = stages.map(|stage| self.book.ledger.expected_seconds(&stage.name)).collect();
        let running = std::thread::Builder::new().spawn_scoped(lines.scope, move || {
            // A thread that ended without a word would be waited for without end.
            let run = AssertUnwindSafe(|| context.run_trial(&trial, &reported, expected, &desk));
            let end = catch_unwind(run).unwrap_or(Err(RunError::Worker));
            let _ = over.send(Message::TrialOver { trial: id, end });
        });
        if running.is_err() {
            // One trial fewer at a time: it is begun again when another has ended, or after a while.
            self.active.remove(&id);
            self.resumed.push_front(trial_again);
            self.hold_until = Some(Instant::now() + NO_THREAD);
        }
    }

    fn handle<'scope, 'env>(
        &mut self,
        context: &'env Context<'env>,
        lines: &Lines<'scope, 'env>,
        message: Message,
    ) -> Result<(), RunError>
    where
        'env: 'scope,
    {
        let wait = |error: &LogError| wait_for_the_log(context, error);
        match message {
            Message::Launch { trial, stage, key, token, answer } => {
                let stage = self.book.stage_name(stage);
                let event = Event::Launched { trial, stage, key, token };
                let done = self.book.try_commit(trial, &wait, |_| Ok(vec![Record::from(event.clone())]))?;
                let _ = answer.send(if done { Answer::Done(()) } else { Answer::Gone });
            }
            Message::Report { trial, done, answer } => {
                let reported = self.report(context, trial, &done)?;
                let next = if reported { Some(self.book.study.next(trial)?) } else { None };
                let _ = answer.send(next.map_or(Answer::Gone, Answer::Done));
                if reported {
                    self.show(context, trial, &done);
                }
            }
            Message::Settle { trial, answer } => {
                let study = Box::new(self.book.study.snapshot());
                lines.tasks.send(Task::Settle { study, trial, answer }).map_err(|_| RunError::Worker)?;
            }
            Message::Settled { trial, point, answer } => {
                let point = point?;
                let event = Event::Settled { trial, point: point.clone() };
                let done = self.book.try_commit(trial, &wait, |_| Ok(vec![Record::from(event.clone())]))?;
                let _ = answer.send(if done { Answer::Done(point) } else { Answer::Gone });
            }
            Message::Proposed(result) => {
                self.proposing = false;
                self.take_proposal(context, lines, *result)?;
            }
            Message::TrialOver { trial, end } => {
                self.active.remove(&trial);
                if let Some(end) = end? {
                    self.end(context, trial, end)?;
                }
            }
        }
        Ok(())
    }

    fn take_proposal<'scope, 'env>(
        &mut self,
        context: &'env Context<'env>,
        lines: &Lines<'scope, 'env>,
        result: Result<Proposal, StudyError>,
    ) -> Result<(), RunError>
    where
        'env: 'scope,
    {
        let proposal = match result {
            Ok(proposal) => proposal,
            Err(StudyError::Stopped { reason }) => {
                self.reach(context, Reached::Rule(reason));
                return Ok(());
            }
            // Other workers try all that is left.
            Err(StudyError::Strategy(error)) if *error == StrategyError::Exhausted => {
                self.reached.get_or_insert(Reached::Exhausted);
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        // What was told meanwhile may have ended the study, and somebody may have stopped or paused it.
        if self.must_end(context) || self.book.study.paused().is_some() {
            return Ok(());
        }
        if let Some(reached) = self.limit(context) {
            self.reach(context, reached);
            return Ok(());
        }
        let wait = |error: &LogError| wait_for_the_log(context, error);
        self.book.commit(&wait, |study| {
            let trial = TrialId::new(study.trials().len() as u64);
            Ok(vec![Record::from(Event::Asked { trial, proposal: Box::new(proposal.clone()) })])
        })?;
        let Some(trial) = self.book.study.open().last().cloned() else { return Ok(()) };
        self.stale = if self.seen.insert(trial.point().to_string()) { 0 } else { self.stale + 1 };
        self.begin(context, lines, trial, false);
        Ok(())
    }

    /// Writes down what stages of a trial did; `false` if the trial has ended meanwhile.
    fn report(
        &mut self,
        context: &Context<'_>,
        trial: TrialId,
        done: &[StageDone],
    ) -> Result<bool, RunError> {
        if done.is_empty() {
            return Ok(self.book.is_open(trial));
        }
        let stages: Vec<String> = done.iter().map(|done| self.book.stage_name(done.stage)).collect();
        let make = |_: &Study| {
            let records = done.iter().zip(&stages).map(|(done, stage)| Record {
                event: Event::Reported { trial, stage: stage.clone(), report: done.report.clone() },
                session: None,
                run: Some(done.run.clone()),
            });
            Ok(records.collect())
        };
        let wait = |error: &LogError| wait_for_the_log(context, error);
        if self.book.try_commit(trial, &wait, make)? {
            // Somebody may have withdrawn it just before.
            return Ok(self.book.is_open(trial));
        }
        // What ran of a trial that was withdrawn meanwhile is charged all the same.
        match self.book.commit(&wait, make) {
            Ok(()) | Err(RunError::Study(StudyError::Closed { .. })) => Ok(false),
            Err(error) => Err(error),
        }
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

    fn end(&mut self, context: &Context<'_>, trial: TrialId, end: End) -> Result<(), RunError> {
        let best_before = self.book.study.account().best();
        let wait = |error: &LogError| wait_for_the_log(context, error);
        let written = self.book.try_commit(trial, &wait, |study| {
            let ended = study.ended(trial, end.clone())?;
            Ok(vec![Record::from(ended)])
        });
        let written = match written {
            // A value that the engine cannot use is a failure with a reason.
            Err(RunError::Study(error @ (StudyError::Trial(_) | StudyError::NoValue { .. }))) => {
                let finished = self.book.study.space().modules().len();
                let end = End::Failed { stage: None, finished, reason: error.to_string() };
                self.book.try_commit(trial, &wait, |study| {
                    Ok(vec![Record::from(study.ended(trial, end.clone())?)])
                })?
            }
            other => other?,
        };
        if !written {
            return Ok(());
        }
        let best = self.book.study.account().best();
        let row = self.book.ledger.trials.get(trial.index() as usize);
        let (value, reason) = row.map_or((None, None), |row| (row.value, row.reason.as_deref()));
        context.watcher.see(&News::Told {
            trial: trial.index(),
            state: row.map_or(TrialState::Open, |row| row.state),
            value,
            reason,
            improved: best != best_before,
            charged: row.and_then(|row| row.cost),
            standing: self.standing(),
        });
        self.give_up(context, reason, trial.index())
    }

    /// A pipeline that has never worked will not work by itself.
    fn give_up(&self, context: &Context<'_>, reason: Option<&str>, trial: u64) -> Result<(), RunError> {
        let Some(reason) = reason else { return Ok(()) };
        let failed = self.book.ledger.failed as usize;
        if self.book.study.account().best().is_some() || failed < context.pipeline.study.give_up_after {
            return Ok(());
        }
        let logs = context.pipeline.stages.iter().map(|stage| context.log_path(trial, &stage.name, 1));
        let log = logs.filter(|log| log.exists()).last();
        Err(RunError::EverythingFailed { failed, reason: reason.to_owned(), log })
    }

    /// How long owners have worked on the study.
    fn wall(&self) -> f64 {
        self.wall_before + self.began.elapsed().as_secs_f64()
    }

    /// How the study stands.
    pub(super) fn standing(&self) -> Standing {
        let Ledger { trials, observed, failed, best, spent, .. } = &self.book.ledger;
        Standing {
            asked: trials.len(),
            told: (observed + failed) as usize,
            best: best.as_ref().map(|best| best.value),
            spent: *spent,
            wall: self.wall(),
        }
    }
}

/// Waits a while for a log that cannot be written; whether to try again.
fn wait_for_the_log(context: &Context<'_>, error: &LogError) -> bool {
    context.wait(None, &error.to_string()) == Then::Again
}
