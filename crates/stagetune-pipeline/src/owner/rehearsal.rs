//! What would run, without running anything or writing a byte: for `--dry-run` and `cache why`.

use std::ffi::OsString;

use serde::Serialize;
use serde_json::{Map, Value};
use stagetune::space::Point;

use super::error::RunError;
use super::keys::{Keys, values};
use super::replay::replayed;
use crate::disk::Disk;
use crate::file::{Piece, Pipeline};
use crate::log::{Log, LogError, Sqlite, Stamped};
use crate::outputs::{Cache, StageKey};
use crate::state_dir::StateDir;

/// The next trial, and what would run for it.
#[derive(Clone, Debug, Serialize)]
pub struct Rehearsal {
    /// Its number.
    pub trial: u64,
    /// Whether an earlier process had begun it.
    pub resumed: bool,
    /// Its parameters.
    pub point: Map<String, Value>,
    /// Why it would be proposed.
    pub why: String,
    /// What would happen to its stages.
    pub stages: Vec<StagePlan>,
}

/// What would happen to one stage.
#[derive(Clone, Debug, Serialize)]
pub struct StagePlan {
    /// Its name.
    pub stage: String,
    /// Its cache key.
    pub key: StageKey,
    /// The key's name.
    pub id: String,
    /// Whether its output is there.
    pub cached: bool,
    /// The command, with the places that outputs will have.
    pub argv: Vec<String>,
}

/// What the next session would do first; `None` if the study is complete.
pub fn rehearse(pipeline: &Pipeline, accept_changes: bool) -> Result<Option<Rehearsal>, RunError> {
    let lenient = accept_changes || pipeline.study.options.is_empty();
    let mut study = replayed(pipeline, &records(pipeline)?, lenient)?;
    let open = study.open().next().cloned();
    let resumed = open.is_some();
    let trial = match open {
        Some(trial) => trial,
        None if study.stopped().is_some() => return Ok(None),
        None => study.ask()?,
    };
    Ok(Some(Rehearsal {
        trial: trial.id().index(),
        resumed,
        point: crate::ledger::point_json(trial.point()),
        why: study.why(trial.id()).map(ToString::to_string).unwrap_or_default(),
        stages: plan(pipeline, trial.point())?,
    }))
}

/// What would happen to the stages of a point.
pub fn plan(pipeline: &Pipeline, point: &Point) -> Result<Vec<StagePlan>, RunError> {
    let state = StateDir::of(&pipeline.root);
    let cache = Cache::at(state.path(), Disk::default(), None);
    let keys = Keys::new(pipeline)?.of(pipeline, point);
    let ids: Vec<String> = keys.iter().map(|key| key.id().to_string()).collect();
    let out = |m: usize| {
        let id = ids.get(m).map(String::as_str).unwrap_or_default();
        state.path().join("cache").join(id).join("out").into_os_string()
    };
    let stages = keys.iter().zip(&pipeline.stages).enumerate();
    stages
        .map(|(m, (key, stage))| {
            let values = values(stage, point);
            let value = |piece: &Piece| match piece {
                Piece::Text(text) => Some(text.into()),
                Piece::Out => Some(out(m)),
                Piece::Stage(above) => Some(out(*above)),
                Piece::Param(name) => values.get(name).map(Into::into),
            };
            let shown = |text: OsString| text.to_string_lossy().into_owned();
            Ok(StagePlan {
                stage: stage.name.clone(),
                id: key.id().to_string(),
                cached: cache.find(key)?.is_some(),
                argv: stage
                    .run
                    .iter()
                    .map(|argument| argument.fill(value).map(shown))
                    .collect::<Result<_, _>>()?,
                key: key.clone(),
            })
        })
        .collect()
}

/// The study's records; none if it has not begun.
fn records(pipeline: &Pipeline) -> Result<Vec<Stamped>, RunError> {
    let state = StateDir::of(&pipeline.root);
    match Sqlite::look(&state.journal(), &pipeline.study.name) {
        Ok(journal) => Ok(journal.read(0)?),
        Err(LogError::Missing { .. } | LogError::NoStudy { .. }) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}
