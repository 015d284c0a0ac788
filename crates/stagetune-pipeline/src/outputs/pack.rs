//! The pack: small outputs together in one file, so that a long study leaves few files.
//!
//! A fresh output has a directory of its own. When there are many small ones, those that were not used for longest
//! move into `cache/packed.db`, a SQLite file. One that is needed again gets its directory back ([`super::small`]).
//! Nothing waits for the disk here: what a power cut takes is made again.
//!
//! History of the format (`user_version`):
//! - 1: table `entry`; `content` is that of all files, in the order of the manifest.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, TransactionBehavior, params};

use super::{KeyId, OutputError};
use crate::disk::{Disk, DiskError};
use crate::filesystem::Filesystem;
use crate::sqlite_file::{self, MakeError, is_absent, with_ending};

/// The format of the file that this release writes.
const FORMAT: i64 = 1;

/// Marks the file as ours: "stpk".
const APPLICATION: i64 = 0x7374_706b;

/// How long to wait for another process that writes to the file.
const BUSY: Duration = Duration::from_secs(10);

const TABLES: &str = "
    CREATE TABLE entry (
        key TEXT PRIMARY KEY, entry BLOB NOT NULL, content BLOB NOT NULL, used REAL NOT NULL) WITHOUT ROWID;
";

const GET: &str = "SELECT entry, content, used FROM entry WHERE key = ?1";

/// The file of packed outputs, which may not be there.
#[derive(Debug)]
pub(super) struct Pack {
    path: PathBuf,
    /// Held while the file is made.
    lock: PathBuf,
    disk: Disk,
    state: Mutex<State>,
}

#[derive(Debug)]
enum State {
    /// Nobody has looked yet, or there was no file.
    Closed,
    Open(Connection),
    /// It cannot be used, and why. It is left alone.
    Unusable(Unusable),
}

/// Why the file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// It is damaged.
    #[error("it is damaged: {0}")]
    Damaged(String),
    /// A newer release made it, in this format.
    #[error("a newer release made it, in format {0}")]
    Newer(i64),
}

/// Why something could not be done with the file.
enum Refused {
    Disk(DiskError),
    Database(rusqlite::Error),
}

impl From<MakeError> for Refused {
    fn from(error: MakeError) -> Self {
        match error {
            MakeError::Disk(error) => Self::Disk(error),
            MakeError::Database(_, error) => Self::Database(error),
        }
    }
}

impl From<rusqlite::Error> for Refused {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

/// An output as it stands in the file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Packed {
    pub(super) id: KeyId,
    /// What `entry.json` held.
    pub(super) entry: Vec<u8>,
    /// The content of its files, in the order of the manifest.
    pub(super) content: Vec<u8>,
    /// When it was last used, in seconds since 1970.
    pub(super) used: f64,
}

/// What is known of a packed output without its content.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PackedFacts {
    pub(super) id: KeyId,
    pub(super) entry: Vec<u8>,
    pub(super) used: f64,
}

impl Pack {
    /// That of a `.stagetune/` directory; nothing is made.
    pub(super) fn of(state: &Path, disk: Disk) -> Self {
        let (path, lock) = (state.join("cache/packed.db"), state.join("locks/packed"));
        Self { path, lock, disk, state: Mutex::new(State::Closed) }
    }

    /// Why the file cannot be used, as far as its first pages tell or was found out since.
    pub(super) fn unusable(&self) -> Result<Option<(PathBuf, Unusable)>, OutputError> {
        self.with(false, |connection| connection.prepare_cached(GET)?.exists([""]))?;
        Ok(match &*self.state() {
            State::Unusable(problem) => Some((self.path.clone(), problem.clone())),
            State::Closed | State::Open(_) => None,
        })
    }

    /// Takes a damaged file away.
    pub(super) fn remove_damaged(&self) -> Result<(), OutputError> {
        let mut state = self.state();
        if let State::Unusable(Unusable::Damaged(_)) = *state {
            for ending in ["", "-wal", "-shm"] {
                self.disk.remove_file(&with_ending(&self.path, ending))?;
            }
            *state = State::Closed;
        }
        Ok(())
    }

    /// Whether an output is there.
    pub(super) fn has(&self, id: &KeyId) -> Result<bool, OutputError> {
        let found = self.with(false, |connection| {
            let mut query = connection.prepare_cached("SELECT 1 FROM entry WHERE key = ?1")?;
            query.exists([id.as_str()])
        })?;
        Ok(found.unwrap_or(false))
    }

