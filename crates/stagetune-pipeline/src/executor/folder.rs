//! The directory of an attempt: made for one attempt, locked while it runs, swept by the host that made it.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::left;
use super::{NoIdea, Refused, Sight, Token};
use crate::disk::{Disk, DiskError, remedy};
use crate::host;
use crate::regular;

/// A directory for an attempt that starts.
pub(super) enum Prepared {
    /// It is ours, with an empty `out`, for as long as the lock is held.
    Fresh(File),
    /// The attempt runs or has ended.
    Taken,
}

/// What a sweep of attempts did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SweptAttempts {
    /// Attempts of this host that were removed.
    pub removed: usize,
    /// Attempts of this host that still run.
    pub running: usize,
    /// Attempts of other hosts, or of nobody we know: left as they are.
    pub others: usize,
}

/// Makes the directory of an attempt, unless somebody has it.
pub(super) fn prepare(dir: &Path, disk: &Disk) -> Result<Prepared, Refused> {
    disk.make_dir(dir)?;
    let lock = disk.open_lock(&dir.join("began"))?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(Prepared::Taken),
        Err(TryLockError::Error(source)) => {
            return Err(Refused::World { doing: format!("lock {}", dir.join("began").display()), source });
        }
    }
    // Under the lock: whoever had it before has left the end.
    if dir.join("ended.json").exists() {
        return Ok(Prepared::Taken);
    }
    let text = format!("host {}\nowner {}\n", host::name(), std::process::id());
    let written = disk.permit().and_then(|()| {
        lock.set_len(0)?;
        (&lock).write_all(text.as_bytes())
    });
    written.map_err(|source| Refused::World {
        doing: format!("write {}", dir.join("began").display()),
        source,
    })?;
    super::ended::keep_room(dir, disk)?;
    // What an attempt left that was lost is nobody's output.
    disk.remove_dir(&dir.join("out"))?;
    disk.make_new_dir(&dir.join("out"))?;
    Ok(Prepared::Fresh(lock))
}

/// What can be seen of an attempt that this process did not start.
pub(super) fn probe(dir: &Path) -> Result<Sight, NoIdea> {
    let path = dir.join("began");
    let file = match regular::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Sight::Gone),
        Err(source) => return Err(NoIdea::Look { path, source }),
    };
    match file.try_lock_shared() {
        Ok(()) => Ok(Sight::Gone),
        Err(TryLockError::WouldBlock) => Ok(Sight::Running),
        Err(TryLockError::Error(source)) => Err(NoIdea::Look { path, source }),
    }
}

/// A line of `began`, by its first word.
pub(super) fn said(dir: &Path, what: &str) -> Option<String> {
    let text = String::from_utf8(regular::read(&dir.join("began")).ok()?).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(what)?.strip_prefix(' '));
    line.map(str::to_owned)
}

/// Why attempts cannot be swept.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The folder cannot be read.
    #[error("cannot read {}: {source}{}", .path.display(), remedy(.source))]
    Read {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// An attempt cannot be removed.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// Removes the attempts of a study and this host that nobody needs and that do not run; `keep` are
/// those that are needed.
///
/// Those of other studies are left alone: what has ended may not be read yet.
pub fn sweep(
    attempts: &Path,
    study: &str,
    keep: &BTreeSet<Token>,
    disk: &Disk,
) -> Result<SweptAttempts, SweepError> {
    let reading = |source| SweepError::Read { path: attempts.to_owned(), source };
    let mut swept = SweptAttempts::default();
    if !attempts.exists() {
        return Ok(swept);
    }
    for entry in fs::read_dir(attempts).map_err(reading)? {
        let entry = entry.map_err(reading)?;
        let dir = entry.path();
        let token = Token::try_from(entry.file_name().to_string_lossy().into_owned());
        let is_ours = token.as_ref().is_ok_and(|token| token.is_of(study));
        // Whoever makes or removes one was killed in the middle of it.
        if is_ours && is_stump(&dir) {
            disk.remove_dir(&dir)?;
            swept.removed += 1;
            continue;
        }
        // What is needed of an attempt is its end: one that was lost has none, and may fill the disk.
        let has_end = dir.join("ended.json").exists();
        if has_end && token.as_ref().is_ok_and(|token| keep.contains(token)) {
            continue;
        }
        if !is_ours || said(&dir, "host").as_deref() != Some(host::name()) {
            swept.others += 1;
            continue;
        }
        // Held until it is gone, so that nobody starts it in between.
        let lock = regular::open(&dir.join("began")).map_err(reading)?;
        if lock.try_lock().is_err() {
            swept.running += 1;
            continue;
        }
        left::end(&dir);
        disk.remove_dir(&dir)?;
        swept.removed += 1;
    }
    Ok(swept)
}

/// Whether nothing says who made a directory, and nobody has touched it for so long that nobody is about to.
fn is_stump(dir: &Path) -> bool {
    let since = || fs::metadata(dir).ok()?.modified().ok()?.elapsed().ok();
    !dir.join("began").exists() && since().is_some_and(|since| since > STUMP)
}

/// How long a directory of an attempt may be without a word on who made it: that is written at once.
const STUMP: Duration = Duration::from_secs(600);
