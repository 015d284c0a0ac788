//! Every change that this crate makes to the file system, in one place, so that a test can make any
//! of them fail.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::io::Errno;

use crate::filesystem::{self, Filesystem};
use crate::regular;

/// Writes files; one that [`Disk::failing_at`] made refuses one of its writes, and all after it.
#[derive(Clone, Debug, Default)]
pub struct Disk {
    fault: Option<Arc<Fault>>,
    /// What every path is said to be on; without it the system is asked.
    filesystem: Option<Filesystem>,
}

#[derive(Debug)]
struct Fault {
    /// Writes so far.
    writes: AtomicU64,
    /// The first that fails.
    at: u64,
    how: Failing,
}

/// What becomes of a write that fails.
#[derive(Clone, Copy, Debug)]
enum Failing {
    /// An error, and so does every one after it.
    With(io::ErrorKind),
    /// An error, and those after it succeed.
    Once(io::ErrorKind),
    /// The process is killed there and then, as by `kill -9`.
    Killed,
}

/// A disk with less room than this is full: programs write in pieces of up to a megabyte, and the
/// first piece that does not fit leaves less than that.
const FULL: u64 = 1024 * 1024;

/// A change that could not be made.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} {}: {source}{}", .path.display(), remedy(.source))]
pub struct DiskError {
    /// What was tried.
    pub doing: &'static str,
    /// With which file or directory.
    pub path: PathBuf,
    /// Why it failed.
    pub source: io::Error,
}

impl Disk {
    /// A disk on which write number `at`, from 1, and all after it fail with an error of this kind.
    pub fn failing_at(at: u64, kind: io::ErrorKind) -> Self {
        Self::faulty(at, Failing::With(kind))
    }

    /// A disk on which write number `at`, from 1, fails with an error of this kind, and no other does.
    pub fn failing_once_at(at: u64, kind: io::ErrorKind) -> Self {
        Self::faulty(at, Failing::Once(kind))
    }

    /// A disk on which this process is killed, as by `kill -9`, just before write number `at`, from 1.
    pub fn killing_at(at: u64) -> Self {
        Self::faulty(at, Failing::Killed)
    }

    fn faulty(at: u64, how: Failing) -> Self {
        Self { fault: Some(Arc::new(Fault { writes: AtomicU64::new(0), at, how })), filesystem: None }
    }

    /// A disk that says of every path that it is on this file system.
    pub fn on(filesystem: Filesystem) -> Self {
        Self { fault: None, filesystem: Some(filesystem) }
    }

    /// The file system of a file or directory that exists.
    pub fn filesystem(&self, path: &Path) -> io::Result<Filesystem> {
        match &self.filesystem {
            Some(filesystem) => Ok(filesystem.clone()),
            None => filesystem::detect(path),
        }
    }

    /// Whether there is no room left where a directory is.
    pub fn is_full(&self, path: &Path) -> bool {
        let Ok(found) = rustix::fs::statvfs(path) else { return false };
        // Some file systems do not count files and say 0 of 0.
        let no_files = found.f_files > 0 && found.f_favail == 0;
        no_files || found.f_bavail.saturating_mul(found.f_frsize) < FULL
    }

    /// Whether a write was refused.
    pub fn has_failed(&self) -> bool {
        self.fault.as_ref().is_some_and(|fault| fault.writes.load(Ordering::SeqCst) >= fault.at)
    }

    /// Stands before every write, also before those that a database makes itself.
    pub fn permit(&self) -> io::Result<()> {
        match &self.fault {
            Some(fault) => fault.permit(fault.writes.fetch_add(1, Ordering::SeqCst) + 1),
            None => Ok(()),
        }
    }

