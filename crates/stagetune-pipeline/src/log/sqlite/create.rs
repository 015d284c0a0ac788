//! A journal file comes to be, and is recognised.

use std::path::Path;

use rusqlite::Connection;

use super::FORMAT;
use super::error::{database, refused};
use super::examine::check_absent;
use crate::disk::Disk;
use crate::filesystem::Filesystem;
use crate::log::LogError;
use crate::log::witness::Witness;
use crate::sqlite_file::{self, MakeError};

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
pub fn make_if_absent(path: &Path, disk: &Disk) -> Result<(), LogError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // A folder that cannot be asked is found missing or forbidden by what follows.
    if let Ok(Filesystem::Network { kind }) = disk.filesystem(folder) {
        return Err(LogError::Network { path: path.to_owned(), kind });
    }
    let witnesses = || check_absent(path, &Witness::all(path));
    sqlite_file::make_if_absent(path, &path.with_extension("lock"), disk, write_tables, witnesses)
}

/// Makes a journal without studies in a file that is not there.
pub fn write_journal(path: &Path) -> rusqlite::Result<()> {
    sqlite_file::write(path, write_tables)
}

fn write_tables(file: &Connection) -> rusqlite::Result<()> {
    file.execute_batch(TABLES)?;
    file.pragma_update(None, "application_id", APPLICATION)?;
    file.pragma_update(None, "user_version", FORMAT)
}

impl From<MakeError> for LogError {
    fn from(error: MakeError) -> Self {
        match error {
            MakeError::Disk(error) => refused(&error.path, &error.source),
            MakeError::Database(path, error) => database(&path, &error),
        }
    }
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
