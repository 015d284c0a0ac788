//! The files of finished runs: one per run, never half-written, so that an experiment can be
//! stopped at any instant and continued.

use super::plan::{Entry, Plan};
use super::raw::file::{FILE, check_part};
use super::record::{FORMAT, Record, seeds};
use super::start;
use crate::write::write_whole;
use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The folder of an experiment's results.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
    /// The name of a part; empty if the folder has none.
    part: String,
}

impl Store {
    /// In this folder, which is made if need be.
    pub fn open(folder: &Path) -> Result<Self> {
        Self::made(Self { folder: folder.to_owned(), part: String::new() })
    }

    /// A part of the results of this folder: its files lie below, its raw results among those of
    /// the other parts.
    pub fn part_of(folder: &Path, part: &str) -> Result<Self> {
        check_part(part)?;
        Self::made(Self { folder: folder.join(part), part: part.to_owned() })
    }

    fn made(store: Self) -> Result<Self> {
        let runs = store.folder.join("runs");
        std::fs::create_dir_all(&runs).with_context(|| format!("cannot make {}", runs.display()))?;
        Ok(store)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The name of the part; empty if the folder has none.
    pub fn part(&self) -> &str {
        &self.part
    }

    /// The file of the raw results.
    pub fn raw(&self) -> PathBuf {
        match self.part.as_str() {
            "" => self.folder.join(FILE),
            _ => self.folder.with_file_name(FILE),
        }
    }

    /// The run if it was finished; a run under other conditions is refused.
    pub fn load(&self, plan: &Plan, entry: &Entry, sim: usize) -> Result<Option<Record>> {
        let path = self.path(entry, sim);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        };
        let damaged =
            || format!("{} is not a run of this release; delete it to have it made again", path.display());
        // The conditions first: a run of another format has them, too.
        let file: Value = serde_json::from_str(&text).with_context(damaged)?;
        ensure!(file["format"] == FORMAT, damaged());
        let differences = differences(&file["conditions"], &plan.conditions(entry));
        if !differences.is_empty() {
            bail!(
                "{} was made under another plan: {}. Choose another folder with --out, undo the \
                    change, or delete {} to begin anew",
                path.display(),
                differences.join(", "),
                self.folder.join("runs").display()
            );
        }
        // From the text, which keeps the order of the parameters of a point.
        let record: Record = serde_json::from_str(&text).with_context(damaged)?;
        ensure!(record.sim == sim && record.strategy == entry.label, damaged());
        let (seed, _) = seeds(plan.seed, sim);
        let space = plan.pipeline.space()?;
        let start = plan.start_of(entry);
        let identity = start::build(&entry.strategy, &space, start, seed, plan.budget_cost())?.identity();
        ensure!(
            record.identity == identity,
            "{} was made by another {}: its identity was\n  {}\nand is\n  {}\nDelete the runs of {} \
                to have them made again",
            path.display(),
            entry.strategy,
            serde_json::to_string(&record.identity)?,
            serde_json::to_string(&identity)?,
            entry.label
        );
        Ok(Some(record))
    }

    /// Keeps a finished run.
    pub fn save(&self, entry: &Entry, record: &Record) -> Result<()> {
        write_whole(&self.path(entry, record.sim), serde_json::to_string(record)?.as_bytes())
    }

    /// Writes a result beside the runs.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<()> {
        write_whole(&self.folder.join(name), content)
    }

    fn path(&self, entry: &Entry, sim: usize) -> PathBuf {
        self.folder.join("runs").join(format!("{}-{sim:04}.json", entry.label))
    }
}

/// What differs between two sets of conditions, in words.
fn differences(there: &Value, here: &Value) -> Vec<String> {
    let empty = serde_json::Map::new();
    let (there, here) = (there.as_object().unwrap_or(&empty), here.as_object().unwrap_or(&empty));
    let keys: std::collections::BTreeSet<&String> = there.keys().chain(here.keys()).collect();
    let text = |value: Option<&Value>| value.map_or("nothing".to_owned(), Value::to_string);
    keys.into_iter()
        .filter(|key| there.get(*key) != here.get(*key))
        .map(|key| format!("{key} was {} and is {}", text(there.get(key)), text(here.get(key))))
        .collect()
}
