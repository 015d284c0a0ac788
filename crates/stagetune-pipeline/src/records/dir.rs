//! Records as files of a directory that processes, also of several machines, may share.
//!
//! A record is written beside, under a name of its own in `.new/`, and appears whole: by `link` where exactly
//! one of several must win, by `rename` where the last one does. Its file is never written again, so a reader
//! has the old record or the new one. A process that was killed leaves a file in `.new/`, which nobody reads.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Created, Records, RecordsError, name};
use crate::clock;
use crate::disk::{Disk, DiskError};

/// Where records are written before they appear.
const BESIDE: &str = ".new";

/// How often a file is opened anew that was replaced on another machine while it was read.
const TRIES: usize = 5;

/// Counts the files that this process wrote beside.
static WRITTEN: AtomicU64 = AtomicU64::new(0);

/// Records in a directory.
#[derive(Clone, Debug)]
pub struct Dir {
    root: PathBuf,
    survives: Survives,
    disk: Disk,
}

/// What a record that was written lives through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Survives {
    /// The end of the process that wrote it.
    KilledProcess,
    /// A power cut as well: every write waits for the disk.
    PowerCut,
}

impl Dir {
    /// Records below a directory, which is made at the first write.
    pub fn at(root: &Path, survives: Survives, disk: Disk) -> Self {
        Self { root: root.to_owned(), survives, disk }
    }

    fn synced(&self) -> bool {
        self.survives == Survives::PowerCut
    }

    /// Writes a file beside, and makes the folder that it will move to; returns both.
    fn write_beside(&self, name: &str, bytes: &[u8]) -> Result<(PathBuf, PathBuf), RecordsError> {
        let place = self.root.join(name);
        let folder = place.parent().unwrap_or(&self.root).to_owned();
        self.make_folder(name, &folder)?;
        let beside = self.root.join(BESIDE);
        self.disk.make_dir(&beside)?;
        let beside = beside.join(unique());
        if let Err(error) = self.disk.write_new(&beside, bytes, self.synced()) {
            self.forget(&beside);
            return Err(error.into());
        }
        Ok((beside, folder))
    }

    fn make_folder(&self, name: &str, folder: &Path) -> Result<(), RecordsError> {
        if folder.is_dir() {
            return Ok(());
        }
        self.disk.make_dir(folder).map_err(|error| match error.source.kind() {
            io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
                RecordsError::Folder { name: name.to_owned() }
            }
            _ => error.into(),
        })?;
        if self.synced() {
            // The names of the new folders stand in those above them.
            let above = folder.ancestors().skip(1).take_while(|above| above.starts_with(&self.root));
            for above in above {
                self.disk.sync_dir(above)?;
            }
        }
        Ok(())
    }

    fn sync(&self, folder: &Path) -> Result<(), RecordsError> {
        if self.synced() {
            self.disk.sync_dir(folder)?;
        }
        Ok(())
    }

    /// What was written beside is of no use any more; what cannot be removed does no harm.
    fn forget(&self, beside: &Path) {
        let _ = self.disk.remove_file(beside);
    }

    /// Adds the names below a folder, `under` with its last `/`, that begin with the prefix.
    fn collect(&self, under: &str, prefix: &str, names: &mut Vec<String>) -> Result<(), RecordsError> {
        let folder = self.root.join(under);
        let unreadable = |source| RecordsError::Read { path: folder.clone(), source };
        let entries = match fs::read_dir(&folder) {
            Err(error) if is_absent(&error) => return Ok(()),
            entries => entries.map_err(unreadable)?,
        };
        for entry in entries {
            let entry = entry.map_err(unreadable)?;
            let Ok(word) = entry.file_name().into_string() else { continue };
            let name = format!("{under}{word}");
            if name::check(&name).is_err() {
                continue;
            }
            let kind = match entry.file_type() {
                Err(error) if is_absent(&error) => continue,
                kind => kind.map_err(unreadable)?,
            };
            if kind.is_dir() {
                let below = format!("{name}/");
                if below.starts_with(prefix) || prefix.starts_with(&below) {
                    self.collect(&below, prefix, names)?;
                }
            } else if kind.is_file() && name.starts_with(prefix) {
                names.push(name);
            }
        }
        Ok(())
    }
}

impl Records for Dir {
    fn create(&self, name: &str, bytes: &[u8]) -> Result<Created, RecordsError> {
        name::check(name)?;
        let place = self.root.join(name);
        let (beside, folder) = self.write_beside(name, bytes)?;
        let linked = self.disk.link(&beside, &place);
        let outcome = match linked {
            Ok(()) => Ok(Created::Created),
            Err(error) if error.source.kind() == io::ErrorKind::AlreadyExists => taken(name, &place, &beside),
            Err(error) => Err(error.into()),
        };
        let outcome = outcome.and_then(|created| self.sync(&folder).map(|()| created));
        self.forget(&beside);
        outcome
    }

    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, RecordsError> {
        name::check(name)?;
        let path = self.root.join(name);
        for _ in 1..TRIES {
            match fs::read(&path) {
                Err(error) if error.kind() == io::ErrorKind::StaleNetworkFileHandle => {}
                Err(error) if is_absent(&error) || error.kind() == io::ErrorKind::IsADirectory => {
                    return Ok(None);
                }
                read => return read.map(Some).map_err(|source| RecordsError::Read { path, source }),
            }
        }
        fs::read(&path).map(Some).map_err(|source| RecordsError::Read { path, source })
    }

    fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), RecordsError> {
        name::check(name)?;
        let place = self.root.join(name);
        let (beside, folder) = self.write_beside(name, bytes)?;
        if let Err(error) = self.disk.rename(&beside, &place) {
            self.forget(&beside);
            return Err(match error.source.kind() {
                io::ErrorKind::IsADirectory => RecordsError::Folder { name: name.to_owned() },
                _ => error.into(),
            });
        }
        self.sync(&folder)
    }

    fn list(&self, prefix: &str) -> Result<Vec<String>, RecordsError> {
        let folder = name::check_prefix(prefix)?;
        let under = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let mut names = Vec::new();
        self.collect(&under, prefix, &mut names)?;
        names.sort_unstable();
        Ok(names)
    }

    fn remove(&self, name: &str) -> Result<(), RecordsError> {
        name::check(name)?;
        let place = self.root.join(name);
        match self.disk.remove_file(&place) {
            Err(DiskError { source, .. }) if is_absent(&source) || place.is_dir() => Ok(()),
            Err(error) => Err(error.into()),
            Ok(()) => match place.parent().filter(|folder| folder.is_dir()) {
                Some(folder) => self.sync(folder),
                None => Ok(()),
            },
        }
    }
}

/// A name that is taken: by a folder, by somebody's record, or by ours. A network file system that lost its
/// own answer asks again and is told that the name is taken; then our file has two names.
fn taken(name: &str, place: &Path, beside: &Path) -> Result<Created, RecordsError> {
    let names = fs::metadata(beside).map(|file| file.nlink());
    if names.is_ok_and(|names| names == 2) {
        return Ok(Created::Created);
    }
    if place.is_dir() { Err(RecordsError::Folder { name: name.to_owned() }) } else { Ok(Created::Exists) }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// A file name that no other process takes, here or on another machine.
fn unique() -> String {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let host: String = host.chars().filter(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c)).collect();
    let (process, number) = (std::process::id(), WRITTEN.fetch_add(1, Ordering::Relaxed));
    format!("{host}-{process}-{number}-{:016x}", clock::now().to_bits())
}
