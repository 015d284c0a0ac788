//! One trial: its stages as they become ready, independent ones side by side, those that are there
//! already not at all.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc;

use stagetune::space::StageSet;
use stagetune::study::Next;
use stagetune::trial::{End, Proposed, StageReport};

use super::desk::{Answer, Desk, StageDone};
use super::error::RunError;
use super::open::Context;
use super::patience::Then;
use super::stage::{Made, StageEnd};
use crate::file::{Piece, Stage};
use crate::outputs::{Output, StageKey};

/// How often an output that a stage was given may change under it before it is taken for the
/// stage's own doing. Each time the stage above runs again, which may be the dear one.
const MOST_SPOILED: u32 = 2;

/// How far a trial has come.
struct Progress {
    trial: Proposed,
    keys: Vec<StageKey>,
    /// The outputs that are there; one that nothing needs may be missing.
    outputs: Vec<Option<Output>>,
    /// Stages that have reported.
    done: StageSet,
    /// Stages that were begun here.
    begun: StageSet,
    /// Stages that failed, with their reasons, the first first.
    failed: Vec<(usize, String)>,
    /// Whether it was told to stop at once, or has been ended by somebody else.
    leaves: bool,
}

impl Progress {
    /// Forgets what was at hand before the world was at fault; what was reported stays.
    fn start_over(&mut self) {
        self.outputs.fill(None);
        self.begun = StageSet::empty();
    }
}

