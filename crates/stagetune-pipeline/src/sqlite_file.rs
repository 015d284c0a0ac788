//! A SQLite file comes to be whole: nobody sees one without its tables.
//!
//! It is written beside its place under a lock, and put there by one rename. A second process that starts at the
//! same moment sees no file or a finished one.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, TransactionBehavior};

use crate::disk::{Disk, DiskError};

/// What SQLite keeps beside a file.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Why there is no file.
#[derive(Debug)]
pub enum MakeError {
    /// The disk refused.
    Disk(DiskError),
    /// The database did.
    Database(PathBuf, rusqlite::Error),
}

impl From<DiskError> for MakeError {
    fn from(error: DiskError) -> Self {
        Self::Disk(error)
    }
}

/// Whether there is no file, or an empty one.
pub fn is_absent(path: &Path) -> bool {
    std::fs::metadata(path).map_or(true, |file| file.len() == 0)
}

/// The path of a file that SQLite keeps beside another.
pub fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    PathBuf::from(name)
}

/// Makes the file in write-ahead mode, unless it is there; `lock` is a file that is kept for this alone, and `permit` says
/// whether there may be a new file.
pub fn make_if_absent<E: From<MakeError>>(
    path: &Path,
    lock: &Path,
    disk: &Disk,
    write_tables: impl FnOnce(&Connection) -> rusqlite::Result<()>,
    permit: impl Fn() -> Result<(), E>,
) -> Result<(), E> {
    // In this order: what forbids a new file may be the work of a process that has just made one.
    let permitted = permit();
    if !is_absent(path) {
        return Ok(());
    }
    permitted?;
    let file = disk.open_lock(lock).map_err(MakeError::Disk)?;
    let locked = file.lock();
    locked.map_err(|source| {
        MakeError::Disk(DiskError { doing: "take the lock", path: lock.to_owned(), source })
    })?;
    let permitted = permit();
    if !is_absent(path) {
        return Ok(());
    }
    permitted?;
    Ok(make(path, disk, write_tables)?)
}

/// The same by whoever holds the lock.
fn make(
    path: &Path,
    disk: &Disk,
    write_tables: impl FnOnce(&Connection) -> rusqlite::Result<()>,
) -> Result<(), MakeError> {
    let beside = path.with_extension("new");
    // Left by a process that was killed at this point.
    disk.remove_file(&beside)?;
    // Left by a file that was removed: the new one must not take them for its own.
    for leftover in BESIDE.map(|ending| with_ending(path, ending)) {
        if leftover.exists() {
            disk.remove_file(&leftover)?;
        }
    }
    write(&beside, write_tables).map_err(|error| MakeError::Database(beside.clone(), error))?;
    disk.rename(&beside, path)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok(disk.sync_dir(folder)?)
}

/// Makes a file in write-ahead mode, with nothing left beside it.
pub fn write(
    path: &Path,
    write_tables: impl FnOnce(&Connection) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let mut connection = Connection::open(path)?;
    // Before the first table; it is of use to files that shrink.
    connection.pragma_update(None, "auto_vacuum", "incremental")?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    write_tables(&change)?;
    change.commit()?;
    connection.close().map_err(|(_, error)| error)
}
