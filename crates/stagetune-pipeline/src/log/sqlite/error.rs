//! What SQLite says, with what to do about it.

use std::path::Path;

use rusqlite::ErrorCode;

use crate::disk;
use crate::log::LogError;

/// What to do about a file whose structure is broken.
const RECOVER: &str = "keep a copy, and see what `sqlite3 journal.db .recover` brings back";

pub fn database(path: &Path, error: &rusqlite::Error) -> LogError {
    let help = match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => "; free some space and run the same command again: nothing told is lost",
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            "; make the study's directory readable and writable for you"
        }
        Some(ErrorCode::SystemIoFailure) => {
            "; look whether the disk is full or failing, then run the same command again: \
             nothing told is lost"
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => "; another process keeps it locked",
        Some(ErrorCode::NotADatabase) => "; it is not a journal of stagetune: move it away",
        Some(ErrorCode::DatabaseCorrupt) => return damaged(path, &error.to_string()),
        _ => "",
    };
    let (path, problem) = (path.to_owned(), format!("{error}{help}"));
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => LogError::Damaged { path, problem },
        _ => LogError::Database { path, problem },
    }
}

/// The system refused.
pub fn refused(path: &Path, error: &std::io::Error) -> LogError {
    let problem = format!("{error}{}", disk::remedy(error));
    LogError::Database { path: path.to_owned(), problem }
}

/// The structure of the file is broken.
pub fn damaged(path: &Path, what: &str) -> LogError {
    LogError::Damaged { path: path.to_owned(), problem: format!("{what}; it is damaged: {RECOVER}") }
}

/// Records are gone that were there.
pub fn shrunk(path: &Path, found: u64, expected: u64) -> LogError {
    damaged(
        path,
        &format!("it holds {found} records, and had {expected} when this process wrote the last one"),
    )
}
