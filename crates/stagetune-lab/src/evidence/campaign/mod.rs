//! A campaign against the `stagetune` command: kills, damage, random pipelines and writes that
//! fail, with an oracle that knows what every trial must come to.
//!
//! ```text
//! kills         a study whose owner is killed, at random instants and random writes, until it ends      kills.rs
//! pipelines     a random pipeline, stopped and continued, and run once more over its cache              pipelines.rs
//! writes        each write of a study fails in turn, it and all after it, or it alone                   writes.rs
//! corruptions   a file of the log or of the cache is damaged                                            corruptions.rs
//! ```
//!
//! Every case follows from the seed and its number. Instants of kills do not: a finding may need
//! some tries to come again.

mod corruptions;
mod damage;
mod dice;
mod kills;
mod oracle;
pub mod owner;
mod pipelines;
mod progress;
mod sketch;
mod tally;
#[cfg(test)]
mod tests;
mod world;
mod writes;

use super::Finding as Evidence;
use super::overhead::program;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use dice::Dice;
use progress::{Case, Progress};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tally::{Finding, Kind, Tally};
use world::Place;

pub const CLAIM: &str = "kills, damage, random pipelines and writes that fail lose no result, make \
    none wrong, and leave no \
                         panic, no process and no hang";

/// The size of the campaign.
#[derive(Debug, Args)]
pub struct Options {
    /// Kills of an owner, at least.
    #[arg(long, default_value_t = 10_000)]
    kills: u64,
    /// Files damaged, one a case.
    #[arg(long, default_value_t = 2_000)]
    corruptions: u64,
    /// Random pipelines.
    #[arg(long, default_value_t = 1_000)]
    pipelines: u64,
    /// Pipelines whose every write fails in turn.
    #[arg(long, default_value_t = 8)]
    writes: u64,
    /// Only these parts.
    #[arg(long, value_delimiter = ',')]
    only: Vec<Part>,
    /// Only this case of each part, whatever was done before.
    #[arg(long)]
    case: Option<u64>,
    /// Cases side by side.
    #[arg(long, default_value_t = 2)]
    parallel: usize,
    /// Where finished cases are written down; an interrupted campaign goes on from there.
    #[arg(long, default_value = "target/campaign.jsonl")]
    progress: PathBuf,
    /// Where studies are made; memory is much faster than a disk.
    #[arg(long, default_value = "/dev/shm")]
    dir: PathBuf,
    /// Seconds that a command may take: no command of a case takes a hundredth of the default on a
    /// quiet machine.
    #[arg(long, default_value_t = 120)]
    longest: u64,
    /// Seconds that processes may live on when their owner is gone: stages have two to end when
    /// they are asked to, and a busy machine needs some more.
    #[arg(long, default_value_t = 20)]
    longest_survival: u64,
    /// The program to try; without it the one beside this program.
    #[arg(long)]
    stagetune: Option<PathBuf>,
}

/// What a case does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    Kills,
    Pipelines,
    Writes,
    Corruptions,
}

impl Part {
    const ALL: [Self; 4] = [Self::Kills, Self::Pipelines, Self::Writes, Self::Corruptions];

    fn as_str(self) -> &'static str {
        match self {
            Self::Kills => "kills",
            Self::Pipelines => "pipelines",
            Self::Writes => "writes",
            Self::Corruptions => "corruptions",
        }
    }
}

/// What is left to do, and what was done.
struct Campaign<'a> {
    options: &'a Options,
    seed: u64,
    place: Place,
    state: Mutex<State>,
}

struct State {
    progress: Progress,
    /// Cases that are being done.
    begun: BTreeSet<(Part, u64)>,
    failed: Option<anyhow::Error>,
}

