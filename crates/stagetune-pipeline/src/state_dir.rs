//! Where a study's state lives: `.stagetune/` beside the pipeline file.
//!
//! ```text
//! .stagetune/journal.db              every study of this directory
//! .stagetune/cache/<key>/            finished outputs
//! .stagetune/cache/packed.db         small ones of long ago
//! .stagetune/attempts/<token>/       attempts at stages, from their launch until their end is told
//! .stagetune/logs/<study>/           what stages said; `older.txt` has the small logs of long ago
//! .stagetune/locks/                  who runs what, at this moment
//! .stagetune/tmp/                    outputs on their way
//! .stagetune/live-<study>.json       what runs now, for `stagetune status`
//! .stagetune/witness-<study>         how many records of a study were on the disk itself
//! .stagetune/damaged-<when>/         what `stagetune repair` put aside
//! ```

use std::fs::{self, DirEntry};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::disk::{Disk, DiskError};

/// What the logs of a study take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StudyLogs {
    /// The study.
    pub study: String,
    /// How many files there are.
    pub files: usize,
    /// What they take on the disk.
    pub bytes: u64,
}

/// The paths of one `.stagetune/` directory.
#[derive(Clone, Debug)]
pub struct StateDir {
    path: PathBuf,
}

impl StateDir {
    /// That of the study's directory; nothing is made.
    pub fn of(root: &Path) -> Self {
        Self { path: root.join(".stagetune") }
    }

    /// Makes it, with a note that keeps it out of version control and backups.
    pub fn make(&self, study: &str, disk: &Disk) -> Result<(), DiskError> {
        disk.make_dir(&self.path)?;
        for folder in ["attempts", "cache", "locks", "logs", "tmp"] {
            disk.make_dir(&self.path.join(folder))?;
        }
        disk.make_dir(&self.logs(study))?;
        let ignore = self.path.join(".gitignore");
        if !ignore.exists() {
            disk.write(&ignore, b"*\n")?;
        }
        Ok(())
    }

    /// The directory itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The journal.
    pub fn journal(&self) -> PathBuf {
        self.path.join("journal.db")
    }

    /// The logs of a study.
    pub fn logs(&self, study: &str) -> PathBuf {
        self.path.join("logs").join(study)
    }

    /// What the logs of each study take, in the order of their names; nothing where there are none.
    pub fn all_logs(&self) -> io::Result<Vec<StudyLogs>> {
        let mut all = Vec::new();
        for study in entries(&self.path.join("logs"))? {
            let Ok(name) = study.file_name().into_string() else { continue };
            if !study.file_type()?.is_dir() {
                continue;
            }
            let mut logs = StudyLogs { study: name, files: 0, bytes: 0 };
            for log in entries(&study.path())? {
                // One that is written anew at this moment may be gone.
                let Ok(found) = log.metadata() else { continue };
                logs.files += 1;
                // What it takes and not how long it is: the middle of a long log takes nothing.
                logs.bytes += found.blocks() * 512;
            }
            all.push(logs);
        }
        all.sort_by(|a, b| a.study.cmp(&b.study));
        Ok(all)
    }

    /// The directories of attempts.
    pub fn attempts(&self) -> PathBuf {
        self.path.join("attempts")
    }

    /// The lock that the process at work on a study holds.
    pub fn lock(&self, study: &str) -> PathBuf {
        self.path.join("locks").join(format!("study-{study}"))
    }

    /// The studies that some process has worked on, in the order of their names.
    pub fn locked_studies(&self) -> io::Result<Vec<String>> {
        let names = entries(&self.path.join("locks"))?.into_iter();
        let names = names.filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> =
            names.filter_map(|name| Some(name.strip_prefix("study-")?.to_owned())).collect();
        names.sort();
        Ok(names)
    }

    /// What runs now.
    pub fn live(&self, study: &str) -> PathBuf {
        self.path.join(format!("live-{study}.json"))
    }
}

/// What is in a directory; nothing if it is not there.
fn entries(path: &Path) -> io::Result<Vec<DirEntry>> {
    match fs::read_dir(path) {
        Ok(found) => found.collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}
