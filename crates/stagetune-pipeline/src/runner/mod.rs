//! Running one command of a stage: without a shell, in a process group of its own, with a time limit, its words kept in a log.

mod guard;
mod log;
mod process;

pub use guard::{Guard, watch_over};
pub use log::last_lines;
pub use process::Processes;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use crate::stop::Stop;

/// One run of a command.
#[derive(Clone, Debug)]
pub struct Job {
    /// The program and its arguments.
    pub argv: Vec<OsString>,
    /// Where it runs.
    pub dir: PathBuf,
    /// Variables that are set for it, beside those of the caller.
    pub env: BTreeMap<String, String>,
    /// Where its words go.
    pub log: PathBuf,
    /// How long it may take.
    pub timeout: Option<Duration>,
}

/// How a run ended.
#[derive(Debug)]
pub struct Ended {
    /// How long it took.
    pub seconds: f64,
    /// With what.
    pub exit: Exit,
}

/// The end of a process.
#[derive(Debug)]
pub enum Exit {
    /// Exit code 0.
    Success,
    /// Another exit code.
    Code(i32),
    /// Killed by a signal that we did not send.
    Signal(i32),
    /// It took too long and was killed with all that it had started.
    Timeout(Duration),
    /// We were told to stop, and killed it.
    Stopped,
    /// Its program cannot be started.
    NotStarted(std::io::Error),
    /// The system has no process, file or memory left for it: no fault of the command.
    NoRoom(std::io::Error),
}

/// Whatever runs commands: processes, or a stand-in that tests and rehearsals use.
pub trait Runner: Send + Sync {
    /// Runs a command to its end, or kills it when it takes too long or a stop is due.
    fn run(&self, job: &Job, stop: &Stop) -> Ended;
}

impl Exit {
    /// What went wrong in words; `None` for a success.
    pub fn problem(&self) -> Option<String> {
        Some(match self {
            Self::Success => return None,
            Self::Code(code) => format!("ended with exit code {code}"),
            Self::Signal(signal) => format!("was killed by signal {signal}{}", known_signal(*signal)),
            Self::Timeout(limit) => {
                format!("took longer than its timeout of {} s and was killed", limit.as_secs_f64())
            }
            Self::Stopped => "was stopped".into(),
            Self::NotStarted(error) => format!("could not be started: {error}"),
            Self::NoRoom(error) => format!("could not be given a process: {error}"),
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
        _ => "",
    }
}
