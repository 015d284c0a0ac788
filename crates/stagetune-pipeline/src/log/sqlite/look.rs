//! A look at a journal that writes nothing: no lock, no shared memory, no recovery, no file beside it.
//!
//! SQLite's own read-only mode makes files beside the journal, owned by whoever looks, and fails where it may
//! not. So a look takes no locks, and checks afterwards that nothing moved under it. A journal with a
//! write-ahead log is read through it, with the log's index in the memory of this process; commits that are
//! added meanwhile do no harm, and when the log begins anew its first bytes change. A journal without one is
//! read as it is, and has changed if its time did. Beside a writer of the same process all files are there
//! and open, and an ordinary connection joins in ([`writers`]).

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::BUSY;
use super::error::{damaged, database, refused};
use super::examine::{check_absent, check_witness, examine};
use super::rows::{self, Study};
use super::writers;
use crate::log::witness::Witness;
use crate::log::{Log, LogError, Stamped};
use crate::sqlite_file::{is_absent, with_ending};

/// How often a look is taken again because the journal moved under it. A write-ahead log begins anew once in
/// some hundred commits, so twice in a row is rare already.
const TRIES: u32 = 20;

/// One study of a journal file, only to be read.
#[derive(Clone, Debug)]
pub struct Look {
    path: PathBuf,
    name: String,
    /// When it was begun: tells it from a later study of the same name.
    began: f64,
}

impl Look {
    pub(super) fn at(path: &Path, name: &str) -> Result<Self, LogError> {
        // Before the journal, which may go on meanwhile.
        let (witness, all) = (Witness::read(path, name), Witness::all(path));
        let began = looking(path, |connection| {
            examine(connection, path)?;
            check_witness(connection, path, name, witness.as_ref())?;
            Ok(Study::find(connection, path, name)?.began)
        });
        let began = match began {
            Err(LogError::Gone { .. }) if is_absent(path) => {
                check_absent(path, &all)?;
                return Err(never_begun(path, name));
            }
            began => began?,
        };
        Ok(Self { path: path.to_owned(), name: name.to_owned(), began })
    }

    /// The names of all studies, in the order begun.
    pub fn studies(&self) -> Result<Vec<String>, LogError> {
        self.with(|connection, _| rows::names(connection).map_err(|error| database(&self.path, &error)))
    }

    /// A text that tells this study from every other one, also from an earlier one of the same name.
    pub fn identity(&self, name: &str) -> String {
        Study { id: 0, name: name.to_owned(), began: self.began }.identity()
    }

    /// How many records there are.
    pub fn len(&self) -> Result<u64, LogError> {
        self.with(|connection, study| rows::count(connection, &self.path, study))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> Result<bool, LogError> {
        Ok(self.len()? == 0)
    }

    /// Refuses a study without records: whoever began it was killed at its birth.
    pub fn check_begun(&self) -> Result<(), LogError> {
        if self.is_empty()? { Err(never_begun(&self.path, &self.name)) } else { Ok(()) }
    }

    fn with<T>(&self, work: impl Fn(&Connection, &Study) -> Result<T, LogError>) -> Result<T, LogError> {
        looking(&self.path, |connection| {
            let study = Study::find(connection, &self.path, &self.name)?;
            if study.began != self.began {
                return Err(LogError::Replaced { path: self.path.clone() });
            }
            work(connection, &study)
        })
    }
}

impl Log for Look {
    fn append(&mut self, _: u64, _: &[Stamped]) -> Result<(), LogError> {
        Err(LogError::OnlyRead { path: self.path.clone() })
    }

