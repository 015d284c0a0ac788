//! The witness of a study: a small file beside the journal that says how many records were on the
//! disk itself.
//!
//! The chain of checksums cannot tell that its end is gone: a prefix of a log is a log. The witness
//! can. It holds the number of records, and the checksum of the last one, which covers all before it.
//!
//! ```text
//! .stagetune/witness-<study>
//! {"study":"microct@1750000000.25","records":431,"sum":"272e…","at":1750003600.5,"directory":1234}
//! <checksum of the line above>
//! ```
//!
//! - It is never ahead of the disk: it is written after the records are synced, and it needs no
//!   sync of its own. A witness that is behind, torn or absent (after a power cut, or from an
//!   earlier release) accuses nobody.
//! - Readers read it before the journal, which only grows.
//! - Of a directory that was copied while its study ran, the journal may be older than the witness.
//!   So a witness that is newer than the directory it is found in, and was written in another one,
//!   is not believed.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::LogError;
use super::chain::Sum;
use crate::clock;
use crate::disk::{Disk, DiskError};
use crate::regular;

/// What every witness is called, before the name of its study.
const PREFIX: &str = "witness-";

/// What was on the disk of one study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Witness {
    /// Tells the study from an earlier one of the same name.
    pub study: String,
    /// How many records it had.
    pub records: u64,
    /// The checksum of the last of them, in hexadecimal digits.
    pub sum: String,
    /// When that was made, in seconds since 1970.
    pub at: f64,
    /// The number of the directory that the witness was written in.
    directory: u64,
}

impl Witness {
    /// That a study, in the journal at this path, has so many records on the disk.
    pub fn new(journal: &Path, study: String, records: u64, sum: Sum, at: f64) -> Self {
        let directory = fs::metadata(folder(journal)).map_or(0, |folder| folder.ino());
        Self { study, records, sum: sum.to_string(), at, directory }
    }

    /// Where the witness of a study is.
    pub fn path(journal: &Path, study: &str) -> PathBuf {
        journal.with_file_name(format!("{PREFIX}{study}"))
    }

    /// Writes it over the last one.
    pub fn write(&self, journal: &Path, study: &str, disk: &Disk) -> Result<(), DiskError> {
        // Texts and numbers can always be written.
        let line = serde_json::to_string(self).unwrap_or_default();
        let text = format!("{line}\n{}\n", Sum::of(&[line.as_bytes()]));
        disk.overwrite(&Self::path(journal, study), text.as_bytes())
    }

    /// That of a study; none where there is none that can be believed.
    pub fn read(journal: &Path, study: &str) -> Option<Self> {
        let text = String::from_utf8(regular::read(&Self::path(journal, study)).ok()?).ok()?;
        let (line, check) = text.split_once('\n')?;
        // Behind it may stand the end of a longer witness, if its writer was killed before it cut that off.
        if check.lines().next() != Some(Sum::of(&[line.as_bytes()]).to_string().as_str()) {
            return None;
        }
        let witness: Self = serde_json::from_str(line).ok()?;
        (!witness.was_copied_in_motion(journal)).then_some(witness)
    }

    /// Those of all studies beside a journal, in the order of their names.
    pub fn all(journal: &Path) -> Vec<(String, Self)> {
        let Ok(entries) = fs::read_dir(folder(journal)) else { return Vec::new() };
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let names = names.filter_map(|name| Some(name.strip_prefix(PREFIX)?.to_owned()));
        let mut all: Vec<_> =
            names.filter_map(|name| Self::read(journal, &name).map(|found| (name, found))).collect();
        all.sort_by(|(a, _), (b, _)| a.cmp(b));
        all
    }

    /// When the study began, as its identity says it.
    pub fn began(&self) -> Option<f64> {
        self.study.rsplit_once('@')?.1.parse().ok()
    }

    fn was_copied_in_motion(&self, journal: &Path) -> bool {
        let Ok(folder) = fs::metadata(folder(journal)) else { return false };
        if folder.ino() == self.directory {
            return false;
        }
        // Where a file system does not know when a directory came to be, nothing is said.
        let born = folder.created().ok().and_then(|born| born.duration_since(std::time::UNIX_EPOCH).ok());
        born.is_none_or(|born| self.at >= born.as_secs_f64())
    }
}

/// The journal is not there, and had records.
pub fn missing_file(journal: &Path, study: &str, witness: &Witness) -> LogError {
    let problem = format!(
        "it is missing or empty, and had {} of study `{study}`, up to {}",
        records(witness.records),
        moment(witness.at)
    );
    LogError::Vanished { path: journal.to_owned(), problem }
}

/// The study is not in the journal, or another one of its name is.
pub fn missing_study(journal: &Path, study: &str, witness: &Witness) -> LogError {
    let problem = format!(
        "the study `{study}` that was here, with {} up to {}, is missing",
        records(witness.records),
        moment(witness.at)
    );
    LogError::Vanished { path: journal.to_owned(), problem }
}

/// The study has fewer records than it had; `last` is when the last one that is there was made.
pub fn missing_tail(
    journal: &Path,
    study: &str,
    witness: &Witness,
    found: u64,
    last: Option<f64>,
) -> LogError {
    let since = last.map_or(String::new(), |last| format!(", those after {}", moment(last)));
    let problem = format!(
        "of the {} that study `{study}` had at {}, the last {} are missing{since}",
        records(witness.records),
        moment(witness.at),
        witness.records.saturating_sub(found)
    );
    LogError::Vanished { path: journal.to_owned(), problem }
}

/// The study has as many records, and others.
pub fn other_records(journal: &Path, study: &str, witness: &Witness) -> LogError {
    let problem = format!(
        "record {} of study `{study}` is not the one that was written: another copy of the study \
            went on here",
        witness.records.saturating_sub(1)
    );
    LogError::Vanished { path: journal.to_owned(), problem }
}

fn records(count: u64) -> String {
    if count == 1 { "1 record".to_owned() } else { format!("{count} records") }
}

fn moment(seconds: f64) -> String {
    clock::minute(seconds).map_or_else(|| "an unknown time".to_owned(), |minute| format!("{minute} UTC"))
}

fn folder(journal: &Path) -> &Path {
    journal.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
