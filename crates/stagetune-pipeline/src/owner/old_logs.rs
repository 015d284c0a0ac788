//! Small logs of long ago are kept in one file, so that a long study leaves few files.
//!
//! ```text
//! .stagetune/logs/<study>/0012-train.log   the latest ones, those of stages that run, and large ones
//! .stagetune/logs/<study>/older.txt        all others, each below a line with its name and its length
//! ```
//!
//! A log is removed when `older.txt` has it. A process that is killed in between leaves it in both.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use super::open::Context;
use crate::disk::{Disk, DiskError};
use crate::regular;

/// The file of older logs.
const OLDER: &str = "older.txt";

/// A longer log stays a file of its own.
const MOST_BYTES: u64 = 64 * 1024;

/// When there are more logs than this, the older ones are collected.
const MANY: usize = 200;

/// So many of the latest logs stay as they are.
const FEW: usize = 100;

/// The logs of a study, as far as this process has counted them.
#[derive(Debug, Default)]
pub(super) struct OldLogs {
    counted: Mutex<Counted>,
}

#[derive(Debug, Default)]
struct Counted {
    /// How many there are; counted at the first call.
    files: Option<usize>,
    /// With more than this, the older ones are collected.
    next: usize,
    /// The length of `older.txt` as this process left it.
    length: Option<u64>,
}

/// A log that may be collected.
struct Log {
    path: PathBuf,
    name: String,
    bytes: u64,
    written: SystemTime,
}

impl OldLogs {
    /// Counts a log that was just written in `dir`; where there are many, the older ones are
    /// collected. The beginnings of the names of logs that are still written to come from `in_use`.
    pub(super) fn count(
        &self,
        dir: &Path,
        in_use: impl FnOnce() -> Vec<String>,
        disk: &Disk,
    ) -> Result<(), DiskError> {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let files = match counted.files {
            Some(files) => files + 1,
            None => logs(dir).len(),
        };
        counted.files = Some(files);
        if files <= counted.next.max(MANY) {
            return Ok(());
        }
        let all = logs(dir);
        // After the list was made: a log that is begun from now on is not on it.
        let in_use = in_use();
        let left = counted.collect(dir, all, &in_use, disk);
        // Where they cannot be collected, the next time is when there are as many new ones.
        let files = *left.as_ref().unwrap_or(&files);
        (counted.files, counted.next) = (Some(files), files + MANY - FEW);
        left.map(|_| ())
    }
}

impl Context<'_> {
    /// Counts the log of a stage that has just ended.
    pub(super) fn count_log(&self) {
        // The logs of stages that have not reported are still written to.
        let in_use = || self.launched().keys().map(|(trial, stage)| log_name(*trial, stage)).collect();
        let logs = self.state.logs(&self.pipeline.study.name);
        // Too many files are no reason to lose what was just made.
        let _ = self.old_logs.count(&logs, in_use, &self.options.disk);
    }

    /// Where the words of an attempt go.
    pub(super) fn log_path(&self, trial: u64, stage: &str, attempt: u32) -> PathBuf {
        let again = if attempt > 1 { format!(".{attempt}") } else { String::new() };
        let name = format!("{}{again}.log", log_name(trial, stage));
        self.state.logs(&self.pipeline.study.name).join(name)
    }
}

impl Counted {
    /// Collects all but the latest; how many are left.
    fn collect(
        &mut self,
        dir: &Path,
        mut all: Vec<Log>,
        in_use: &[String],
        disk: &Disk,
    ) -> Result<usize, DiskError> {
        all.sort_by(|a, b| b.written.cmp(&a.written).then_with(|| b.name.cmp(&a.name)));
        let is_idle = |log: &Log| !in_use.iter().any(|name| log.name.starts_with(name));
        let old: Vec<&Log> =
            all.iter().skip(FEW).filter(|log| log.bytes <= MOST_BYTES && is_idle(log)).collect();
        let (mut text, mut taken) = (Vec::new(), Vec::new());
        for log in old {
            // One that cannot be read stays where it is.
            let Ok(content) = regular::read(&log.path) else { continue };
            text.extend(format!("==== {}, {} bytes ====\n", log.name, content.len()).into_bytes());
            text.extend(content);
            text.push(b'\n');
            taken.push(&log.path);
        }
        let older = dir.join(OLDER);
        let length = match self.length {
            Some(length) => length,
            None => whole_length(&older),
        };
        self.length = None;
        disk.append(&older, length, &text)?;
        self.length = Some(length + text.len() as u64);
        let mut left = all.len() - taken.len();
        for path in taken {
            // What cannot be removed is in both, and counts.
            left += usize::from(disk.remove_file(path).is_err());
        }
        Ok(left)
    }
}

/// How the names of a stage's logs begin.
fn log_name(trial: u64, stage: &str) -> String {
    format!("{trial:04}-{stage}")
}

/// The logs that are files of their own; none where they cannot be listed.
fn logs(dir: &Path) -> Vec<Log> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let log = |entry: fs::DirEntry| {
        let name = entry.file_name().into_string().ok().filter(|name| name.ends_with(".log"))?;
        let about = entry.metadata().ok().filter(fs::Metadata::is_file)?;
        Some(Log { path: entry.path(), name, bytes: about.len(), written: about.modified().ok()? })
    };
    entries.filter_map(log).collect()
}

