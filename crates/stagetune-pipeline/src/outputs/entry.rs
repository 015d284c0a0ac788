//! What `entry.json` says of a finished output: its key, its files, what it cost and for whom it was made.
//!
//! History of the format:
//! - 1: key, files, cost, seconds, attempts, began, ended, maker.
//! - 2: metrics, the numbers that the stage found.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::hash::{self, Stat};
use super::key::StageKey;
use crate::regular;

/// The format of the entries that this release writes.
pub const ENTRY_FORMAT: u32 = 2;

/// A finished output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// [`ENTRY_FORMAT`] of the release that wrote it.
    pub format: u32,
    /// What determined it.
    pub key: StageKey,
    /// Everything in `out/`, by path.
    pub files: Vec<FileFacts>,
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
    /// Who had it made.
    pub maker: Maker,
    /// The numbers that the stage found, by name.
    #[serde(default)]
    pub metrics: BTreeMap<String, f64>,
}

/// Why an entry says nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// It was written by a newer release, in this format: it is neither used nor removed.
    Newer(u32),
    /// It is not what was written.
    Damaged(String),
}

/// The trial that an output was made for: if that trial is interrupted and goes on, the cost is
/// still its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Maker {
    /// The study, with the moment it began: another study of the same name is another maker.
    pub study: String,
    /// The trial's number.
    pub trial: u64,
}

/// A file of an output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileFacts {
    /// From `out/`, with `/` between the parts.
    pub path: String,
    /// What it is.
    #[serde(flatten)]
    pub kind: FileKind,
}

/// What a file of an output is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum FileKind {
    /// Content.
    File {
        /// How long it is.
        bytes: u64,
        /// Its hash.
        blake3: String,
        /// Whether it can be executed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        executable: bool,
    },
    /// A symbolic link.
    Link {
        /// Where it leads.
        to: String,
    },
    /// A directory with nothing in it.
    EmptyDir,
}

impl Entry {
    /// How many bytes its files hold.
    pub fn bytes(&self) -> u64 {
        let bytes = |file: &FileFacts| if let FileKind::File { bytes, .. } = file.kind { bytes } else { 0 };
        self.files.iter().map(bytes).sum()
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Newer(format) => {
                write!(f, "`entry.json` has format {format}, newer than this stagetune knows")
            }
            Self::Damaged(problem) => f.write_str(problem),
        }
    }
}

/// Opens the `entry.json` of an entry.
pub(super) fn open(dir: &Path) -> io::Result<File> {
    regular::open(&dir.join("entry.json"))
}

/// What stands in the `entry.json` of an entry.
pub(super) fn bytes(dir: &Path) -> io::Result<Vec<u8>> {
    regular::read(&dir.join("entry.json"))
}

/// Reads an entry of this format or an older one.
pub(super) fn read(bytes: &[u8]) -> Result<Entry, Unreadable> {
    #[derive(Deserialize)]
    struct Format {
        format: u32,
    }
    let damaged =
        |error: serde_json::Error| Unreadable::Damaged(format!("`entry.json` cannot be read: {error}"));
    // The format first: what else stands there is the affair of the release that wrote it.
    let Format { format } = serde_json::from_slice(bytes).map_err(damaged)?;
    if format > ENTRY_FORMAT {
        return Err(Unreadable::Newer(format));
    }
    serde_json::from_slice(bytes).map_err(damaged)
}

/// The manifest of a directory.
pub(super) fn manifest(out: &Path) -> io::Result<Vec<FileFacts>> {
    let wrong = |text: String| io::Error::new(io::ErrorKind::InvalidData, text);
    if !fs::symlink_metadata(out)?.is_dir() {
        return Err(wrong("{out} is not a directory any more".into()));
    }
    let facts = |found: hash::Found| {
        let path = out.join(&found.path);
        let kind = if found.metadata.is_symlink() {
            let to = link(&path)?;
            // {out} moves to its place when the stage has ended.
            if Path::new(&to).starts_with(out) {
                return Err(wrong(format!(
                    "the link `{}` leads to {to}, which moves; make it relative",
                    found.path
                )));
            }
            FileKind::Link { to }
        } else if found.metadata.is_dir() {
            FileKind::EmptyDir
        } else if found.metadata.is_file() {
            let executable = is_executable(&found.metadata);
            FileKind::File { bytes: found.metadata.len(), blake3: hash::file(&path)?, executable }
        } else {
            return Err(wrong(format!("`{}` is neither a file nor a directory nor a link", found.path)));
        };
        Ok(FileFacts { path: found.path, kind })
    };
    hash::walk(out)?.into_iter().map(facts).collect()
}

/// Compares a directory with its manifest: what is wrong first, or the stats by which a later look
/// can be short.
pub(super) fn compare(out: &Path, files: &[FileFacts], known: Option<&[Stat]>) -> Result<Vec<Stat>, String> {
    let found = hash::walk(out).map_err(|error| format!("`out` cannot be read: {error}"))?;
    let stats: Vec<Stat> = found.iter().map(|found| Stat::of(&found.metadata)).collect();
    let paths = |i: usize| (found.get(i).map(|f| f.path.as_str()), files.get(i).map(|f| f.path.as_str()));
    for i in 0..found.len().max(files.len()) {
        match paths(i) {
            (Some(there), Some(listed)) if there == listed => {}
            (there, Some(listed)) if there.is_none_or(|there| there > listed) => {
                return Err(format!("`{listed}` is missing"));
            }
            (there, _) => {
                return Err(format!("`{}` was not there when the stage ended", there.unwrap_or("?")));
            }
        }
    }
    if known == Some(&stats[..]) {
        return Ok(stats);
    }
    for (found, facts) in found.iter().zip(files) {
        let path = out.join(&found.path);
        let same = match &facts.kind {
            FileKind::EmptyDir => found.metadata.is_dir(),
            FileKind::Link { to } => found.metadata.is_symlink() && link(&path).is_ok_and(|now| now == *to),
            FileKind::File { bytes, blake3, executable } => {
                found.metadata.is_file()
                    && found.metadata.len() == *bytes
                    && is_executable(&found.metadata) == *executable
                    && hash::file(&path).is_ok_and(|now| now == *blake3)
            }
        };
        if !same {
            return Err(format!("`{}` has changed since the stage ended", found.path));
        }
    }
    Ok(stats)
}

fn is_executable(metadata: &fs::Metadata) -> bool {
    metadata.permissions().mode() & 0o111 != 0
}

fn link(path: &Path) -> io::Result<String> {
    let to = fs::read_link(path)?;
    to.into_os_string()
        .into_string()
        .map_err(|to| io::Error::new(io::ErrorKind::InvalidData, format!("the link to {to:?} is not UTF-8")))
}

/// What the files look like just after the manifest was made.
pub(super) fn stats(out: &Path) -> Option<Vec<Stat>> {
    Some(hash::walk(out).ok()?.iter().map(|found| Stat::of(&found.metadata)).collect())
}