impl Context<'_> {
    /// Runs what must run, and waits where the world is at fault. `None` if the trial stays open,
    /// or has been ended by somebody else.
    pub(super) fn run_trial(
        &self,
        trial: &Proposed,
        reported: &[Option<StageReport>],
        expected: Vec<Option<f64>>,
        desk: &Desk,
    ) -> Result<Option<End>, RunError> {
        let mut progress = self.begin_trial(trial, reported);
        let number = trial.id().index();
        let (mut before, mut spoiled) = (progress.done.len(), 0);
        loop {
            let error = match self.try_trial(&mut progress, &expected, desk) {
                Err(error) if error.is_of_the_world() => error,
                end => {
                    self.goes_on(Some(number));
                    return end;
                }
            };
            if progress.done.len() > before {
                before = progress.done.len();
                self.goes_on(Some(number));
            }
            spoiled += u32::from(matches!(error, RunError::OutputChanged { .. }));
            if spoiled > MOST_SPOILED {
                return Err(self.lost_patience(Some(number), error));
            }
            match self.wait(Some(number), &error.to_string()) {
                Then::Again => {
                    progress.start_over();
                    // What is missing of the study's own directories is no reason to wait.
                    let _ = self.state.make(&self.pipeline.study.name, &self.options.disk);
                }
                Then::Stop => return Ok(None),
                Then::End => return Err(self.lost_patience(Some(number), error)),
            }
        }
    }

    fn begin_trial(&self, trial: &Proposed, reported: &[Option<StageReport>]) -> Progress {
        let keys = self.keys.of(self.pipeline, trial.point());
        let mut progress = Progress {
            trial: trial.clone(),
            outputs: vec![None; keys.len()],
            keys,
            done: StageSet::empty(),
            begun: StageSet::empty(),
            failed: Vec::new(),
            leaves: false,
        };
        for (m, report) in reported.iter().enumerate().filter(|(_, report)| report.is_some()) {
            progress.done.insert(m);
            let failed = report.as_ref().is_some_and(|report| report.how == stagetune::trial::How::Failed);
            if failed {
                let of = (trial.id().index(), self.stage_name(m));
                let known = self.failures.get(&of).cloned();
                progress.failed.push((m, known.unwrap_or_else(|| format!("stage `{}` failed", of.1))));
            }
        }
        progress
    }

    /// Runs what must run, from where the trial has come to.
    fn try_trial(
        &self,
        progress: &mut Progress,
        expected: &[Option<f64>],
        desk: &Desk,
    ) -> Result<Option<End>, RunError> {
        let found = self.find_outputs(progress)?;
        let mut next = desk.report(found);
        if let Some(lost) = self.make_again(progress, expected, desk)? {
            next = lost;
        }
        let mut reasons: Option<String> = None;
        loop {
            match next {
                Answer::Done(Next::Run(ready)) => next = self.run_ready(progress, &ready, expected, desk)?,
                Answer::Done(Next::Settle) => next = self.settle(progress, desk)?,
                Answer::Done(Next::Abandon { reason }) => {
                    reasons = Some(reason);
                    break;
                }
                Answer::Done(Next::Finish) => break,
                Answer::Gone | Answer::Closing => return Ok(None),
            }
            if progress.leaves {
                return Ok(None);
            }
        }
        Ok(Some(match (reasons, progress.failed.first()) {
            (Some(reason), _) => {
                let after = progress.done.iter().last().map(|m| self.stage_name(m)).unwrap_or_default();
                End::Abandoned { after, reason }
            }
            (None, Some((m, reason))) => {
                let failed: Vec<usize> = progress.failed.iter().map(|(m, _)| *m).collect();
                let has_output = |m: &usize| progress.done.contains(*m) && !failed.contains(m);
                let finished = (0..progress.keys.len()).take_while(has_output).count();
                End::Failed { stage: Some(self.stage_name(*m)), finished, reason: reason.clone() }
            }
            (None, None) => End::Finished,
        }))
    }

    /// Looks for the outputs of all stages that have not reported. What is there need not run, and
    /// what only such a stage would need is not needed either.
    fn find_outputs(&self, progress: &mut Progress) -> Result<Vec<StageDone>, RunError> {
        for (m, key) in progress.keys.iter().enumerate() {
            if progress.outputs[m].is_none() {
                progress.outputs[m] = self.outputs.open(key)?;
            }
        }
        let wanted = self.wanted(&progress.outputs);
        let mut found = Vec::new();
        for (m, key) in progress.keys.iter().enumerate() {
            if progress.done.contains(m) {
                continue;
            }
            let done = match &progress.outputs[m] {
                Some(output) => Some(self.found(&progress.trial, m, key, output)),
                // Not there, but nothing that runs needs it: its output counts as reused, at a cost
                // that nobody knows any more.
                None if !wanted.contains(m) => Some(self.not_needed(m, key)),
                None => None,
            };
            match done {
                Some(Ok(done)) => {
                    progress.done.insert(m);
                    found.push(done);
                }
                // An output that lacks the metric is of no use here: its stage fails when it is asked for.
                Some(Err(reason)) => {
                    progress.done.insert(m);
                    found.push(self.lacking(m, key, &reason));
                    progress.failed.push((m, reason));
                }
                None => {}
            }
        }
        Ok(found)
    }

    /// The stages whose outputs must be there: those that nothing comes after, and what a stage
    /// that runs is given.
    fn wanted(&self, outputs: &[Option<Output>]) -> StageSet {
        let stages = &self.pipeline.stages;
        let mut wanted = StageSet::all(stages.len());
        for stage in stages {
            stage.after.iter().for_each(|&m| wanted.remove(m));
        }
        if let Some(m) = self.objective_stage() {
            wanted.insert(m);
        }
        for (m, stage) in stages.iter().enumerate().rev() {
            if wanted.contains(m) && outputs[m].is_none() {
                given(stage).iter().for_each(|above| wanted.insert(above));
            }
        }
        wanted
    }

    /// Makes outputs again that were reported, that are gone since, and that a stage which has yet
    /// to run is given.
    fn make_again(
        &self,
        progress: &mut Progress,
        expected: &[Option<f64>],
        desk: &Desk,
    ) -> Result<Option<Answer<Next>>, RunError> {
        let mut next = None;
        let wanted = self.wanted(&progress.outputs);
        for m in 0..progress.keys.len() {
            let is_lost = progress.done.contains(m) && progress.outputs[m].is_none();
            if !is_lost || !wanted.contains(m) || !progress.failed.is_empty() {
                continue;
            }
            let (key, trial) = (progress.keys[m].clone(), progress.trial.clone());
            let expected = expected.get(m).copied().flatten();
            let (mut done, attempts) =
                match self.run_stage(&trial, m, &key, &progress.outputs, expected, desk)? {
                    StageEnd::Made(Made { done, output, attempts }) => {
                        progress.outputs[m] = Some(output);
                        (done, attempts)
                    }
                    StageEnd::Failed(done, reason, attempts) => {
                        progress.failed.push((m, reason));
                        (done, attempts)
                    }
                    StageEnd::Stopped => return Ok(Some(Answer::Closing)),
                };
            done.report.again = true;
            let answer = desk.report(vec![done]);
            self.forget(&answer, &attempts);
            next = Some(answer);
        }
        Ok(next)
    }

    /// Runs stages that are ready until one has reported; the answer to its report.
    fn run_ready(
        &self,
        progress: &mut Progress,
        ready: &StageSet,
        expected: &[Option<f64>],
        desk: &Desk,
    ) -> Result<Answer<Next>, RunError> {
        let (tell, ends) = mpsc::channel();
        let mut failure = None;
        let mut next = Answer::Done(Next::Run(ready.clone()));
        std::thread::scope(|scope| {
            let mut running = 0;
            loop {
                let may_begin = progress.failed.is_empty() && !progress.leaves && failure.is_none();
                let begin: Vec<usize> = match &next {
                    Answer::Done(Next::Run(ready)) if may_begin => {
                        ready.iter().filter(|m| self.can_begin(progress, *m)).collect()
                    }
                    Answer::Done(_) | Answer::Gone | Answer::Closing => Vec::new(),
                };
                for &m in &begin {
                    progress.begun.insert(m);
                    running += 1;
                    let (trial, outputs) = (progress.trial.clone(), progress.outputs.clone());
                    let (key, tell, desk) = (progress.keys[m].clone(), tell.clone(), desk.clone());
                    let expected = expected.get(m).copied().flatten();
                    let work = move || {
                        // A thread that ended without a word would be waited for without end.
                        let run =
                            AssertUnwindSafe(|| self.run_stage(&trial, m, &key, &outputs, expected, &desk));
                        let end = catch_unwind(run).unwrap_or(Err(RunError::Worker));
                        drop(tell.send((m, end)));
                    };
                    // One after the other needs no other thread.
                    if begin.len() == 1 && running == 1 {
                        work();
                    } else if let Err(error) = std::thread::Builder::new().spawn_scoped(scope, work) {
                        running -= 1;
                        let (stage, problem) = (self.stage_name(m), error.to_string());
                        failure = failure.take().or(Some(RunError::NoRoom { stage, problem }));
                    }
                }
                if running == 0 {
                    if begin.is_empty() && matches!(next, Answer::Done(Next::Run(_))) && !progress.leaves {
                        failure = failure.take().or(Some(RunError::NothingReady));
                    }
                    break;
                }
                let Ok((m, end)) = ends.recv() else { break };
                running -= 1;
                match end {
                    Ok(StageEnd::Made(Made { done, output, attempts })) => {
                        progress.outputs[m] = Some(output);
                        progress.done.insert(m);
                        next = desk.report(vec![done]);
                        self.forget(&next, &attempts);
                    }
                    Ok(StageEnd::Failed(done, reason, attempts)) => {
                        progress.done.insert(m);
                        progress.failed.push((m, reason));
                        next = desk.report(vec![done]);
                        self.forget(&next, &attempts);
                    }
                    Ok(StageEnd::Stopped) => progress.leaves = true,
                    Err(error) => failure = failure.take().or(Some(error)),
                }
                if matches!(next, Answer::Gone | Answer::Closing) {
                    progress.leaves = true;
                }
            }
        });
        match failure {
            Some(error) => Err(error),
            None => Ok(next),
        }
    }

    /// Removes what attempts left, once the stage's report is written down.
    fn forget(&self, answer: &Answer<Next>, attempts: &[PathBuf]) {
        match answer {
            Answer::Done(_) | Answer::Gone => attempts.iter().for_each(|dir| self.discard(dir)),
            Answer::Closing => {}
        }
    }

    /// Whether a stage that the study says is ready has all that its command is given.
    fn can_begin(&self, progress: &Progress, m: usize) -> bool {
        let Some(stage) = self.pipeline.stages.get(m) else { return false };
        let has_output = |above: usize| progress.outputs.get(above).is_some_and(Option::is_some);
        !progress.begun.contains(m) && !progress.done.contains(m) && given(stage).iter().all(has_output)
    }

    /// Has the later values settled, and looks for outputs under the new keys.
    fn settle(&self, progress: &mut Progress, desk: &Desk) -> Result<Answer<Next>, RunError> {
        let point = match desk.settle() {
            Answer::Done(point) => point,
            Answer::Gone => return Ok(Answer::Gone),
            Answer::Closing => return Ok(Answer::Closing),
        };
        progress.trial = Proposed::new(progress.trial.id(), point);
        let keys = self.keys.of(self.pipeline, progress.trial.point());
        for (m, key) in keys.iter().enumerate() {
            if progress.keys.get(m) != Some(key) {
                progress.outputs[m] = None;
            }
        }
        progress.keys = keys;
        let found = self.find_outputs(progress)?;
        Ok(desk.report(found))
    }

    pub(super) fn stage_name(&self, m: usize) -> String {
        self.pipeline.stages.get(m).map(|stage| stage.name.clone()).unwrap_or_default()
    }
}

/// The stages whose outputs a stage's command is given, and those that it comes after.
pub(super) fn given(stage: &Stage) -> StageSet {
    let mut given = StageSet::empty();
    stage.after.iter().for_each(|&above| given.insert(above));
    for piece in stage.run.iter().flat_map(|argument| &argument.pieces) {
        if let Piece::Stage(above) = piece {
            given.insert(*above);
        }
    }
    given
}
