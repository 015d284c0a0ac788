//! The dispatcher: one loop that has the study to itself.
//!
//! Whatever takes time happens elsewhere: fits on the proposer's thread, stages and their files on
//! the threads of trials, appends and the wait for the disk on those of the log. So a result is
//! taken in, and a stage that is ready starts, while a proposal is still being computed or a result
//! is on its way to the disk.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::Scope;
use std::time::{Duration, Instant};

use stagetune::strategy::{Proposal, StrategyError};
use stagetune::study::{Event, Study, StudyError};
use stagetune::trial::{Proposed, TrialId};

use super::book::Book;
use super::desk::{Desk, Message};
use super::error::RunError;
use super::log_writer::{LogThreads, patiently};
use super::news::{News, Reached, Standing};
use super::open::{Context, Ended};
use super::patience::Then;
use super::proposer::{self, Task};
use super::written::{Untold, WhenWritten};
use crate::ledger::Ledger;
use crate::log::{Log, Record};

/// After so many proposals in a row that had been made before, the strategy has nothing left: a
/// finite space is used up.
const STALE: usize = 50;

/// How long to begin no trial after the system had no thread for one.
const NO_THREAD: Duration = Duration::from_secs(1);

/// How often to look for a stop, while nothing happens.
const LOOK: Duration = Duration::from_millis(100);

/// The loop's state.
pub(super) struct Dispatcher {
    pub(super) book: Book<WhenWritten>,
    /// There until the threads of the log begin.
    log: Option<Box<dyn Log>>,
    began: Instant,
    wall_before: f64,
    /// Trials that an earlier owner had begun.
    pub(super) resumed: VecDeque<Proposed>,
    /// How many trials begin as soon as the log has them.
    pub(super) beginning: usize,
    /// Results that are written, and told when they would survive a power cut.
    pub(super) untold: VecDeque<Untold>,
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
}

/// Where requests come in, and whom the dispatcher speaks to.
pub(super) struct Lines<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    requests: Sender<Message>,
    inbox: Receiver<Message>,
    /// What to propose, and what to settle: a trial that waits for its later values does not wait
    /// for a proposal.
    proposals: Sender<Task>,
    settlements: Sender<Task>,
}

impl Dispatcher {
    pub(super) fn new(book: Book<WhenWritten>, log: Box<dyn Log>) -> Self {
        let resumed: VecDeque<Proposed> = book.study.open().cloned().collect();
        let (mut seen, mut stale) = (BTreeSet::new(), 0);
        for trial in book.study.trials() {
            stale = if seen.insert(trial.point().to_string()) { 0 } else { stale + 1 };
        }
        let (wall_before, now) = (book.ledger.wall, Instant::now());
        Self {
            book,
            log: Some(log),
            began: now,
            wall_before,
            resumed,
            beginning: 0,
            untold: VecDeque::new(),
            active: BTreeMap::new(),
            seen,
            stale,
            proposing: false,
            reached: None,
            failure: None,
            hold_until: None,
        }
    }

    /// Runs trials until a budget is reached or a stop is asked for.
    pub(super) fn run(mut self, context: &Context<'_>) -> Result<Ended, RunError> {
        if let Some(reason) = self.book.study.paused() {
            let event = Event::Paused { reason: reason.to_owned() };
            context.watcher.see(&News::Control { event: &event });
        }
        let log = std::thread::scope(|scope| {
            let (requests, inbox) = mpsc::channel();
            let proposals = proposer::start("propose trials", requests.clone())?;
            let settlements = proposer::start("settle the values of trials", requests.clone())?;
            let log = self.log.take().ok_or(RunError::Worker)?;
            let threads = LogThreads::start(scope, context, log, self.book.position(), requests.clone())?;
            self.book.send_to(threads.orders.clone());
            self.work(context, &Lines { scope, requests, inbox, proposals, settlements });
            self.book.close();
            Ok::<_, RunError>(threads.join())
        })?;
        let reached = self.reached.unwrap_or(Reached::Asked).at_last(self.book.study.account());
        let is_open = self.book.study.open().next().is_some();
        let (finished, reason) = match &self.failure {
            Some(failure) => (false, failure.to_string()),
            None => (reached.is_finished() && !is_open, reached.to_string()),
        };
        let released = log.map_or(Err(RunError::Worker), |(mut log, mut syncer)| {
            patiently(context, || self.book.release(&mut *log, finished, &reason))?;
            patiently(context, || Ok(syncer.sync()?))
        });
        match self.failure {
            // The log may be what failed: a last word is welcome, not needed.
            Some(failure) => Err(failure),
            None => released.map(|()| Ended { reached, ledger: self.book.ledger }),
        }
    }

