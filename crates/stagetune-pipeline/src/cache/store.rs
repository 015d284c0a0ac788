//! Finding, claiming, keeping and checking outputs.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use super::entry::{self, ENTRY_FORMAT, Entry, FileFacts, Maker};
use super::hash::Stat;
use super::key::{KeyId, StageKey};
use crate::disk::{Disk, DiskError, remedy};
use crate::stop::Stop;

/// The outputs of one `.stagetune/` directory; several threads and processes may share it.
#[derive(Debug)]
pub struct Cache {
    state: PathBuf,
    disk: Disk,
    pub(super) limit: Option<u64>,
    /// Entries whose content was checked by this process, with what their files looked like then.
    checked: Mutex<BTreeMap<KeyId, Vec<Stat>>>,
    /// What the entries hold together, counted at the first commit under a limit.
    pub(super) total: Mutex<Option<u64>>,
    pub(super) shrinking: Mutex<()>,
    stagings: AtomicU64,
}

/// An output that is there; while it is held, nobody evicts it.
#[derive(Clone, Debug)]
pub struct Hit {
    /// What is known of it.
    pub entry: Arc<Entry>,
    /// The directory that the stage wrote into.
    pub out: PathBuf,
    lock: Arc<File>,
}

/// Who has an output, or has to make it.
#[derive(Debug)]
pub enum Claim<'a> {
    /// It is there.
    Hit(Hit),
    /// It is not, and nobody else makes it while this is held.
    Mine(Box<Staging<'a>>),
}

/// A stage at work. Dropped without a commit it leaves nothing behind.
#[derive(Debug)]
pub struct Staging<'a> {
    cache: &'a Cache,
    key: StageKey,
    id: KeyId,
    dir: PathBuf,
    lock_path: PathBuf,
    /// An entry that was found damaged and taken away, with what was wrong.
    pub damaged: Option<String>,
    _lock: File,
}

/// What is known of a run that ended well.
#[derive(Clone, Debug)]
pub struct Run {
    /// What it cost.
    pub cost: f64,
    /// How long its process took, failed attempts included.
    pub seconds: f64,
    /// How often it was started.
    pub attempts: u32,
    /// When it began, in seconds since 1970.
    pub began: f64,
    /// When it ended.
    pub ended: f64,
    /// The trial that it ran for.
    pub maker: Maker,
}

/// An entry of the cache, for lists.
#[derive(Clone, Debug)]
pub struct Listed {
    /// Its name.
    pub id: KeyId,
    /// Where it is.
    pub dir: PathBuf,
    /// What it says, or why it cannot be read.
    pub entry: Result<Entry, String>,
    /// When it was last used, in seconds since 1970.
    pub used: f64,
    /// What it takes on the disk: its files and what is known of them.
    pub bytes: u64,
}

/// What a check of an entry found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every byte is as it was.
    Sound,
    /// It is not, and why.
    Damaged(String),
}

/// Why the cache cannot help.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// A write failed.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// A read failed.
    #[error("cannot read {}: {source}{}", .path.display(), remedy(.source))]
    Read {
        /// What.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// What is known of an output cannot be written.
    #[error("an entry of the cache cannot be written: {problem}")]
    Entry {
        /// Why.
        problem: String,
    },
    /// A stop was asked for while somebody else ran the stage.
    #[error("stopped while waiting for another worker to finish the stage")]
    Stopped,
}

/// Between looks at a stage that somebody else runs: short beside any stage worth caching.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

impl Cache {
    /// The cache in a `.stagetune/` directory, which is made if need be.
    pub fn open(state: &Path, disk: Disk, limit: Option<u64>) -> Result<Self, CacheError> {
        let cache = Self::at(state, disk, limit);
        for folder in ["cache", "tmp", "locks"] {
            cache.disk.make_dir(&state.join(folder))?;
        }
        Ok(cache)
    }

    /// The cache in a `.stagetune/` directory that may not be there: nothing is made, and only looking makes sense.
    pub fn at(state: &Path, disk: Disk, limit: Option<u64>) -> Self {
        Self {
            state: state.to_owned(),
            disk,
            limit,
            checked: Mutex::default(),
            total: Mutex::default(),
            shrinking: Mutex::default(),
            stagings: AtomicU64::new(0),
        }
    }

