//! A journal file comes to be, and is recognised.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, TransactionBehavior};

use super::FORMAT;
use super::error::{database, refused};
use super::examine::check_absent;
use crate::disk::{Disk, DiskError};
use crate::filesystem::Filesystem;
use crate::log::LogError;
use crate::log::witness::Witness;

/// Marks the file as ours: "stgt".
const APPLICATION: i64 = 0x7374_6774;

/// The tables of format 2; another text would be another format.
pub const TABLES: &str = "
    CREATE TABLE study (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, began REAL NOT NULL);
    CREATE TABLE event (
        study INTEGER NOT NULL REFERENCES study(id), position INTEGER NOT NULL,
        at REAL NOT NULL, body TEXT NOT NULL, sum TEXT NOT NULL,
        PRIMARY KEY (study, position)) WITHOUT ROWID;
";

/// Makes the file unless it is there; refuses a network file system, and a journal that is not there any more.
///
/// It appears whole, by one rename: a second process that starts at the same moment sees no journal or a
/// finished one.
pub fn make_if_absent(path: &Path, disk: &Disk) -> Result<(), LogError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // A folder that cannot be asked is found missing or forbidden by what follows.
    if let Ok(Filesystem::Network { kind }) = disk.filesystem(folder) {
        return Err(LogError::Network { path: path.to_owned(), kind });
    }
    // Witnesses first: one that is there by now has seen a journal.
    let witnesses = Witness::all(path);
    if !is_absent(path) {
        return Ok(());
    }
    check_absent(path, &witnesses)?;
    let failed = |error: DiskError| refused(&error.path, &error.source);
    let lock = disk.open_lock(&path.with_extension("lock")).map_err(failed)?;
    lock.lock().map_err(|error| refused(path, &error))?;
    let witnesses = Witness::all(path);
    if !is_absent(path) {
        return Ok(());
    }
    check_absent(path, &witnesses)?;
    let beside = path.with_extension("new");
    // Left by a process that was killed at this point.
    disk.remove_file(&beside).map_err(failed)?;
    // Left by a journal that was removed: the new one must not take them for its own.
    for ending in ["-wal", "-shm", "-journal"] {
        let leftover = with_ending(path, ending);
        if leftover.exists() {
            disk.remove_file(&leftover).map_err(failed)?;
        }
    }
    write_tables(&beside).map_err(|error| database(&beside, &error))?;
    disk.rename(&beside, path).map_err(failed)?;
    disk.sync_dir(folder).map_err(failed)
}

/// Whether there is no journal: no file, or an empty one.
pub fn is_absent(path: &Path) -> bool {
    std::fs::metadata(path).map_or(true, |file| file.len() == 0)
}

/// The path of a file that SQLite keeps beside the journal.
pub fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    PathBuf::from(name)
}

/// Makes a journal without studies.
pub fn write_tables(path: &Path) -> rusqlite::Result<()> {
    let mut connection = Connection::open(path)?;
    connection.pragma_update(None, "journal_mode", "wal")?;
    let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    change.execute_batch(TABLES)?;
    change.pragma_update(None, "application_id", APPLICATION)?;
    change.pragma_update(None, "user_version", FORMAT)?;
    change.commit()?;
    connection.close().map_err(|(_, error)| error)
}

/// Refuses files of others and of other formats, before anything is written to them.
pub fn check_format(connection: &Connection, path: &Path) -> Result<(), LogError> {
    let number = |pragma: &str| {
        let value = connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
        value.map_err(|error| database(path, &error))
    };
    let (application, found) = (number("application_id")?, number("user_version")?);
    let path = path.to_owned();
    if application != APPLICATION {
        return Err(LogError::Foreign { path });
    }
    match found.cmp(&FORMAT) {
        std::cmp::Ordering::Less => Err(LogError::Older { path, found }),
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Greater => Err(LogError::Newer { path, found, known: FORMAT }),
    }
}
