//! Sealing an output before it is kept: it depends on no other entry, and its files are read-only.
//!
//! ```text
//! link within the output                  stays
//! link into the output of another entry   becomes a copy, up to a limit: that entry may be evicted
//! link to an entry, or to all of them     refused: a copy would hold what others made, and grow with every trial
//! link to elsewhere in `.stagetune/`      refused: what is there goes away
//! link to anything outside                stays; what it leads to is the user's
//! hard link, also to a file outside       becomes a copy: its modes and content are somebody else's too
//! ```
//!
//! The administrator may write to read-only files all the same. So hashes carry the promise; modes
//! keep a stage from breaking it by accident.

use std::cell::Cell;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use super::{KeyId, OutputError, PublishError, hash};
use crate::disk::Disk;

/// How deep directories may lie in each other, links included.
const DEEPEST: usize = 128;

/// The most that links into other outputs may make an output hold.
pub(super) const MOST_COPIED: Amount = Amount { bytes: 100_000_000_000, files: 100_000 };

/// Files, and what they hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Amount {
    pub(super) bytes: u64,
    pub(super) files: u64,
}

/// Where entries are, and what may be copied out of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entries<'a> {
    /// The directory that holds an entry under each key.
    pub(super) folder: &'a Path,
    /// The name of the output in an entry; without one the entry is the output.
    pub(super) inner: Option<&'a str>,
    pub(super) most: Amount,
}

/// An output on its way into the cache.
struct Seal<'a> {
    /// The output, as the stage was told, and where that really is.
    out: &'a Path,
    real: PathBuf,
    /// The directory of stagetune itself.
    state: PathBuf,
    /// Where entries are.
    entries: PathBuf,
    inner: Option<&'a str>,
    /// What may still be copied.
    left: Cell<Amount>,
    most: Amount,
    /// Beside the output: copies are made there.
    beside: PathBuf,
    disk: &'a Disk,
}

/// Seals the output in `out`; `state` is stagetune's own directory, and holds all entries.
pub(super) fn seal(out: &Path, state: &Path, entries: Entries<'_>, disk: &Disk) -> Result<(), PublishError> {
    let real = fs::canonicalize(out).map_err(|source| unfit_or_world(out, source))?;
    let world = |path: &Path| {
        let path = path.to_owned();
        move |source| PublishError::World(OutputError::Read { path, source })
    };
    let Entries { folder, inner, most } = entries;
    let entries = fs::canonicalize(folder).map_err(world(folder))?;
    let state = fs::canonicalize(state).map_err(world(state))?;
    let beside = out.with_file_name("copied");
    let left = Cell::new(most);
    Seal { out, real, state, entries, inner, left, most, beside, disk }.folder(out, 0)
}

/// What is wrong with a link of an entry: it leads to elsewhere in `state`. Older releases kept such links.
pub(super) fn astray(out: &Path, link: &str, state: &Path) -> Option<String> {
    let (out, state) = (fs::canonicalize(out).ok()?, fs::canonicalize(state).ok()?);
    let path = out.join(link);
    let to = fs::read_link(&path).ok()?;
    let leads = fs::canonicalize(&path).unwrap_or_else(|_| lexical(&path, &to));
    (leads.starts_with(&state) && !leads.starts_with(&out))
        .then(|| format!("the link `{link}` leads to {}, outside of the entry", leads.display()))
}

