//! Where a study's state lives: `.stagetune/` beside the pipeline file.
//!
//! ```text
//! .stagetune/journal.db              every study of this directory
//! .stagetune/cache/<key>/            finished outputs
//! .stagetune/attempts/<token>/       attempts at stages, from their launch until their end is told
//! .stagetune/logs/<study>/           what stages said
//! .stagetune/locks/                  who runs what, at this moment
//! .stagetune/tmp/                    outputs on their way
//! .stagetune/live-<study>.json       what runs now, for `stagetune status`
//! ```

use std::path::{Path, PathBuf};

use crate::disk::{Disk, DiskError};

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

    /// The directories of attempts.
    pub fn attempts(&self) -> PathBuf {
        self.path.join("attempts")
    }

    /// The lock that the process at work on a study holds.
    pub fn lock(&self, study: &str) -> PathBuf {
        self.path.join("locks").join(format!("study-{study}"))
    }

    /// What runs now.
    pub fn live(&self, study: &str) -> PathBuf {
        self.path.join(format!("live-{study}.json"))
    }
}
