//! The journal: an append-only sequence of records; a study is what they replay to.
//!
//! Two operations: append at a position, refused if somebody appended first, and read from a position. So several processes could share a
//! study, whatever holds the sequence. [`Sqlite`] keeps it in `.stagetune/journal.db`.

mod memory;
mod record;
mod sqlite;
mod summary;

pub use memory::Memory;
pub use record::{Definition, Record, StageDefinition, Stamped, read_record};
pub use sqlite::{FORMAT, Sqlite};
pub use summary::{Best, StageTally, Summary, point};

use std::path::PathBuf;

/// A sequence of records.
pub trait Journal: Send {
    /// Appends records after the first `position`; all of them or none.
    fn append(&mut self, position: u64, records: &[Stamped]) -> Result<(), JournalError>;

    /// The records after the first `position`, in order.
    fn read(&self, position: u64) -> Result<Vec<Stamped>, JournalError>;
}

/// Why a journal cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// Somebody appended first.
    #[error(
        "the journal holds {found} records where {expected} were expected: another process wrote to it; run the same command again"
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
    #[error("{} has no study called `{name}`{}; `stagetune run FILE` begins one", .path.display(), others(.known))]
    NoStudy {
        /// The journal.
        path: PathBuf,
        /// What was looked for.
        name: String,
        /// The studies that it has.
        known: Vec<String>,
    },
    /// A newer release wrote it.
    #[error("{} has format {found}, and this stagetune reads up to {known}; use the release that wrote it", .path.display())]
    Newer {
        /// The journal.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The last one known.
        known: i64,
    },
    /// A file that is no journal.
    #[error("{} is not a journal of stagetune; move it away", .path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A journal whose file is damaged.
    #[error("{}: {problem}", .path.display())]
    Damaged {
        /// The journal.
        path: PathBuf,
        /// What is wrong, and what to do about it.
        problem: String,
    },
    /// A record that cannot be read.
    #[error(
        "record {position} of the journal cannot be read: {problem}; it was damaged or written by a newer stagetune"
    )]
    Record {
        /// Its position, from 0.
        position: u64,
        /// What is wrong.
        problem: String,
    },
    /// A record that JSON cannot hold.
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

fn others(known: &[String]) -> String {
    if known.is_empty() { String::new() } else { format!("; it has {}", known.join(", ")) }
}

#[cfg(test)]
mod tests;
