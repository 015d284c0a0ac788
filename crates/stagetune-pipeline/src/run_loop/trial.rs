//! One trial: its stages in order, independent ones side by side, those that are there already not at all.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;

use stagetune::trial::Proposed;

use super::error::RunError;
use super::result;
use super::session::Session;
use super::stage::{Done, StageEnd};
use crate::cache::{Hit, StageKey};
use crate::file::{Piece, StageCost};
use crate::record::{How, StageRecord};

/// What a trial came to.
pub(super) struct TrialRun {
    pub(super) end: TrialEnd,
    /// In the order of the pipeline, as far as it came.
    pub(super) stages: Vec<StageRecord>,
    /// For the engine: what each stage cost this trial.
    pub(super) measured: Vec<Option<f64>>,
    /// How many stages, from the first on, have their outputs.
    pub(super) finished: usize,
    /// The stage that failed first, if one did.
    pub(super) broke: Option<usize>,
}

pub(super) enum TrialEnd {
    Value(f64),
    Failed(String),
}

/// What keeps a trial from coming to its end.
#[derive(Default)]
struct Broken {
    /// Stages that failed, with their reasons, the first first.
    failed: Vec<(usize, StageRecord, String)>,
    /// Whether it was told to stop at once.
    stopped: bool,
}

impl Session<'_> {
    /// Runs what must run; `None` if it was told to stop at once.
    pub(super) fn run_trial(&self, trial: &Proposed) -> Result<Option<TrialRun>, RunError> {
        let keys = self.keys.of(self.pipeline, trial.point());
        let count = keys.len();
        let mut done: Vec<Option<Done>> = Vec::with_capacity(count);
        for key in &keys {
            done.push(self.cache.reuse(key)?.map(|hit| self.found(trial, key, hit)));
        }
        let wanted = self.wanted(&done);
        for (m, there) in done.iter_mut().enumerate() {
            match there {
                Some(done) => self.ended(trial, &done.record),
                // Not there, but nothing that runs needs it: its output counts as reused, at a cost that nobody knows any more.
                None if !wanted[m] => *there = keys.get(m).map(Done::not_needed),
                None => {}
            }
        }
        let broken = self.run_stages(trial, &keys, &mut done)?;
        if broken.stopped {
            return Ok(None);
        }
        let finished = done.iter().take_while(|done| done.is_some()).count();
        let broke = broken.failed.first().map(|(stage, ..)| *stage);
        let end = match broken.failed.first() {
            Some((_, _, reason)) => TrialEnd::Failed(reason.clone()),
            None => match done.last().and_then(|done| done.as_ref()?.hit.as_ref()) {
                Some(hit) => result::number(&hit.out, &self.pipeline.study.metric)
                    .map_or_else(TrialEnd::Failed, TrialEnd::Value),
                None => TrialEnd::Failed("its last stage has no output".to_owned()),
            },
        };
        let mut stages: Vec<(usize, StageRecord)> = Vec::new();
        for (m, done) in done.into_iter().enumerate() {
            stages.extend(done.map(|done| (m, done.record)));
        }
        stages.extend(broken.failed.into_iter().map(|(stage, record, _)| (stage, record)));
        stages.sort_by_key(|(m, _)| *m);
        let measured = (0..count).map(|m| self.charged(m, &stages)).collect();
        let stages = stages.into_iter().map(|(_, record)| record).collect();
        Ok(Some(TrialRun { end, stages, measured, finished, broke }))
    }

    /// Which stages' outputs must be there: those that nothing comes after, and what a stage that runs is given.
    fn wanted(&self, done: &[Option<Done>]) -> Vec<bool> {
        let stages = &self.pipeline.stages;
        let mut wanted = vec![true; stages.len()];
        for stage in stages {
            stage.after.iter().for_each(|&m| wanted[m] = false);
        }
        for (m, stage) in stages.iter().enumerate().rev() {
            if wanted[m] && done[m].is_none() {
                stage.after.iter().for_each(|&above| wanted[above] = true);
                for piece in stage.run.iter().flat_map(|argument| &argument.pieces) {
                    if let Piece::Stage(above) = piece {
                        wanted[*above] = true;
                    }
                }
            }
        }
        wanted
    }

    /// Runs the stages that are not there.
    fn run_stages(
        &self,
        trial: &Proposed,
        keys: &[StageKey],
        done: &mut [Option<Done>],
    ) -> Result<Broken, RunError> {
        let mut begun: Vec<bool> = done.iter().map(|done| done.is_some()).collect();
        let (tell, ends) = mpsc::channel();
        let mut broken = Broken::default();
        let mut failure = None;
        std::thread::scope(|scope| {
            let mut running = 0;
            loop {
                let ready = |m: &usize| {
                    !begun[*m] && self.pipeline.stages[*m].after.iter().all(|&above| done[above].is_some())
                };
                let next: Vec<usize> = if broken.failed.is_empty() && !broken.stopped && failure.is_none() {
                    (0..keys.len()).filter(ready).collect()
                } else {
                    Vec::new()
                };
                for &m in &next {
                    begun[m] = true;
                    running += 1;
                    let outs: Vec<Option<Hit>> =
                        done.iter().map(|done| done.as_ref().and_then(|done| done.hit.clone())).collect();
                    let (key, tell) = (&keys[m], tell.clone());
                    let work = move || {
                        // A thread that ended without a word would be waited for without end.
                        let run = AssertUnwindSafe(|| self.run_stage(trial, m, key, &outs));
                        let end = catch_unwind(run).unwrap_or(Err(RunError::Worker));
                        drop(tell.send((m, end)));
                    };
                    // One after the other needs no other thread.
                    if next.len() == 1 && running == 1 { work() } else { drop(scope.spawn(work)) }
                }
                if running == 0 {
                    break;
                }
                let Ok((m, end)) = ends.recv() else { break };
                running -= 1;
                match end {
                    Ok(StageEnd::Done(finished)) => done[m] = Some(finished),
                    Ok(StageEnd::Failed(record, reason)) => broken.failed.push((m, record, reason)),
                    Ok(StageEnd::Stopped) => broken.stopped = true,
                    Err(error) => failure = failure.take().or(Some(error)),
                }
            }
        });
        match failure {
            Some(error) => Err(error),
            None => Ok(broken),
        }
    }

    /// What the engine is told that a stage cost this trial; `None` where nothing was measured.
    fn charged(&self, m: usize, stages: &[(usize, StageRecord)]) -> Option<f64> {
        let record = stages.iter().find(|(n, record)| *n == m && record.how != How::Reused);
        match (record, self.pipeline.stages.get(m).map(|stage| stage.cost)) {
            (Some((_, record)), _) => Some(record.cost),
            // A given cost is not charged for what did not run, whatever the engine thinks is at hand.
            (None, Some(StageCost::Given(_))) => Some(0.0),
            (None, _) => None,
        }
    }
}
