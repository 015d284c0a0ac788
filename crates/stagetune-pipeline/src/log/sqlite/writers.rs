//! Which journals this process has open for writing.
//!
//! POSIX takes all of a process's locks on a file away when the process closes any descriptor of it. A look
//! opens and closes the file without SQLite's book-keeping of locks, so it must not happen beside a writer of
//! the same process: another process would find the journal unlocked, and remove the write-ahead log that is
//! still in use.

use std::sync::{PoisonError, RwLock};

/// Device and inode.
pub type FileId = (u64, u64);

static OPEN: RwLock<Vec<FileId>> = RwLock::new(Vec::new());

/// A journal that is open for writing until this is dropped; its connection must be closed by then.
#[derive(Debug)]
pub struct Writer(FileId);

impl Writer {
    /// Waits for looks that are being taken.
    pub fn new(file: FileId) -> Self {
        OPEN.write().unwrap_or_else(PoisonError::into_inner).push(file);
        Self(file)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let mut open = OPEN.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = open.iter().position(|file| *file == self.0) {
            open.swap_remove(place);
        }
    }
}

/// Does some work during which no journal is opened or closed for writing; it is told whether this one is
/// open.
pub fn while_steady<T>(file: FileId, work: impl FnOnce(bool) -> T) -> T {
    let open = OPEN.read().unwrap_or_else(PoisonError::into_inner);
    work(open.contains(&file))
}