    /// An output with its content.
    pub(super) fn get(&self, id: &KeyId) -> Result<Option<Packed>, OutputError> {
        let found = self.with(false, |connection| {
            let mut query = connection.prepare_cached(GET)?;
            let row = |row: &rusqlite::Row<'_>| {
                Ok(Packed { id: id.clone(), entry: row.get(0)?, content: row.get(1)?, used: row.get(2)? })
            };
            query.query_row([id.as_str()], row).optional()
        })?;
        Ok(found.flatten())
    }

    /// All outputs, by key.
    pub(super) fn all(&self) -> Result<Vec<(PackedFacts, u64)>, OutputError> {
        let found = self.with(false, |connection| {
            let text = "SELECT key, entry, used, length(entry) + length(content) FROM entry ORDER BY key";
            let mut query = connection.prepare_cached(text)?;
            let rows = query.query_map([], |row| {
                Ok((row.get::<_, String>(0)?, row.get(1)?, row.get(2)?, row.get::<_, i64>(3)?))
            })?;
            rows.collect::<Result<Vec<_>, _>>()
        })?;
        // A name that is no key is not ours.
        let facts = |(key, entry, used, bytes): (String, _, _, i64)| {
            let id = KeyId::try_from(key).ok()?;
            Some((PackedFacts { id, entry, used }, u64::try_from(bytes).unwrap_or(0)))
        };
        Ok(found.unwrap_or_default().into_iter().filter_map(facts).collect())
    }

    /// Takes outputs in, all or none; whether it did. The file is made if it is not there.
    pub(super) fn put(&self, outputs: &[Packed]) -> Result<bool, OutputError> {
        let done = self.with(true, |connection| {
            let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for Packed { id, entry, content, used } in outputs {
                let text = "INSERT OR REPLACE INTO entry (key, entry, content, used) VALUES (?1, ?2, ?3, ?4)";
                change.prepare_cached(text)?.execute(params![id.as_str(), entry, content, used])?;
            }
            change.commit()
        })?;
        Ok(done.is_some())
    }

    /// Takes an output out, and gives its room back.
    pub(super) fn remove(&self, id: &KeyId) -> Result<(), OutputError> {
        if self.has(id)? {
            self.with(true, |connection| {
                connection.execute("DELETE FROM entry WHERE key = ?1", [id.as_str()])?;
                connection.execute_batch("PRAGMA incremental_vacuum")
            })?;
        }
        Ok(())
    }

    /// Does something with the file; nothing where there is none, or none that can be used.
    fn with<T>(
        &self,
        writes: bool,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, OutputError> {
        let mut state = self.state();
        if writes {
            let permitted = self.disk.permit();
            permitted.map_err(|error| self.failed(error.to_string()))?;
        }
        let done = self.open(&mut state, writes).and_then(|()| match &mut *state {
            State::Open(connection) => Ok(Some(work(connection)?)),
            State::Closed | State::Unusable(_) => Ok(None),
        });
        match done {
            Ok(done) => Ok(done),
            Err(Refused::Disk(error)) => Err(error.into()),
            Err(Refused::Database(error)) if is_of_the_file(&error) => {
                *state = State::Unusable(Unusable::Damaged(error.to_string()));
                Ok(None)
            }
            Err(Refused::Database(error)) => Err(self.failed(error.to_string())),
        }
    }

    /// Opens the file unless it is open; makes it if that is wanted.
    fn open(&self, state: &mut State, make: bool) -> Result<(), Refused> {
        if !matches!(state, State::Closed) {
            return Ok(());
        }
        if make {
            self.make()?;
        }
        if is_absent(&self.path) {
            return Ok(());
        }
        // Asked and not tried: closing the file would take away the locks that this process has on it.
        let writable = rustix::fs::access(&self.path, rustix::fs::Access::WRITE_OK).is_ok();
        let flags =
            if writable { OpenFlags::SQLITE_OPEN_READ_WRITE } else { OpenFlags::SQLITE_OPEN_READ_ONLY };
        let connection = Connection::open_with_flags(&self.path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        connection.busy_timeout(BUSY)?;
        let number = |pragma| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
        let (application, format) = (number("application_id")?, number("user_version")?);
        *state = if application != APPLICATION {
            State::Unusable(Unusable::Damaged("it is not a pack of stagetune".to_owned()))
        } else if format > FORMAT {
            State::Unusable(Unusable::Newer(format))
        } else {
            connection.pragma_update(None, "synchronous", "NORMAL")?;
            State::Open(connection)
        };
        Ok(())
    }

    /// Makes the file unless it is there, or two machines would destroy it.
    fn make(&self) -> Result<(), Refused> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        if matches!(self.disk.filesystem(folder), Ok(Filesystem::Network { .. })) {
            return Ok(());
        }
        let tables = |file: &Connection| {
            file.execute_batch(TABLES)?;
            file.pragma_update(None, "application_id", APPLICATION)?;
            file.pragma_update(None, "user_version", FORMAT)
        };
        sqlite_file::make_if_absent(&self.path, &self.lock, &self.disk, tables, || Ok(()))
    }

    fn failed(&self, problem: String) -> OutputError {
        OutputError::Pack { path: self.path.clone(), problem }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether an error says that the file is not what it should be: it is damaged, or a table or a column is missing or of
/// another type.
fn is_of_the_file(error: &rusqlite::Error) -> bool {
    match error {
        rusqlite::Error::InvalidColumnType(..)
        | rusqlite::Error::FromSqlConversionFailure(..)
        | rusqlite::Error::IntegralValueOutOfRange(..)
        | rusqlite::Error::Utf8Error(..) => true,
        error => matches!(
            error.sqlite_error_code(),
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown)
        ),
    }
}
