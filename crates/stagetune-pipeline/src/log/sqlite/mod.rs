//! The log in a SQLite file, `.stagetune/journal.db`: several studies by name.
//!
//! The file is in write-ahead mode. An append with a record that must survive a power cut commits with
//! `synchronous = FULL`, which waits for the disk; every other one with `NORMAL`, which hands the commit to
//! the system only. Of 1,000 appends of one record each on a virtual machine's ext4 disk, the median and the
//! ninth decile took 0.15 and 4.0 ms with the wait, 0.025 and 0.04 ms without. Once the syncer is taken, all
//! commits are of the second kind, and neither the wait nor a checkpoint happens in an append ([`sync`]).
//!
//! History of the format (`user_version`):
//! - 1: tables `study`, `event`, `summary`; never released.
//! - 2: column `sum` of `event`, the chain of checksums; no table `summary`: what records come to
//!   is folded from them.

mod carve;
mod create;
#[cfg(test)]
mod damage;
mod error;
mod examine;
mod look;
mod repair;
mod rows;
mod sync;
#[cfg(test)]
mod tests;
mod wal;
mod writers;

pub use look::Look;
pub use repair::{Repair, Repaired};

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, TransactionBehavior, params};

use super::chain::Chain;
use super::witness::Witness;
use super::{Log, LogError, Stamped, Syncer};
use crate::clock;
use crate::disk::Disk;
use error::{database, refused};
use rows::Study;
use writers::{FileId, Writer};

/// The format of the journals that this release writes.
pub const FORMAT: i64 = 2;

/// How long to wait for another process that writes at this moment.
const BUSY: Duration = Duration::from_secs(10);

/// One study of a journal file, to be read and written.
#[derive(Debug)]
pub struct Sqlite {
    path: PathBuf,
    /// The file that is open.
    file: FileId,
    connection: Connection,
    /// After the connection, so that it is dropped after it.
    _writer: Writer,
    durability: Option<Durability>,
    /// Somebody else waits for the disk.
    has_syncer: bool,
    study: Study,
    disk: Disk,
    /// The end of the log as this process wrote it.
    end: Option<Chain>,
    /// Whether the files are damaged: then nothing more is moved from one to the other.
    is_damaged: Arc<AtomicBool>,
}

/// What a commit survives, as SQLite's `synchronous`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Durability {
    /// A killed process: the system has the commit.
    Normal,
    /// A power cut: the disk has it.
    Full,
}

impl Sqlite {
    /// The study of that name, begun if need be, in a file that is made if need be.
    pub fn open(path: &Path, name: &str, disk: Disk) -> Result<Self, LogError> {
        // Before the journal, which may go on meanwhile.
        let witness = Witness::read(path, name);
        create::make_if_absent(path, &disk)?;
        disk.permit().map_err(|error| refused(path, &error))?;
        let (mut connection, file) = connect(path)?;
        // Before the first lock is taken.
        let writer = Writer::new(file);
        connection.busy_timeout(BUSY).map_err(|error| database(path, &error))?;
        let read_only = |connection: &Connection| connection.is_readonly(rusqlite::MAIN_DB);
        let by_system = read_only(&connection).map_err(|error| database(path, &error))?;
        examine::examine(&connection, path)?;
        if !by_system && read_only(&connection).map_err(|error| database(path, &error))? {
            return Err(error::damaged(path, "its header says that it cannot be written"));
        }
        examine::check_witness(&connection, path, name, witness.as_ref())?;
        let behavior = TransactionBehavior::Immediate;
        let change =
            connection.transaction_with_behavior(behavior).map_err(|error| database(path, &error))?;
        let insert = "INSERT INTO study (name, began) VALUES (?1, ?2) ON CONFLICT (name) DO NOTHING";
        change.execute(insert, params![name, clock::now()]).map_err(|error| database(path, &error))?;
        disk.permit().map_err(|error| refused(path, &error))?;
        change.commit().map_err(|error| database(path, &error))?;
        let study = Study::find(&connection, path, name)?;
        let path = path.to_owned();
        let (durability, has_syncer) = (None, false);
        Ok(Self {
            path,
            file,
            connection,
            _writer: writer,
            durability,
            has_syncer,
            study,
            disk,
            end: None,
            is_damaged: Arc::default(),
        })
    }

    /// The study of that name, only to be read: nothing is written, not even by the database.
    pub fn look(path: &Path, name: &str) -> Result<Look, LogError> {
        Look::at(path, name)
    }

    /// The names of all studies, in the order begun.
    pub fn studies(&self) -> Result<Vec<String>, LogError> {
        rows::names(&self.connection).map_err(|error| database(&self.path, &error))
    }

    /// A text that tells this study from every other one, also from an earlier one of the same name.
    pub fn identity(&self, name: &str) -> String {
        Study { name: name.to_owned(), ..self.study.clone() }.identity()
    }

