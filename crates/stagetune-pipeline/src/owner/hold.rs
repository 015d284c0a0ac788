//! One process at a time works on a study; whoever comes second learns who that is.

use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io::{Seek, Write};

use serde::{Deserialize, Serialize};

use super::error::RunError;
use crate::clock;
use crate::disk::{Disk, DiskError};
use crate::host;
use crate::state_dir::StateDir;

/// The right to work on a study, for as long as it lives; the system takes it back from a process that dies.
#[derive(Debug)]
pub struct Hold {
    _lock: File,
}

/// Who works on a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Holder {
    /// The process.
    pub process: u32,
    /// Its machine.
    pub host: String,
    /// Since when, in seconds since 1970.
    pub since: f64,
}

impl Hold {
    /// Takes the study, or says who has it.
    pub fn take(state: &StateDir, study: &str, disk: &Disk) -> Result<Self, RunError> {
        let path = state.lock(study);
        let mut lock = disk.open_lock(&path)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let holder = Self::holder(state, study).unwrap_or_else(Holder::unknown);
                return Err(RunError::Held { study: study.to_owned(), holder });
            }
            Err(TryLockError::Error(source)) => {
                return Err(DiskError { doing: "lock", path, source }.into());
            }
        }
        let holder =
            Holder { process: std::process::id(), host: host::name().to_owned(), since: clock::now() };
        let text = serde_json::to_vec(&holder).unwrap_or_default();
        let write = disk.permit().and_then(|()| {
            lock.set_len(0)?;
            lock.rewind()?;
            lock.write_all(&text)
        });
        write.map_err(|source| DiskError { doing: "write", path, source })?;
        Ok(Self { _lock: lock })
    }

    /// Who works on a study at this moment.
    pub fn holder(state: &StateDir, study: &str) -> Option<Holder> {
        let path = state.lock(study);
        let file = File::open(&path).ok()?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => {
                let said = fs::read(&path).ok().and_then(|text| serde_json::from_slice(&text).ok());
                Some(said.unwrap_or_else(Holder::unknown))
            }
            _ => None,
        }
    }
}

impl Holder {
    fn unknown() -> Self {
        Self { process: 0, host: String::new(), since: clock::now() }
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.process == 0 {
            return f.write_str("another process");
        }
        let minutes = ((clock::now() - self.since) / 60.0).max(0.0);
        write!(f, "process {} on {}, for {minutes:.0} min now", self.process, self.host)
    }
}
