//! Outputs on a disk that threads and processes share: finding, claiming, listing and checking them.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use super::entry::{self, Entry, FileKind, Unreadable};
use super::hash::Stat;
use super::pack::{Pack, Unusable};
use super::seal::{Entries, MOST_COPIED, astray, seal};
use super::{Claim, KeyId, Output, OutputError, Outputs, Permit, PublishError, Run, StageKey, describe};
use crate::disk::Disk;

/// The outputs of one `.stagetune/` directory; several threads and processes may share it.
#[derive(Debug)]
pub struct Cache {
    pub(super) state: PathBuf,
    pub(super) disk: Disk,
    pub(super) limit: Option<u64>,
    /// Entries whose content was checked by this process, with what their files looked like then.
    pub(super) checked: Mutex<BTreeMap<KeyId, Vec<Stat>>>,
    /// What the entries hold together, counted at the first commit under a limit.
    pub(super) total: Mutex<Option<u64>>,
    pub(super) shrinking: Mutex<()>,
    pub(super) temporaries: AtomicU64,
    pub(super) pack: Pack,
    pub(super) loose: Mutex<Loose>,
}

/// How many files outputs have in directories of their own, as far as this process knows.
#[derive(Debug, Default)]
pub(super) struct Loose {
    /// Counted at the first output that is kept.
    pub(super) files: Option<usize>,
    /// When there are more than this, small ones are packed.
    pub(super) next: usize,
}

/// An entry of the cache, for lists.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Its name.
    pub id: KeyId,
    /// Where it is.
    pub dir: PathBuf,
    /// What it says, or why it cannot be read.
    pub entry: Result<Entry, Unreadable>,
    /// When it was last used, in seconds since 1970.
    pub used: f64,
    /// What it takes on the disk: its files and what is known of them.
    pub bytes: u64,
    /// It has no directory, but stands in the pack.
    pub packed: bool,
}

/// What a check of an entry found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every byte is as it was.
    Sound,
    /// It is not, and why.
    Damaged(String),
    /// It was made by a newer release, in this format: nothing can be said of it.
    Newer(u32),
}

/// What was found of a key: nothing, an output, or what is wrong with it.
type Look = Option<Result<Output, Unreadable>>;

/// The lock of a key; dropped it gives the key back.
pub(super) struct KeyLock {
    path: PathBuf,
    disk: Disk,
    _file: File,
}

impl Cache {
    /// The cache in a `.stagetune/` directory, which is made if need be.
    pub fn open(state: &Path, disk: Disk, limit: Option<u64>) -> Result<Self, OutputError> {
        let cache = Self::at(state, disk, limit);
        for folder in ["cache", "tmp", "locks"] {
            cache.disk.make_dir(&state.join(folder))?;
        }
        // Outputs come from attempts, pass through `tmp` and end in `cache`, and are never copied.
        let device = |path: &Path| fs::metadata(path).map(|about| about.dev()).ok();
        for folder in ["cache", "tmp", "attempts"] {
            let path = state.join(folder);
            if device(&path).is_some_and(|there| Some(there) != device(state)) {
                return Err(OutputError::OtherDisk { path, other: state.to_owned() });
            }
        }
        Ok(cache)
    }

    /// The cache in a `.stagetune/` directory that may not be there: nothing is made, and only
    /// looking makes sense.
    pub fn at(state: &Path, disk: Disk, limit: Option<u64>) -> Self {
        Self {
            state: state.to_owned(),
            limit,
            checked: Mutex::default(),
            total: Mutex::default(),
            shrinking: Mutex::default(),
            temporaries: AtomicU64::new(0),
            pack: Pack::of(state, disk.clone()),
            loose: Mutex::default(),
            disk,
        }
    }

