//! How an output gets to its place, and what becomes of those that were on their way when a process
//! was killed.
//!
//! ```text
//! 1. tmp/<name>/              made, nobody else's
//! 2. tmp/<name>/entry.json    written
//! 3. dir → tmp/<name>/out     from here on the next claim or sweep can finish the way
//! 4. tmp/<name> → cache/<key>
//! ```

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::entry;
use super::store::Cache;
use super::{FileFacts, KeyId, Output, OutputError, Permit, Run};
use crate::host;

/// What a sweep of leftovers did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Leftovers of this host that were removed.
    pub removed: usize,
    /// Outputs that only had to be moved to their place, which was done.
    pub finished: usize,
    /// Leftovers of other hosts, or of nobody we know: left as they are.
    pub others: usize,
}

/// Something in `tmp/`.
pub(super) struct Leftover {
    path: PathBuf,
    /// Its key, if this host left it.
    key: Option<KeyId>,
    /// An entry that was being removed.
    leaving: bool,
}

impl Cache {
    /// Removes what killed processes of this host left in `tmp/`, and finishes outputs that were
    /// all but there.
    pub fn sweep(&self) -> Result<Swept, OutputError> {
        let mut swept = Swept::default();
        for leftover in self.leftovers()? {
            let Some(id) = &leftover.key else {
                swept.others += 1;
                continue;
            };
            // Whoever is at work with it has the lock of its key.
            let Some(_lock) = self.try_lock(id)? else { continue };
            match self.settle(&leftover, id) {
                Settled::Finished => swept.finished += 1,
                Settled::Removed => swept.removed += 1,
                Settled::Stays => {}
            }
        }
        Ok(swept)
    }

    /// The same of one key, whose lock we hold.
    pub(super) fn sweep_of(&self, id: &KeyId) -> Result<(), OutputError> {
        for leftover in self.leftovers()?.iter().filter(|leftover| leftover.key.as_ref() == Some(id)) {
            // What cannot be removed is not in the way: directories at work have names of their own.
            self.settle(leftover, id);
        }
        Ok(())
    }

    fn settle(&self, leftover: &Leftover, id: &KeyId) -> Settled {
        if !leftover.leaving && self.is_complete(&leftover.path, id) {
            return match self.disk.rename(&leftover.path, &self.dir(id)) {
                Ok(()) => Settled::Finished,
                Err(_) if self.dir(id).exists() => self.throw_away(&leftover.path),
                Err(_) => Settled::Stays,
            };
        }
        self.throw_away(&leftover.path)
    }

    fn throw_away(&self, path: &Path) -> Settled {
        if self.disk.remove_dir(path).is_ok() { Settled::Removed } else { Settled::Stays }
    }

    /// Whether a leftover is an output of this key that only has to be moved to its place.
    fn is_complete(&self, path: &Path, id: &KeyId) -> bool {
        let Ok(bytes) = entry::bytes(path) else { return false };
        let Ok(entry) = entry::read(&bytes) else { return false };
        entry.key.id() == *id && entry::compare(&path.join("out"), &entry.files, None).is_ok()
    }

    /// What is in `tmp/`. Names are `<key>.<host>.<process>-<n>`, and end in `.gone` on the way out.
    fn leftovers(&self) -> Result<Vec<Leftover>, OutputError> {
        let folder = self.state.join("tmp");
        let reading = |source| OutputError::Read { path: folder.clone(), source };
        let mut found = Vec::new();
        for entry in fs::read_dir(&folder).map_err(reading)? {
            let entry = entry.map_err(reading)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let mut parts = name.split('.');
            let key = parts.next().and_then(|key| KeyId::try_from(key.to_owned()).ok());
            let key = key.filter(|_| parts.next() == Some(host::file_name()));
            found.push(Leftover { path: entry.path(), key, leaving: name.ends_with(".gone") });
        }
        Ok(found)
    }

    /// A directory of our own in `tmp/`, which was not there before.
    pub(super) fn new_temporary(&self, id: &KeyId) -> Result<PathBuf, OutputError> {
        loop {
            let path = self.temporary_name(id, "");
            match self.disk.make_new_dir(&path) {
                Ok(()) => return Ok(path),
                // A process of the same number was killed here.
                Err(error) if error.source.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    pub(super) fn temporary_name(&self, id: &KeyId, ending: &str) -> PathBuf {
        let number = self.temporaries.fetch_add(1, Ordering::Relaxed);
        let process = std::process::id();
        self.state.join("tmp").join(format!("{id}.{}.{process}-{number}{ending}", host::file_name()))
    }

    /// Moves a described directory to its place.
    pub(super) fn keep(
        &self,
        permit: Permit,
        dir: &Path,
        files: Vec<FileFacts>,
        run: Run,
    ) -> Result<Output, OutputError> {
        let entry = permit.entry(files, run);
        let text =
            serde_json::to_vec(&entry).map_err(|error| OutputError::Entry { problem: error.to_string() })?;
        let temporary = self.new_temporary(&permit.id)?;
        let path = temporary.join("entry.json");
        let moved =
            self.disk.write(&path, &text).and_then(|()| self.disk.rename(dir, &temporary.join("out")));
        if let Err(error) = moved {
            let _ = self.disk.remove_dir(&temporary);
            return Err(error.into());
        }
        // From here on nothing is removed, whatever fails: the next claim of the key finishes the way.
        let file = File::open(&path).map_err(|source| OutputError::Read { path, source })?;
        // Held from before it can be seen; nobody else can have locked it yet.
        let _ = file.try_lock_shared();
        let stats = entry::stats(&temporary.join("out"));
        let place = self.dir(&permit.id);
        self.disk.rename(&temporary, &place)?;
        if let (Some(stats), Ok(mut checked)) = (stats, self.checked.lock()) {
            checked.insert(permit.id.clone(), stats);
        }
        let output = Output { entry: Arc::new(entry), dir: place.join("out"), lock: Some(Arc::new(file)) };
        // A cache that stays too large is no reason to lose what was just made.
        let _ = self.make_room(output.entry.bytes() + text.len() as u64);
        // Nor is one with too many files.
        let _ = self.count_files(&output.entry);
        Ok(output)
    }
}

enum Settled {
    Finished,
    Removed,
    Stays,
}