impl Seal<'_> {
    fn folder(&self, folder: &Path, depth: usize) -> Result<(), PublishError> {
        if depth > DEEPEST {
            return Err(PublishError::Unfit(format!("{} lies too deep", self.name(folder))));
        }
        let about = fs::symlink_metadata(folder).map_err(|source| unfit_or_world(folder, source))?;
        let mode = about.mode() & 0o7777;
        if mode & 0o700 != 0o700 {
            // Otherwise nobody could remove it.
            self.disk.set_mode(folder, mode | 0o700).map_err(OutputError::from)?;
        }
        for entry in fs::read_dir(folder).map_err(|source| unfit_or_world(folder, source))? {
            let path = entry.map_err(|source| unfit_or_world(folder, source))?.path();
            let about = fs::symlink_metadata(&path).map_err(|source| unfit_or_world(&path, source))?;
            let about = if about.is_symlink() { self.link(&path)? } else { Some(about) };
            match about {
                Some(about) if about.is_dir() => self.folder(&path, depth + 1)?,
                Some(about) if about.is_file() => self.file(&path, &about)?,
                // A link that stays; anything else is refused when the manifest is made.
                Some(_) | None => {}
            }
        }
        Ok(())
    }

    /// What stands in the place of a link that led into another entry; nothing for one that stays.
    fn link(&self, path: &Path) -> Result<Option<Metadata>, PublishError> {
        let to = fs::read_link(path).map_err(|source| unfit_or_world(path, source))?;
        let named = lexical(path, &to);
        let leads = match fs::canonicalize(path) {
            Ok(leads) => leads,
            // It leads to nothing: what counts is where nothing is.
            Err(_) => named.clone(),
        };
        if leads.starts_with(&self.real) || leads.starts_with(self.out) {
            // An absolute one is refused when the manifest is made.
            if to.is_absolute() || !self.passes_the_root(path, &to) {
                return Ok(None);
            }
            let text = format!("the link `{}` leads out of {{out}} and back", self.name(path));
            return Err(PublishError::Unfit(format!("{text}; {{out}} moves when the stage has ended")));
        }
        if !self.is_of_stagetune(&leads) && !self.is_of_stagetune(&named) {
            return Ok(None);
        }
        if self.entries.starts_with(&leads) || leads.starts_with(&self.entries) && !self.is_of_one(&leads) {
            return Err(self.too_much(path, &leads));
        }
        if !leads.starts_with(&self.entries) || !leads.exists() {
            let text = format!("the link `{}` leads to {}", self.name(path), leads.display());
            return Err(PublishError::Unfit(format!("{text}, which goes away; copy what is there instead")));
        }
        self.clear()?;
        self.copy(&leads, &leads, &self.beside, 0)?;
        self.disk.remove_file(path).map_err(OutputError::from)?;
        self.disk.rename(&self.beside, path).map_err(OutputError::from)?;
        Ok(Some(fs::symlink_metadata(path).map_err(|source| unfit_or_world(path, source))?))
    }

    fn is_of_stagetune(&self, path: &Path) -> bool {
        path.starts_with(&self.state) || path.starts_with(&self.entries)
    }

    /// Whether a path is the output of one entry, or something in it.
    fn is_of_one(&self, path: &Path) -> bool {
        let Ok(rest) = path.strip_prefix(&self.entries) else { return false };
        let mut parts = rest.components().map(|part| part.as_os_str().to_string_lossy());
        parts.next().is_some_and(|key| KeyId::try_from(key.into_owned()).is_ok())
            && self.inner.is_none_or(|inner| parts.next().is_some_and(|name| name == inner))
    }

    fn too_much(&self, path: &Path, leads: &Path) -> PublishError {
        let text = format!("the link `{}` leads to {}", self.name(path), leads.display());
        PublishError::Unfit(format!(
            "{text}, which holds more than the output of one stage; link to an output that the \
                stage was given, \
             or copy the files that are needed"
        ))
    }

    /// Takes from what may still be copied.
    fn take(&self, bytes: u64) -> Result<(), PublishError> {
        let Amount { bytes: some, files } = self.left.get();
        match (some.checked_sub(bytes), files.checked_sub(1)) {
            (Some(bytes), Some(files)) => {
                self.left.set(Amount { bytes, files });
                Ok(())
            }
            (None, _) | (_, None) => Err(PublishError::Unfit(format!(
                "its links into other outputs lead to more than {} files or {} bytes, which would \
                    all be copied; \
                 let the next stage use those outputs itself, or copy what is needed",
                self.most.files, self.most.bytes
            ))),
        }
    }

    /// Copies a file, or a directory with all that its links into outputs lead to.
    fn copy(&self, root: &Path, from: &Path, to: &Path, depth: usize) -> Result<(), PublishError> {
        if depth > DEEPEST {
            return Err(PublishError::Unfit(format!("{} lies too deep to be copied", from.display())));
        }
        let about = fs::symlink_metadata(from).map_err(|source| unfit_or_world(from, source))?;
        if about.is_symlink() {
            let leads = fs::read_link(from).map_err(|source| unfit_or_world(from, source))?;
            if leads.is_relative() && lexical(from, &leads).starts_with(root) {
                return Ok(self.disk.symlink(&leads, to).map_err(OutputError::from)?);
            }
            let named = lexical(from, &leads);
            let leads = fs::canonicalize(from).unwrap_or_else(|_| named.clone());
            if !self.is_of_stagetune(&leads) && !self.is_of_stagetune(&named) {
                // What it leads to is the user's, as it was for the output that is copied.
                self.take(0)?;
                return Ok(self.disk.symlink(&leads, to).map_err(OutputError::from)?);
            }
            if !self.is_of_one(&leads) {
                return Err(self.too_much(from, &leads));
            }
            return self.copy(&leads, &leads, to, depth + 1);
        }
        self.take(if about.is_dir() { 0 } else { about.len() })?;
        if !about.is_file() && !about.is_dir() {
            return Err(PublishError::Unfit(format!("{} is no file", from.display())));
        }
        if !about.is_dir() {
            return Ok(self.disk.copy(from, to).map_err(OutputError::from)?);
        }
        self.disk.make_new_dir(to).map_err(OutputError::from)?;
        for entry in fs::read_dir(from).map_err(|source| unfit_or_world(from, source))? {
            let entry = entry.map_err(|source| unfit_or_world(from, source))?;
            self.copy(root, &entry.path(), &to.join(entry.file_name()), depth + 1)?;
        }
        Ok(())
    }

    fn file(&self, path: &Path, about: &Metadata) -> Result<(), PublishError> {
        if about.nlink() > 1 {
            self.clear()?;
            // Whatever else has this file's content under another name must not seem to be written to.
            let shared = fs::File::open(path).ok();
            self.disk.copy(path, &self.beside).map_err(OutputError::from)?;
            self.disk.rename(&self.beside, path).map_err(OutputError::from)?;
            if let Some(about) = shared.and_then(|shared| shared.metadata().ok()) {
                hash::note_unlinked(&about);
            }
        }
        let mode = about.mode() & 0o7777;
        let sealed = (mode | 0o400) & !0o222;
        if sealed != mode {
            match self.disk.set_mode(path, sealed) {
                // A file of somebody else's: its hash has to do.
                Err(error) if error.source.kind() == io::ErrorKind::PermissionDenied => {}
                done => done.map_err(OutputError::from)?,
            }
        }
        Ok(())
    }

    /// Whether a relative link goes above the root of the output, if only to come back.
    fn passes_the_root(&self, link: &Path, to: &Path) -> bool {
        let folder = link.parent().and_then(|folder| folder.strip_prefix(self.out).ok());
        let mut depth = folder.map_or(0, |folder| folder.components().count());
        for part in to.components() {
            match part {
                Component::ParentDir if depth == 0 => return true,
                Component::ParentDir => depth -= 1,
                Component::Normal(_) => depth += 1,
                Component::CurDir | Component::Prefix(_) | Component::RootDir => {}
            }
        }
        false
    }

    /// Removes a copy that was not finished.
    fn clear(&self) -> Result<(), PublishError> {
        let removed = match fs::symlink_metadata(&self.beside) {
            Ok(about) if about.is_dir() => self.disk.remove_dir(&self.beside),
            Ok(_) => self.disk.remove_file(&self.beside),
            Err(_) => Ok(()),
        };
        Ok(removed.map_err(OutputError::from)?)
    }

    /// A path of the output, from its root.
    fn name(&self, path: &Path) -> String {
        path.strip_prefix(self.out).unwrap_or(path).display().to_string()
    }
}

/// Where a link leads by its words alone.
fn lexical(link: &Path, to: &Path) -> PathBuf {
    let mut path = link.parent().unwrap_or(Path::new("/")).to_owned();
    for part in to.components() {
        match part {
            Component::Prefix(_) | Component::RootDir => path = PathBuf::from("/"),
            Component::CurDir => {}
            Component::ParentDir => drop(path.pop()),
            Component::Normal(name) => path.push(name),
        }
    }
    path
}

/// What cannot be found or read is the stage's fault; anything else is the world's.
fn unfit_or_world(path: &Path, source: io::Error) -> PublishError {
    match source.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied | io::ErrorKind::NotADirectory => {
            PublishError::Unfit(format!("{}: {source}", path.display()))
        }
        _ => PublishError::World(OutputError::Read { path: path.to_owned(), source }),
    }
}