    /// The output of a stage if it is there and sound; nothing is changed. A packed one has no directory.
    pub fn find(&self, key: &StageKey) -> Result<Option<Output>, OutputError> {
        let id = key.id();
        if let Some(found) = self.look_at_dir(key, &id)? {
            return Ok(found.ok());
        }
        let output = |entry| Output { entry: Arc::new(entry), dir: self.dir(&id).join("out"), lock: None };
        Ok(self.find_packed(&id)?.map(output))
    }

    /// The same with its directory, and a note that it was used: among entries of equal worth the
    /// one that was not used for longest is evicted first.
    pub fn reuse(&self, key: &StageKey) -> Result<Option<Output>, OutputError> {
        let found = self.look(key, &key.id())?.and_then(Result::ok);
        if let Some(lock) = found.as_ref().and_then(|output| output.lock.as_ref()) {
            // A cache that cannot be written need not know.
            let _ = lock.set_modified(SystemTime::now());
        }
        Ok(found)
    }

    /// Every entry, by name.
    pub fn list(&self) -> Result<Vec<Listed>, OutputError> {
        let mut listed = self.loose_entries()?;
        listed.extend(self.packed_entries()?);
        listed.sort_by(|a, b| a.id.cmp(&b.id));
        // One that was given its directory back in between was seen twice.
        listed.dedup_by(|b, a| a.id == b.id);
        Ok(listed)
    }

    /// The file of small outputs and why it cannot be used; all that it holds is made again.
    pub fn unusable_pack(&self) -> Result<Option<(PathBuf, Unusable)>, OutputError> {
        self.pack.unusable()
    }

    /// Takes a damaged file of small outputs away; one of a newer release is left alone.
    pub fn remove_damaged_pack(&self) -> Result<(), OutputError> {
        self.pack.remove_damaged()
    }

    /// The entries that have a directory.
    pub(super) fn loose_entries(&self) -> Result<Vec<Listed>, OutputError> {
        let folder = self.state.join("cache");
        let reading = |source| OutputError::Read { path: folder.clone(), source };
        let mut listed = Vec::new();
        if !folder.exists() {
            return Ok(listed);
        }
        for found in fs::read_dir(&folder).map_err(reading)? {
            let found = found.map_err(reading)?;
            let Ok(id) = KeyId::try_from(found.file_name().to_string_lossy().into_owned()) else { continue };
            let dir = found.path();
            let bytes = entry::bytes(&dir);
            let bytes = bytes.map_err(|error| Unreadable::Damaged(error.to_string()));
            let entry = bytes.and_then(|bytes| entry::read(&bytes));
            let about = fs::metadata(dir.join("entry.json")).ok();
            let used = about.as_ref().map_or(0.0, |about| about.mtime() as f64);
            let bytes = about.map_or(0, |about| about.len()) + entry.as_ref().map_or(0, Entry::bytes);
            listed.push(Listed { id, dir, entry, used, bytes, packed: false });
        }
        Ok(listed)
    }

    /// Reads every byte of an entry.
    pub fn verify(&self, listed: &Listed) -> Verdict {
        let checked = match &listed.entry {
            Err(Unreadable::Newer(format)) => return Verdict::Newer(*format),
            Err(Unreadable::Damaged(problem)) => Err(problem.clone()),
            Ok(entry) if entry.key.id() != listed.id => Err("it holds the output of another key".to_owned()),
            Ok(_) if listed.packed && !listed.dir.exists() => self.verify_packed(&listed.id),
            Ok(entry) => {
                let out = listed.dir.join("out");
                let links = entry.files.iter().filter(|file| matches!(file.kind, FileKind::Link { .. }));
                let astray = links.filter_map(|link| astray(&out, &link.path, &self.state)).next();
                astray.map_or(Ok(()), Err).and_then(|()| entry::compare(&out, &entry.files, None).map(drop))
            }
        };
        match checked {
            Ok(()) => Verdict::Sound,
            Err(problem) => Verdict::Damaged(problem),
        }
    }

