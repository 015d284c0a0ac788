//! The log of an attempt: the command writes into the file itself, and of a long log only the
//! beginning and the end are kept.
//!
//! Nothing is copied while a command runs. Its log is looked at from time to time; where it has
//! outgrown its limit, the system takes back what the middle occupies (Linux; a log that is written
//! faster than it is looked at may be larger for a moment). When the command has ended, a log above
//! the limit is written anew without its middle.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::disk::{Disk, DiskError};
use crate::regular;

/// The most bytes that are kept of what one attempt says: half at its beginning, half at its end.
pub const LOG_LIMIT: u64 = 64_000_000;

/// Less than this is not worth a call.
const STEP: u64 = 1_000_000;

/// A log that a command writes to.
#[derive(Debug)]
pub(super) struct CappedLog {
    path: PathBuf,
    file: File,
    limit: u64,
    /// Up to here the middle occupies nothing.
    freed: u64,
}

impl CappedLog {
    /// Makes the file, empty.
    pub(super) fn create(path: &Path, disk: &Disk) -> Result<Self, DiskError> {
        Self::with_limit(path, disk, LOG_LIMIT)
    }

    fn with_limit(path: &Path, disk: &Disk, limit: u64) -> Result<Self, DiskError> {
        let file = create(path, disk)?;
        // Whoever opens the log again and shortens it leaves no gap before what the others write.
        let append = rustix::fs::fcntl_setfl(&file, OFlags::APPEND);
        append.map_err(|error| DiskError {
            doing: "append to",
            path: path.to_owned(),
            source: error.into(),
        })?;
        Ok(Self { path: path.to_owned(), file, limit, freed: 0 })
    }

    /// For the command's output and its errors.
    pub(super) fn writers(&self) -> io::Result<(File, File)> {
        Ok((self.file.try_clone()?, self.file.try_clone()?))
    }

    /// Gives back what the middle occupies, if the log has outgrown its limit.
    pub(super) fn look(&mut self) {
        let Ok(length) = self.file.metadata().map(|found| found.len()) else { return };
        let from = self.freed.min(length).max(self.limit / 2);
        let to = length.saturating_sub(self.limit / 2);
        if to >= from.saturating_add(STEP) && free(&self.file, from, to - from).is_ok() {
            self.freed = to;
        }
    }

    /// Removes an empty log, and writes one above the limit anew without its middle. Where that
    /// fails, it stays as it is: words are not worth a result.
    pub(super) fn close(self, disk: &Disk) {
        let Ok(length) = self.file.metadata().map(|found| found.len()) else { return };
        if length == 0 {
            let _ = disk.remove_file(&self.path);
        }
        if length > self.limit {
            let beside = self.path.with_extension("new");
            if self.shorten(&beside, disk).is_err() {
                let _ = disk.remove_file(&beside);
            }
        }
    }

    fn shorten(&self, beside: &Path, disk: &Disk) -> io::Result<()> {
        let half = self.limit / 2;
        let mut whole = regular::open(&self.path)?;
        let left_out = whole.metadata()?.len().saturating_sub(2 * half);
        let mut short = create(beside, disk).map_err(|error| error.source)?;
        io::copy(&mut (&whole).take(half), &mut short)?;
        let note = format!(
            "\n[stagetune leaves out {left_out} bytes here: of a log the first and the last {half} \
                bytes are kept]\n"
        );
        short.write_all(note.as_bytes())?;
        whole.seek(SeekFrom::Start(half + left_out))?;
        io::copy(&mut (&whole).take(half), &mut short)?;
        disk.rename(beside, &self.path).map_err(|error| error.source)
    }
}

/// Makes a file to write to, empty. A pipe in its place is refused: it would be waited for without end.
pub(super) fn create(path: &Path, disk: &Disk) -> Result<File, DiskError> {
    let open = || {
        // For files it means nothing.
        let without_waiting = OFlags::NONBLOCK.bits().cast_signed();
        let mut options = File::options();
        options.write(true).create(true).truncate(true).custom_flags(without_waiting);
        let file = options.open(path).map_err(|error| regular::open(path).err().unwrap_or(error))?;
        regular::check(&file)?;
        Ok(file)
    };
    let created = disk.permit().and_then(|()| open());
    created.map_err(|source| DiskError { doing: "write", path: path.to_owned(), source })
}

/// Makes a part of a file occupy nothing; it reads as zeros.
#[cfg(target_os = "linux")]
fn free(file: &File, from: u64, length: u64) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, fallocate};
    let how = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    Ok(fallocate(file, how, from, length)?)
}

/// Other systems have no such call that is safe to make; there a log is shortened when its command
/// has ended.
#[cfg(not(target_os = "linux"))]
fn free(_: &File, _: u64, _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn a_log_within_its_limit_is_left_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("1.log");
        let mut log = CappedLog::with_limit(&path, &Disk::default(), 100).unwrap();
        log.writers().unwrap().0.write_all(&[b'x'; 100]).unwrap();
        log.look();
        let before = fs::metadata(&path).unwrap().ino();
        log.close(&Disk::default());
        assert_eq!((fs::read(&path).unwrap().len(), fs::metadata(&path).unwrap().ino()), (100, before));
    }

    #[test]
    fn of_a_long_log_the_beginning_and_the_end_are_kept_and_the_gap_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("1.log");
        let log = CappedLog::with_limit(&path, &Disk::default(), 10).unwrap();
        let (mut out, mut err) = log.writers().unwrap();
        out.write_all(b"begin").unwrap();
        err.write_all(&[b'x'; 1000]).unwrap();
        out.write_all(b"ended").unwrap();
        log.close(&Disk::default());
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("begin\n[stagetune leaves out 1000 bytes here"), "{text}");
        assert!(text.ends_with("]\nended"), "{text}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_middle_of_a_long_log_occupies_nothing_while_it_is_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("1.log");
        let limit = 2_000_000;
        let mut log = CappedLog::with_limit(&path, &Disk::default(), limit).unwrap();
        let mut out = log.writers().unwrap().0;
        out.write_all(b"begin").unwrap();
        for _ in 0..20 {
            out.write_all(&[b'x'; 1_000_000]).unwrap();
            log.look();
        }
        out.write_all(b"ended").unwrap();
        let occupied = fs::metadata(&path).unwrap().blocks() * 512;
        assert!(occupied <= limit + 2 * STEP, "{occupied}");
        log.close(&Disk::default());
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("beginx") && text.ends_with("xended") && !text.contains('\0'));
        assert!((text.len() as u64) < limit + 200, "{}", text.len());
    }

    #[test]
    fn a_pipe_in_the_place_of_a_log_is_refused_and_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("1.log");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let error = CappedLog::create(&path, &Disk::default()).unwrap_err();
        assert!(error.to_string().contains("move it away"), "{error}");
        // Also where somebody reads from it.
        let flags = OFlags::NONBLOCK.bits().cast_signed();
        let _reader = File::options().read(true).custom_flags(flags).open(&path).unwrap();
        let error = CappedLog::create(&path, &Disk::default()).unwrap_err();
        assert!(error.to_string().contains("move it away"), "{error}");
    }

    #[test]
    fn a_disk_that_refuses_leaves_the_log_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("1.log");
        let log = CappedLog::with_limit(&path, &Disk::default(), 10).unwrap();
        log.writers().unwrap().0.write_all(&[b'x'; 100]).unwrap();
        log.close(&Disk::failing_at(2, io::ErrorKind::StorageFull));
        assert_eq!(fs::read(&path).unwrap().len(), 100);
    }
}
