//! What SQLite says, with what to do about it.

use std::path::Path;

use rusqlite::ErrorCode;
use rustix::process::{Resource, getrlimit};

use crate::disk;
use crate::log::LogError;
use crate::sqlite_file::with_ending;

/// An error of the database: the world's, or that of a damaged file.
pub fn database(path: &Path, error: &rusqlite::Error) -> LogError {
    // A column of another type than ours.
    let Some(code) = error.sqlite_error_code() else { return damaged(path, &error.to_string()) };
    let help = match code {
        ErrorCode::DiskFull => "; free some space and run the same command again: nothing told is lost",
        ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied => {
            "; make the study's directory readable and writable for you"
        }
        ErrorCode::SystemIoFailure if is_as_long_as_allowed(path) => {
            "; the file is as long as the limit on file sizes allows (`ulimit -f`): raise it, then \
                run the same \
             command again: nothing told is lost"
        }
        ErrorCode::SystemIoFailure => {
            "; look whether the disk is full or failing, then run the same command again: \
             nothing told is lost"
        }
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => "; another process keeps it locked",
        ErrorCode::OutOfMemory
        | ErrorCode::OperationInterrupted
        | ErrorCode::OperationAborted
        | ErrorCode::FileLockingProtocolFailed => "; run the same command again",
        ErrorCode::NotADatabase => return damaged(path, "it is not a database"),
        // Our statements are always the same: where one makes no sense, the file is another one than we made.
        _ => return damaged(path, &error.to_string()),
    };
    LogError::Database { path: path.to_owned(), problem: format!("{error}{help}") }
}

/// Whether the journal or its write-ahead log is near the limit on file sizes: SQLite tells of an error only.
fn is_as_long_as_allowed(path: &Path) -> bool {
    const NEAR: u64 = 64 * 1024;
    let Some(limit) = getrlimit(Resource::Fsize).current else { return false };
    let length = |path: &Path| std::fs::metadata(path).map_or(0, |file| file.len());
    [path.to_owned(), with_ending(path, "-wal")].iter().any(|path| length(path) + NEAR >= limit)
}

/// The system refused.
pub fn refused(path: &Path, error: &std::io::Error) -> LogError {
    let problem = format!("{error}{}", disk::remedy(error));
    LogError::Database { path: path.to_owned(), problem }
}

/// The content of the file is broken.
pub fn damaged(path: &Path, what: &str) -> LogError {
    LogError::Damaged { path: path.to_owned(), problem: what.to_owned() }
}

/// The write-ahead log was cut or written over while a study ran.
pub fn cut(path: &Path) -> LogError {
    damaged(path, "its write-ahead log, `journal.db-wal`, was changed by somebody else while the study ran")
}

/// Records are gone that were there.
pub fn shrunk(path: &Path, found: u64, expected: u64) -> LogError {
    damaged(
        path,
        &format!("it holds {found} records, and had {expected} when this process wrote the last one"),
    )
}
