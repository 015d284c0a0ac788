//! Small outputs move into the pack when there are many, and get their directories back when they are needed.
//!
//! ```text
//! into the pack    1. entry.json locked by us alone: nobody reads it     2. content checked against the manifest
//!                  3. rows written, in one transaction                   4. directory removed
//! out of it        1. key locked                                         2. written to tmp/<name>/
//!                  3. tmp/<name> → cache/<key>; the row stays
//! ```
//!
//! Killed at any point, a process leaves the directory, the row, or both, and both say the same.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use super::entry::{self, Entry, Unreadable};
use super::pack::Packed;
use super::store::{Cache, Listed};
use super::{FileFacts, FileKind, KeyId, OutputError};

/// An output with more content than this keeps its directory.
const MOST_BYTES: u64 = 64 * 1024;

/// So does one with more files.
const MOST_FILES: usize = 32;

/// When outputs have more files than this in directories, the small ones are packed.
const MANY: usize = 300;

/// The small outputs that were used last keep their directories, as far as they have no more files
/// than this together.
const FEW: usize = 100;

/// A small output that nobody reads, and its lock.
struct Free {
    packed: Packed,
    files: usize,
    _alone: File,
}

impl Cache {
    /// Counts the files of an output that has a directory now; where there are many, the small ones
    /// are packed.
    pub(super) fn count_files(&self, entry: &Entry) -> Result<(), OutputError> {
        let mut loose = self.loose.lock().unwrap_or_else(PoisonError::into_inner);
        let added = files_of(entry);
        let count = match loose.files {
            Some(files) => files + added,
            None => {
                self.loose_entries()?.iter().map(|listed| listed.entry.as_ref().map_or(1, files_of)).sum()
            }
        };
        if count > loose.next.max(MANY) {
            let packed = self.pack_small(FEW);
            // Large ones stay, and so do all if they cannot be packed now: the next time is when
            // there are as many new files.
            let left = *packed.as_ref().unwrap_or(&count);
            (loose.files, loose.next) = (Some(left), left + MANY - FEW);
            packed?;
        } else {
            loose.files = Some(count);
        }
        Ok(())
    }

    /// Packs small outputs until those that keep a directory have at most `few` files; how many
    /// files all have then.
    pub(super) fn pack_small(&self, few: usize) -> Result<usize, OutputError> {
        let mut entries = self.loose_entries()?;
        entries.sort_by(|a, b| b.used.total_cmp(&a.used));
        let (mut stay, mut small, mut free) = (0, 0, Vec::new());
        for listed in entries {
            let files = listed.entry.as_ref().map_or(1, files_of);
            if !listed.entry.as_ref().is_ok_and(is_small) {
                stay += files;
            } else if small + files <= few {
                (stay, small) = (stay + files, small + files);
            } else {
                match self.free(listed) {
                    Some(one) => free.push(one),
                    None => stay += files,
                }
            }
        }
        let packed: Vec<Packed> = free.iter().map(|one| one.packed.clone()).collect();
        let done = if packed.is_empty() { Ok(false) } else { self.pack.put(&packed) };
        for one in &free {
            // What cannot be removed is in nobody's way.
            if !matches!(done, Ok(true)) || self.remove_dir_of(&one.packed.id).is_err() {
                stay += one.files;
            }
        }
        done.map(|_| stay)
    }

    /// A sound small output that nobody reads.
    fn free(&self, listed: Listed) -> Option<Free> {
        let alone = entry::open(&listed.dir).ok()?;
        alone.try_lock().ok()?;
        let bytes = entry::bytes(&listed.dir).ok()?;
        let entry = entry::read(&bytes).ok()?;
        if entry.key.id() != listed.id || !is_small(&entry) {
            return None;
        }
        let out = listed.dir.join("out");
        entry::compare(&out, &entry.files, None).ok()?;
        let mut content = Vec::new();
        for file in &entry.files {
            if let FileKind::File { .. } = file.kind {
                content.extend(fs::read(out.join(&file.path)).ok()?);
            }
        }
        let packed = Packed { id: listed.id, entry: bytes, content, used: listed.used };
        // Written to since it was compared?
        check(&packed).ok()?;
        Some(Free { packed, files: files_of(&entry), _alone: alone })
    }

    /// A packed output, if it is there and sound; nothing is changed.
    pub(super) fn find_packed(&self, id: &KeyId) -> Result<Option<Entry>, OutputError> {
        Ok(self.pack.get(id)?.and_then(|packed| check(&packed).ok()))
    }

