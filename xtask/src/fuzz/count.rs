//! `cargo xtask fuzz --count N`: runs that go on until every target has so many executions, in slices that are recorded.
//!
//! Each slice is added to `experiments/pipeline/fuzz.json` when it ends, so that a run may be interrupted and begun again: what is lost is the slice
//! that was under way. Executions count until an input crashes the target; after a crash they are counted from zero.

use super::build;
use super::target::{Limit, Target, size};
use crate::step;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the counts are.
const FILE: &str = "experiments/pipeline/fuzz.json";

/// What a target's program is made of.
const SOURCES: [&str; 5] = [
    "crates/stagetune/src",
    "crates/stagetune-pipeline/src",
    "fuzz/targets",
    "fuzz/Cargo.toml",
    "fuzz/Cargo.lock",
];

/// All counts, with how they came about.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Counts {
    name: String,
    claim: String,
    holds: bool,
    command: String,
    /// When the last slice ended.
    date: String,
    cores: usize,
    version: String,
    targets: BTreeMap<String, Count>,
}

/// The count of one target.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Count {
    /// Since the last crash.
    executions: u64,
    executions_per_second: f64,
    crashes: u64,
    corpus_files: u64,
    corpus_bytes: u64,
    /// Each state of the sources that was run, in the order of their first slices.
    runs: Vec<Run>,
}

/// What was run of one state of the sources.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct Run {
    /// A hash of all files that the program is made of.
    sources: String,
    first: String,
    last: String,
    executions: u64,
    seconds: f64,
    crashes: u64,
}

