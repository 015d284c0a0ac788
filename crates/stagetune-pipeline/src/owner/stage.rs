//! One stage of one trial: its output if it is there, or attempts until one succeeds or none is left.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;

use stagetune::trial::{How, Proposed, StageReport};

use super::blame::Failed;
use super::desk::{Answer, Desk, StageDone};
use super::error::RunError;
use super::live::RunningStage;
use super::news::News;
use super::open::Context;
use super::result;
use crate::clock;
use crate::executor::{Attempt, Body, Ended, Exit, Refused, Sight, Token, last_lines, read_end};
use crate::file::{DEAREST, Piece, Stage, StageCost, Unfilled};
use crate::log::Run;
use crate::outputs::{self, Claim, Maker, Output, Permit, PublishError, StageKey};
use crate::text::{LONGEST_REASON, bounded};

/// A stage whose output is there.
pub(super) struct Made {
    pub(super) done: StageDone,
    pub(super) output: Output,
    /// Directories of attempts, which are needed until the report is written down.
    pub(super) attempts: Vec<PathBuf>,
}

pub(super) enum StageEnd {
    Made(Made),
    /// It failed for good, why, and the directories of its attempts.
    Failed(StageDone, String, Vec<PathBuf>),
    /// It was told to stop, or its trial has been ended by somebody else.
    Stopped,
}

/// Lines of a log that are shown when a stage fails.
pub(super) const WORDS: usize = 20;

/// What a stage is told that tried to open a terminal.
const NO_TERMINAL: &str = " (no stage has a terminal; give it what it asks for as an argument or in `env`)";

/// The longest last word that goes into the log.
const LONGEST_WORD: usize = 300;

/// Between looks at an output that somebody else makes: short beside any stage worth keeping.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// How often a stop is looked for while an attempt runs; its end is noticed at once.
const LOOK: Duration = Duration::from_millis(50);

/// One stage of one trial at work.
pub(super) struct Work<'a> {
    pub(super) trial: &'a Proposed,
    pub(super) m: usize,
    pub(super) stage: &'a Stage,
    pub(super) outputs: &'a [Option<Output>],
    pub(super) expected: Option<f64>,
    pub(super) desk: &'a Desk,
}

/// Attempts so far.
///
/// Their directories stay until the stage has reported: whoever owns the study next must not run them again.
struct Tries {
    began: f64,
    ended: f64,
    seconds: f64,
    attempts: u32,
    dirs: Vec<PathBuf>,
}