    /// Gives a packed output its directory back, by whoever holds the lock of its key: whether
    /// there was one, or what is wrong with it.
    pub(super) fn unpack(&self, id: &KeyId) -> Result<Result<bool, Unreadable>, OutputError> {
        let Some(packed) = self.pack.get(id)? else { return Ok(Ok(false)) };
        let entry = match check(&packed) {
            Ok(entry) => entry,
            Err(problem) => return Ok(Err(problem)),
        };
        let temporary = self.new_temporary(id)?;
        let written = self.write_out(&temporary, &entry, &packed);
        let moved = written.and_then(|()| Ok(self.disk.rename(&temporary, &self.dir(id))?));
        if let Err(error) = moved {
            let _ = self.disk.remove_dir(&temporary);
            return Err(error);
        }
        let mut loose = self.loose.lock().unwrap_or_else(PoisonError::into_inner);
        loose.files = loose.files.map(|files| files + files_of(&entry));
        Ok(Ok(true))
    }

    fn write_out(&self, dir: &Path, entry: &Entry, packed: &Packed) -> Result<(), OutputError> {
        self.disk.write(&dir.join("entry.json"), &packed.entry)?;
        let out = dir.join("out");
        self.disk.make_new_dir(&out)?;
        let mut content = &packed.content[..];
        for FileFacts { path, kind } in &entry.files {
            let at = inside(&out, path);
            self.disk.make_dir(at.parent().unwrap_or(&out))?;
            match kind {
                FileKind::EmptyDir => self.disk.make_dir(&at)?,
                FileKind::Link { to } => self.disk.symlink(Path::new(to), &at)?,
                FileKind::File { bytes, executable, .. } => {
                    let (mine, rest) = content.split_at_checked(*bytes as usize).unwrap_or_default();
                    content = rest;
                    self.disk.write(&at, mine)?;
                    self.disk.set_mode(&at, if *executable { 0o555 } else { 0o444 })?;
                }
            }
        }
        Ok(())
    }

    /// Packed outputs that have no directory, for lists.
    pub(super) fn packed_entries(&self) -> Result<Vec<Listed>, OutputError> {
        let listed = self.pack.all()?.into_iter().map(|(facts, bytes)| {
            let (dir, entry) = (self.dir(&facts.id), entry::read(&facts.entry));
            Listed { id: facts.id, dir, entry, used: facts.used, bytes, packed: true }
        });
        Ok(listed.filter(|listed| !listed.dir.exists()).collect())
    }

    /// What is wrong with a packed output.
    pub(super) fn verify_packed(&self, id: &KeyId) -> Result<(), String> {
        match self.pack.get(id) {
            Ok(Some(packed)) => check(&packed).map(drop).map_err(|problem| problem.to_string()),
            Ok(None) => Err("it is gone from the pack".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// Whether key, content and manifest agree; the entry, if they do.
fn check(packed: &Packed) -> Result<Entry, Unreadable> {
    let entry = entry::read(&packed.entry)?;
    let damaged = |problem: String| Err(Unreadable::Damaged(problem));
    if entry.key.id() != packed.id {
        return damaged("it holds the output of another key".to_owned());
    }
    let mut content = &packed.content[..];
    for file in &entry.files {
        if let FileKind::File { bytes, blake3, .. } = &file.kind {
            let length = usize::try_from(*bytes).unwrap_or(usize::MAX);
            let Some((mine, rest)) = content.split_at_checked(length) else {
                return damaged(format!("`{}` is cut short", file.path));
            };
            if blake3::hash(mine).to_hex().as_str() != blake3 {
                return damaged(format!("`{}` has changed since the stage ended", file.path));
            }
            content = rest;
        }
    }
    if content.is_empty() { Ok(entry) } else { damaged("there is more content than files".to_owned()) }
}

/// A path of a manifest, which never leads out of the output whatever a damaged one says.
fn inside(out: &Path, path: &str) -> PathBuf {
    let parts = path.split('/').filter(|part| !part.is_empty() && *part != "." && *part != "..");
    parts.fold(out.to_owned(), |at, part| at.join(part))
}

fn is_small(entry: &Entry) -> bool {
    entry.bytes() <= MOST_BYTES && entry.files.len() <= MOST_FILES
}

/// How many files an output has in its directory, its `entry.json` among them.
fn files_of(entry: &Entry) -> usize {
    entry.files.len() + 1
}