    fn work<'scope, 'env>(&mut self, context: &'env Context<'env>, lines: &Lines<'scope, 'env>)
    where
        'env: 'scope,
    {
        loop {
            if let Err(error) = self.begin_trials(context, lines) {
                self.fail(context, error);
            }
            if self.active.is_empty() && self.is_told() && self.is_done(context) {
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
    pub(super) fn fail(&mut self, context: &Context<'_>, error: RunError) {
        self.failure.get_or_insert(error);
        context.options.stop.now();
    }

    /// Whether all that was entered is written, and all results are told.
    fn is_told(&self) -> bool {
        self.book.is_written() && self.untold.is_empty()
    }

    /// Whether no new trial will begin.
    fn is_done(&self, context: &Context<'_>) -> bool {
        let ends = self.reached.is_some() || self.failure.is_some();
        (ends || context.options.stop.is_asked()) && (self.resumed.is_empty() || self.must_end(context))
    }

    pub(super) fn must_end(&self, context: &Context<'_>) -> bool {
        self.failure.is_some() || context.options.stop.is_asked()
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
            if held || self.active.len() + self.beginning >= context.options.workers.max(1) {
                return Ok(());
            }
            if let Some(trial) = self.resumed.pop_front() {
                self.begin(context, lines, trial, true)?;
                continue;
            }
            if self.proposing || self.reached.is_some() {
                return Ok(());
            }
            // Also of a study on hold: one that has reached its end does not wait for a word to go on.
            if let Some(reached) = self.limit(context) {
                self.reach(context, reached);
                return Ok(());
            }
            let is_on_hold = self.book.study.paused().is_some();
            if is_on_hold || self.must_wait(context) || context.patience.is_tried() {
                return Ok(());
            }
            self.proposing = true;
            let snapshot = Box::new(self.book.study.snapshot());
            lines.proposals.send(Task::Propose(snapshot)).map_err(|_| RunError::Worker)?;
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

    /// Whether the trials that are running are expected to spend what is left: then nothing new
    /// begins before one of them has ended.
    ///
    /// A single worker never waits, since nothing runs when it asks.
    fn must_wait(&self, context: &Context<'_>) -> bool {
        let Some(limit) = context.pipeline.study.budget.cost else { return false };
        let spent = self.book.study.account().spent();
        !self.active.is_empty() && spent < limit && spent + self.book.study.expected_open_cost() >= limit
    }

    pub(super) fn begin<'scope, 'env>(
        &mut self,
        context: &'env Context<'env>,
        lines: &Lines<'scope, 'env>,
        trial: Proposed,
        resumed: bool,
    ) -> Result<(), RunError>
    where
        'env: 'scope,
    {
        let why = self.book.study.why(trial.id()).map(ToString::to_string).unwrap_or_default();
        if !context.patience.waits_for(trial.id().index()) {
            context.watcher.see(&News::Asked { trial: &trial, why, resumed });
        }
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
        let Err(source) = running else {
            context.goes_on(Some(id.index()));
            return Ok(());
        };
        self.active.remove(&id);
        self.resumed.push_front(trial_again);
        if !self.active.is_empty() {
            // One trial fewer at a time: it is begun again when another has ended, or after a while.
            self.hold_until = Some(Instant::now() + NO_THREAD);
            return Ok(());
        }
        // Nobody needs an answer meanwhile.
        let error = RunError::NoThread { what: "run a trial", source };
        match context.wait(Some(id.index()), &error.to_string()) {
            Then::Again | Then::Stop => Ok(()),
            Then::End => Err(context.lost_patience(Some(id.index()), error)),
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
        match message {
            Message::Launch { trial, stage, key, token, answer } => {
                let stage = self.book.stage_name(stage);
                let event = Event::Launched { trial, stage, key, token };
                self.enter_event(context, event, WhenWritten::Launch(answer))?;
            }
            Message::Report { trial, done, answer } => self.report(context, trial, done, answer)?,
            Message::Settle { trial, answer } => {
                let study = Box::new(self.book.study.snapshot());
                lines
                    .settlements
                    .send(Task::Settle { study, trial, answer })
                    .map_err(|_| RunError::Worker)?;
            }
            Message::Settled { trial, point, answer } => {
                let point = point?;
                let event = Event::Settled { trial, point: point.clone() };
                self.enter_event(context, event, WhenWritten::Settle { point, answer })?;
            }
            Message::Log(news) => self.hear(context, lines, news)?,
            Message::Proposed(result) => {
                self.proposing = false;
                self.take_proposal(context, *result)?;
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

    fn take_proposal(
        &mut self,
        context: &Context<'_>,
        result: Result<Proposal, StudyError>,
    ) -> Result<(), RunError> {
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
        self.stale = if self.seen.insert(proposal.point.to_string()) { 0 } else { self.stale + 1 };
        self.beginning += 1;
        let make = Box::new(move |study: &Study| {
            let trial = TrialId::new(study.trials().len() as u64);
            Ok(vec![Record::from(Event::Asked { trial, proposal: Box::new(proposal.clone()) })])
        });
        self.enter(context, make, WhenWritten::Begin)
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
