//! How an attempt ended: `ended.json` in its directory, there as a whole or not at all.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::disk::{Disk, DiskError, remedy};
use crate::regular;

/// What an attempt leaves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// With what.
    pub exit: Exit,
    /// How long it took.
    pub seconds: f64,
    /// When it began, in seconds since 1970.
    pub began: f64,
    /// When it ended.
    pub ended: f64,
    /// The machine that it ran on.
    pub host: String,
    /// Its process; 0 if there was none.
    pub process: u32,
}

/// The end of an attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exit {
    /// Exit code 0, or a callable that returned.
    Success,
    /// Another exit code.
    Code(i32),
    /// Killed by a signal that we did not send.
    Signal(i32),
    /// It took longer than so many seconds and was killed with all that it had started.
    Timeout(f64),
    /// It was cancelled, or its owner died: no result.
    Stopped,
    /// Its program cannot be started.
    NotStarted(String),
    /// The system has no process, file or memory left for it: the world's fault, no result.
    NoRoom(String),
    /// A callable raised an error or panicked.
    Raised(String),
}

/// Why the end of an attempt cannot be told.
#[derive(Debug, thiserror::Error)]
pub enum EndError {
    /// It cannot be read.
    #[error("cannot read {}: {source}{}", .path.display(), remedy(.source))]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is not what an executor wrote.
    #[error("{} is damaged ({problem}); remove the file, and the stage runs again", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
}

impl Exit {
    /// What went wrong in words; `None` for a success.
    pub fn problem(&self) -> Option<String> {
        Some(match self {
            Self::Success => return None,
            Self::Code(code) => format!("ended with exit code {code}"),
            Self::Signal(signal) => format!("was killed by signal {signal}{}", known_signal(*signal)),
            Self::Timeout(limit) => format!("took longer than its timeout of {limit} s and was killed"),
            Self::Stopped => "was stopped".into(),
            Self::NotStarted(problem) => format!("could not be started: {problem}"),
            Self::NoRoom(problem) => format!("could not be given a process: {problem}"),
            Self::Raised(problem) => format!("raised an error: {problem}"),
        })
    }
}

/// What people want to know about the signals that they meet.
fn known_signal(signal: i32) -> &'static str {
    match signal {
        6 => " (aborted)",
        9 => " (killed; often the system's answer to too little memory)",
        11 => " (segmentation fault)",
        15 => " (asked to end)",
        21 | 22 => {
            " (it wanted to use the terminal, which no stage has; give it what it asks for as an \
                argument or in `env`)"
        }
        _ => "",
    }
}

/// The end of the attempt in a directory; `None` if it has not ended, or never began.
pub fn read_end(dir: &Path) -> Result<Option<Ended>, EndError> {
    let path = dir.join("ended.json");
    let bytes = match regular::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(EndError::Read { path, source }),
    };
    match serde_json::from_slice(&bytes) {
        Ok(ended) => Ok(Some(ended)),
        Err(error) => Err(EndError::Damaged { path, problem: error.to_string() }),
    }
}

/// The file that keeps room for an end, so that it can be written when the attempt itself has
/// filled the disk.
const ROOM: &str = "ended.new";

/// How much room an end has; nearly all need less.
const ROOM_BYTES: usize = 1024;

/// Keeps room for the end of the attempt in a directory.
pub(super) fn keep_room(dir: &Path, disk: &Disk) -> Result<(), DiskError> {
    disk.write(&dir.join(ROOM), &[b' '; ROOM_BYTES])
}

/// Leaves the end of the attempt in a directory, beside its place first and then renamed to it.
pub fn write_end(dir: &Path, ended: &Ended, disk: &Disk) -> Result<(), DiskError> {
    // Texts and numbers only: it cannot fail.
    let text = serde_json::to_vec(ended).unwrap_or_default();
    let beside = dir.join(ROOM);
    // A pipe that the stage made there would be waited for without end.
    if std::fs::symlink_metadata(&beside).is_ok_and(|about| !about.is_file() && !about.is_dir()) {
        disk.remove_file(&beside)?;
    }
    disk.overwrite(&beside, &text)?;
    disk.rename(&beside, &dir.join("ended.json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_comes_back_as_it_was_written() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(read_end(dir.path()).unwrap(), None);
        let exits = [
            (Exit::Success, r#""success""#),
            (Exit::Code(3), r#"{"code":3}"#),
            (Exit::Signal(9), r#"{"signal":9}"#),
            (Exit::Timeout(0.5), r#"{"timeout":0.5}"#),
            (Exit::Stopped, r#""stopped""#),
            (Exit::NotStarted("no".into()), r#"{"not-started":"no"}"#),
            (Exit::NoRoom("no".into()), r#"{"no-room":"no"}"#),
            (Exit::Raised("no".into()), r#"{"raised":"no"}"#),
        ];
        for (exit, text) in exits {
            assert_eq!(serde_json::to_string(&exit).unwrap(), text);
            let ended = Ended { exit, seconds: 1.5, began: 2.0, ended: 3.5, host: "h".into(), process: 7 };
            write_end(dir.path(), &ended, &Disk::default()).unwrap();
            assert_eq!(read_end(dir.path()).unwrap(), Some(ended));
        }
        let pipe = dir.path().join(ROOM);
        assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
        let ended = read_end(dir.path()).unwrap().unwrap();
        write_end(dir.path(), &ended, &Disk::default()).unwrap();
        std::fs::write(dir.path().join("ended.json"), "{").unwrap();
        assert!(matches!(read_end(dir.path()), Err(EndError::Damaged { .. })));
    }
}
