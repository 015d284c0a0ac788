//! Every exit code of `stagetune`, in one table.
//!
//! | code | meaning |
//! | --- | --- |
//! | 0 | done; for `run`: a budget was reached |
//! | 1 | something outside failed: a disk, a file, the system |
//! | 2 | the command line makes no sense |
//! | 3 | the pipeline file has errors |
//! | 4 | another process runs the study, or took it over |
//! | 5 | every trial failed |
//! | 6 | the study cannot be continued with this file |
//! | 7 | the journal is damaged, lacks records that it had, or is of a newer release |
//! | 8 | there is no such study yet |
//! | 9 | `cache verify` found damaged entries |
//! | 10 | the world stayed at fault for longer than `patience`; once it is mended, the same command continues the study |
//! | 130 | stopped by Ctrl-C or a signal; the same command continues the study |

use stagetune_pipeline::file::FileError;
use stagetune_pipeline::log::LogError;
use stagetune_pipeline::owner::RunError;

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
    /// Another process runs the study, or took it over.
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
    /// The world stayed at fault for longer than the study's patience.
    PatienceOver = 10,
    /// Stopped by a signal.
    Stopped = 130,
}

/// The table as `stagetune --help` shows it.
pub const TABLE: &str = "Exit codes:
    0  done; for `run`: a budget was reached
    1  something outside failed: a disk, a file, the system
    2  the command line makes no sense
    3  the pipeline file has errors
    4  another process runs the study, or took it over
    5  every trial failed
    6  the study cannot be continued with this file
    7  the journal is damaged, lacks records that it had, or is of a newer release
    8  there is no such study yet
    9  `cache verify` found damaged entries
   10  the world stayed at fault for longer than `patience`; once it is mended, the same command \
   continues the study
  130  stopped by Ctrl-C or a signal; the same command continues the study";

impl Code {
    /// The code of an error.
    pub fn of(error: &anyhow::Error) -> Self {
        if error.downcast_ref::<FileError>().is_some() {
            return Self::File;
        }
        if let Some(error) = error.downcast_ref::<LogError>() {
            return of_journal(error);
        }
        error.downcast_ref::<RunError>().map_or(Self::Outside, of_run)
    }
}

fn of_run(error: &RunError) -> Code {
    match error {
        RunError::Held { .. } | RunError::Superseded { .. } => Code::Held,
        RunError::Changed { .. } | RunError::Replay { .. } => Code::Changed,
        RunError::EverythingFailed { .. } => Code::EverythingFailed,
        RunError::Journal(error) => of_journal(error),
        RunError::Study(_) => Code::File,
        RunError::PatienceOver { .. } => Code::PatienceOver,
        RunError::InputChanged { .. }
        | RunError::InputTouched { .. }
        | RunError::OutputChanged { .. }
        | RunError::DiskFull { .. }
        | RunError::SaidFull { .. }
        | RunError::AttemptRemoved { .. }
        | RunError::NoThread { .. }
        | RunError::NoRoom { .. }
        | RunError::Lost { .. }
        | RunError::NotOurs
        | RunError::NothingReady
        | RunError::End(_)
        | RunError::NoIdea(_)
        | RunError::Unfilled(_)
        | RunError::Cache(_)
        | RunError::Input(_)
        | RunError::Disk(_)
        | RunError::Worker => Code::Outside,
    }
}

fn of_journal(error: &LogError) -> Code {
    match error {
        LogError::Missing { .. } | LogError::NoStudy { .. } => Code::NoStudy,
        LogError::Newer { .. }
        | LogError::Older { .. }
        | LogError::Foreign { .. }
        | LogError::Damaged { .. }
        | LogError::Vanished { .. }
        | LogError::Gone { .. }
        | LogError::Replaced { .. }
        | LogError::Chain { .. }
        | LogError::Record { .. } => Code::Journal,
        LogError::Moved { .. }
        | LogError::Network { .. }
        | LogError::OnlyRead { .. }
        | LogError::Unwritable { .. }
        | LogError::Database { .. } => Code::Outside,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_the_help_is_the_table_of_this_file() {
        let rows = include_str!("exit.rs").lines().filter_map(|line| {
            let (code, meaning) = line.strip_prefix("//! | ")?.split_once(" | ")?;
            Some((code.parse::<u8>().ok()?, meaning.trim_end_matches(" |").to_owned()))
        });
        let rows: Vec<(u8, String)> = rows.collect();
        let helped = TABLE.lines().skip(1).map(|line| {
            let (code, meaning) = line.trim().split_once("  ").unwrap();
            (code.parse::<u8>().unwrap(), meaning.to_owned())
        });
        assert_eq!(rows, helped.collect::<Vec<_>>());
    }

    #[test]
    fn errors_have_the_codes_of_what_went_wrong() {
        let by = Box::default();
        let code = |error: RunError| Code::of(&error.into());
        assert_eq!(code(RunError::Superseded { study: "s".into(), by }), Code::Held);
        assert_eq!(code(RunError::Lost { stage: "s".into(), token: "t".into() }), Code::Outside);
        let log = |error: LogError| Code::of(&error.into());
        assert_eq!(log(LogError::Network { path: "j".into(), kind: "nfs".into() }), Code::Outside);
        assert_eq!(log(LogError::Older { path: "j".into(), found: 1 }), Code::Journal);
        assert_eq!(code(LogError::Missing { path: "j".into() }.into()), Code::NoStudy);
    }
}
