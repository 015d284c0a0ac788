//! Executors run attempts: one run of one stage each, under a token that is unique for ever.
//!
//! [`Local`] runs commands and callables on this machine, [`Scripted`] does what a test says. An
//! executor only starts, looks and cancels; what became of an attempt is a file that it leaves, so
//! that whoever owns the study later can read it:
//!
//! ```text
//! .stagetune/attempts/<token>/out/         fresh and empty when the attempt starts: its {out}
//! .stagetune/attempts/<token>/began        host, owner and processes; locked for as long as it runs
//! .stagetune/attempts/<token>/ended.new    room for how it ends, so that a disk that it fills does not hide its end
//! .stagetune/attempts/<token>/ended.json   how it ended; there as a whole or not at all
//! ```
//!
//! Nothing is forced to the disk: the end of an attempt survives a killed process, not a power cut.

mod call;
mod capped;
mod command;
mod ended;
mod folder;
mod left;
mod local;
mod log;
mod orphans;
mod process;
mod scripted;
mod supervise;
mod supervisor;
mod token;

pub use call::{Call, Callable};
pub use capped::LOG_LIMIT;
pub use ended::{EndError, Ended, Exit, read_end, write_end};
pub use folder::{SweepError, SweptAttempts, sweep};
pub use local::{Local, LocalOptions};
pub use log::last_lines;
pub use scripted::Scripted;
pub use supervise::{SUPERVISOR_COMMAND, supervise};
pub use token::{Token, TokenError};

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::disk::{DiskError, remedy};

/// What an attempt runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// A program, without a shell.
    Command {
        /// The program and its arguments.
        argv: Vec<OsString>,
        /// Where it runs.
        dir: PathBuf,
        /// Variables that are set for it, beside those of the owner.
        env: BTreeMap<String, String>,
    },
    /// A function that the embedding program registered.
    Call {
        /// Its name.
        name: String,
        /// The stage's parameters.
        params: BTreeMap<String, String>,
        /// The outputs of the stages that it needs, by stage.
        inputs: BTreeMap<String, PathBuf>,
    },
}

/// One run of one stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Its name, for ever.
    pub token: Token,
    /// The stage that it runs.
    pub stage: String,
    /// What it runs.
    pub body: Body,
    /// Its own directory; `out/` in it is the stage's `{out}`.
    pub dir: PathBuf,
    /// Where the words of a command go.
    pub log: PathBuf,
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// How long it has to end after it was asked to; then it is killed.
    pub grace: Duration,
}

/// What an executor sees of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// It was accepted and has not started.
    Waiting,
    /// It runs.
    Running,
    /// It does not run; without an end in its directory it was never started, or lost.
    Gone,
}

/// Runs attempts.
pub trait Executor: Send + Sync {
    /// Starts an attempt in a fresh and empty `out`, and does not wait for its end. A token starts
    /// once: to launch it again is fine and does nothing.
    fn launch(&self, attempt: &Attempt) -> Result<(), Refused>;

    /// What is seen of attempts, in one call for all. Where an attempt that ended is gone, its end
    /// can be read.
    fn look(&self, tokens: &[Token]) -> Result<BTreeMap<Token, Sight>, NoIdea>;

    /// Asks an attempt to end, and kills it with all that it started if it does not; returns at
    /// once. It ends as
    /// [`Exit::Stopped`], or as it had ended already.
    fn cancel(&self, token: &Token) -> Result<(), NoIdea>;

    /// Waits until an attempt may have ended, at most so long.
    fn wait(&self, token: &Token, limit: Duration) {
        let _ = token;
        std::thread::sleep(limit);
    }
}

/// Why an attempt was not started.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// There is no place for it now; later there may be.
    #[error("the executor has no place for another attempt now")]
    Busy,
    /// The world's fault.
    #[error("cannot {doing}: {source}{}{}", room(.source), remedy(.source))]
    World {
        /// What was tried.
        doing: String,
        /// Why it failed.
        source: io::Error,
    },
    /// It can never start.
    #[error("{0}")]
    Never(String),
}

/// Why nothing can be said or done about an attempt.
#[derive(Debug, thiserror::Error)]
pub enum NoIdea {
    /// Its directory cannot be looked at.
    #[error("cannot look at attempt {}: {source}{}", .path.display(), remedy(.source))]
    Look {
        /// What was looked at.
        path: PathBuf,
        /// Why that failed.
        source: io::Error,
    },
    /// It has ended, but nobody could write down how.
    #[error("how attempt {token} ended could not be written: {problem}")]
    Unwritten {
        /// The attempt.
        token: Token,
        /// Why, and what to do about it.
        problem: String,
    },
    /// Its supervisor could not work.
    #[error("attempt {token} was not begun: {problem}")]
    Unsupervised {
        /// The attempt.
        token: Token,
        /// Why, and what to do about it.
        problem: String,
    },
    /// Another process runs it.
    #[error("attempt {token} is run by another process; end that process, and the attempt ends with it")]
    NotOurs {
        /// The attempt.
        token: Token,
    },
}

impl From<DiskError> for Refused {
    fn from(error: DiskError) -> Self {
        Self::World { doing: format!("{} {}", error.doing, error.path.display()), source: error.source }
    }
}

/// What to do about the limits that people meet.
fn room(error: &io::Error) -> &'static str {
    // EMFILE and ENFILE have no kind of their own.
    match error.raw_os_error() {
        Some(23 | 24) => "; raise the limit on open files (`ulimit -n`) or use fewer workers",
        Some(11 | 12) => "; too many processes or too little memory: use fewer workers",
        _ => "",
    }
}
