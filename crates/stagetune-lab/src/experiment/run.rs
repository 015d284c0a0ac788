//! Doing an experiment: every run that is not done yet, shared by the cores, then the outcome of all.

use super::output;
use super::plan::{Entry, Listed, Plan};
use super::record::Record;
use super::store::Store;
use super::summary::{Outcome, Summary};
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Which plans, and what to change about them.
#[derive(Debug, Args)]
pub struct Options {
    /// Plan files.
    #[arg(required = true, value_name = "PLAN.toml")]
    pub plans: Vec<PathBuf>,
    /// Runs per strategy, instead of the plan's `sims`.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub sims: Option<u32>,
    /// Seed, instead of the plan's `seed`.
    #[arg(long)]
    pub seed: Option<u64>,
    /// Labels or names of strategies, separated by commas, instead of all those of the plan.
    #[arg(long, value_delimiter = ',')]
    pub strategies: Option<Vec<String>>,
    /// Folder for the results, instead of the plan's own.
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Keep the raw results as this part of the folder's file, beside those of other parts; the
    /// other files go into a folder of its name.
    #[arg(long)]
    pub part: Option<String>,
    /// Of a file with several plans, those of these names, separated by commas.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub only: Option<Vec<String>>,
    /// Runs at the same time; as many as there are cores by default. Results do not depend on it.
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub threads: Option<u32>,
}

/// Does what the options ask for, one plan after the other.
pub fn run(options: &Options) -> Result<()> {
    let refused = |plans: usize| -> Result<()> {
        ensure!(
            options.out.is_none() || plans <= 1,
            "--out takes the results of one plan; run {plans} plans one by one"
        );
        Ok(())
    };
    refused(options.plans.len())?;
    let mut plans: Vec<Listed> = Vec::new();
    for path in &options.plans {
        plans.extend(Listed::read(path, options.only.as_deref())?);
    }
    refused(plans.len())?;
    plans.into_iter().try_for_each(|listed| one(options, listed))
}

fn one(options: &Options, Listed { name, mut plan, folder }: Listed) -> Result<()> {
    if let Some(labels) = &options.strategies {
        plan.select(labels)?;
    }
    plan.sims = options.sims.map_or(plan.sims, |sims| sims as usize);
    plan.seed = options.seed.unwrap_or(plan.seed);
    let absent = plan.without_absent_peers()?;
    if !absent.is_empty() {
        eprintln!(
            "left out for want of games under these conditions: {}; `cargo xtask peers play` plays them",
            absent.join(", ")
        );
    }
    if plan.entries.is_empty() {
        bail!("{name}: nobody is left to run");
    }
    let folder = options.out.clone().unwrap_or(folder);
    let store = match &options.part {
        Some(part) => Store::part_of(&folder, part)?,
        None => Store::open(&folder)?,
    };
    let threads = match options.threads {
        Some(threads) => threads as usize,
        None => std::thread::available_parallelism()?.get(),
    };
    if let Ok(before) = Summary::read(store.folder()) {
        let fewer = |(label, outcome): (&String, &Outcome)| {
            let now = plan.entries.iter().find(|entry| entry.label == *label);
            now.is_none_or(|entry| entry.games.is_none() && outcome.sims > plan.sims).then(|| label.clone())
        };
        let fewer: Vec<String> = before.strategies.iter().filter_map(fewer).collect();
        if !fewer.is_empty() {
            eprintln!(
                "the summary in {} will have no runs, or fewer, of {}; runs/ keeps what was made",
                store.folder().display(),
                fewer.join(", ")
            );
        }
    }
    execute(&plan, &store, threads).with_context(|| format!("the experiment of {name} did not finish"))?;
    eprintln!("{name}: {} has the results", store.folder().display());
    Ok(())
}

