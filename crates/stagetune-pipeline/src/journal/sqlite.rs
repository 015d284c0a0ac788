//! The journal in a SQLite file, `.stagetune/journal.db`: several studies by name, and for each a summary that is kept up to date.
//!
//! Write-ahead logging with `synchronous = FULL`: a trial that was told survives a power cut, for some 4 ms a commit, and a trial takes two.
//!
//! History of the format (`user_version`):
//! - 1: tables `study`, `event`, `summary`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension, Transaction, TransactionBehavior, params};

use super::{Journal, JournalError, Stamped, Summary, read_record};
use crate::clock;
use crate::disk::Disk;

/// The format of the journals that this release writes.
pub const FORMAT: i64 = 1;

/// Marks the file as ours: "lmbo".
const APPLICATION: i64 = 0x6c6d_626f;

/// How long to wait for another process that writes at this moment.
const BUSY: Duration = Duration::from_secs(10);

const TABLES: &str = "
    CREATE TABLE study (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, began REAL NOT NULL);
    CREATE TABLE event (
        study INTEGER NOT NULL REFERENCES study(id), position INTEGER NOT NULL, at REAL NOT NULL, body TEXT NOT NULL,
        PRIMARY KEY (study, position)) WITHOUT ROWID;
    CREATE TABLE summary (study INTEGER PRIMARY KEY REFERENCES study(id), position INTEGER NOT NULL, body TEXT NOT NULL);
";

/// One study of a journal file.
#[derive(Debug)]
pub struct Sqlite {
    path: PathBuf,
    connection: Connection,
    study: i64,
    /// When it was begun: tells it from an earlier study of the same name.
    began: f64,
    disk: Disk,
    /// What the records up to `position` come to.
    summary: Option<(u64, Summary)>,
}

impl Sqlite {
    /// The study of that name, begun if need be, in a file that is made if need be.
    pub fn open(path: &Path, name: &str, disk: Disk) -> Result<Self, JournalError> {
        let failed = |error| database(path, &error);
        let refused = |error: std::io::Error| database_text(path, &error);
        create_if_absent(path, &disk)?;
        disk.permit().map_err(refused)?;
        let mut connection = Connection::open(path).map_err(failed)?;
        connection.busy_timeout(BUSY).map_err(failed)?;
        if check_format(&connection, path)? == 0 {
            // An empty file in the journal's place: it becomes a journal where it is.
            write_tables(&mut connection, path)?;
        }
        connection.pragma_update(None, "synchronous", "full").map_err(failed)?;
        let change = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        let insert = "INSERT INTO study (name, began) VALUES (?1, ?2) ON CONFLICT (name) DO NOTHING";
        change.execute(insert, params![name, clock::now()]).map_err(failed)?;
        disk.permit().map_err(refused)?;
        change.commit().map_err(failed)?;
        Self::of(path, name, disk, connection)
    }

    /// The study of that name, only to be read.
    pub fn look(path: &Path, name: &str) -> Result<Self, JournalError> {
        let failed = |error| database(path, &error);
        if !path.exists() {
            return Err(JournalError::Missing { path: path.to_owned() });
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        connection.busy_timeout(BUSY).map_err(failed)?;
        if check_format(&connection, path)? == 0 {
            return Err(JournalError::NoStudy {
                path: path.to_owned(),
                name: name.to_owned(),
                known: Vec::new(),
            });
        }
        Self::of(path, name, Disk::default(), connection)
    }

    /// The names of all studies, in the order begun.
    pub fn studies(&self) -> Result<Vec<String>, JournalError> {
        names(&self.connection).map_err(|error| database(&self.path, &error))
    }

    /// A text that tells this study from every other one, also from an earlier one of the same name.
    pub fn identity(&self, name: &str) -> String {
        format!("{name}@{}", self.began)
    }

    /// How many records there are.
    pub fn len(&self) -> Result<u64, JournalError> {
        count(&self.connection, self.study).map_err(|error| database(&self.path, &error))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> Result<bool, JournalError> {
        Ok(self.len()? == 0)
    }

    /// What all records come to; read from its own table, whatever the number of records.
    pub fn summary(&self) -> Result<Summary, JournalError> {
        let failed = |error| database(&self.path, &error);
        let query = "SELECT position, body FROM summary WHERE study = ?1";
        let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?));
        let stored = self.connection.query_row(query, [self.study], row).optional().map_err(failed)?;
        let position = self.len()?;
        if let Some((at, body)) = stored
            && u64::try_from(at) == Ok(position)
            && let Ok(summary) = serde_json::from_str(&body)
        {
            return Ok(summary);
        }
        // An older release's summary, or none: the records know.
        Ok(Summary::of(&self.read(0)?))
    }