impl Context<'_> {
    /// An output that is there. Where this very trial had it made before it was interrupted, the
    /// run is still its own.
    ///
    /// An output without the number that the study is after is no result; then the error says so.
    pub(super) fn found(
        &self,
        trial: &Proposed,
        m: usize,
        key: &StageKey,
        output: &Output,
    ) -> Result<StageDone, String> {
        let entry = &output.entry;
        if let Some(metric) = self.metric_of(m)
            && !entry.metrics.contains_key(metric)
        {
            let problem = result::number(&output.dir, metric).err();
            return Err(reason(&key.stage, &problem.unwrap_or_else(|| format!("gave no `{metric}`")), &[]));
        }
        let mine = entry.maker == self.maker(trial);
        let now = clock::now();
        let how = if mine { How::Ran } else { How::Reused };
        let report = StageReport {
            how,
            cost: mine.then_some(entry.cost),
            metrics: entry.metrics.clone(),
            again: false,
        };
        let run = Run {
            key: key.id().to_string(),
            saved: if mine { 0.0 } else { entry.cost },
            seconds: entry.seconds,
            began: if mine { entry.began } else { now },
            ended: if mine { entry.ended } else { now },
            attempts: if mine { entry.attempts } else { 0 },
            problem: None,
        };
        Ok(StageDone { stage: m, report, run })
    }

    /// A stage whose output is gone, but which nothing that runs needs.
    pub(super) fn not_needed(&self, m: usize, key: &StageKey) -> Result<StageDone, String> {
        Ok(StageDone { stage: m, report: StageReport::reused(), run: now(key) })
    }

    /// The report of an output without the number that the study is after.
    pub(super) fn lacking(&self, m: usize, key: &StageKey, reason: &str) -> StageDone {
        let run = Run { problem: Some(reason.to_owned()), ..now(key) };
        StageDone { stage: m, report: StageReport::failed(Some(0.0)), run }
    }

    /// The name of the number that a stage must give: the objective's, of the stage that it belongs to.
    fn metric_of(&self, m: usize) -> Option<&str> {
        (self.objective_stage() == Some(m)).then(|| self.pipeline.study.metric.name())
    }

    /// The stage whose number the study is after.
    pub(super) fn objective_stage(&self) -> Option<usize> {
        let stages = &self.pipeline.stages;
        match self.pipeline.study.metric.stage() {
            Some(name) => stages.iter().position(|stage| stage.name == name),
            None => stages.len().checked_sub(1),
        }
    }

    /// Runs a stage unless somebody else has just done so; `outputs` are those so far.
    pub(super) fn run_stage(
        &self,
        trial: &Proposed,
        m: usize,
        key: &StageKey,
        outputs: &[Option<Output>],
        expected: Option<f64>,
        desk: &Desk,
    ) -> Result<StageEnd, RunError> {
        let permit = loop {
            match self.outputs.claim(key)? {
                Claim::Ready(output) => {
                    return Ok(match self.found(trial, m, key, &output) {
                        Ok(done) => StageEnd::Made(Made { done, output, attempts: Vec::new() }),
                        Err(reason) => StageEnd::Failed(self.lacking(m, key, &reason), reason, Vec::new()),
                    });
                }
                Claim::Mine(permit) => break permit,
                Claim::Busy if self.options.stop.is_now() => return Ok(StageEnd::Stopped),
                Claim::Busy => std::thread::sleep(LOOK_AGAIN),
            }
        };
        if let Some(problem) = permit.damaged() {
            self.watcher.see(&News::Damaged { stage: &key.stage, problem });
        }
        let Some(stage) = self.pipeline.stages.get(m) else { return Ok(StageEnd::Stopped) };
        let (id, began) = (trial.id().index(), clock::now());
        self.live.began(RunningStage { trial: id, stage: stage.name.clone(), began, expected });
        let work = Work { trial, m, stage, outputs, expected, desk };
        let end = self.try_stage(&work, permit);
        if let Ok(StageEnd::Made(_) | StageEnd::Failed(..)) = end {
            self.launched().remove(&(id, stage.name.clone()));
        }
        self.live.ended(id, &stage.name);
        self.count_log();
        end
    }

    pub(super) fn launched(&self) -> MutexGuard<'_, BTreeMap<(u64, String), Vec<Token>>> {
        self.launched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tries the stage as often as its retries allow; an attempt that an earlier owner began counts.
    fn try_stage(&self, work: &Work<'_>, permit: Permit) -> Result<StageEnd, RunError> {
        let Work { trial, stage, .. } = work;
        let (id, last) = (trial.id().index(), stage.retries.saturating_add(1));
        let mut tries =
            Tries { began: f64::INFINITY, ended: 0.0, seconds: 0.0, attempts: 0, dirs: Vec::new() };
        let earlier = self.launched().get(&(id, stage.name.clone())).cloned().unwrap_or_default();
        let mut earlier = earlier.into_iter();
        loop {
            self.keys.check(self.pipeline, work.m)?;
            let before = self.keys.look(self.pipeline, work.m)?;
            let adopted = self.adopt(&mut earlier, &permit)?;
            if adopted.is_none() && self.options.stop.is_now() {
                return Ok(StageEnd::Stopped);
            }
            tries.attempts += 1;
            let attempt = tries.attempts;
            let (dir, ended) = match adopted {
                Some(found) => found,
                None => {
                    let (stage, expected) = (&stage.name, work.expected);
                    self.watcher.see(&News::StageBegan { trial: id, stage, attempt, expected });
                    match self.run_attempt(work, &permit, attempt)? {
                        Some(found) => found,
                        None => return Ok(StageEnd::Stopped),
                    }
                }
            };
            tries.seconds += ended.seconds;
            tries.began = tries.began.min(ended.began);
            tries.ended = tries.ended.max(ended.ended);
            tries.dirs.push(dir.clone());
            let out = dir.join("out");
            let problem = match &ended.exit {
                Exit::Stopped => {
                    self.discard(&dir);
                    return Ok(StageEnd::Stopped);
                }
                Exit::NoRoom(problem) => {
                    self.discard(&dir);
                    let (stage, problem) = (stage.name.clone(), problem.clone());
                    return Err(RunError::NoRoom { stage, problem });
                }
                exit => match exit.problem() {
                    Some(problem) => {
                        self.blame_the_world(
                            work,
                            &dir,
                            &before,
                            Some(Failed { problem: &problem, attempt, began: ended.began }),
                        )?;
                        problem
                    }
                    None => match self.outcome(work, &out, tries.seconds) {
                        Ok((cost, metrics)) => {
                            // What was made of something that changed meanwhile belongs to no key.
                            self.blame_the_world(work, &dir, &before, None)?;
                            match self.publish(work, permit, &out, (cost, metrics), &tries) {
                                Ok(made) => return Ok(StageEnd::Made(made)),
                                Err(PublishError::Unfit(problem)) => {
                                    let problem = format!("left an output that cannot be kept: {problem}");
                                    return Ok(self.failed(work, &dir, &problem, tries));
                                }
                                Err(PublishError::World(error)) => return Err(error.into()),
                            }
                        }
                        Err(problem) => {
                            self.blame_the_world(
                                work,
                                &dir,
                                &before,
                                Some(Failed { problem: &problem, attempt, began: ended.began }),
                            )?;
                            problem
                        }
                    },
                },
            };
            if attempt >= last {
                return Ok(self.failed(work, &dir, &problem, tries));
            }
            // The tries that are left are those of whoever goes on; this one stays and counts.
            if self.options.stop.is_now() {
                return Ok(StageEnd::Stopped);
            }
            self.show_failure(work, &problem, attempt, true);
        }
    }

    /// The next attempt of an earlier owner that has an end of its own.
    fn adopt(
        &self,
        earlier: &mut impl Iterator<Item = Token>,
        permit: &Permit,
    ) -> Result<Option<(PathBuf, Ended)>, RunError> {
        for token in earlier {
            let dir = self.state.attempts().join(token.as_str());
            if !token.is_for(permit.id()) {
                continue;
            }
            // One that still runs ends with its owner, who is gone: it is about to.
            while self.sight(&token)? != Sight::Gone {
                if self.options.stop.is_now() {
                    return Ok(None);
                }
                self.executor.wait(&token, LOOK);
            }
            match read_end(&dir)? {
                Some(Ended { exit: Exit::Stopped | Exit::NoRoom(_), .. }) | None => self.discard(&dir),
                // Its output was kept before its owner was killed, and is gone since: nobody can
                // tell what it held.
                Some(Ended { exit: Exit::Success, .. }) if !dir.join("out").is_dir() => self.discard(&dir),
                Some(ended) => return Ok(Some((dir, ended))),
            }
        }
        Ok(None)
    }

    /// Has the stage run once; `None` if it was stopped before it began, or the trial has been
    /// ended by somebody else.
    fn run_attempt(
        &self,
        work: &Work<'_>,
        permit: &Permit,
        number: u32,
    ) -> Result<Option<(PathBuf, Ended)>, RunError> {
        let token = Token::fresh(&self.identity, permit.id(), u64::from(number));
        let dir = self.state.attempts().join(token.as_str());
        let attempt = Attempt {
            body: self.body(work, &dir.join("out"))?,
            stage: work.stage.name.clone(),
            log: self.log_path(work.trial.id().index(), &work.stage.name, number),
            timeout: work.stage.timeout,
            grace: work.stage.grace,
            dir: dir.clone(),
            token: token.clone(),
        };
        match work.desk.launch(work.m, permit.id().to_string(), token.to_string()) {
            Answer::Done(()) => {}
            Answer::Gone | Answer::Closing => return Ok(None),
        }
        let of = (work.trial.id().index(), work.stage.name.clone());
        self.launched().entry(of).or_default().push(token.clone());
        loop {
            match self.executor.launch(&attempt) {
                Ok(()) => break,
                Err(Refused::Busy) if self.options.stop.is_now() => return Ok(None),
                Err(Refused::Busy) => std::thread::sleep(LOOK),
                Err(Refused::Never(problem)) => {
                    let (now, host) = (clock::now(), crate::host::name().to_owned());
                    let exit = Exit::NotStarted(problem);
                    let ended = Ended { exit, seconds: 0.0, began: now, ended: now, host, process: 0 };
                    return Ok(Some((dir, ended)));
                }
                Err(error @ Refused::World { .. }) => {
                    self.discard(&dir);
                    let (stage, problem) = (work.stage.name.clone(), error.to_string());
                    return Err(RunError::NoRoom { stage, problem });
                }
            }
        }
        let mut cancelled = false;
        loop {
            self.executor.wait(&token, LOOK);
            if self.sight(&token)? == Sight::Gone {
                break;
            }
            if self.options.stop.is_now() && !cancelled {
                cancelled = true;
                self.executor.cancel(&token)?;
            }
        }
        match read_end(&dir)? {
            Some(ended) => Ok(Some((dir, ended))),
            None if !dir.is_dir() => {
                Err(RunError::AttemptRemoved { stage: work.stage.name.clone(), path: dir })
            }
            None => Err(RunError::Lost { stage: work.stage.name.clone(), token: token.to_string() }),
        }
    }

    fn sight(&self, token: &Token) -> Result<Sight, RunError> {
        let seen = self.executor.look(std::slice::from_ref(token))?;
        Ok(seen.get(token).copied().unwrap_or(Sight::Gone))
    }

    /// The directory of an attempt that nobody needs any more; what cannot be removed is swept by
    /// the next owner.
    pub(super) fn discard(&self, dir: &Path) {
        let _ = self.options.disk.remove_dir(dir);
    }

    /// What an attempt that ended well cost and found; what it owes, if it did not end well after all.
    fn outcome(
        &self,
        work: &Work<'_>,
        out: &Path,
        seconds: f64,
    ) -> Result<(f64, BTreeMap<String, f64>), String> {
        if !std::fs::symlink_metadata(out).is_ok_and(|found| found.is_dir()) {
            return Err("left an output that cannot be kept: {out} is not a directory any more".into());
        }
        if let Some(metric) = self.metric_of(work.m) {
            result::number(out, metric)?;
        }
        let mut metrics = result::numbers_with(out, self.metric_of(work.m));
        let cost = match work.stage.cost {
            StageCost::Measured => seconds,
            StageCost::Given(cost) => cost,
            StageCost::Reported => {
                metrics.remove("cost");
                match result::number(out, "cost")? {
                    cost if (0.0..=DEAREST).contains(&cost) => cost,
                    cost => {
                        return Err(format!(
                            "reported a cost of {cost}; a cost lies between 0 and {DEAREST}"
                        ));
                    }
                }
            }
        };
        Ok((cost, metrics))
    }

    fn publish(
        &self,
        work: &Work<'_>,
        permit: Permit,
        out: &Path,
        (cost, metrics): (f64, BTreeMap<String, f64>),
        tries: &Tries,
    ) -> Result<Made, PublishError> {
        let key = permit.id().to_string();
        let Tries { began, ended, seconds, attempts, .. } = *tries;
        let maker = self.maker(work.trial);
        let kept = outputs::Run { cost, seconds, attempts, began, ended, maker, metrics: metrics.clone() };
        let output = self.outputs.publish(permit, out, kept)?;
        let report = StageReport { how: How::Ran, cost: Some(cost), metrics, again: false };
        let run = Run { key, saved: 0.0, seconds, began, ended, attempts, problem: None };
        Ok(Made { done: StageDone { stage: work.m, report, run }, output, attempts: tries.dirs.clone() })
    }

    fn failed(&self, work: &Work<'_>, dir: &Path, problem: &str, tries: Tries) -> StageEnd {
        let Tries { began, ended, seconds, attempts, dirs } = tries;
        let words = self.show_failure(work, problem, attempts, false);
        let cost = match work.stage.cost {
            StageCost::Measured => seconds,
            StageCost::Given(cost) => cost,
            StageCost::Reported => {
                let said = result::number(&dir.join("out"), "cost");
                said.map_or(0.0, |cost| cost.clamp(0.0, DEAREST))
            }
        };
        let key = self.keys.of(self.pipeline, work.trial.point());
        let key = key.get(work.m).map(|key| key.id().to_string()).unwrap_or_default();
        let reason = reason(&work.stage.name, problem, &words);
        let problem = Some(reason.clone());
        let run = Run { key, saved: 0.0, seconds, began, ended, attempts, problem };
        let metrics = result::numbers(&dir.join("out"));
        let report = StageReport { metrics, ..StageReport::failed(Some(cost)) };
        let done = StageDone { stage: work.m, report, run };
        StageEnd::Failed(done, reason, dirs)
    }

    /// Shows a failure; the last words of the stage.
    fn show_failure(&self, work: &Work<'_>, problem: &str, attempt: u32, again: bool) -> Vec<String> {
        let trial = work.trial.id().index();
        let log = self.log_path(trial, &work.stage.name, attempt);
        let words = last_lines(&log, WORDS).unwrap_or_default();
        let (stage, log) = (&work.stage.name, &log);
        self.watcher.see(&News::StageFailed { trial, stage, problem, words: &words, log, again });
        words
    }

    /// What the stage runs: its command, or the function that the embedding program registered for it.
    fn body(&self, work: &Work<'_>, out: &Path) -> Result<Body, Unfilled> {
        let values = super::keys::values(work.stage, work.trial.point());
        if let Some(name) = &work.stage.call {
            let stages = self.pipeline.stages.iter().zip(work.outputs);
            let given =
                stages.filter_map(|(stage, output)| Some((stage.name.clone(), output.as_ref()?.dir.clone())));
            return Ok(Body::Call { name: name.clone(), params: values, inputs: given.collect() });
        }
        let value = |piece: &Piece| match piece {
            Piece::Text(text) => Some(text.into()),
            Piece::Out => Some(out.into()),
            Piece::Stage(m) => work.outputs.get(*m)?.as_ref().map(|output| output.dir.clone().into()),
            Piece::Param(name) => values.get(name).map(Into::into),
        };
        Ok(Body::Command {
            argv: work.stage.run.iter().map(|argument| argument.fill(value)).collect::<Result<_, _>>()?,
            dir: self.pipeline.root.clone(),
            env: work.stage.env.clone(),
        })
    }

    fn maker(&self, trial: &Proposed) -> Maker {
        Maker { study: self.identity.clone(), trial: trial.id().index() }
    }
}

/// How a stage ran that took no time.
fn now(key: &StageKey) -> Run {
    let now = clock::now();
    Run { key: key.id().to_string(), began: now, ended: now, ..Run::default() }
}

/// What goes into the log: the stage, what happened, and its last word.
fn reason(stage: &str, problem: &str, words: &[String]) -> String {
    let last = words.iter().rev().find(|line| !line.trim().is_empty());
    let said = last.map(|line| format!(": {}", line.trim().chars().take(LONGEST_WORD).collect::<String>()));
    let wanted_terminal = words.iter().any(|line| line.contains("/dev/tty"));
    let hint = if wanted_terminal { NO_TERMINAL } else { "" };
    bounded(format!("stage `{stage}` {problem}{}{hint}", said.unwrap_or_default()), LONGEST_REASON)
}
