//! The syncer of a journal: waits for the disk, and moves the write-ahead log into the file, beside
//! the appends.
//!
//! Commits of the journal hand their pages to the system. One `fsync` of the write-ahead log makes
//! all of them survive a power cut. Those that a checkpoint has moved into the file meanwhile are
//! safe as well: SQLite syncs the log before it moves anything, and the file before the log begins anew.
//!
//! What is on the disk then is written into the study's witness, ten times a second at most:
//! written at every sync, it made stages that are reused take three times as long.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::error::{cut, database, refused};
use super::rows::{self, Study};
use super::writers::{FileId, Writer};
use super::{BUSY, connect, leave_files, wal};
use crate::disk::Disk;
use crate::log::witness::Witness;
use crate::log::{LogError, Syncer};
use crate::sqlite_file::with_ending;

/// After so many syncs what the write-ahead log holds is moved into the file. A trial of three
/// stages appends some twenty pages and is synced once, so this is near the 1,000 pages after which
/// SQLite does so by itself.
const SYNCS: u32 = 50;

/// The shortest time between two versions of the witness.
const WITNESSED: Duration = Duration::from_millis(100);

/// Waits for the disk on behalf of one journal.
pub struct WalSyncer {
    path: PathBuf,
    /// Where the write-ahead log is, and the file itself once there is one.
    log: PathBuf,
    file: Option<File>,
    /// A connection of its own, for checkpoints; before the writer, so that it is closed first.
    connection: Connection,
    _writer: Writer,
    disk: Disk,
    /// How many syncs there were since the last checkpoint.
    syncs: u32,
    /// The length of the write-ahead log when it was looked at last; while it is in use it only grows.
    longest: u64,
    is_damaged: Arc<AtomicBool>,
    /// The last sync failed. The system may then take pages for written that are not, so that
    /// another sync says nothing; a checkpoint writes them once more.
    failed: bool,
    study: Study,
    /// What the witness is still to say.
    unwitnessed: Option<Witness>,
    /// When it was written last.
    witnessed: Option<Instant>,
}

impl WalSyncer {
    pub fn new(
        path: &Path,
        file: FileId,
        study: Study,
        disk: Disk,
        is_damaged: Arc<AtomicBool>,
    ) -> Result<Self, LogError> {
        let (connection, found) = connect(path)?;
        let writer = Writer::new(found);
        if found != file {
            return Err(LogError::Replaced { path: path.to_owned() });
        }
        connection.busy_timeout(BUSY).map_err(|error| database(path, &error))?;
        let log = with_ending(path, "-wal");
        let path = path.to_owned();
        Ok(Self {
            path,
            log,
            file: None,
            connection,
            _writer: writer,
            disk,
            syncs: 0,
            longest: 0,
            is_damaged,
            failed: false,
            study,
            unwitnessed: None,
            witnessed: None,
        })
    }

    /// Moves as much of the write-ahead log into the file as no reader needs there; writers go on meanwhile.
    fn checkpoint(&mut self) -> Result<(), LogError> {
        self.disk.permit().map_err(|error| refused(&self.path, &error))?;
        let row = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
        let moved = self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], row);
        moved.map_err(|error| database(&self.path, &error))?;
        self.syncs = 0;
        Ok(())
    }

    /// The write-ahead log. It stays the same file for as long as a connection is open.
    fn write_ahead_log(&mut self) -> Result<&File, LogError> {
        let replaced = || LogError::Replaced { path: self.path.clone() };
        let named = match fs::metadata(&self.log) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(LogError::Gone { path: self.log.clone() });
            }
            named => named.map_err(|error| refused(&self.log, &error))?,
        };
        if self.file.is_none() {
            let file = File::open(&self.log).map_err(|error| refused(&self.log, &error))?;
            // Its name must survive as well.
            let dir = self.log.parent().unwrap_or(Path::new("."));
            self.disk.sync_dir(dir).map_err(|error| refused(dir, &error.source))?;
            self.file = Some(file);
        }
        let file = self.file.as_ref().ok_or_else(replaced)?;
        let held = file.metadata().map_err(|error| refused(&self.log, &error))?;
        if (held.dev(), held.ino()) == (named.dev(), named.ino()) { Ok(file) } else { Err(replaced()) }
    }

    fn try_sync(&mut self) -> Result<(), LogError> {
        self.disk.permit().map_err(|error| refused(&self.path, &error))?;
        let longest = self.longest;
        let file = self.write_ahead_log()?;
        let length = file.metadata().map_or(longest, |file| file.len());
        let (is_there, synced) = (wal::has_beginning(file, longest), file.sync_data());
        synced.map_err(|error| refused(&self.log, &error))?;
        self.refuse_damage(is_there.map_err(|error| refused(&self.log, &error))?)?;
        self.longest = length;
        self.syncs += 1;
        if !self.failed && self.syncs < SYNCS {
            return Ok(());
        }
        let is_whole = wal::has_no_gap(self.write_ahead_log()?);
        self.refuse_damage(is_whole.map_err(|error| refused(&self.log, &error))?)?;
        self.checkpoint()
    }

    fn refuse_damage(&self, is_sound: bool) -> Result<(), LogError> {
        if is_sound {
            return Ok(());
        }
        self.is_damaged.store(true, Ordering::SeqCst);
        Err(cut(&self.path))
    }
}

impl WalSyncer {
    /// What the log has at this moment; nothing where that cannot be told.
    fn standing(&self) -> Option<Witness> {
        let records = rows::count(&self.connection, &self.path, &self.study).ok()?;
        let sum = rows::chain(&self.connection, &self.path, &self.study, records).ok()?.sum();
        let at = rows::last_moment(&self.connection, &self.study).ok()??;
        Some(Witness::new(&self.path, self.study.identity(), records, sum, at))
    }

    fn write_witness(&mut self) {
        let Some(witness) = self.unwitnessed.take() else { return };
        self.witnessed = Some(Instant::now());
        // One that cannot be written stays behind, and accuses nobody.
        if witness.write(&self.path, &self.study.name, &self.disk).is_err() {
            self.unwitnessed = Some(witness);
        }
    }
}

impl Syncer for WalSyncer {
    fn sync(&mut self) -> Result<(), LogError> {
        // Before the sync: what is appended meanwhile may not be on the disk.
        let standing = self.standing();
        let synced = self.try_sync();
        self.failed = synced.is_err();
        if synced.is_ok() {
            self.unwitnessed = standing;
            if self.witnessed.is_none_or(|at| at.elapsed() >= WITNESSED) {
                self.write_witness();
            }
        }
        synced
    }

    fn rest(&mut self) {
        self.write_witness();
    }
}

impl Drop for WalSyncer {
    fn drop(&mut self) {
        // What was cut after the last sync is found here, before the last connection moves what is left.
        if self.longest > 0 && !self.is_damaged.load(Ordering::SeqCst) {
            let longest = self.longest;
            let is_sound = self.write_ahead_log().is_ok_and(|log| {
                wal::has_beginning(log, longest).unwrap_or(true) && wal::has_no_gap(log).unwrap_or(true)
            });
            self.is_damaged.store(!is_sound, Ordering::SeqCst);
        }
        leave_files(&self.connection, &self.is_damaged);
        self.write_witness();
    }
}
