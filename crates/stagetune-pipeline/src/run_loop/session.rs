//! One process at work on one study.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Instant;

use stagetune::space::CostModel;
use stagetune::strategy::configured;
use stagetune::study::{Event, Study, StudyError, differing_option};
use stagetune::trial::Proposed;

use super::definition::{changes, definition};
use super::error::RunError;
use super::hold::{Hold, host};
use super::keys::Keys;
use super::live::Live;
use super::news::{News, Reached, Standing, Watcher};
use crate::cache::Cache;
use crate::clock;
use crate::disk::Disk;
use crate::file::Pipeline;
use crate::journal::{Definition, Journal, Record, Sqlite, Stamped, Summary};
use crate::runner::Runner;
use crate::state_dir::StateDir;
use crate::stop::Stop;

/// How a session works.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// Trials at a time.
    pub workers: usize,
    /// Go on although the pipeline, or the strategy's options, are not those of the earlier trials.
    pub accept_changes: bool,
    /// How to end before the budget does.
    pub stop: Stop,
    /// Where everything is written.
    pub disk: Disk,
}

/// A study that is being run; nobody else can run it meanwhile.
pub struct Session<'a> {
    pub(super) pipeline: &'a Pipeline,
    pub(super) options: SessionOptions,
    pub(super) runner: &'a dyn Runner,
    pub(super) watcher: &'a dyn Watcher,
    pub(super) cache: Cache,
    pub(super) keys: Keys,
    pub(super) live: Live,
    pub(super) state: StateDir,
    /// Tells this study from others that use the same cache.
    pub(super) identity: String,
    core: Mutex<Core>,
    /// A trial was told.
    pub(super) told: Condvar,
    _hold: Hold,
}

/// What workers share.
pub(super) struct Core {
    pub(super) study: Study,
    journal: Sqlite,
    position: u64,
    /// Events of the study that are in the journal.
    written: usize,
    /// Trials that an earlier process had begun.
    pub(super) resumed: VecDeque<Proposed>,
    pub(super) summary: Summary,
    pub(super) began: Instant,
    wall_before: f64,
    /// Points that were proposed, as text.
    pub(super) seen: BTreeSet<String>,
    /// How many proposals in a row had been made before.
    pub(super) stale: usize,
    pub(super) reached: Option<Reached>,
    pub(super) failure: Option<RunError>,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self { workers: 1, accept_changes: false, stop: Stop::new(), disk: Disk::default() }
    }
}

impl<'a> Session<'a> {
    /// Takes the study, and brings it to where the journal says it is.
    pub fn open(
        pipeline: &'a Pipeline,
        options: SessionOptions,
        runner: &'a dyn Runner,
        watcher: &'a dyn Watcher,
    ) -> Result<Self, RunError> {
        let (state, name, disk) = (StateDir::of(&pipeline.root), &pipeline.study.name, &options.disk);
        state.make(name, disk)?;
        let hold = Hold::take(&state, name, disk)?;
        let keys = Keys::new(pipeline)?;
        let mut journal = Sqlite::open(&state.journal(), name, disk.clone())?;
        let records = journal.read(0)?;
        let now = definition(pipeline, &keys);
        if !options.accept_changes {
            check_unchanged(name, &records, &now)?;
        }
        let mut summary = Summary::of(&records);
        // Options that the file leaves to stagetune may be others in another release.
        let lenient = options.accept_changes || pipeline.study.options.is_empty();
        let study = replayed(pipeline, &records, lenient)?;
        if let Some((before, now)) = other_options(pipeline, &records)? {
            watcher.see(&News::OtherOptions { before: &before, now: &now });
        }
        if let Some(strategy) = begun_with(pipeline, &records) {
            watcher.see(&News::BegunWith { strategy });
        }
        let resumed: VecDeque<Proposed> = study.open().cloned().collect();
        let (mut seen, mut stale) = (BTreeSet::new(), 0);
        for trial in study.trials() {
            stale = if seen.insert(trial.point().to_string()) { 0 } else { stale + 1 };
        }
        let opened = Record::Opened {
            release: env!("CARGO_PKG_VERSION").to_owned(),
            process: std::process::id(),
            host: host(),
            workers: options.workers,
            definition: now,
        };
        let mut position = records.len() as u64;
        let opened = Stamped { at: clock::now(), record: opened };
        journal.append(position, std::slice::from_ref(&opened))?;
        summary.apply(&opened);
        position += 1;
        let cache = Cache::open(state.path(), disk.clone(), pipeline.cache_limit)?;
        cache.sweep()?;
        let identity = journal.identity(name);
        let live = Live::new(&state, name, disk.clone());
        let (written, wall_before) = (study.events().len(), summary.wall);
        let core = Core {
            study,
            journal,
            position,
            written,
            resumed,
            summary,
            began: Instant::now(),
            wall_before,
            seen,
            stale,
            reached: None,
            failure: None,
        };
        let (core, told) = (Mutex::new(core), Condvar::new());
        Ok(Self {
            pipeline,
            options,
            runner,
            watcher,
            cache,
            keys,
            live,
            state,
            identity,
            core,
            told,
            _hold: hold,
        })
    }