    /// The output of a stage if it is there and sound; nothing is changed.
    pub fn find(&self, key: &StageKey) -> Result<Option<Hit>, CacheError> {
        Ok(self.look(key, &key.id())?.and_then(Result::ok))
    }

    /// The same, and a note that it was used: among entries of equal worth the one that was not used for longest is evicted first.
    pub fn reuse(&self, key: &StageKey) -> Result<Option<Hit>, CacheError> {
        let found = self.find(key)?;
        if let Some(hit) = &found {
            // A cache that cannot be written need not know.
            let _ = hit.lock.set_modified(SystemTime::now());
        }
        Ok(found)
    }

    /// The output of a stage, or the right to make it. Waits for whoever makes it just now.
    pub fn claim(&self, key: &StageKey, stop: &Stop) -> Result<Claim<'_>, CacheError> {
        let id = key.id();
        if let Some(Ok(hit)) = self.look(key, &id)? {
            return Ok(Claim::Hit(hit));
        }
        let lock_path = self.state.join("locks").join(id.as_str());
        let lock = self.lock(&lock_path, stop)?;
        // Whoever held the lock before may have made it.
        let damaged = match self.look(key, &id)? {
            Some(Ok(hit)) => {
                self.disk.remove_file(&lock_path)?;
                return Ok(Claim::Hit(hit));
            }
            Some(Err(problem)) => {
                // Whoever reads it has not noticed, and is not waiting for us: it ends by itself.
                while !self.remove(&id)? {
                    if stop.is_now() {
                        return Err(CacheError::Stopped);
                    }
                    std::thread::sleep(LOOK_AGAIN);
                }
                Some(problem)
            }
            None => None,
        };
        self.sweep_of(&id)?;
        let number = self.stagings.fetch_add(1, Ordering::Relaxed);
        let dir = self.state.join("tmp").join(format!("{id}.{}-{number}", std::process::id()));
        let staging = Staging { cache: self, key: key.clone(), id, dir, lock_path, damaged, _lock: lock };
        self.disk.make_dir(&staging.out())?;
        Ok(Claim::Mine(Box::new(staging)))
    }

    /// Every entry, by name.
    pub fn list(&self) -> Result<Vec<Listed>, CacheError> {
        let folder = self.state.join("cache");
        let reading = |source| CacheError::Read { path: folder.clone(), source };
        let mut listed = Vec::new();
        if !folder.exists() {
            return Ok(listed);
        }
        for found in fs::read_dir(&folder).map_err(reading)? {
            let found = found.map_err(reading)?;
            let Ok(id) = KeyId::try_from(found.file_name().to_string_lossy().into_owned()) else { continue };
            let dir = found.path();
            let entry = fs::read(dir.join("entry.json")).map_err(|error| error.to_string());
            let entry = entry.and_then(|bytes| read(&bytes));
            let about = fs::metadata(dir.join("entry.json")).ok();
            let used = about.as_ref().map_or(0.0, |about| about.mtime() as f64);
            let bytes = about.map_or(0, |about| about.len()) + entry.as_ref().map_or(0, Entry::bytes);
            listed.push(Listed { id, dir, entry, used, bytes });
        }
        listed.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(listed)
    }

    /// Reads every byte of an entry.
    pub fn verify(&self, listed: &Listed) -> Verdict {
        let checked = match &listed.entry {
            Err(problem) => Err(problem.clone()),
            Ok(entry) if entry.key.id() != listed.id => Err("it holds the output of another key".to_owned()),
            Ok(entry) => entry::compare(&listed.dir.join("out"), &entry.files, None).map(|_| ()),
        };
        match checked {
            Ok(()) => Verdict::Sound,
            Err(problem) => Verdict::Damaged(problem),
        }
    }

    /// Takes an entry away, unless somebody reads it; whether it is gone.
    pub fn remove(&self, id: &KeyId) -> Result<bool, CacheError> {
        let dir = self.dir(id);
        // Held until the entry is out of sight, so that nobody begins to read it in between.
        let entry = File::open(dir.join("entry.json")).ok();
        if entry.as_ref().is_some_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock))) {
            return Ok(false);
        }
        // First out of sight in one step: a half-removed entry is never one.
        let number = self.stagings.fetch_add(1, Ordering::Relaxed);
        let away = self.state.join("tmp").join(format!("{id}.{}-{number}.gone", std::process::id()));
        match self.disk.rename(&dir, &away) {
            // Somebody else was quicker.
            Err(error) if error.source.kind() == io::ErrorKind::NotFound => return Ok(true),
            done => done?,
        }
        if let Ok(mut checked) = self.checked.lock() {
            checked.remove(id);
        }
        self.disk.remove_dir(&away)?;
        Ok(true)
    }

    /// Removes what killed processes left in `tmp/`, as far as it can be removed; how much that was.
    pub fn sweep(&self) -> Result<usize, CacheError> {
        let mut swept = 0;
        for (key, dir) in self.leavings()? {
            let path = self.state.join("locks").join(&key);
            // A stage at work has its lock. It is held here until its file is gone, so that nobody takes it in between.
            let lock = File::open(&path).ok();
            match &lock {
                Some(lock) if lock.try_lock().is_err() || !same_file(lock, &path) => continue,
                Some(_) => self.disk.remove_file(&path)?,
                None => {}
            }
            swept += usize::from(self.disk.remove_dir(&dir).is_ok());
        }
        Ok(swept)
    }

    /// The same of one key, whose lock we hold.
    fn sweep_of(&self, id: &KeyId) -> Result<(), CacheError> {
        for (_, dir) in self.leavings()?.into_iter().filter(|(key, _)| key == id.as_str()) {
            // Directories at work have names of their own: what cannot be removed is not in the way.
            let _ = self.disk.remove_dir(&dir);
        }
        Ok(())
    }

    /// What is in `tmp/`, with the keys that it belongs to.
    fn leavings(&self) -> Result<Vec<(String, PathBuf)>, CacheError> {
        let folder = self.state.join("tmp");
        let reading = |source| CacheError::Read { path: folder.clone(), source };
        let mut found = Vec::new();
        for entry in fs::read_dir(&folder).map_err(reading)? {
            let entry = entry.map_err(reading)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            found.push((name.split('.').next().unwrap_or_default().to_owned(), entry.path()));
        }
        Ok(found)
    }

    pub(super) fn dir(&self, id: &KeyId) -> PathBuf {
        self.state.join("cache").join(id.as_str())
    }

    /// `None` if it is not there, what is wrong with it if it is damaged.
    fn look(&self, key: &StageKey, id: &KeyId) -> Result<Option<Result<Hit, String>>, CacheError> {
        let dir = self.dir(id);
        let path = dir.join("entry.json");
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let remains = dir.exists().then(|| Err("`entry.json` is missing".to_owned()));
                return Ok(remains);
            }
            Err(source) => return Err(CacheError::Read { path, source }),
        };
        match file.try_lock_shared() {
            Ok(()) => {}
            // Somebody takes it away at this moment.
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(source)) => return Err(CacheError::Read { path, source }),
        }
        // What was locked is what is there; otherwise it was taken away and perhaps made anew.
        if !same_file(&file, &path) {
            return Ok(None);
        }
        let mut bytes = Vec::new();
        (&file).read_to_end(&mut bytes).map_err(|source| CacheError::Read { path, source })?;
        let entry = match read(&bytes) {
            Ok(entry) if entry.key == *key => entry,
            Ok(_) => return Ok(Some(Err("it holds the output of another key".to_owned()))),
            Err(problem) => return Ok(Some(Err(problem))),
        };
        let out = dir.join("out");
        let known = self.checked.lock().ok().and_then(|checked| checked.get(id).cloned());
        match entry::compare(&out, &entry.files, known.as_deref()) {
            Ok(stats) => {
                if let Ok(mut checked) = self.checked.lock() {
                    checked.insert(id.clone(), stats);
                }
                Ok(Some(Ok(Hit { entry: Arc::new(entry), out, lock: Arc::new(file) })))
            }
            Err(problem) => Ok(Some(Err(problem))),
        }
    }

    /// Waits for the lock. A lock file that its holder has removed meanwhile is no lock any more.
    fn lock(&self, path: &Path, stop: &Stop) -> Result<File, CacheError> {
        loop {
            let file = self.disk.open_lock(path)?;
            loop {
                match file.try_lock() {
                    Ok(()) => break,
                    Err(TryLockError::WouldBlock) if stop.is_now() => return Err(CacheError::Stopped),
                    Err(TryLockError::WouldBlock) => std::thread::sleep(LOOK_AGAIN),
                    Err(TryLockError::Error(source)) => {
                        return Err(CacheError::Read { path: path.to_owned(), source });
                    }
                }
            }
            if same_file(&file, path) {
                return Ok(file);
            }
        }
    }
}