    /// Makes a directory and those above it.
    pub fn make_dir(&self, path: &Path) -> Result<(), DiskError> {
        if path.is_dir() {
            return Ok(());
        }
        self.change("make the directory", path, || {
            fs::create_dir_all(path).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => in_the_way(path),
                _ => error,
            })
        })
    }

    /// Makes a directory that must not be there yet; the one above it must.
    pub fn make_new_dir(&self, path: &Path) -> Result<(), DiskError> {
        self.change("make the directory", path, || fs::create_dir(path))
    }

    /// Writes a whole file anew.
    pub fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), DiskError> {
        self.change("write", path, || fs::write(path, bytes))
    }

    /// Writes a whole file so that readers see the old content or the new one.
    pub fn replace(&self, path: &Path, bytes: &[u8]) -> Result<(), DiskError> {
        let beside = path.with_extension("new");
        self.write(&beside, bytes)?;
        self.rename(&beside, path)
    }

    /// Writes over the beginning of a file and cuts it there: room that the file has already is enough.
    pub fn overwrite(&self, path: &Path, bytes: &[u8]) -> Result<(), DiskError> {
        self.change("write", path, || {
            let mut file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
            let (before, now) = (file.metadata()?.len(), bytes.len() as u64);
            file.write_all(bytes)?;
            // A change of the length, even to the same one, makes the next sync of any file slower.
            if before > now { file.set_len(now) } else { Ok(()) }
        })
    }

    /// Writes behind the first `length` bytes of a file, and cuts away what stood there; it is made
    /// if it is not there.
    pub fn append(&self, path: &Path, length: u64, bytes: &[u8]) -> Result<(), DiskError> {
        self.change("write", path, || {
            let mut file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
            file.set_len(length)?;
            file.seek(SeekFrom::End(0))?;
            file.write_all(bytes)
        })
    }

    /// Writes a file that is not there yet; on the disk itself before this returns, if it is to be synced.
    pub fn write_new(&self, path: &Path, bytes: &[u8], synced: bool) -> Result<(), DiskError> {
        self.change("write", path, || {
            let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
            file.write_all(bytes)?;
            if synced { file.sync_all() } else { Ok(()) }
        })
    }

    /// Gives a file a second name; refused if that name is taken.
    pub fn link(&self, from: &Path, to: &Path) -> Result<(), DiskError> {
        self.change("link a finished file to", to, || fs::hard_link(from, to))
    }

    /// Makes the names in a directory survive a power cut.
    pub fn sync_dir(&self, path: &Path) -> Result<(), DiskError> {
        self.change("sync the directory", path, || match File::open(path)?.sync_all() {
            // Some network file systems cannot, and need not.
            Err(error)
                if matches!(error.kind(), io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported) =>
            {
                Ok(())
            }
            done => done,
        })
    }

    /// Makes a file to write to, empty.
    pub fn create(&self, path: &Path) -> Result<File, DiskError> {
        self.change("write", path, || File::create(path))
    }

    /// Opens a file to lock it; it is made if it is not there.
    pub fn open_lock(&self, path: &Path) -> Result<File, DiskError> {
        self.change("open the lock", path, || {
            let file = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path)?;
            regular::check(&file)?;
            Ok(file)
        })
    }

    /// Copies a file with its mode; on file systems that can, both share their content until one is
    /// written to.
    pub fn copy(&self, from: &Path, to: &Path) -> Result<(), DiskError> {
        self.change("copy a file to", to, || fs::copy(from, to).map(drop))
    }

    /// Makes a symbolic link at `at`.
    pub fn symlink(&self, to: &Path, at: &Path) -> Result<(), DiskError> {
        self.change("make the link", at, || std::os::unix::fs::symlink(to, at))
    }

    /// Gives a file or directory other rights.
    pub fn set_mode(&self, path: &Path, mode: u32) -> Result<(), DiskError> {
        self.change("set the rights of", path, || fs::set_permissions(path, fs::Permissions::from_mode(mode)))
    }

    /// Moves a file or directory.
    pub fn rename(&self, from: &Path, to: &Path) -> Result<(), DiskError> {
        self.change("move a finished file to", to, || fs::rename(from, to))
    }

    /// Removes a file; one that is not there is fine.
    pub fn remove_file(&self, path: &Path) -> Result<(), DiskError> {
        self.change("remove", path, || gone(fs::remove_file(path)))
    }

    /// Removes a directory with all that is in it; one that is not there is fine.
    pub fn remove_dir(&self, path: &Path) -> Result<(), DiskError> {
        if fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return Ok(());
        }
        self.change("remove", path, || match gone(fs::remove_dir_all(path)) {
            // A stage may leave directories that even their owner may not change.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                open_up(path)?;
                gone(fs::remove_dir_all(path))
            }
            done => done,
        })
    }

    fn change<T>(
        &self,
        doing: &'static str,
        path: &Path,
        work: impl FnOnce() -> io::Result<T>,
    ) -> Result<T, DiskError> {
        let done = self.permit().and_then(|()| work());
        done.map_err(|source| DiskError { doing, path: path.to_owned(), source })
    }
}