    /// How the study stands.
    pub fn standing(&self) -> Result<Standing, RunError> {
        Ok(self.core()?.standing())
    }

    pub(super) fn core(&self) -> Result<MutexGuard<'_, Core>, RunError> {
        self.core.lock().map_err(|_| RunError::Worker)
    }
}

impl Core {
    /// Writes down what the study did since the last time; of a trial's outcome also what happened to its stages.
    pub(super) fn write(&mut self, record: impl Fn(Event) -> Record) -> Result<(), RunError> {
        let at = clock::now();
        let new = self.study.events_since(self.written).iter().cloned();
        let records: Vec<Stamped> = new.map(|event| Stamped { at, record: record(event) }).collect();
        self.append(&records)?;
        self.written = self.study.events().len();
        Ok(())
    }

    /// Writes down that the session ends.
    pub(super) fn close(&mut self, finished: bool, reason: String) -> Result<(), RunError> {
        self.append(&[Stamped { at: clock::now(), record: Record::Closed { finished, reason } }])
    }

    /// How long processes have worked on the study.
    pub(super) fn wall(&self) -> f64 {
        self.wall_before + self.began.elapsed().as_secs_f64()
    }

    pub(super) fn standing(&self) -> Standing {
        let account = self.study.account();
        Standing {
            asked: self.study.trials().len(),
            told: account.charges().len(),
            best: account.best(),
            spent: account.spent(),
            wall: self.wall(),
        }
    }

    /// How long a stage took so far, on average.
    pub(super) fn expected(&self, stage: &str) -> Option<f64> {
        let tally = self.summary.stages.iter().find(|tally| tally.name == stage)?;
        (tally.ran > 0).then(|| tally.seconds / tally.ran as f64)
    }

    fn append(&mut self, records: &[Stamped]) -> Result<(), RunError> {
        self.journal.append(self.position, records)?;
        self.position += records.len() as u64;
        records.iter().for_each(|record| self.summary.apply(record));
        Ok(())
    }
}

/// The engine's study of a pipeline, with the strategy of that name.
pub fn study(pipeline: &Pipeline, strategy: &str) -> Result<Study, StudyError> {
    let plan = &pipeline.study;
    let space = pipeline.space.clone();
    let chosen = configured(strategy, &space, &plan.options, plan.seed)?;
    Study::new(space, chosen)
        .label(strategy, plan.seed, "")?
        .direction(plan.direction)?
        .cost_model(CostModel::Cache)?
        .stop(plan.budget.rules())
}

/// The strategy that a study was begun with, and its options.
fn begun(records: &[Stamped]) -> Option<(&str, &str)> {
    records.iter().find_map(|stamped| match stamped.record.event() {
        Some(Event::Started { strategy, options, .. }) => Some((strategy.as_str(), options.as_str())),
        _ => None,
    })
}

/// Another strategy than stagetune's own choice, with which a study was begun whose file now leaves the choice to stagetune.
fn begun_with<'a>(pipeline: &Pipeline, records: &'a [Stamped]) -> Option<&'a str> {
    let plan = &pipeline.study;
    let (strategy, _) = begun(records)?;
    (plan.is_auto() && strategy != plan.engine_strategy()).then_some(strategy)
}

/// The first option that the study was begun with and does not have now, both as text.
fn other_options(pipeline: &Pipeline, records: &[Stamped]) -> Result<Option<(String, String)>, StudyError> {
    let Some((strategy, options)) = begun(records) else { return Ok(None) };
    let plan = &pipeline.study;
    let now = configured(strategy, &pipeline.space, &plan.options, plan.seed)?.settings();
    Ok(differing_option(options, &now))
}

/// The study that the records tell of; a lenient one goes on with other options than it was begun with.
pub(super) fn replayed(pipeline: &Pipeline, records: &[Stamped], lenient: bool) -> Result<Study, RunError> {
    let strategy = begun_with(pipeline, records).unwrap_or(pipeline.study.engine_strategy());
    let mut study = study(pipeline, strategy)?;
    if let Some((begun_with, options)) = begun(records)
        && lenient
        && begun_with == strategy
    {
        study = study.label(strategy, pipeline.study.seed, options)?;
    }
    let name = pipeline.study.name.clone();
    study
        .replay(records.iter().filter_map(|stamped| stamped.record.event()).cloned())
        .map_err(|source| RunError::Replay { study: name, source: Box::new(source) })
}

fn check_unchanged(name: &str, records: &[Stamped], now: &Definition) -> Result<(), RunError> {
    let told = records.iter().any(|stamped| matches!(stamped.record, Record::Told { .. }));
    let before = records.iter().rev().find_map(|stamped| match &stamped.record {
        Record::Opened { definition, .. } => Some(definition),
        _ => None,
    });
    let changes = before.filter(|_| told).map(|before| changes(before, now)).unwrap_or_default();
    if changes.is_empty() { Ok(()) } else { Err(RunError::Changed { study: name.to_owned(), changes }) }
}