/// Does the runs of a plan that are not done yet and writes the outcome of all.
pub fn execute(plan: &Plan, store: &Store, threads: usize) -> Result<()> {
    // The first run of everybody before the second of anybody: a run of half the length shows all curves.
    let sims = plan.entries.iter().map(|entry| plan.sims_of(entry)).collect::<Result<Vec<_>>>()?;
    let of_run = |sim| plan.entries.iter().zip(&sims).filter(move |(_, sims)| sim <= **sims);
    let all: Vec<(usize, &Entry)> =
        (1..=plan.sims).flat_map(|sim| of_run(sim).map(move |(entry, _)| (sim, entry))).collect();
    let load = |&(sim, entry): &(usize, &Entry)| match entry.games {
        // Its game is kept already.
        Some(_) => Ok(None),
        None => store.load(plan, entry, sim),
    };
    let mut records: Vec<Option<Record>> = all.iter().map(load).collect::<Result<_>>()?;
    let missing: Vec<usize> = (0..all.len()).filter(|&i| records[i].is_none()).collect();
    let made = in_threads(threads, all.len(), &missing, |&index| {
        let (sim, entry) = all[index];
        let place = || format!("run {sim} of {}", entry.label);
        let record = Record::make(plan, entry, sim).with_context(place)?;
        if entry.games.is_none() {
            store.save(entry, &record)?;
        }
        Ok((index, record))
    })?;
    for (index, record) in made {
        records[index] = Some(record);
    }
    let records: Vec<Record> = records.into_iter().flatten().collect();
    output::write(plan, store, &records)
}

/// Works off what is left of a list of `all` with so many threads; the first error stops all after
/// their current item.
///
/// Each thread has a rayon pool of its own with one thread: an ask then takes the same time
/// whatever else runs.
pub(crate) fn in_threads<I: Sync, T: Send>(
    threads: usize,
    all: usize,
    items: &[I],
    work: impl Fn(&I) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let progress = Progress::new(all, items.len());
    let next = AtomicUsize::new(0);
    let outcome: Mutex<Result<Vec<T>>> = Mutex::new(Ok(Vec::with_capacity(items.len())));
    let failed = |error: anyhow::Error| {
        next.store(items.len(), Ordering::Relaxed);
        if let Ok(mut outcome) = outcome.lock()
            && outcome.is_ok()
        {
            *outcome = Err(error);
        }
    };
    let worker = || {
        let pool = match rayon::ThreadPoolBuilder::new().num_threads(1).build() {
            Ok(pool) => pool,
            Err(error) => return failed(error.into()),
        };
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            match pool.install(|| work(item)) {
                Ok(done) => {
                    if let Ok(mut outcome) = outcome.lock()
                        && let Ok(list) = outcome.as_mut()
                    {
                        list.push(done);
                    }
                    progress.one_more();
                }
                Err(error) => return failed(error),
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, items.len().max(1)) {
            scope.spawn(worker);
        }
    });
    progress.end();
    outcome.into_inner().unwrap_or_else(|_| bail!("a run panicked; its message is above"))
}

/// How far an experiment is: a bar on a terminal, a line now and then elsewhere.
struct Progress {
    bar: Option<ProgressBar>,
    all: usize,
    missing: usize,
    done: AtomicUsize,
    started: Instant,
    /// When the last line was printed, in tenths of seconds from the start.
    last_line: AtomicUsize,
}

/// Tenths of seconds between lines.
const LINE_EVERY: usize = 20;

impl Progress {
    fn new(all: usize, missing: usize) -> Self {
        if missing < all {
            eprintln!("{} of {all} runs were done before; {missing} are left", all - missing);
        }
        let bar = (missing > 0 && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::new(missing as u64);
            let template = "{bar:32} {pos} of {len} runs, {elapsed} gone, {eta} left";
            if let Ok(style) = ProgressStyle::with_template(template) {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_secs(1));
            bar
        });
        let (done, last_line) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { bar, all, missing, done, started: Instant::now(), last_line }
    }

    fn one_more(&self) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some(bar) = &self.bar {
            return bar.inc(1);
        }
        let elapsed = self.started.elapsed().as_secs_f64();
        let now = (elapsed * 10.0) as usize;
        let last = self.last_line.load(Ordering::Relaxed);
        if done == self.missing || now >= last + LINE_EVERY {
            self.last_line.store(now, Ordering::Relaxed);
            let left = elapsed / done as f64 * (self.missing - done) as f64;
            let before = self.all - self.missing;
            eprintln!("{} of {} runs, {elapsed:.0} s gone, about {left:.0} s left", before + done, self.all);
        }
    }

    fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish();
        }
    }
}