    fn of(path: &Path, name: &str, disk: Disk, connection: Connection) -> Result<Self, JournalError> {
        let query = "SELECT id, began FROM study WHERE name = ?1";
        let found = connection.query_row(query, [name], |row| Ok((row.get(0)?, row.get(1)?))).optional();
        match found.map_err(|error| database(path, &error))? {
            Some((study, began)) => {
                Ok(Self { path: path.to_owned(), connection, study, began, disk, summary: None })
            }
            None => {
                let known = names(&connection).map_err(|error| database(path, &error))?;
                Err(JournalError::NoStudy { path: path.to_owned(), name: name.to_owned(), known })
            }
        }
    }
}

impl Journal for Sqlite {
    fn append(&mut self, position: u64, records: &[Stamped]) -> Result<(), JournalError> {
        let mut summary = match self.summary.take() {
            Some((at, summary)) if at == position => summary,
            _ => self.summary()?,
        };
        for record in records {
            summary.apply(record);
        }
        let unwritable = |error: serde_json::Error| JournalError::Unwritable { problem: error.to_string() };
        let (path, study) = (&self.path, self.study);
        let failed = |error| database(path, &error);
        let refused = |error: std::io::Error| database_text(path, &error);
        self.disk.permit().map_err(refused)?;
        let behavior = TransactionBehavior::Immediate;
        let change = self.connection.transaction_with_behavior(behavior).map_err(failed)?;
        let found = count(&change, study).map_err(failed)?;
        if found != position {
            return Err(JournalError::Moved { expected: position, found });
        }
        let mut next = position;
        for Stamped { at, record } in records {
            let body = serde_json::to_string(record).map_err(unwritable)?;
            let insert = "INSERT INTO event (study, position, at, body) VALUES (?1, ?2, ?3, ?4)";
            let mut insert = change.prepare_cached(insert).map_err(failed)?;
            insert.execute(params![study, next as i64, at, body]).map_err(failed)?;
            next += 1;
        }
        let body = serde_json::to_string(&summary).map_err(unwritable)?;
        let keep = "INSERT INTO summary (study, position, body) VALUES (?1, ?2, ?3)
                    ON CONFLICT (study) DO UPDATE SET position = ?2, body = ?3";
        change
            .prepare_cached(keep)
            .and_then(|mut keep| keep.execute(params![study, next as i64, body]))
            .map_err(failed)?;
        self.disk.permit().map_err(refused)?;
        change.commit().map_err(failed)?;
        self.summary = Some((next, summary));
        Ok(())
    }

    fn read(&self, position: u64) -> Result<Vec<Stamped>, JournalError> {
        let failed = |error| database(&self.path, &error);
        let query =
            "SELECT position, at, body FROM event WHERE study = ?1 AND position >= ?2 ORDER BY position";
        let mut query = self.connection.prepare_cached(query).map_err(failed)?;
        let from = i64::try_from(position).unwrap_or(i64::MAX);
        let mut rows = query.query(params![self.study, from]).map_err(failed)?;
        let mut records = Vec::new();
        while let Some(row) = rows.next().map_err(failed)? {
            let position = position + records.len() as u64;
            let wrong = |problem: String| JournalError::Record { position, problem };
            let found: i64 = row.get(0).map_err(|error| wrong(error.to_string()))?;
            if u64::try_from(found) != Ok(position) {
                return Err(wrong(format!("it is missing; the next one has number {found}")));
            }
            let at: f64 = row.get(1).map_err(|error| wrong(error.to_string()))?;
            let body = row.get_ref(2).map_err(|error| wrong(error.to_string()))?;
            let body = body.as_str().map_err(|error| wrong(error.to_string()))?;
            records.push(Stamped { at, record: read_record(body).map_err(wrong)? });
        }
        Ok(records)
    }
}

