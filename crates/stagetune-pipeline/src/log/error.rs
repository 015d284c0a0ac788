//! What can go wrong with a log, and what to do about it.

use std::path::PathBuf;

/// Why a log cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// Somebody appended first.
    #[error(
        "the journal holds {found} records where {expected} were expected: another process wrote to it; \
         run the same command again"
    )]
    Moved {
        /// How many we knew of.
        expected: u64,
        /// How many there are.
        found: u64,
    },
    /// No journal where one was expected.
    #[error("there is no study yet: {} does not exist; `stagetune run FILE` begins one", .path.display())]
    Missing {
        /// Where it should be.
        path: PathBuf,
    },
    /// The journal has no study of that name.
    #[error(
        "{} has no study called `{name}`{}; `stagetune run FILE` begins one", .path.display(), others(.known)
    )]
    NoStudy {
        /// The journal.
        path: PathBuf,
        /// What was looked for.
        name: String,
        /// The studies that it has.
        known: Vec<String>,
    },
    /// A newer release wrote it.
    #[error(
        "{} has format {found}, and this stagetune reads up to {known}; use the release that wrote it",
        .path.display()
    )]
    Newer {
        /// The journal.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The last one known.
        known: i64,
    },
    /// A version before the first release wrote it.
    #[error(
        "{} has format {found}, which was never released and cannot be read; \
         `stagetune repair` puts it aside, and the study begins anew",
        .path.display()
    )]
    Older {
        /// The journal.
        path: PathBuf,
        /// Its format.
        found: i64,
    },
    /// A file that is no journal.
    #[error("{} is a database and no journal of stagetune; `stagetune repair` puts it aside", .path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The journal would be on a file system that other machines use as well.
    #[error(
        "{} is on a network file system ({kind}), where two machines in one directory destroy the journal; \
         keep the study on a local disk of one machine and copy the results", .path.display()
    )]
    Network {
        /// Where the journal would be.
        path: PathBuf,
        /// The file system's name.
        kind: String,
    },
    /// The journal's file is gone, for a while or for ever.
    #[error(
        "{} was removed or moved away while it was in use; put back that very file, with the `-wal` beside it, \
         and it goes on", .path.display()
    )]
    Gone {
        /// The journal.
        path: PathBuf,
    },
    /// The journal's file is not the one that was opened.
    #[error(
        "{} was replaced by another file while it was in use, and nothing more is written; \
         put back the one that was there and run the same command again", .path.display()
    )]
    Replaced {
        /// The journal.
        path: PathBuf,
    },
    /// An append to a log that was opened to be looked at.
    #[error("{} was opened only to be read; open it for writing", .path.display())]
    OnlyRead {
        /// The journal.
        path: PathBuf,
    },
    /// A journal whose file is damaged.
    #[error(
        "{} is damaged: {problem}; put back a copy of it, or keep what is sound with `stagetune repair`",
        .path.display()
    )]
    Damaged {
        /// The journal.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// Records that were on the disk are not there any more.
    #[error(
        "{}: {problem}; put back `journal.db` and `journal.db-wal` as they were, or go on without these records \
         with `stagetune repair`: what is in the cache is reused", .path.display()
    )]
    Vanished {
        /// The journal.
        path: PathBuf,
        /// What is missing.
        problem: String,
    },
    /// A record that does not fit those before it.
    #[error(
        "study `{study}`, record {position}: {problem}; \
         the journal was changed or damaged after it was written: put back a copy of it, or keep what is \
         sound with `stagetune repair`"
    )]
    Chain {
        /// The study.
        study: String,
        /// The record's position, from 0.
        position: u64,
        /// What differs.
        problem: String,
    },
    /// A record that is as it was written and cannot be read.
    #[error("study `{study}`, record {position}: {problem}; a newer stagetune wrote it: use that release")]
    Record {
        /// The study.
        study: String,
        /// The record's position, from 0.
        position: u64,
        /// What is wrong.
        problem: String,
    },
    /// A record that a log cannot hold.
    #[error("a record cannot be written: {problem}")]
    Unwritable {
        /// What is wrong.
        problem: String,
    },
    /// The database refused.
    #[error("{}: {problem}", .path.display())]
    Database {
        /// The journal.
        path: PathBuf,
        /// What it said, and what to do about it.
        problem: String,
    },
}

impl LogError {
    /// Whether the world is at fault, which may mend.
    pub(crate) fn is_of_the_world(&self) -> bool {
        match self {
            Self::Database { .. } | Self::Gone { .. } => true,
            Self::Moved { .. }
            | Self::Missing { .. }
            | Self::NoStudy { .. }
            | Self::Newer { .. }
            | Self::Older { .. }
            | Self::Foreign { .. }
            | Self::Network { .. }
            | Self::Replaced { .. }
            | Self::OnlyRead { .. }
            | Self::Damaged { .. }
            | Self::Vanished { .. }
            | Self::Chain { .. }
            | Self::Record { .. }
            | Self::Unwritable { .. } => false,
        }
    }

    /// Whether the journal is not what it was: damaged, incomplete, or somebody else's file.
    pub(crate) fn is_damage(&self) -> bool {
        match self {
            Self::Older { .. }
            | Self::Foreign { .. }
            | Self::Damaged { .. }
            | Self::Vanished { .. }
            | Self::Chain { .. } => true,
            Self::Moved { .. }
            | Self::Missing { .. }
            | Self::NoStudy { .. }
            | Self::Newer { .. }
            | Self::Network { .. }
            | Self::Gone { .. }
            | Self::Replaced { .. }
            | Self::OnlyRead { .. }
            | Self::Record { .. }
            | Self::Unwritable { .. }
            | Self::Database { .. } => false,
        }
    }
}

fn others(known: &[String]) -> String {
    if known.is_empty() { String::new() } else { format!("; it has {}", known.join(", ")) }
}
