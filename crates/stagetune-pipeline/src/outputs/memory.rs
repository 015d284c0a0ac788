//! Outputs of one process: what is known of them is in memory, their files are in a directory of
//! the caller's.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::seal::{Entries, MOST_COPIED, seal};
use super::{Claim, KeyId, Output, OutputError, Outputs, Permit, PublishError, Run, StageKey, describe};
use crate::disk::Disk;

/// Keeps outputs without locks, manifests or evictions; for tests and for programs that need no second run.
#[derive(Debug)]
pub struct Memory {
    dir: PathBuf,
    disk: Disk,
    known: Arc<Mutex<BTreeMap<KeyId, State>>>,
}

#[derive(Debug)]
enum State {
    Making,
    Kept(Output),
}

/// Gives the key back unless its output was kept.
struct Making {
    id: KeyId,
    known: Arc<Mutex<BTreeMap<KeyId, State>>>,
}

impl Memory {
    /// Keeps files below `dir`, which should be empty and on the file system of the attempts.
    pub fn new(dir: &Path, disk: Disk) -> Self {
        Self { dir: dir.to_owned(), disk, known: Arc::default() }
    }
}

impl Outputs for Memory {
    fn open(&self, key: &StageKey) -> Result<Option<Output>, OutputError> {
        match lock(&self.known).get(&key.id()) {
            Some(State::Kept(output)) => Ok(Some(output.clone())),
            Some(State::Making) | None => Ok(None),
        }
    }

    fn claim(&self, key: &StageKey) -> Result<Claim, OutputError> {
        let id = key.id();
        let mut known = lock(&self.known);
        match known.get(&id) {
            Some(State::Kept(output)) => return Ok(Claim::Ready(output.clone())),
            Some(State::Making) => return Ok(Claim::Busy),
            None => {}
        }
        known.insert(id.clone(), State::Making);
        let hold = Making { id: id.clone(), known: self.known.clone() };
        Ok(Claim::Mine(Permit { key: key.clone(), id, damaged: None, _hold: Box::new(hold) }))
    }

    fn recheck(&self, output: &Output) -> Result<(), String> {
        if output.dir.is_dir() { Ok(()) } else { Err(format!("{} is gone", output.dir.display())) }
    }

    fn publish(&self, permit: Permit, dir: &Path, run: Run) -> Result<Output, PublishError> {
        let place = self.dir.join(permit.id.as_str());
        self.disk.make_dir(&self.dir).map_err(OutputError::from)?;
        let entries = Entries { folder: &self.dir, inner: None, most: MOST_COPIED };
        seal(dir, &self.dir, entries, &self.disk)?;
        let files = describe(dir)?;
        self.disk.rename(dir, &place).map_err(OutputError::from)?;
        let output = Output { entry: Arc::new(permit.entry(files, run)), dir: place, lock: None };
        lock(&self.known).insert(permit.id.clone(), State::Kept(output.clone()));
        Ok(output)
    }
}

impl Drop for Making {
    fn drop(&mut self) {
        let mut known = lock(&self.known);
        if let Some(State::Making) = known.get(&self.id) {
            known.remove(&self.id);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