/// Makes the file unless it is there. It appears whole, by one rename: a second process that starts at the same moment sees no journal or a finished one.
fn create_if_absent(path: &Path, disk: &Disk) -> Result<(), JournalError> {
    if path.exists() {
        return Ok(());
    }
    let refused = |error: crate::disk::DiskError| database_text(&error.path, &error.source);
    let lock = disk.open_lock(&path.with_extension("lock")).map_err(refused)?;
    lock.lock().map_err(|error| database_text(path, &error))?;
    if path.exists() {
        return Ok(());
    }
    let beside = path.with_extension("new");
    // Left by a process that was killed at this point.
    disk.remove_file(&beside).map_err(refused)?;
    let failed = |error| database(&beside, &error);
    let mut connection = Connection::open(&beside).map_err(failed)?;
    write_tables(&mut connection, &beside)?;
    connection.close().map_err(|(_, error)| failed(error))?;
    disk.rename(&beside, path).map_err(refused)
}

/// Makes an empty file a journal without studies.
fn write_tables(connection: &mut Connection, path: &Path) -> Result<(), JournalError> {
    let failed = |error| database(path, &error);
    connection.pragma_update(None, "journal_mode", "wal").map_err(failed)?;
    let change = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    if version(&change, path)? == 0 {
        change.execute_batch(TABLES).map_err(failed)?;
        change.pragma_update(None, "application_id", APPLICATION).map_err(failed)?;
        change.pragma_update(None, "user_version", FORMAT).map_err(failed)?;
    }
    change.commit().map_err(failed)
}

/// The format, 0 of a file that is empty; refuses files of others and of later releases, before anything is written to them.
fn check_format(connection: &Connection, path: &Path) -> Result<i64, JournalError> {
    let number = |pragma: &str| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    let failed = |error| database(path, &error);
    let (application, version) =
        (number("application_id").map_err(failed)?, number("user_version").map_err(failed)?);
    let tables = connection.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get::<_, i64>(0));
    match (application, version, tables.map_err(failed)?) {
        (0, 0, 0) => Ok(0),
        (APPLICATION, version, _) if version > FORMAT => {
            Err(JournalError::Newer { path: path.to_owned(), found: version, known: FORMAT })
        }
        (APPLICATION, version, _) => Ok(version),
        _ => Err(JournalError::Foreign { path: path.to_owned() }),
    }
}

fn version(change: &Transaction<'_>, path: &Path) -> Result<i64, JournalError> {
    change.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(|error| database(path, &error))
}

fn count(connection: &Connection, study: i64) -> rusqlite::Result<u64> {
    let query = "SELECT position + 1 FROM event WHERE study = ?1 ORDER BY position DESC LIMIT 1";
    let last: Option<i64> =
        connection.prepare_cached(query)?.query_row([study], |row| row.get(0)).optional()?;
    Ok(last.and_then(|last| u64::try_from(last).ok()).unwrap_or(0))
}

fn names(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut query = connection.prepare("SELECT name FROM study ORDER BY id")?;
    query.query_map([], |row| row.get(0))?.collect()
}

fn database(path: &Path, error: &rusqlite::Error) -> JournalError {
    use rusqlite::ErrorCode;
    let help = match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => "; free some space and run the same command again: nothing told is lost",
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            "; make the study's directory readable and writable for you"
        }
        Some(ErrorCode::SystemIoFailure) => {
            "; look whether the disk is full or failing, then run the same command again: nothing told is lost"
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => "; another process keeps it locked",
        Some(ErrorCode::NotADatabase) => "; it is not a journal of stagetune: move it away",
        Some(ErrorCode::DatabaseCorrupt) => {
            "; it is damaged: keep a copy, and see what `sqlite3 journal.db .recover` brings back"
        }
        _ => "",
    };
    let (path, problem) = (path.to_owned(), format!("{error}{help}"));
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => JournalError::Damaged { path, problem },
        _ => JournalError::Database { path, problem },
    }
}

fn database_text(path: &Path, error: &std::io::Error) -> JournalError {
    let problem = format!("{error}{}", crate::disk::remedy(error));
    JournalError::Database { path: path.to_owned(), problem }
}
