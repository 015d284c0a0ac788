//! Finding, claiming, keeping and checking outputs.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::entry::{self, ENTRY_FORMAT, Entry, Maker};
use super::hash::Stat;
use super::key::{KeyId, StageKey};
use crate::disk::{Disk, DiskError, remedy};
use crate::stop::Stop;

/// The outputs of one `.lambo/` directory; several threads and processes may share it.
#[derive(Debug)]
pub struct Cache {
    state: PathBuf,
    disk: Disk,
    pub(super) limit: Option<u64>,
    /// Entries whose content was checked by this process, with what their files looked like then.
    checked: Mutex<BTreeMap<KeyId, Vec<Stat>>>,
    /// What the entries hold together, counted at the first commit under a limit.
    pub(super) total: Mutex<Option<u64>>,
    stagings: AtomicU64,
}

/// An output that is there; while it is held, nobody evicts it.
#[derive(Clone, Debug)]
pub struct Hit {
    /// What is known of it.
    pub entry: Arc<Entry>,
    /// The directory that the stage wrote into.
    pub out: PathBuf,
    _lock: Arc<File>,
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
    /// What a stage wrote cannot be kept.
    #[error("the output of stage `{stage}` cannot be kept: {problem}")]
    Output {
        /// The stage.
        stage: String,
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
    /// The cache in a `.lambo/` directory, which is made if need be.
    pub fn open(state: &Path, disk: Disk, limit: Option<u64>) -> Result<Self, CacheError> {
        let cache = Self::at(state, disk, limit);
        for folder in ["cache", "tmp", "locks"] {
            cache.disk.make_dir(&state.join(folder))?;
        }
        Ok(cache)
    }

    /// The cache in a `.lambo/` directory that may not be there: nothing is made, and only looking makes sense.
    pub fn at(state: &Path, disk: Disk, limit: Option<u64>) -> Self {
        Self {
            state: state.to_owned(),
            disk,
            limit,
            checked: Mutex::default(),
            total: Mutex::default(),
            stagings: AtomicU64::new(0),
        }
    }

    /// The output of a stage if it is there and sound; nothing is changed.
    pub fn find(&self, key: &StageKey) -> Result<Option<Hit>, CacheError> {
        Ok(self.look(key, &key.id())?.and_then(Result::ok))
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
                self.remove(&id)?;
                Some(problem)
            }
            None => None,
        };
        self.sweep(Some(&id))?;
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
            let used = fs::metadata(dir.join("entry.json")).map_or(0.0, |m| m.mtime() as f64);
            listed.push(Listed { id, dir, entry, used });
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
        if let Ok(file) = File::open(dir.join("entry.json"))
            && matches!(file.try_lock(), Err(TryLockError::WouldBlock))
        {
            return Ok(false);
        }
        if !dir.exists() {
            return Ok(true);
        }
        // First out of sight in one step: a half-removed entry is never one.
        let number = self.stagings.fetch_add(1, Ordering::Relaxed);
        let away = self.state.join("tmp").join(format!("{id}.{}-{number}.gone", std::process::id()));
        self.disk.rename(&dir, &away)?;
        self.disk.remove_dir(&away)?;
        if let Ok(mut checked) = self.checked.lock() {
            checked.remove(id);
        }
        Ok(true)
    }

    /// Removes what killed processes left in `tmp/`: of one key whose lock is held, or of all whose locks are free.
    pub fn sweep(&self, held: Option<&KeyId>) -> Result<usize, CacheError> {
        let folder = self.state.join("tmp");
        let reading = |source| CacheError::Read { path: folder.clone(), source };
        let mut swept = 0;
        for found in fs::read_dir(&folder).map_err(reading)? {
            let found = found.map_err(reading)?;
            let name = found.file_name().to_string_lossy().into_owned();
            let key = name.split('.').next().unwrap_or_default();
            match held {
                Some(id) if id.as_str() == key => {}
                Some(_) => continue,
                None => {
                    let lock = self.state.join("locks").join(key);
                    // Held until the lock file is gone, so that nobody takes it in between.
                    let held = File::open(&lock).ok();
                    let taken = |file: &File| matches!(file.try_lock(), Err(TryLockError::WouldBlock));
                    if held.as_ref().is_some_and(taken) {
                        continue;
                    }
                    self.disk.remove_file(&lock)?;
                }
            }
            self.disk.remove_dir(&found.path())?;
            swept += 1;
        }
        Ok(swept)
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
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(CacheError::Read { path, source }),
        };
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
                // When an entry was last used decides between equals; a read-only cache need not know.
                let _ = file.set_modified(std::time::SystemTime::now());
                Ok(Some(Ok(Hit { entry: Arc::new(entry), out, _lock: Arc::new(file) })))
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
            let mine = file.metadata().map(|metadata| metadata.ino());
            let there = fs::metadata(path).map(|metadata| metadata.ino());
            if let (Ok(mine), Ok(there)) = (mine, there)
                && mine == there
            {
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

    /// Keeps the output: afterwards it is there as a whole, before that not at all.
    pub fn commit(
        self,
        maker: Maker,
        cost: f64,
        seconds: f64,
        attempts: u32,
        times: (f64, f64),
    ) -> Result<Hit, CacheError> {
        let broken = |error: io::Error| CacheError::Output {
            stage: self.key.stage.clone(),
            problem: error.to_string(),
        };
        let files = entry::manifest(&self.out()).map_err(broken)?;
        let (key, (began, ended)) = (self.key.clone(), times);
        let entry = Entry { format: ENTRY_FORMAT, key, files, cost, seconds, attempts, began, ended, maker };
        let text = serde_json::to_vec(&entry).map_err(|error| CacheError::Output {
            stage: self.key.stage.clone(),
            problem: error.to_string(),
        })?;
        let (disk, path) = (&self.cache.disk, self.dir.join("entry.json"));
        disk.write(&path, &text)?;
        let file = File::open(&path).map_err(|source| CacheError::Read { path, source })?;
        // Held from before it can be seen; nobody else can have locked it yet.
        let _ = file.try_lock_shared();
        let stats = entry::compare_stats(&self.out());
        let place = self.cache.dir(&self.id);
        disk.rename(&self.dir, &place)?;
        if let (Some(stats), Ok(mut checked)) = (stats, self.cache.checked.lock()) {
            checked.insert(self.id.clone(), stats);
        }
        let hit = Hit { entry: Arc::new(entry), out: place.join("out"), _lock: Arc::new(file) };
        self.cache.make_room(hit.entry.bytes())?;
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

fn read(bytes: &[u8]) -> Result<Entry, String> {
    let entry: Entry =
        serde_json::from_slice(bytes).map_err(|error| format!("`entry.json` cannot be read: {error}"))?;
    if entry.format > ENTRY_FORMAT {
        return Err(format!("`entry.json` has format {}, newer than this lambo knows", entry.format));
    }
    Ok(entry)
}
