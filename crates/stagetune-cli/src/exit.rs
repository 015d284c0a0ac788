//! Every exit code of `stagetune`, in one table.
//!
//! | code | meaning |
//! | --- | --- |
//! | 0 | done; for `run`: a budget was reached |
//! | 1 | something outside failed: a disk, a file, the system |
//! | 2 | the command line makes no sense |
//! | 3 | the pipeline file has errors |
//! | 4 | another process runs the study |
//! | 5 | every trial failed |
//! | 6 | the study cannot be continued with this file |
//! | 7 | the journal is damaged, or of a newer release |
//! | 8 | there is no such study yet |
//! | 9 | `cache verify` found damaged entries |
//! | 130 | stopped by Ctrl-C or a signal; the study can be continued |

use stagetune_pipeline::cache::CacheError;
use stagetune_pipeline::file::FileError;
use stagetune_pipeline::journal::JournalError;
use stagetune_pipeline::run_loop::RunError;

/// How `stagetune` ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Code {
    /// Done.
    Done = 0,
    /// Something outside failed.
    Outside = 1,
    /// The pipeline file has errors.
    File = 3,
    /// Another process runs the study.
    Held = 4,
    /// Every trial failed.
    EverythingFailed = 5,
    /// The study cannot be continued with this file.
    Changed = 6,
    /// The journal is damaged, or of a newer release.
    Journal = 7,
    /// There is no such study yet.
    NoStudy = 8,
    /// Entries of the cache are damaged.
    Damaged = 9,
    /// Stopped by a signal.
    Stopped = 130,
}

/// The table as `stagetune --help` shows it.
pub const TABLE: &str = "Exit codes:
    0  done; for `run`: a budget was reached
    1  something outside failed: a disk, a file, the system
    2  the command line makes no sense
    3  the pipeline file has errors
    4  another process runs the study
    5  every trial failed
    6  the study cannot be continued with this file
    7  the journal is damaged, or of a newer release
    8  there is no such study yet
    9  `cache verify` found damaged entries
  130  stopped by Ctrl-C or a signal; the same command continues the study";

impl Code {
    /// The code of an error.
    pub fn of(error: &anyhow::Error) -> Self {
        if error.downcast_ref::<FileError>().is_some() {
            return Self::File;
        }
        if let Some(error) = error.downcast_ref::<JournalError>() {
            return of_journal(error);
        }
        match error.downcast_ref::<RunError>() {
            Some(RunError::Held { .. }) => Self::Held,
            Some(RunError::Changed { .. } | RunError::Replay { .. }) => Self::Changed,
            Some(RunError::EverythingFailed { .. }) => Self::EverythingFailed,
            Some(RunError::Journal(error)) => of_journal(error),
            Some(RunError::Study(_)) => Self::File,
            Some(RunError::Cache(CacheError::Stopped)) => Self::Stopped,
            _ => Self::Outside,
        }
    }
}

fn of_journal(error: &JournalError) -> Code {
    match error {
        JournalError::Missing { .. } | JournalError::NoStudy { .. } => Code::NoStudy,
        JournalError::Newer { .. }
        | JournalError::Foreign { .. }
        | JournalError::Damaged { .. }
        | JournalError::Record { .. } => Code::Journal,
        _ => Code::Outside,
    }
}
