//! Hashes of files and directory trees, and the stat that tells whether a file may have changed since.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Files are read in pieces of this size: large enough for the hash's vector code, small enough for
/// its caches.
const PIECE: usize = 64 * 1024;

/// The hash of a file's content, in hexadecimal digits.
pub(super) fn file(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = blake3::Hasher::new();
    let mut piece = vec![0; PIECE];
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Ok(hasher.finalize().to_hex().to_string()),
            Ok(n) => drop(hasher.update(piece.get(..n).unwrap_or_default())),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// What changes when a file is written to, replaced or given other rights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stat {
    device: u64,
    inode: u64,
    bytes: u64,
    modified: (i64, i64),
    changed: Moment,
    /// Mode, owner, group, and how many names it has.
    rights: (u32, u32, u32, u64),
}

/// Seconds since 1970, and nanoseconds.
type Moment = (i64, i64);

/// When this process last took a name from a file that has others, by device and inode.
static UNLINKED: Mutex<BTreeMap<(u64, u64), Moment>> = Mutex::new(BTreeMap::new());

/// More than these are forgotten.
const MOST_UNLINKED: usize = 100_000;

/// Notes that this process took a name from a file: that alone moves its `ctime`, and is no change
/// of its content.
pub(super) fn note_unlinked(after: &Metadata) {
    let stat = Stat::of(after);
    let mut unlinked = UNLINKED.lock().unwrap_or_else(PoisonError::into_inner);
    if unlinked.len() >= MOST_UNLINKED {
        unlinked.clear();
    }
    unlinked.insert((stat.device, stat.inode), stat.changed);
}

impl Stat {
    pub(super) fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            bytes: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
            rights: (metadata.mode(), metadata.uid(), metadata.gid(), metadata.nlink()),
        }
    }

    /// Whether the file was written to or replaced between this look and a later one, also where
    /// size and time of modification were put back: nobody can put `ctime` back.
    ///
    /// Other rights, another owner and another name move `ctime` too, and change no content; so
    /// does a name that this process took away when it made a hard link in an output a copy.
    pub(super) fn was_written_since(&self, later: &Self) -> bool {
        let content = |stat: &Self| (stat.device, stat.inode, stat.bytes, stat.modified);
        if content(self) != content(later) {
            return true;
        }
        let unlinked = UNLINKED.lock().unwrap_or_else(PoisonError::into_inner);
        let by_us = unlinked.get(&(self.device, self.inode)).is_some_and(|when| *when > self.changed);
        self.changed != later.changed && self.rights == later.rights && !by_us
    }
}

/// Something below a directory.
#[derive(Debug)]
pub(super) struct Found {
    /// Its path from the directory, with `/` between the parts.
    pub path: String,
    pub metadata: Metadata,
}

/// Everything below a directory but the directories themselves, by path; links are not followed.
/// Empty directories are found too.
pub(super) fn walk(root: &Path) -> io::Result<Vec<Found>> {
    let mut found = Vec::new();
    let mut ahead = vec![String::new()];
    while let Some(folder) = ahead.pop() {
        let mut empty = true;
        for entry in fs::read_dir(root.join(&folder))? {
            let entry = entry?;
            empty = false;
            let name = entry.file_name().into_string().map_err(|name| {
                let text = format!("the file name {name:?} is not UTF-8; rename it");
                io::Error::new(io::ErrorKind::InvalidData, text)
            })?;
            let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            let metadata = entry.metadata()?;
            if metadata.is_dir() {
                ahead.push(path);
            } else {
                found.push(Found { path, metadata });
            }
        }
        if empty && !folder.is_empty() {
            let metadata = fs::symlink_metadata(root.join(&folder))?;
            found.push(Found { path: folder, metadata });
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}
