//! One stage of one trial: its output from the cache, or its command run until it succeeds or has no attempt left.

use std::path::PathBuf;

use stagetune::trial::Proposed;

use super::error::RunError;
use super::live::RunningStage;
use super::news::News;
use super::result;
use super::session::Session;
use crate::cache::{CacheError, Claim, FileFacts, Hit, Maker, Run, StageKey, Staging};
use crate::clock;
use crate::file::{Piece, Stage, StageCost, Unfilled};
use crate::record::{How, StageRecord};
use crate::runner::{Exit, Job, last_lines};

/// A stage whose output is there, or is not needed.
pub(super) struct Done {
    pub(super) record: StageRecord,
    pub(super) hit: Option<Hit>,
}

pub(super) enum StageEnd {
    Done(Done),
    Failed(StageRecord, String),
    Stopped,
}

/// Lines of a log that are shown when a stage fails.
const WORDS: usize = 20;

/// A cost beyond this is a mistake, and sums of such would not be numbers any more.
const DEAREST: f64 = 1e15;

/// The longest last word that goes into the journal.
const LONGEST_WORD: usize = 300;

impl Done {
    /// A stage whose output is gone, but which nothing that runs needs.
    pub(super) fn not_needed(key: &StageKey) -> Self {
        let now = clock::now();
        let record = StageRecord {
            stage: key.stage.clone(),
            how: How::Reused,
            key: key.id().to_string(),
            cost: 0.0,
            seconds: 0.0,
            began: now,
            ended: now,
            attempts: 0,
        };
        Self { record, hit: None }
    }
}

