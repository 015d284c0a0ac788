//! Small records by name: entries of a shared log, claims, beats.
//!
//! A record is read whole or not at all, whoever replaces it meanwhile; of several that create one name,
//! exactly one does. [`Dir`] keeps records as files of a directory that several processes may share,
//! [`Memory`] keeps them in this process. Names are relative paths such as `attempts/abc/ended`.

mod dir;
mod memory;
mod name;

pub use dir::{Dir, Survives};
pub use memory::Memory;

use crate::disk::DiskError;
use std::path::PathBuf;

/// Records by name.
pub trait Records: Send + Sync {
    /// Makes a record unless the name is taken.
    fn create(&self, name: &str, bytes: &[u8]) -> Result<Created, RecordsError>;

    /// The record of that name, if there is one.
    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, RecordsError>;

    /// Writes a record, in place of the one of that name if there is one.
    fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), RecordsError>;

    /// The names that begin with a text, sorted; all of them if the text is empty.
    fn list(&self, prefix: &str) -> Result<Vec<String>, RecordsError>;

    /// Removes a record; one that is not there is fine.
    fn remove(&self, name: &str) -> Result<(), RecordsError>;
}

/// Who made a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Created {
    /// This call did.
    Created,
    /// Somebody was first; the record is theirs.
    Exists,
}

/// Why a record cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordsError {
    /// A name that is no relative path of plain words.
    #[error(
        "`{name}` cannot name a record: {problem}; \
         take words of letters, digits, `-`, `_` and `.` with `/` between them"
    )]
    Name {
        /// The name.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A record where a folder is wanted, or a folder where a record is.
    #[error("`{name}` and a record below it cannot both be there; choose another name")]
    Folder {
        /// The name.
        name: String,
    },
    /// A file or directory cannot be read.
    #[error("cannot read {}: {source}", .path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file or directory cannot be changed.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

#[cfg(test)]
mod tests;
