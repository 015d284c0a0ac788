//! Hashes of files and directory trees, and the stat that tells whether a file may have changed since.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Files are read in pieces of this size: large enough for the hash's vector code, small enough for its caches.
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
    changed: (i64, i64),
}

impl Stat {
    pub(super) fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            bytes: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// Whether the file was written to or replaced between this look and a later one; other rights, another name and
    /// the like change `ctime` only, and no content.
    pub(super) fn was_written_since(&self, later: &Self) -> bool {
        let content = |stat: &Self| (stat.device, stat.inode, stat.bytes, stat.modified);
        content(self) != content(later)
    }
}

/// Something below a directory.
#[derive(Debug)]
pub(super) struct Found {
    /// Its path from the directory, with `/` between the parts.
    pub path: String,
    pub metadata: Metadata,
}

/// Everything below a directory but the directories themselves, by path; links are not followed. Empty directories are found too.
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