impl Fault {
    /// What becomes of write number `write`.
    fn permit(&self, write: u64) -> io::Result<()> {
        match self.how {
            Failing::With(kind) if write >= self.at => Err(io::Error::new(kind, "injected")),
            Failing::Once(kind) if write == self.at => Err(io::Error::new(kind, "injected")),
            Failing::Killed if write >= self.at => {
                let this = rustix::process::getpid();
                let _ = rustix::process::kill_process(this, rustix::process::Signal::KILL);
                Err(io::Error::other("killed"))
            }
            Failing::With(_) | Failing::Once(_) | Failing::Killed => Ok(()),
        }
    }
}

/// What stands where a directory is to be.
fn in_the_way(path: &Path) -> io::Error {
    let what = match fs::read_link(path) {
        Ok(to) => format!(
            "it is a link to {}, which is not there; is a disk not mounted? Mount it, or remove the link",
            to.display()
        ),
        Err(_) => "something that is no directory is in its place; move that away".to_owned(),
    };
    io::Error::new(io::ErrorKind::AlreadyExists, what)
}

/// Gives back to the owner the right to change a directory and those below it.
fn open_up(path: &Path) -> io::Result<()> {
    if !fs::symlink_metadata(path)?.is_dir() {
        return Ok(());
    }
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
    fs::read_dir(path)?.try_for_each(|entry| open_up(&entry?.path()))
}

fn gone(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// What to do about the errors that people meet.
pub(crate) fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; free some space (`stagetune cache gc` shows what the cache holds) and run the same \
                command again: nothing told is lost"
        }
        io::ErrorKind::FileTooLarge => {
            "; raise the limit on file sizes (`ulimit -f`) and run the same command again: nothing \
                told is lost"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; make the study's directory writable for you and run the same command again"
        }
        _ if [Errno::MFILE, Errno::NFILE]
            .iter()
            .any(|full| error.raw_os_error() == Some(full.raw_os_error())) =>
        {
            "; raise the limit on open files (`ulimit -n`) or run with fewer workers: nothing told is lost"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_faulty_disk_refuses_the_write_it_was_told_to_and_those_after_it() {
        let dir = tempfile::tempdir().unwrap();
        let disk = Disk::failing_at(2, io::ErrorKind::StorageFull);
        disk.write(&dir.path().join("a"), b"1").unwrap();
        let error = disk.write(&dir.path().join("b"), b"2").unwrap_err();
        assert!(error.to_string().contains("free some space"), "{error}");
        assert!(disk.has_failed());
        assert!(disk.remove_file(&dir.path().join("a")).is_err());
        assert!(dir.path().join("a").exists() && !dir.path().join("b").exists());
    }

    #[test]
    fn a_disk_that_fails_once_refuses_one_write_and_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let disk = Disk::failing_once_at(2, io::ErrorKind::StorageFull);
        let wrote = ["a", "b", "c"].map(|name| disk.write(&dir.path().join(name), b"1").is_ok());
        assert_eq!(wrote, [true, false, true]);
        assert!(disk.has_failed());
    }

    #[test]
    fn a_replaced_file_is_never_half_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("live.json");
        Disk::default().replace(&path, b"old").unwrap();
        for at in 1..=2 {
            assert!(Disk::failing_at(at, io::ErrorKind::Other).replace(&path, b"new").is_err());
            assert_eq!(fs::read(&path).unwrap(), b"old");
        }
        Disk::default().replace(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }
}
