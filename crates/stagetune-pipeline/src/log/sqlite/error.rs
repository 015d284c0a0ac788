//! What SQLite says, with what to do about it.

use std::path::Path;

use rusqlite::ErrorCode;

use crate::disk;
use crate::log::LogError;

/// An error of the database: the world's, or that of a damaged file.
pub fn database(path: &Path, error: &rusqlite::Error) -> LogError {
    // A column of another type than ours.
    let Some(code) = error.sqlite_error_code() else { return damaged(path, &error.to_string()) };
    let help = match code {
        ErrorCode::DiskFull => "; free some space and run the same command again: nothing told is lost",
        ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied => {
            "; make the study's directory readable and writable for you"
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

/// The system refused.
pub fn refused(path: &Path, error: &std::io::Error) -> LogError {
    let problem = format!("{error}{}", disk::remedy(error));
    LogError::Database { path: path.to_owned(), problem }
}

/// The content of the file is broken.
pub fn damaged(path: &Path, what: &str) -> LogError {
    LogError::Damaged { path: path.to_owned(), problem: what.to_owned() }
}

/// Records are gone that were there.
pub fn shrunk(path: &Path, found: u64, expected: u64) -> LogError {
    damaged(
        path,
        &format!("it holds {found} records, and had {expected} when this process wrote the last one"),
    )
}