impl Counts {
    fn read(path: &Path) -> Result<Self> {
        match fs::read_to_string(path) {
            Ok(text) => {
                serde_json::from_str(&text).with_context(|| format!("cannot read {}", path.display()))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
        }
    }

    /// Replaces the file as a whole, so that an interruption leaves the old one or the new one.
    fn write(&self, path: &Path) -> Result<()> {
        let beside = path.with_extension("json.new");
        let writing = || format!("cannot write {}", path.display());
        fs::write(&beside, format!("{}\n", serde_json::to_string_pretty(self)?)).with_context(writing)?;
        fs::rename(&beside, path).with_context(writing)
    }

    fn executions(&self, target: &str) -> u64 {
        self.targets.get(target).map_or(0, |count| count.executions)
    }

    /// Adds a slice of a target.
    fn add(&mut self, target: &str, slice: Run) {
        let count = self.targets.entry(target.to_owned()).or_default();
        count.crashes += slice.crashes;
        count.executions = if slice.crashes > 0 { 0 } else { count.executions + slice.executions };
        match count.runs.last_mut().filter(|run| run.sources == slice.sources) {
            None => count.runs.push(slice),
            Some(run) => {
                run.executions += slice.executions;
                run.seconds += slice.seconds;
                run.crashes += slice.crashes;
                run.last = slice.last;
            }
        }
        if let Some(run) = count.runs.last() {
            count.executions_per_second = (run.executions as f64 / run.seconds.max(1.0)).round();
        }
    }
}

/// Runs slices of every target in turn until each has so many executions.
pub fn run(targets: &[&Target], wanted: u64, slice: u64) -> Result<()> {
    let lock = build::folder().join("count.lock");
    let lock = fs::File::create(&lock).with_context(|| format!("cannot write {}", lock.display()))?;
    if lock.try_lock().is_err() {
        bail!("another `cargo xtask fuzz --count` is running; wait for it or end it");
    }
    let path = step::root().join(FILE);
    let sources = sources()?;
    let programs = keep_programs(targets, &sources)?;
    let mut crashed = BTreeSet::new();
    loop {
        let mut busy = false;
        for target in targets {
            let missing = wanted.saturating_sub(Counts::read(&path)?.executions(target.name));
            if missing == 0 || crashed.contains(target.name) {
                continue;
            }
            busy = true;
            let limit = Limit { seconds: slice, executions: Some(missing) };
            let first = date()?;
            let done = target.run(&programs.join(target.name), limit)?;
            if done.ended.is_ok() && done.executions == 0 {
                bail!("{} executed nothing; its words are in {}", target.name, build::folder().display());
            }
            let crashes = u64::from(done.ended.is_err());
            let (executions, seconds) = (done.executions, done.seconds.round());
            let mut counts = Counts::read(&path)?;
            let last = date()?;
            counts.add(
                target.name,
                Run { sources: sources.clone(), first, last, executions, seconds, crashes },
            );
            describe(&mut counts, target, wanted)?;
            counts.write(&path)?;
            println!("{}: {} of {wanted}", target.name, counts.executions(target.name));
            if let Err(error) = done.ended {
                println!("{}: {error:#}", target.name);
                crashed.insert(target.name);
            }
        }
        if !busy {
            break;
        }
    }
    if !crashed.is_empty() {
        bail!("there were crashes of {}", crashed.into_iter().collect::<Vec<_>>().join(", "));
    }
    Ok(())
}

/// Brings what is said of all counts up to date.
fn describe(counts: &mut Counts, target: &Target, wanted: u64) -> Result<()> {
    let (corpus_files, corpus_bytes) = size(&target.corpus());
    if let Some(count) = counts.targets.get_mut(target.name) {
        (count.corpus_files, count.corpus_bytes) = (corpus_files, corpus_bytes);
    }
    counts.name = "fuzz".to_owned();
    counts.claim = format!("{wanted} executions of every fuzz target since its last crash");
    counts.holds = super::TARGETS.iter().all(|target| counts.executions(target.name) >= wanted);
    counts.command = format!("cargo xtask fuzz --count {wanted}");
    counts.date = date()?;
    counts.cores = std::thread::available_parallelism().map_or(1, usize::from);
    counts.version = env!("CARGO_PKG_VERSION").to_owned();
    Ok(())
}

/// Copies the programs aside, so that a build meanwhile does not change what is counted.
fn keep_programs(targets: &[&Target], sources: &str) -> Result<PathBuf> {
    let folder = build::folder().join("counted").join(sources);
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    for target in targets {
        let (from, to) = (build::program(target.name), folder.join(target.name));
        fs::copy(&from, &to).with_context(|| format!("cannot copy {}", from.display()))?;
    }
    Ok(folder)
}

fn date() -> Result<String> {
    let said =
        Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%SZ"]).output().context("cannot run `date`")?;
    Ok(String::from_utf8_lossy(&said.stdout).trim().to_owned())
}

/// A hash of every source file.
fn sources() -> Result<String> {
    let mut files = Vec::new();
    for source in SOURCES {
        collect(&step::root(), source, &mut files)?;
    }
    files.sort();
    let mut hash = Hash::default();
    for file in files {
        hash.add(file.as_bytes());
        hash.add(&fs::read(step::root().join(&file)).with_context(|| format!("cannot read {file}"))?);
    }
    Ok(format!("{:016x}", hash.0))
}

fn collect(root: &Path, path: &str, files: &mut Vec<String>) -> Result<()> {
    if root.join(path).is_file() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(root.join(path)).with_context(|| format!("cannot read {path}"))? {
        let name = entry.with_context(|| format!("cannot read {path}"))?.file_name();
        collect(root, &format!("{path}/{}", name.to_string_lossy()), files)?;
    }
    Ok(())
}

/// The hash of Fowler, Noll and Vo: it tells states of the sources apart, and protects from nobody.
struct Hash(u64);

impl Default for Hash {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hash {
    fn add(&mut self, bytes: &[u8]) {
        let length = (bytes.len() as u64).to_le_bytes();
        for byte in length.iter().chain(bytes) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(sources: &str, executions: u64, crashes: u64) -> Run {
        Run { sources: sources.to_owned(), executions, seconds: 10.0, crashes, ..Run::default() }
    }

    #[test]
    fn slices_add_up_over_states_of_the_sources_and_a_crash_begins_anew() {
        let mut counts = Counts::default();
        for (sources, executions) in [("a", 100), ("a", 200), ("b", 50)] {
            counts.add("journal", slice(sources, executions, 0));
        }
        assert_eq!((counts.executions("journal"), counts.executions("other")), (350, 0));
        counts.add("journal", slice("b", 7, 1));
        assert_eq!(counts.executions("journal"), 0);
        counts.add("journal", slice("c", 1_000, 0));
        let count = &counts.targets["journal"];
        assert_eq!((count.executions, count.crashes, count.executions_per_second), (1_000, 1, 100.0));
        let runs: Vec<_> = count.runs.iter().map(|run| (run.sources.as_str(), run.executions)).collect();
        assert_eq!(runs, [("a", 300), ("b", 57), ("c", 1_000)]);
    }

    #[test]
    fn counts_are_what_they_were_when_they_are_read_again() {
        let folder = std::env::temp_dir().join(format!("stagetune-counts-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("fuzz.json");
        let mut counts = Counts::read(&path).unwrap();
        counts.add("journal", slice("a", 5, 0));
        counts.write(&path).unwrap();
        assert_eq!(Counts::read(&path).unwrap().targets["journal"].runs, counts.targets["journal"].runs);
        fs::write(&path, "{").unwrap();
        assert!(Counts::read(&path).is_err(), "a damaged file is not begun anew");
        fs::remove_dir_all(&folder).unwrap();
    }
}