impl Session<'_> {
    /// An output that is there. Where this very trial had it made before it was interrupted, the run is still its own.
    pub(super) fn found(&self, trial: &Proposed, key: &StageKey, hit: Hit) -> Done {
        let entry = &hit.entry;
        let mine = entry.maker == self.maker(trial);
        let now = clock::now();
        let record = StageRecord {
            stage: key.stage.clone(),
            how: if mine { How::Ran } else { How::Reused },
            key: key.id().to_string(),
            cost: entry.cost,
            seconds: entry.seconds,
            began: if mine { entry.began } else { now },
            ended: if mine { entry.ended } else { now },
            attempts: if mine { entry.attempts } else { 0 },
        };
        Done { record, hit: Some(hit) }
    }

    pub(super) fn ended(&self, trial: &Proposed, record: &StageRecord) {
        self.watcher.see(&News::StageEnded { trial: trial.id().index(), record });
    }

    /// Runs a stage unless somebody else has just done so; `outs` are the outputs so far.
    pub(super) fn run_stage(
        &self,
        trial: &Proposed,
        m: usize,
        key: &StageKey,
        outs: &[Option<Hit>],
    ) -> Result<StageEnd, RunError> {
        let staging = match self.cache.claim(key, &self.options.stop) {
            Ok(Claim::Mine(staging)) => staging,
            Ok(Claim::Hit(hit)) => {
                let done = self.found(trial, key, hit);
                self.ended(trial, &done.record);
                return Ok(StageEnd::Done(done));
            }
            Err(CacheError::Stopped) => return Ok(StageEnd::Stopped),
            Err(error) => return Err(error.into()),
        };
        if let Some(problem) = &staging.damaged {
            self.watcher.see(&News::Damaged { stage: &key.stage, problem });
        }
        let Some(stage) = self.pipeline.stages.get(m) else { return Ok(StageEnd::Stopped) };
        let id = trial.id().index();
        let (began, expected) = (clock::now(), self.core()?.expected(&stage.name));
        self.live.began(RunningStage { trial: id, stage: stage.name.clone(), began, expected });
        let end = self.attempts(trial, stage, m, staging, outs, expected);
        self.live.ended(id, &stage.name);
        if let Ok(StageEnd::Done(Done { record, .. }) | StageEnd::Failed(record, _)) = &end {
            self.ended(trial, record);
        }
        end
    }

    /// Tries the command as often as its retries allow.
    fn attempts(
        &self,
        trial: &Proposed,
        stage: &Stage,
        m: usize,
        staging: Box<Staging<'_>>,
        outs: &[Option<Hit>],
        expected: Option<f64>,
    ) -> Result<StageEnd, RunError> {
        let id = trial.id().index();
        let (began, mut seconds) = (clock::now(), 0.0);
        let last = stage.retries.saturating_add(1);
        let mut attempt = 1;
        loop {
            self.watcher.see(&News::StageBegan { trial: id, stage: &stage.name, attempt, expected });
            let job = self.job(trial, stage, &staging, outs, attempt)?;
            let ended = self.runner.run(&job, &self.options.stop);
            seconds += ended.seconds;
            let last_stage = m + 1 == self.pipeline.stages.len();
            let outcome = match ended.exit {
                Exit::Stopped => return Ok(StageEnd::Stopped),
                Exit::NoRoom(source) => {
                    return Err(RunError::NoRoom { stage: stage.name.clone(), source });
                }
                exit => match exit.problem() {
                    Some(problem) => Err(problem),
                    None => self.outcome(stage, last_stage, &staging, seconds),
                },
            };
            let problem = match outcome {
                Ok((cost, files)) => {
                    // What was made of an input that changed meanwhile belongs to no key.
                    self.keys.check(self.pipeline, m)?;
                    let (key, ended) = (staging.id().to_string(), clock::now());
                    let run =
                        Run { cost, seconds, attempts: attempt, began, ended, maker: self.maker(trial) };
                    let hit = staging.commit(files, run)?;
                    let record = record(stage, How::Ran, key, (cost, seconds), (began, ended), attempt);
                    return Ok(StageEnd::Done(Done { record, hit: Some(hit) }));
                }
                Err(problem) => problem,
            };
            let words = last_lines(&job.log, WORDS).unwrap_or_default();
            let again = attempt < last && !self.options.stop.is_now();
            let (name, log) = (&stage.name, &job.log);
            let news =
                News::StageFailed { trial: id, stage: name, problem: &problem, words: &words, log, again };
            self.watcher.see(&news);
            if !again {
                let times = (began, clock::now());
                let cost = match stage.cost {
                    StageCost::Measured => seconds,
                    StageCost::Given(cost) => cost,
                    StageCost::Reported => {
                        result::number(&staging.out(), "cost").map_or(0.0, |cost| cost.clamp(0.0, DEAREST))
                    }
                };
                let key = staging.id().to_string();
                let record = record(stage, How::Failed, key, (cost, seconds), times, attempt);
                return Ok(StageEnd::Failed(record, reason(&stage.name, &problem, &words)));
            }
            staging.again()?;
            attempt += 1;
        }
    }

    /// What a run that ended well cost and wrote; what it owes, if it did not end well after all.
    fn outcome(
        &self,
        stage: &Stage,
        last: bool,
        staging: &Staging<'_>,
        seconds: f64,
    ) -> Result<(f64, Vec<FileFacts>), String> {
        let files = staging.manifest()?;
        if last {
            result::number(&staging.out(), &self.pipeline.study.metric)?;
        }
        let cost = match stage.cost {
            StageCost::Measured => seconds,
            StageCost::Given(cost) => cost,
            StageCost::Reported => match result::number(&staging.out(), "cost")? {
                cost if (0.0..=DEAREST).contains(&cost) => cost,
                cost => {
                    return Err(format!("reported a cost of {cost}; a cost lies between 0 and {DEAREST}"));
                }
            },
        };
        Ok((cost, files))
    }

    fn job(
        &self,
        trial: &Proposed,
        stage: &Stage,
        staging: &Staging<'_>,
        outs: &[Option<Hit>],
        attempt: u32,
    ) -> Result<Job, Unfilled> {
        let values = super::keys::values(stage, trial.point());
        let value = |piece: &Piece| match piece {
            Piece::Text(text) => Some(text.into()),
            Piece::Out => Some(staging.out().into()),
            Piece::Stage(m) => outs.get(*m)?.as_ref().map(|hit| hit.out.clone().into()),
            Piece::Param(name) => values.get(name).map(Into::into),
        };
        Ok(Job {
            argv: stage.run.iter().map(|argument| argument.fill(value)).collect::<Result<_, _>>()?,
            dir: self.pipeline.root.clone(),
            env: stage.env.clone(),
            log: self.log_path(trial.id().index(), &stage.name, attempt),
            timeout: stage.timeout,
        })
    }

    pub(super) fn log_path(&self, trial: u64, stage: &str, attempt: u32) -> PathBuf {
        let again = if attempt > 1 { format!(".{attempt}") } else { String::new() };
        self.state.logs(&self.pipeline.study.name).join(format!("{trial:04}-{stage}{again}.log"))
    }

    fn maker(&self, trial: &Proposed) -> Maker {
        Maker { study: self.identity.clone(), trial: trial.id().index() }
    }
}

fn record(
    stage: &Stage,
    how: How,
    key: String,
    (cost, seconds): (f64, f64),
    (began, ended): (f64, f64),
    attempts: u32,
) -> StageRecord {
    StageRecord { stage: stage.name.clone(), how, key, cost, seconds, began, ended, attempts }
}

/// What goes into the journal: the stage, what happened, and its last word.
fn reason(stage: &str, problem: &str, words: &[String]) -> String {
    let last = words.iter().rev().find(|line| !line.trim().is_empty());
    let said = last.map(|line| format!(": {}", line.trim().chars().take(LONGEST_WORD).collect::<String>()));
    format!("stage `{stage}` {problem}{}", said.unwrap_or_default())
}