    /// How many records there are.
    pub fn len(&self) -> Result<u64, LogError> {
        rows::count(&self.connection, &self.path, &self.study)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> Result<bool, LogError> {
        Ok(self.len()? == 0)
    }

    fn commit_with(&mut self, durability: Durability) -> Result<(), LogError> {
        if self.durability == Some(durability) {
            return Ok(());
        }
        let synchronous = match durability {
            Durability::Normal => "normal",
            Durability::Full => "full",
        };
        let set = self.connection.pragma_update(None, "synchronous", synchronous);
        set.map_err(|error| database(&self.path, &error))?;
        self.durability = Some(durability);
        Ok(())
    }
}

impl Drop for Sqlite {
    fn drop(&mut self) {
        leave_files(&self.connection, &self.is_damaged);
    }
}

/// The last connection that is closed moves the write-ahead log into the file, but not where either
/// is damaged: then `repair` finds both as they are.
fn leave_files(connection: &Connection, is_damaged: &AtomicBool) {
    if is_damaged.load(Ordering::SeqCst) {
        let _ = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
    }
}

impl Log for Sqlite {
    fn append(&mut self, position: u64, records: &[Stamped]) -> Result<(), LogError> {
        if self.is_damaged.load(Ordering::SeqCst) {
            return Err(error::cut(&self.path));
        }
        let appended = self.try_append(position, records);
        if matches!(appended, Err(LogError::Damaged { .. } | LogError::Chain { .. })) {
            self.is_damaged.store(true, Ordering::SeqCst);
        }
        appended
    }

    fn read(&self, position: u64) -> Result<Vec<Stamped>, LogError> {
        let look = self.connection.unchecked_transaction().map_err(|error| database(&self.path, &error))?;
        rows::read(&look, &self.path, &self.study, position)
    }

    fn syncer(&mut self) -> Result<Box<dyn Syncer>, LogError> {
        let (study, disk, is_damaged) = (self.study.clone(), self.disk.clone(), self.is_damaged.clone());
        let syncer = sync::WalSyncer::new(&self.path, self.file, study, disk, is_damaged)?;
        let never = self.connection.pragma_update(None, "wal_autocheckpoint", 0);
        never.map_err(|error| database(&self.path, &error))?;
        self.has_syncer = true;
        Ok(Box::new(syncer))
    }
}

impl Sqlite {
    fn try_append(&mut self, position: u64, records: &[Stamped]) -> Result<(), LogError> {
        let mut bodies = Vec::with_capacity(records.len());
        for stamped in records {
            super::check_time(stamped)?;
            let body = serde_json::to_string(&stamped.record);
            bodies.push(body.map_err(|error| LogError::Unwritable { problem: error.to_string() })?);
        }
        let urgent =
            !self.has_syncer && records.iter().any(|stamped| stamped.record.must_survive_power_cut());
        self.disk.permit().map_err(|error| refused(&self.path, &error))?;
        self.commit_with(if urgent { Durability::Full } else { Durability::Normal })?;

        let end = self.end.take();
        let (path, study) = (&self.path, &self.study);
        let failed = |error: rusqlite::Error| database(path, &error);
        let change =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        if file_id(path)? != self.file {
            return Err(LogError::Replaced { path: path.clone() });
        }
        let found = rows::count(&change, path, study)?;
        if let Some(end) = end.as_ref().filter(|end| found < end.position()) {
            return Err(error::shrunk(path, found, end.position()));
        }
        if found != position {
            // A damaged tree may hide its last records; only a whole one can tell that somebody was first.
            examine::check_whole(&change, path)?;
            return Err(LogError::Moved { expected: position, found });
        }
        let mut chain = rows::chain(&change, path, study, position)?;
        let known = end.filter(|end| end.position() == position);
        if known.as_ref().is_some_and(|known| known.sum() != chain.sum()) {
            let problem = "its checksum is not the one that this process wrote".to_owned();
            return Err(LogError::Chain { study: study.name.clone(), position: position - 1, problem });
        }
        for (stamped, body) in records.iter().zip(&bodies) {
            rows::insert(&change, study, &mut chain, stamped.at, body).map_err(failed)?;
        }
        self.disk.permit().map_err(|error| refused(path, &error))?;
        change.commit().map_err(failed)?;
        self.end = Some(chain);
        Ok(())
    }
}

/// A connection, and the file that it is to.
fn connect(path: &Path) -> Result<(Connection, FileId), LogError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    // Opening a file of a container's image for writing makes another file of it, once.
    for _ in 0..3 {
        let before = file_id(path)?;
        let connection = Connection::open_with_flags(path, flags).map_err(|error| database(path, &error))?;
        if file_id(path)? == before {
            return Ok((connection, before));
        }
    }
    Err(LogError::Replaced { path: path.to_owned() })
}

/// Device and inode.
fn file_id(path: &Path) -> Result<FileId, LogError> {
    match std::fs::metadata(path) {
        Ok(file) => Ok((file.dev(), file.ino())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Err(LogError::Gone { path: path.to_owned() })
        }
        Err(error) => Err(refused(path, &error)),
    }
}
