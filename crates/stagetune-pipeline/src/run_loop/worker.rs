//! The loop itself: workers that take the next trial, run it and tell what became of it.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use stagetune::strategy::StrategyError;
use stagetune::study::StudyError;
use stagetune::trial::{Outcome, Proposed};

use super::error::RunError;
use super::news::{News, Reached};
use super::session::{Core, Session};
use super::trial::{TrialEnd, TrialRun};
use crate::journal::{Record, Summary};

/// How a session ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Why no more trials began.
    pub reached: Reached,
    /// What the study comes to.
    pub summary: Summary,
}

/// After so many proposals in a row that had been made before, the strategy has nothing left: a finite space is used up.
const STALE: usize = 50;

/// How long a worker waits for others before it looks whether somebody said stop.
const PATIENCE: Duration = Duration::from_millis(100);

impl Session<'_> {
    /// Runs trials until a budget is reached or a stop is asked for.
    pub fn run(self) -> Result<Ended, RunError> {
        let workers = self.options.workers.max(1);
        let panicked = std::thread::scope(|scope| {
            let handles: Vec<_> = (0..workers).map(|_| scope.spawn(|| self.work())).collect();
            handles.into_iter().filter_map(|handle| handle.join().err()).count() > 0
        });
        if panicked {
            return Err(RunError::Worker);
        }
        let mut core = self.core()?;
        if let Some(failure) = core.failure.take() {
            // The journal may be what failed: a last word is welcome, not needed.
            let _ = core.close(false, failure.to_string());
            return Err(failure);
        }
        let reached = core.reached.unwrap_or(Reached::Asked).at_last(core.study.account());
        let open = core.study.open().count();
        core.close(reached.is_finished() && open == 0, reached.to_string())?;
        Ok(Ended { reached, summary: core.summary.clone() })
    }

    fn work(&self) {
        // Others may wait for the trial of a worker that ended without a word.
        let work = AssertUnwindSafe(|| self.work_until_done());
        let outcome = catch_unwind(work).unwrap_or(Err(RunError::Worker));
        if let (Err(error), Ok(mut core)) = (outcome, self.core()) {
            // The first error is the one to tell; what follows from it is not.
            core.failure.get_or_insert(error);
            self.options.stop.now();
        }
    }

    fn work_until_done(&self) -> Result<(), RunError> {
        while let Some(trial) = self.next()? {
            match self.run_trial(&trial)? {
                Some(run) => self.tell(trial, run)?,
                // Stopped at once: the trial stays open, and is continued by whoever comes next.
                None => return Ok(()),
            }
        }
        Ok(())
    }

    /// The next trial to run, written down before anything runs for it.
    fn next(&self) -> Result<Option<Proposed>, RunError> {
        let mut core = self.core()?;
        while core.resumed.is_empty() && self.must_wait(&core) {
            core = self.told.wait_timeout(core, PATIENCE).map_err(|_| RunError::Worker)?.0;
        }
        if core.failure.is_some() || self.options.stop.is_asked() {
            core.reached.get_or_insert(Reached::Asked);
            return Ok(None);
        }
        if let Some(trial) = core.resumed.pop_front() {
            let why = core.study.why(trial.id()).map(ToString::to_string).unwrap_or_default();
            // Whoever is slow to listen must not hold up the other workers.
            drop(core);
            self.watcher.see(&News::Asked { trial: &trial, why, resumed: true });
            return Ok(Some(trial));
        }
        if let Some(reached) = self.reached(&core) {
            let first = core.reached.is_none();
            core.reached.get_or_insert(reached);
            drop(core);
            if first {
                self.watcher.see(&News::Reached { reason: &reached });
            }
            return Ok(None);
        }
        let trial = match core.study.ask() {
            Ok(trial) => trial,
            // Other workers try all that is left.
            Err(StudyError::Strategy(error)) if *error == StrategyError::Exhausted => {
                core.reached.get_or_insert(Reached::Exhausted);
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        let new = core.seen.insert(trial.point().to_string());
        core.stale = if new { 0 } else { core.stale + 1 };
        core.write(|event| Record::Study { event })?;
        let why = core.study.why(trial.id()).map(ToString::to_string).unwrap_or_default();
        drop(core);
        self.watcher.see(&News::Asked { trial: &trial, why, resumed: false });
        Ok(Some(trial))
    }

    /// Whether the trials that are running are expected to spend what is left: then nothing new begins before one of them has ended.
    ///
    /// A single worker never waits, since nothing runs when it asks.
    fn must_wait(&self, core: &Core) -> bool {
        let Some(limit) = self.pipeline.study.budget.cost else { return false };
        let (spent, open) = (core.study.account().spent(), core.study.open().count());
        let ends = core.failure.is_some() || self.options.stop.is_asked();
        !ends && open > 0 && spent < limit && spent + core.study.expected_open_cost() >= limit
    }

    fn reached(&self, core: &Core) -> Option<Reached> {
        let wall = self.pipeline.study.budget.wall.map(|wall| wall.as_secs_f64());
        if let Some(reason) = core.study.stopped() {
            Some(Reached::Rule(reason))
        } else if let Some(limit) = wall.filter(|limit| core.wall() >= *limit) {
            Some(Reached::Wall(limit))
        } else {
            (core.stale >= STALE).then_some(Reached::NothingNew(STALE))
        }
    }

    fn tell(&self, trial: Proposed, run: TrialRun) -> Result<(), RunError> {
        let id = trial.id();
        let mut core = self.core()?;
        let TrialRun { end, stages, measured, finished, broke } = run;
        // A value that the engine cannot use is a failure with a reason.
        let (outcome, value, reason) = match end {
            TrialEnd::Value(value) => match trial.clone().observe(value) {
                Ok(observed) => {
                    (Outcome::from(observed.measured(measured).map_err(StudyError::from)?), Some(value), None)
                }
                Err(error) => {
                    let reason = error.to_string();
                    let failed = trial.fail(reason.clone()).after(finished);
                    (failed.measured(measured).map_err(StudyError::from)?.into(), None, Some(reason))
                }
            },
            TrialEnd::Failed(reason) => {
                let failed = trial.fail(reason.clone()).after(finished);
                let failed = match broke {
                    Some(stage) => failed.broken_in(stage),
                    None => failed,
                };
                (failed.measured(measured).map_err(StudyError::from)?.into(), None, Some(reason))
            }
        };
        let best_before = core.study.account().best();
        core.study.tell(outcome)?;
        let charged = core.study.account().charges().last().and_then(|charge| charge.cost);
        core.write(|event| Record::Told { event, charged, stages: stages.clone() })?;
        let best = core.study.account().best();
        let (improved, standing) = (best != best_before, core.standing());
        let hopeless = self.give_up(&core, reason.as_deref(), id.index());
        drop(core);
        self.told.notify_all();
        self.watcher.see(&News::Told {
            trial: id.index(),
            value,
            reason: reason.as_deref(),
            improved,
            charged,
            standing,
        });
        hopeless
    }

    /// A pipeline that has never worked will not work by itself.
    fn give_up(&self, core: &Core, reason: Option<&str>, trial: u64) -> Result<(), RunError> {
        let charges = core.study.account().charges();
        let Some(reason) = reason else { return Ok(()) };
        if core.study.account().best().is_some() || charges.len() < self.pipeline.study.give_up_after {
            return Ok(());
        }
        let failed = self.pipeline.stages.iter().map(|stage| self.log_path(trial, &stage.name, 1));
        let log = failed.into_iter().filter(|log| log.exists()).last();
        Err(RunError::EverythingFailed { failed: charges.len(), reason: reason.to_owned(), log })
    }
}