    /// Takes an entry away, unless somebody reads it; whether it is gone.
    pub fn remove(&self, id: &KeyId) -> Result<bool, OutputError> {
        // Held until the entry is out of sight, so that nobody begins to read it in between.
        let entry = entry::open(&self.dir(id)).ok();
        if entry.as_ref().is_some_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock))) {
            return Ok(false);
        }
        self.pack.remove(id)?;
        self.remove_dir_of(id)?;
        Ok(true)
    }

    /// Removes the directory of an entry that nobody reads.
    pub(super) fn remove_dir_of(&self, id: &KeyId) -> Result<(), OutputError> {
        let dir = self.dir(id);
        // First out of sight in one step: a half-removed entry is never one.
        let away = loop {
            let away = self.temporary_name(id, ".gone");
            match self.disk.rename(&dir, &away) {
                Ok(()) => break away,
                Err(error) => match error.source.kind() {
                    // Somebody else was quicker.
                    io::ErrorKind::NotFound => return Ok(()),
                    // A process of the same number was killed here.
                    io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists => {}
                    _ => return Err(error.into()),
                },
            }
        };
        if let Ok(mut checked) = self.checked.lock() {
            checked.remove(id);
        }
        self.disk.remove_dir(&away)?;
        Ok(())
    }

    pub(super) fn dir(&self, id: &KeyId) -> PathBuf {
        self.state.join("cache").join(id.as_str())
    }

    /// `None` if it is not there, what is wrong with it if it is damaged. A packed one gets its
    /// directory back.
    fn look(&self, key: &StageKey, id: &KeyId) -> Result<Look, OutputError> {
        let found = self.look_at_dir(key, id)?;
        if found.is_some() || !self.pack.has(id)? {
            return Ok(found);
        }
        // Whoever holds the lock does what is to be done.
        let Some(_lock) = self.try_lock(id)? else { return Ok(None) };
        self.look_with_lock(key, id)
    }

    /// The same by whoever holds the lock of the key.
    fn look_with_lock(&self, key: &StageKey, id: &KeyId) -> Result<Look, OutputError> {
        let found = self.look_at_dir(key, id)?;
        if found.is_some() || self.dir(id).exists() {
            return Ok(found);
        }
        match self.unpack(id)? {
            Ok(true) => self.look_at_dir(key, id),
            Ok(false) => Ok(None),
            Err(problem) => Ok(Some(Err(problem))),
        }
    }

    fn look_at_dir(&self, key: &StageKey, id: &KeyId) -> Result<Look, OutputError> {
        let dir = self.dir(id);
        let path = dir.join("entry.json");
        let file = match entry::open(&dir) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return Ok(Some(Err(Unreadable::Damaged(error.to_string()))));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let remains =
                    dir.exists().then(|| Err(Unreadable::Damaged("`entry.json` is missing".into())));
                return Ok(remains);
            }
            Err(source) => return Err(OutputError::Read { path, source }),
        };
        match file.try_lock_shared() {
            Ok(()) => {}
            // Somebody takes it away at this moment.
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(source)) => return Err(OutputError::Read { path, source }),
        }
        // What was locked is what is there; otherwise it was taken away and perhaps made anew.
        if !same_file(&file, &path) {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        (&file).read_to_end(&mut bytes).map_err(|source| OutputError::Read { path, source })?;
        let entry = match entry::read(&bytes) {
            Ok(entry) if entry.key == *key => entry,
            Ok(_) => {
                return Ok(Some(Err(Unreadable::Damaged("it holds the output of another key".into()))));
            }
            Err(problem) => return Ok(Some(Err(problem))),
        };
        let out = dir.join("out");
        let known = self.checked.lock().ok().and_then(|checked| checked.get(id).cloned());
        match entry::compare(&out, &entry.files, known.as_deref()) {
            Ok(stats) => {
                if let Ok(mut checked) = self.checked.lock() {
                    checked.insert(id.clone(), stats);
                }
                let lock = Some(Arc::new(file));
                Ok(Some(Ok(Output { entry: Arc::new(entry), dir: out, lock })))
            }
            Err(problem) => Ok(Some(Err(Unreadable::Damaged(problem)))),
        }
    }

    /// The lock of a key, unless somebody has it. A lock file that its holder has removed is no
    /// lock any more.
    pub(super) fn try_lock(&self, id: &KeyId) -> Result<Option<KeyLock>, OutputError> {
        let path = self.state.join("locks").join(id.as_str());
        loop {
            let file = self.disk.open_lock(&path)?;
            match file.try_lock() {
                Ok(()) if same_file(&file, &path) => {
                    return Ok(Some(KeyLock { path, disk: self.disk.clone(), _file: file }));
                }
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(source)) => return Err(OutputError::Read { path, source }),
            }
        }
    }

    /// The entry of a newer release, as an error.
    fn newer(&self, id: &KeyId, format: u32) -> OutputError {
        OutputError::Newer { path: self.dir(id), format }
    }
}