impl Staging<'_> {
    /// The fresh directory for the stage.
    pub fn out(&self) -> PathBuf {
        self.dir.join("out")
    }

    /// The name of the key.
    pub fn id(&self) -> &KeyId {
        &self.id
    }

    /// Empties the directory for another attempt.
    pub fn again(&self) -> Result<(), CacheError> {
        self.cache.disk.remove_dir(&self.out())?;
        Ok(self.cache.disk.make_dir(&self.out())?)
    }

    /// What the stage has written, or why it cannot be kept.
    pub fn manifest(&self) -> Result<Vec<FileFacts>, String> {
        entry::manifest(&self.out()).map_err(|error| format!("left an output that cannot be kept: {error}"))
    }

    /// Keeps the output: afterwards it is there as a whole, before that not at all.
    pub fn commit(self, files: Vec<FileFacts>, run: Run) -> Result<Hit, CacheError> {
        let Run { cost, seconds, attempts, began, ended, maker } = run;
        let key = self.key.clone();
        let entry = Entry { format: ENTRY_FORMAT, key, files, cost, seconds, attempts, began, ended, maker };
        let broken = |error: serde_json::Error| CacheError::Entry { problem: error.to_string() };
        let text = serde_json::to_vec(&entry).map_err(broken)?;
        let (disk, path) = (&self.cache.disk, self.dir.join("entry.json"));
        disk.write(&path, &text)?;
        let file = File::open(&path).map_err(|source| CacheError::Read { path, source })?;
        // Held from before it can be seen; nobody else can have locked it yet.
        let _ = file.try_lock_shared();
        let stats = entry::stats(&self.out());
        let place = self.cache.dir(&self.id);
        disk.rename(&self.dir, &place)?;
        if let (Some(stats), Ok(mut checked)) = (stats, self.cache.checked.lock()) {
            checked.insert(self.id.clone(), stats);
        }
        let hit = Hit { entry: Arc::new(entry), out: place.join("out"), lock: Arc::new(file) };
        // A cache that stays too large is no reason to lose what was just made.
        let _ = self.cache.make_room(hit.entry.bytes() + text.len() as u64);
        Ok(hit)
    }
}

impl Drop for Staging<'_> {
    fn drop(&mut self) {
        // Whatever remains is swept by the next claim of this key or the next start.
        let _ = self.cache.disk.remove_dir(&self.dir);
        let _ = self.cache.disk.remove_file(&self.lock_path);
    }
}

/// Whether an open file is still the one at a path.
fn same_file(file: &File, path: &Path) -> bool {
    let at = |metadata: io::Result<fs::Metadata>| metadata.map(|m| (m.dev(), m.ino())).ok();
    at(file.metadata()).is_some_and(|mine| at(fs::metadata(path)) == Some(mine))
}

fn read(bytes: &[u8]) -> Result<Entry, String> {
    let entry: Entry =
        serde_json::from_slice(bytes).map_err(|error| format!("`entry.json` cannot be read: {error}"))?;
    if entry.format > ENTRY_FORMAT {
        return Err(format!("`entry.json` has format {}, newer than this stagetune knows", entry.format));
    }
    Ok(entry)
}