/// Does what is left of the campaign.
pub fn run(options: &Options, seed: u64) -> Result<Evidence> {
    let dir = options.dir.join(format!("stagetune-campaign-{}", std::process::id()));
    std::fs::create_dir_all(&dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let stagetune = program(options.stagetune.as_ref())?.canonicalize()?;
    let place = Place {
        stagetune,
        dir: dir.clone(),
        keep: options.case.is_some(),
        longest: Duration::from_secs(options.longest),
        longest_survival: Duration::from_secs(options.longest_survival),
    };
    if let Some(case) = options.case {
        return alone(options, seed, case, &place);
    }
    let progress = Progress::open(&options.progress, seed)?;
    let state = Mutex::new(State { progress, begun: BTreeSet::new(), failed: None });
    let campaign = Campaign { options, seed, place, state };
    std::thread::scope(|scope| {
        for _ in 0..options.parallel.max(1) {
            scope.spawn(|| campaign.work());
        }
    });
    let _ = std::fs::remove_dir_all(&dir);
    let state = campaign.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = state.failed {
        return Err(error);
    }
    summary(&parts(options), &state.progress.cases)
}

/// One case of each part, with its directory left where it is if something was found.
fn alone(options: &Options, seed: u64, case: u64, place: &Place) -> Result<Evidence> {
    let mut cases = Vec::new();
    for part in parts(options) {
        let done = one(part, case, seed, place)?;
        report(&done);
        cases.push(done);
    }
    // Only empty if nothing was found.
    let _ = std::fs::remove_dir(&place.dir);
    summary(&parts(options), &cases)
}

fn parts(options: &Options) -> Vec<Part> {
    let chosen = |part: &Part| options.only.is_empty() || options.only.contains(part);
    Part::ALL.into_iter().filter(chosen).collect()
}

fn one(part: Part, case: u64, seed: u64, place: &Place) -> Result<Case> {
    let timer = Instant::now();
    let mut dice = Dice::of(seed, part.as_str(), case);
    let (tally, findings) = match part {
        Part::Kills => kills::run(place, &mut dice, case),
        Part::Pipelines => pipelines::run(place, &mut dice, case),
        Part::Writes => writes::run(place, seed, case),
        Part::Corruptions => corruptions::run(place, &mut dice, case),
    }
    .with_context(|| format!("{} {case}", part.as_str()))?;
    Ok(Case { part, case, seed, tally, findings, seconds: timer.elapsed().as_secs_f64() })
}

fn report(done: &Case) {
    let Case { part, case, seed, findings, .. } = done;
    for Finding { kind, what } in findings {
        eprintln!(
            "campaign: {}: {what}\n  again: stagetune-lab evidence campaign --only {} --case {case} \
                --seed {seed}",
            kind.as_str(),
            part.as_str()
        );
    }
}

impl Campaign<'_> {
    /// Does cases until none is left.
    fn work(&self) {
        while let Some((part, case)) = self.next() {
            let done = one(part, case, self.seed, &self.place);
            let mut state = self.lock();
            match done {
                Ok(done) => {
                    report(&done);
                    let added = state.progress.add(done);
                    if let Err(error) = added {
                        state.failed = Some(error);
                    }
                    let count = state.progress.cases.len();
                    if count.is_multiple_of(100) {
                        eprintln!("campaign: {count} cases");
                    }
                }
                Err(error) => state.failed = Some(error),
            }
        }
    }

    /// A case that nobody does.
    fn next(&self) -> Option<(Part, u64)> {
        let mut state = self.lock();
        if state.failed.is_some() {
            return None;
        }
        for part in parts(self.options) {
            let enough = self.enough(part, &state.progress.cases);
            let is_free = |case: &u64| {
                let case = (part, *case);
                !state.progress.done.contains(&case) && !state.begun.contains(&case)
            };
            if let Some(case) = (0..enough).find(is_free) {
                state.begun.insert((part, case));
                return Some((part, case));
            }
        }
        None
    }

    /// How many cases of a part there are to do.
    fn enough(&self, part: Part, cases: &[Case]) -> u64 {
        match part {
            Part::Kills => {
                let kills = cases.iter().map(|case| case.tally.kills).sum::<u64>();
                if kills < self.options.kills { u64::MAX } else { 0 }
            }
            Part::Pipelines => self.options.pipelines,
            Part::Writes => writes::cases(self.options.writes),
            Part::Corruptions => self.options.corruptions,
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The counts of every part, and everything that was found.
fn summary(parts: &[Part], cases: &[Case]) -> Result<Evidence> {
    let mut numbers = serde_json::Map::new();
    let mut found: BTreeMap<&str, u64> = Kind::ALL.map(|kind| (kind.as_str(), 0)).into();
    let mut findings = Vec::new();
    for part in parts {
        let mut tally = Tally::default();
        let (mut count, mut seconds) = (0_u64, 0.0);
        for case in cases.iter().filter(|case| case.part == *part) {
            tally.add(&case.tally);
            count += 1;
            seconds += case.seconds;
            for finding in &case.findings {
                *found.entry(finding.kind.as_str()).or_default() += 1;
                findings.push(serde_json::json!({
                    "part": part, "case": case.case, "kind": finding.kind, "what": finding.what,
                }));
            }
        }
        let mut value = serde_json::to_value(&tally)?;
        if let Some(fields) = value.as_object_mut() {
            fields.retain(|_, field| field.as_u64() != Some(0) && *field != serde_json::json!({}));
            fields.insert("cases".to_owned(), count.into());
            fields.insert("seconds".to_owned(), seconds.round().into());
        }
        numbers.insert(part.as_str().to_owned(), value);
    }
    numbers.insert("found".to_owned(), serde_json::to_value(&found)?);
    let holds = findings.is_empty();
    numbers.insert("findings".to_owned(), findings.into());
    Evidence::new(holds, &numbers)
}