impl Outputs for Cache {
    fn open(&self, key: &StageKey) -> Result<Option<Output>, OutputError> {
        self.reuse(key)
    }

    fn claim(&self, key: &StageKey) -> Result<Claim, OutputError> {
        let id = key.id();
        match self.look(key, &id)? {
            Some(Ok(output)) => return Ok(Claim::Ready(output)),
            Some(Err(Unreadable::Newer(format))) => return Err(self.newer(&id, format)),
            Some(Err(Unreadable::Damaged(_))) | None => {}
        }
        let Some(lock) = self.try_lock(&id)? else { return Ok(Claim::Busy) };
        // Whoever held the lock before may have made it, or have been killed when it was all but there.
        let mut damaged = None;
        for swept in [false, true] {
            if swept {
                self.sweep_of(&id)?;
            }
            match self.look_with_lock(key, &id)? {
                Some(Ok(output)) => return Ok(Claim::Ready(output)),
                Some(Err(Unreadable::Newer(format))) => return Err(self.newer(&id, format)),
                Some(Err(Unreadable::Damaged(problem))) => {
                    // Whoever reads it has not noticed, and ends by itself.
                    if !self.remove(&id)? {
                        return Ok(Claim::Busy);
                    }
                    damaged = Some(problem);
                }
                None => {}
            }
        }
        // An entry that is just being evicted is still there, and nothing could be moved to its place.
        if self.dir(&id).exists() {
            return Ok(Claim::Busy);
        }
        Ok(Claim::Mine(Permit { key: key.clone(), id, damaged, _hold: Box::new(lock) }))
    }

    fn recheck(&self, output: &Output) -> Result<(), String> {
        let (id, files) = (output.entry.key.id(), &output.entry.files);
        let known = self.checked.lock().ok().and_then(|checked| checked.get(&id).cloned());
        let now = entry::compare(&output.dir, files, known.as_deref())?;
        let touched = known.is_some_and(|known| known.iter().zip(&now).any(|(a, b)| a.was_written_since(b)));
        if let Ok(mut checked) = self.checked.lock() {
            checked.insert(id, now);
        }
        if touched {
            Err("it was written to and written back, or moved away and back".into())
        } else {
            Ok(())
        }
    }

    fn publish(&self, permit: Permit, dir: &Path, run: Run) -> Result<Output, PublishError> {
        let folder = &self.state.join("cache");
        seal(dir, &self.state, Entries { folder, inner: Some("out"), most: MOST_COPIED }, &self.disk)?;
        let files = describe(dir)?;
        Ok(self.keep(permit, dir, files, run)?)
    }
}

impl Drop for KeyLock {
    fn drop(&mut self) {
        // A file that stays is a lock that nobody holds.
        let _ = self.disk.remove_file(&self.path);
    }
}

/// Whether an open file is still the one at a path.
fn same_file(file: &File, path: &Path) -> bool {
    let at = |metadata: io::Result<fs::Metadata>| metadata.map(|m| (m.dev(), m.ino())).ok();
    at(file.metadata()).is_some_and(|mine| at(fs::metadata(path)) == Some(mine))
}
