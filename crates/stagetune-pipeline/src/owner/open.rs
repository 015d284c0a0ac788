//! Becoming the owner of a study.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use stagetune::study::{Event, Study};
use stagetune::trial::TrialId;

use super::book::Book;
use super::definition::definition;
use super::dispatcher::Dispatcher;
use super::error::RunError;
use super::hold::Hold;
use super::keys::Keys;
use super::live::Live;
use super::news::{News, Reached, Standing, Watcher};
use super::old_logs::OldLogs;
use super::patience::Patience;
use super::provenance::this_process;
use super::replay::{begun_with, check_unchanged, other_options, study};
use crate::disk::Disk;
use crate::executor::{Executor, Token, sweep};
use crate::file::Pipeline;
use crate::filesystem::Filesystem;
use crate::ledger::Ledger;
use crate::log::{Log, LogError, Record, Session, Sqlite, Stamped};
use crate::outputs::{Cache, Outputs};
use crate::state_dir::StateDir;
use crate::stop::Stop;

/// How an owner works.
#[derive(Clone, Debug)]
pub struct OwnerOptions {
    /// Trials at a time.
    pub workers: usize,
    /// Go on although the pipeline, or the strategy's options, are not those of the earlier trials.
    pub accept_changes: bool,
    /// How to end before the budget does.
    pub stop: Stop,
    /// Where everything is written.
    pub disk: Disk,
}

/// Makes a new study, with nothing asked yet.
pub type NewStudy = Box<dyn Fn() -> Result<Study, RunError> + Send>;

/// What an owner is made of. [`Owner::open`] takes the parts of one machine; tests and other
/// programs give their own.
pub struct Parts {
    /// How to begin.
    pub study: NewStudy,
    /// The study's log.
    pub log: Box<dyn Log>,
    /// Stage outputs.
    pub outputs: Arc<dyn Outputs>,
    /// Whoever runs attempts.
    pub executor: Arc<dyn Executor>,
    /// Tells the study from every other one, also from an earlier one of the same name.
    pub identity: String,
}

/// A study that is being run by this process.
pub struct Owner<'a> {
    pub(super) context: Context<'a>,
    dispatcher: Dispatcher,
    _hold: Option<Hold>,
}

/// What threads share, and nobody changes.
pub(super) struct Context<'a> {
    pub(super) pipeline: &'a Pipeline,
    pub(super) options: OwnerOptions,
    pub(super) watcher: &'a dyn Watcher,
    pub(super) outputs: Arc<dyn Outputs>,
    pub(super) executor: Arc<dyn Executor>,
    pub(super) keys: Keys,
    pub(super) live: Live,
    pub(super) old_logs: OldLogs,
    pub(super) patience: Patience,
    pub(super) state: StateDir,
    pub(super) identity: String,
    /// Attempts that were launched for stages which have not reported, by this owner or earlier
    /// ones, in order.
    pub(super) launched: Mutex<BTreeMap<(u64, String), Vec<Token>>>,
    /// Why stages of open trials failed under earlier owners.
    pub(super) failures: BTreeMap<(u64, String), String>,
}

/// How an owner ended its work.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Why no more trials began.
    pub reached: Reached,
    /// What the study comes to.
    pub ledger: Ledger,
}

impl Default for OwnerOptions {
    fn default() -> Self {
        Self { workers: 1, accept_changes: false, stop: Stop::new(), disk: Disk::default() }
    }
}

impl<'a> Owner<'a> {
    /// Takes the study of a pipeline on this machine, and brings it to where its log ends.
    pub fn open(
        pipeline: &'a Pipeline,
        options: OwnerOptions,
        executor: Arc<dyn Executor>,
        watcher: &'a dyn Watcher,
    ) -> Result<Self, RunError> {
        let (state, name, disk) = (StateDir::of(&pipeline.root), &pipeline.study.name, &options.disk);
        // Before anything is made there.
        let place = if state.path().exists() { state.path() } else { &pipeline.root };
        if let Ok(Filesystem::Network { kind }) = disk.filesystem(place) {
            return Err(LogError::Network { path: state.journal(), kind }.into());
        }
        state.make(name, disk)?;
        let hold = Hold::take(&state, name, disk)?;
        let log = Sqlite::open(&state.journal(), name, disk.clone())?;
        let identity = log.identity(name);
        let cache = Cache::open(state.path(), disk.clone(), pipeline.cache_limit)?;
        cache.sweep()?;
        if let Some((path, problem)) = cache.unusable_pack()? {
            watcher.see(&News::PackUnusable { path: &path, problem: &problem.to_string() });
        }
        let records = log.read(0)?;
        // Options that the file leaves to stagetune may be others in another release.
        let lenient = options.accept_changes || pipeline.study.options.is_empty();
        let strategy = begun_with(pipeline, &records).unwrap_or(pipeline.study.engine_strategy()).to_owned();
        if let Some((before, now)) = other_options(pipeline, &records)? {
            watcher.see(&News::OtherOptions { before: &before, now: &now });
        }
        if let Some(strategy) = begun_with(pipeline, &records) {
            watcher.see(&News::BegunWith { strategy });
        }
        let plan = pipeline.clone();
        let fresh = move || -> Result<Study, RunError> {
            let study = study(&plan, &strategy)?;
            Ok(if lenient { study.with_any_options() } else { study })
        };
        let (log, outputs) = (Box::new(log), Arc::new(cache));
        let parts = Parts { study: Box::new(fresh), log, outputs, executor, identity };
        let mut owner = Self::with_records(pipeline, options, parts, &records, watcher)?;
        owner._hold = Some(hold);
        Ok(owner)
    }