/// How far the file of older logs is whole: a process may have been killed while it wrote the last
/// one. A file that somebody has edited is whole, whatever it says.
fn whole_length(path: &Path) -> u64 {
    let end = fs::metadata(path).map_or(0, |file| file.len());
    let Ok(file) = regular::open(path) else { return 0 };
    let mut reader = BufReader::new(file);
    let mut at = 0;
    while at < end {
        match next_log(&mut reader) {
            Ok(Some(length)) if at + length <= end => at += length,
            // Cut short within its heading or its content.
            Ok(Some(_)) => return at,
            Ok(None) | Err(_) => return end,
        }
    }
    end
}

/// The length of the next log with its heading, which is passed over; `None` if there is no heading.
fn next_log(reader: &mut BufReader<File>) -> io::Result<Option<u64>> {
    let mut heading = Vec::new();
    let read = reader.read_until(b'\n', &mut heading)? as u64;
    if heading.last() != Some(&b'\n') {
        return Ok(heading.starts_with(b"====").then_some(u64::MAX / 2));
    }
    let text = String::from_utf8_lossy(&heading);
    let length = text.strip_prefix("==== ").and_then(|text| text.strip_suffix(" bytes ====\n"));
    let bytes: Option<u32> =
        length.and_then(|text| text.rsplit_once(", ")).and_then(|(_, digits)| digits.parse().ok());
    let Some(bytes) = bytes else { return Ok(None) };
    // With the end of the line behind it.
    let content = i64::from(bytes) + 1;
    reader.seek_relative(content)?;
    Ok(Some(read + u64::from(bytes) + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(dir: &Path, numbers: std::ops::Range<usize>) {
        for x in numbers {
            fs::write(dir.join(format!("{x:04}-a.log")), format!("words of {x}\n====")).unwrap();
        }
    }

    fn files(dir: &Path) -> usize {
        fs::read_dir(dir).unwrap().count()
    }

    #[test]
    fn a_thousand_logs_leave_few_files_and_every_word_is_there_once() {
        let dir = tempfile::tempdir().unwrap();
        let mut process = OldLogs::default();
        for x in 0..1000 {
            write(dir.path(), x..x + 1);
            if x == 500 {
                process = OldLogs::default();
            }
            process.count(dir.path(), Vec::new, &Disk::default()).unwrap();
        }
        assert!(files(dir.path()) <= MANY + 1, "{}", files(dir.path()));
        let older = fs::read_to_string(dir.path().join(OLDER)).unwrap();
        for x in 0..1000 {
            let log = dir.path().join(format!("{x:04}-a.log"));
            let there = usize::from(log.exists()) + older.matches(&format!("words of {x}\n")).count();
            assert_eq!(there, 1, "{x}");
        }
        assert_eq!(whole_length(&dir.path().join(OLDER)), older.len() as u64);
    }

    #[test]
    fn what_is_large_or_still_written_to_stays_a_file_of_its_own() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("0000-large.log"), vec![b'x'; 100_000]).unwrap();
        write(dir.path(), 1..400);
        let in_use = || vec!["0007-a".to_owned()];
        OldLogs::default().count(dir.path(), in_use, &Disk::default()).unwrap();
        assert_eq!(files(dir.path()), FEW + 3);
        assert!(dir.path().join("0007-a.log").exists() && dir.path().join("0000-large.log").exists());
        let older = fs::read_to_string(dir.path().join(OLDER)).unwrap();
        assert!(older.contains("==== 0008-a.log, 15 bytes ====\nwords of 8\n====\n"), "{older}");
    }

    #[test]
    fn a_write_that_fails_or_is_cut_short_loses_no_log() {
        let dir = tempfile::tempdir().unwrap();
        write(dir.path(), 0..400);
        let full = Disk::failing_at(1, io::ErrorKind::StorageFull);
        assert!(OldLogs::default().count(dir.path(), Vec::new, &full).is_err());
        assert_eq!(files(dir.path()), 400);

        OldLogs::default().count(dir.path(), Vec::new, &Disk::default()).unwrap();
        let path = dir.path().join(OLDER);
        let whole = fs::read(&path).unwrap();
        for torn in [&b"==== 0900-a.log, 1"[..], b"==== 0900-a.log, 100 bytes ====\nwor"] {
            fs::write(&path, [&whole, torn].concat()).unwrap();
            assert_eq!(whole_length(&path), whole.len() as u64);
            write(dir.path(), 900..1200);
            OldLogs::default().count(dir.path(), Vec::new, &Disk::default()).unwrap();
            let now = fs::read(&path).unwrap();
            assert!(now.starts_with(&whole) && now[whole.len()..].starts_with(b"===="));
            assert_eq!(whole_length(&path), now.len() as u64);
        }
        // Notes of a person are not touched.
        fs::write(&path, "notes\nof mine").unwrap();
        assert_eq!(whole_length(&path), 13);
    }
}
