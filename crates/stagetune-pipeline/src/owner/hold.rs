//! One process at a time works on a study; whoever comes second learns who that is.

use std::fmt;
use std::fs::{File, TryLockError};
use std::io::{Seek, Write};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};

use super::error::RunError;
use crate::clock;
use crate::disk::{Disk, DiskError};
use crate::host;
use crate::regular;
use crate::state_dir::StateDir;

/// The right to work on a study, for as long as it lives; the system takes it back from a process that dies.
#[derive(Debug)]
pub struct Hold {
    _lock: File,
}

/// A process that was killed while it started another leaves its locks to that one, until the other
/// program begins.
const LONGEST_AFTERLIFE: Duration = Duration::from_secs(5);

/// Between looks at such a lock.
const LOOK: Duration = Duration::from_millis(5);

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
        let timer = Instant::now();
        loop {
            match lock.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) => {
                    let holder = Self::holder(state, study);
                    let given_back = holder.as_ref().is_none_or(Holder::is_dead);
                    if !given_back || timer.elapsed() > LONGEST_AFTERLIFE {
                        let holder = holder.unwrap_or_else(Holder::unknown);
                        return Err(RunError::Held { study: study.to_owned(), holder });
                    }
                    std::thread::sleep(LOOK);
                }
                Err(TryLockError::Error(source)) => {
                    return Err(DiskError { doing: "lock", path, source }.into());
                }
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
        let file = regular::open(&path).ok()?;
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => {
                let said = regular::read(&path).ok().and_then(|text| serde_json::from_slice(&text).ok());
                Some(said.unwrap_or_else(Holder::unknown))
            }
            _ => None,
        }
    }
}

impl Holder {
    /// Whether the process ran on this machine and does no more.
    fn is_dead(&self) -> bool {
        let process = i32::try_from(self.process).ok().and_then(Pid::from_raw);
        let is_gone = |process| matches!(test_kill_process(process), Err(Errno::SRCH));
        self.host == host::name() && process.is_some_and(is_gone)
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A study whose lock is held, said to be by this process.
    fn held(process: u32) -> (tempfile::TempDir, StateDir, File) {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::of(dir.path());
        state.make("s", &Disk::default()).unwrap();
        let holder = Holder { process, host: host::name().to_owned(), since: clock::now() };
        fs::write(state.lock("s"), serde_json::to_vec(&holder).unwrap()).unwrap();
        let lock = File::open(state.lock("s")).unwrap();
        lock.lock().unwrap();
        (dir, state, lock)
    }

    #[test]
    fn a_lock_that_a_killed_process_left_to_one_that_it_was_starting_is_waited_for() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let (_dir, state, lock) = held(child.id());
        let heir = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(100));
            drop(lock);
        });
        Hold::take(&state, "s", &Disk::default()).unwrap();
        heir.join().unwrap();
    }

    #[test]
    fn a_study_that_a_living_process_works_on_is_not_waited_for() {
        let (_dir, state, _lock) = held(std::process::id());
        let refused = Hold::take(&state, "s", &Disk::default()).unwrap_err();
        assert!(matches!(&refused, RunError::Held { holder, .. } if holder.process == std::process::id()));
    }
}