    /// Takes a study made of other parts.
    pub fn with(
        pipeline: &'a Pipeline,
        options: OwnerOptions,
        parts: Parts,
        watcher: &'a dyn Watcher,
    ) -> Result<Self, RunError> {
        let records = parts.log.read(0)?;
        Self::with_records(pipeline, options, parts, &records, watcher)
    }

    /// The same with what the log holds.
    fn with_records(
        pipeline: &'a Pipeline,
        options: OwnerOptions,
        parts: Parts,
        records: &[Stamped],
        watcher: &'a dyn Watcher,
    ) -> Result<Self, RunError> {
        let Parts { study: fresh, mut log, outputs, executor, identity } = parts;
        let name = pipeline.study.name.clone();
        let state = StateDir::of(&pipeline.root);
        state.make(&name, &options.disk)?;
        let keys = Keys::new(pipeline)?;
        let now = definition(pipeline, &keys);
        if !options.accept_changes {
            check_unchanged(&name, records, &now)?;
        }
        let mut book = Book::new(name.clone(), fresh, records)?;
        let launched = unreported(&book.study, records);
        let failures = failures(&book.study, records);
        let wanted = launched.values().flatten().cloned().collect();
        // What cannot be removed is not in the way.
        let _ = sweep(&state.attempts(), &identity, &wanted, &options.disk);
        let live = Live::new(&state, &name, options.disk.clone());
        let session = Session { workers: options.workers, definition: now };
        book.take_ownership(&mut *log, this_process(pipeline), session)?;
        let dispatcher = Dispatcher::new(book, log);
        let patience = Patience::new(pipeline.study.patience);
        let context = Context {
            pipeline,
            options,
            watcher,
            outputs,
            executor,
            keys,
            live,
            old_logs: OldLogs::default(),
            patience,
            state,
            identity,
            launched: Mutex::new(launched),
            failures,
        };
        Ok(Self { context, dispatcher, _hold: None })
    }

    /// How the study stands.
    pub fn standing(&self) -> Standing {
        self.dispatcher.standing()
    }

    /// Runs trials until a budget is reached or a stop is asked for.
    pub fn run(self) -> Result<Ended, RunError> {
        let Self { context, dispatcher, _hold } = self;
        dispatcher.run(&context)
    }
}

/// The attempts that were launched for stages of open trials and have not reported.
fn unreported(study: &Study, records: &[Stamped]) -> BTreeMap<(u64, String), Vec<Token>> {
    let open: BTreeSet<TrialId> = study.open().map(|trial| trial.id()).collect();
    let mut launched: BTreeMap<(u64, String), Vec<Token>> = BTreeMap::new();
    for Stamped { record: Record { event, .. }, .. } in records {
        if let Event::Launched { trial, stage, token, .. } = event
            && open.contains(trial)
            && let Ok(token) = Token::try_from(token.clone())
        {
            launched.entry((trial.index(), stage.clone())).or_default().push(token);
        }
        if let Event::Reported { trial, stage, .. } = event {
            launched.remove(&(trial.index(), stage.clone()));
        }
    }
    launched
}

/// Why stages of open trials failed, as far as they said so.
fn failures(study: &Study, records: &[Stamped]) -> BTreeMap<(u64, String), String> {
    let open: BTreeSet<TrialId> = study.open().map(|trial| trial.id()).collect();
    let failure = |Stamped { record, .. }: &Stamped| {
        let Event::Reported { trial, stage, .. } = &record.event else { return None };
        let problem = record.run.as_ref()?.problem.clone()?;
        open.contains(trial).then(|| ((trial.index(), stage.clone()), problem))
    };
    records.iter().filter_map(failure).collect()
}