    fn read(&self, position: u64) -> Result<Vec<Stamped>, LogError> {
        self.with(|connection, study| rows::read(connection, &self.path, study, position))
    }
}

/// Whether all of a journal is sound: every study in it, and every study that has a witness. `name` is who asks.
pub(super) fn check_all(path: &Path, name: &str, witnesses: &[(String, Witness)]) -> Result<(), LogError> {
    let checked = looking(path, |connection| {
        examine(connection, path)?;
        for (name, witness) in witnesses {
            check_witness(connection, path, name, Some(witness))?;
        }
        for name in rows::names(connection).map_err(|error| database(path, &error))? {
            rows::read(connection, path, &Study::find(connection, path, &name)?, 0)?;
        }
        Ok(())
    });
    match checked {
        Err(LogError::Gone { .. }) if is_absent(path) => {
            check_absent(path, witnesses)?;
            Err(never_begun(path, name))
        }
        checked => checked,
    }
}

/// A file that is not there or empty, and never held anything, is no study yet.
fn never_begun(path: &Path, name: &str) -> LogError {
    let path = path.to_owned();
    if !path.exists() {
        return LogError::Missing { path };
    }
    LogError::NoStudy { path, name: name.to_owned(), known: Vec::new() }
}

/// Does some reading on a connection of its own, again if the journal moved meanwhile.
pub(super) fn looking<T>(
    path: &Path,
    work: impl Fn(&Connection) -> Result<T, LogError>,
) -> Result<T, LogError> {
    for attempt in 0..TRIES {
        let before = Moment::of(path)?;
        let settled = writers::while_steady((before.device, before.inode), |writing| {
            let connection = if writing { ordinary(path) } else { before.open(path) };
            let read = connection.and_then(|connection| {
                let look = connection.unchecked_transaction().map_err(|error| database(path, &error))?;
                work(&look)
            });
            let after = Moment::of(path)?;
            // Pages that a checkpoint moved meanwhile may be newer than the rest, and look like damage.
            let is_settled = writing || before.still_holds(&after) && (read.is_ok() || before == after);
            Ok::<_, LogError>(is_settled.then_some(read))
        })?;
        if let Some(read) = settled {
            return read;
        }
        std::thread::sleep(Duration::from_millis(u64::from(attempt)));
    }
    let problem = "it changes too fast to be read; try again".to_owned();
    Err(LogError::Database { path: path.to_owned(), problem })
}

/// What a journal's files look like from outside.
#[derive(Debug, PartialEq)]
struct Moment {
    device: u64,
    inode: u64,
    length: u64,
    /// Seconds and nanoseconds.
    modified: (i64, i64),
    /// The first bytes of the write-ahead log, if it has any: a number that counts its beginnings, and two
    /// random ones.
    log: Option<[u8; WAL_HEADER]>,
}

/// Bytes before the first frame of a write-ahead log; a shorter one is empty.
const WAL_HEADER: usize = 32;

impl Moment {
    fn of(path: &Path) -> Result<Self, LogError> {
        let file = match fs::metadata(path) {
            Ok(file) if file.len() > 0 => file,
            Ok(_) => return Err(LogError::Gone { path: path.to_owned() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(LogError::Gone { path: path.to_owned() });
            }
            Err(error) => return Err(refused(path, &error)),
        };
        let log = with_ending(path, "-wal");
        let log = header(&log).map_err(|error| refused(&log, &error))?;
        Ok(Self {
            device: file.dev(),
            inode: file.ino(),
            length: file.len(),
            modified: (file.mtime(), file.mtime_nsec()),
            log,
        })
    }

    /// Whether what was read in between belongs together.
    fn still_holds(&self, after: &Self) -> bool {
        let same_file = (self.device, self.inode) == (after.device, after.inode);
        // A log is moved into the file while it goes on to be valid.
        same_file && self.log == after.log && (self.log.is_some() || self == after)
    }

    /// A connection that takes no locks.
    fn open(&self, path: &Path) -> Result<Connection, LogError> {
        let failed = |error: rusqlite::Error| database(path, &error);
        let full = fs::canonicalize(path).map_err(|error| refused(path, &error))?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        if self.log.is_none() {
            check_versions(path)?;
            let address = format!("file:{}?immutable=1", percent_encoded(&full));
            return Connection::open_with_flags(address, flags | OpenFlags::SQLITE_OPEN_URI).map_err(failed);
        }
        let connection = Connection::open_with_flags_and_vfs(&full, flags, c"unix-none").map_err(failed)?;
        // Keeps the log's index in memory of its own. The lock that this means is one of the kind that takes
        // none.
        connection.pragma_update(None, "locking_mode", "exclusive").map_err(failed)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(failed)?;
        Ok(connection)
    }
}

/// A connection that takes locks like any other reader.
fn ordinary(path: &Path) -> Result<Connection, LogError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(|error| database(path, &error))?;
    connection.busy_timeout(BUSY).map_err(|error| database(path, &error))?;
    Ok(connection)
}

/// Refuses a file that says that it cannot be read or written by any SQLite of today: whoever writes is refused.
fn check_versions(path: &Path) -> Result<(), LogError> {
    let mut header = [0; 20];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut header));
    match read {
        // Bytes 18 and 19: 1 without a write-ahead log, 2 with one.
        Ok(()) if header[18] > 2 && header.starts_with(b"SQLite format 3\0") => {
            Err(damaged(path, "its header says that it cannot be written"))
        }
        // Too short: what follows says so.
        Ok(()) | Err(_) => Ok(()),
    }
}

fn header(log: &Path) -> io::Result<Option<[u8; WAL_HEADER]>> {
    let mut header = [0; WAL_HEADER];
    match File::open(log).and_then(|mut file| file.read_exact(&mut header)) {
        Ok(()) => Ok(Some(header)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::UnexpectedEof) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// A path as part of an address.
fn percent_encoded(path: &Path) -> String {
    let mut text = String::new();
    for &byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                text.push(char::from(byte))
            }
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}
