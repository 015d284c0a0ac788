//! Stage outputs by what determines them: each is there as a whole or not at all, and is made once.
//!
//! [`Outputs`] is the seam: [`Cache`] keeps outputs on a disk that threads and processes share,
//! [`Memory`] keeps them for one process. On the disk:
//!
//! ```text
//! .stagetune/cache/<key>/out/…                 what the stage wrote into {out}
//! .stagetune/cache/<key>/entry.json            the key in full, a manifest of the files, cost, times, metrics
//! .stagetune/cache/packed.db                   small outputs that were not used for long, together
//! .stagetune/tmp/<key>.<host>.<process>-<n>/   an entry on its way in or out; renamed to its place in one step
//! .stagetune/locks/<key>                       held by whoever makes the output, so that nobody else does
//! ```
//!
//! An entry that is being read is locked too (shared, on its `entry.json`), so that no eviction
//! takes it away. Nothing here is forced to the disk: outputs survive a killed process; after a
//! power cut an entry that does not match its manifest is made again.

mod entry;
mod evict;
mod hash;
mod inputs;
mod key;
mod memory;
mod pack;
mod publish;
mod seal;
mod small;
#[cfg(test)]
mod staging;
mod store;
mod why;

pub use entry::{ENTRY_FORMAT, Entry, FileFacts, FileKind, Maker, Unreadable};
pub use evict::Evicted;
pub(crate) use inputs::Looks;
pub use inputs::{InputError, Inputs};
pub use key::{KEY_FORMAT, KeyId, StageKey};
pub use memory::Memory;
pub use pack::Unusable;
pub use publish::Swept;
pub use store::{Cache, Listed, Verdict};
pub use why::{Difference, Nearest};

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::disk::{DiskError, remedy};

/// Where the outputs of stages are kept.
pub trait Outputs: Send + Sync {
    /// The output of a key if it is there and sound; while the handle lives, nobody evicts it.
    fn open(&self, key: &StageKey) -> Result<Option<Output>, OutputError>;

    /// The output, the right to make it, or word that somebody else makes it just now. Never waits.
    fn claim(&self, key: &StageKey) -> Result<Claim, OutputError>;

    /// Makes what stands in `dir` (the `out` of an attempt) the output of the claimed key, visible
    /// at once as a whole. Where it fails, the files are still in `dir`, or the next claim of the
    /// key finds them finished.
    fn publish(&self, permit: Permit, dir: &Path, run: Run) -> Result<Output, PublishError>;

    /// What is wrong with an output that was in use: it changed since it was opened, or is gone.
    fn recheck(&self, output: &Output) -> Result<(), String>;
}

/// An output that is there; while it is held, nobody evicts it.
#[derive(Clone, Debug)]
pub struct Output {
    /// What is known of it.
    pub entry: Arc<Entry>,
    /// The directory that the stage wrote into.
    pub dir: PathBuf,
    /// The shared lock that keeps it from being evicted; memory evicts nothing and needs none.
    lock: Option<Arc<File>>,
}

/// Who has an output, or has to make it.
#[derive(Debug)]
pub enum Claim {
    /// It is there.
    Ready(Output),
    /// It is not, and nobody else makes it while this is held.
    Mine(Permit),
    /// Somebody else makes it, or a damaged one is still read.
    Busy,
}

/// The right to make the output of a key; dropped without a publication it gives the key back.
pub struct Permit {
    key: StageKey,
    id: KeyId,
    damaged: Option<String>,
    /// Gives the key back when it is dropped.
    _hold: Box<dyn Any + Send>,
}

/// What is known of a run that ended well.
#[derive(Clone, Debug, Default)]
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
    /// The numbers that it found, by name.
    pub metrics: BTreeMap<String, f64>,
}

/// Why outputs cannot be kept or found: a fault of the world, never of a trial.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
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
    #[error("an entry of the cache cannot be written: {problem}; this is a fault of stagetune")]
    Entry {
        /// Why.
        problem: String,
    },
    /// The file of small outputs cannot be read or written.
    #[error("cannot use {}: {problem}", .path.display())]
    Pack {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: String,
    },
    /// Outputs cannot be moved to their place.
    #[error(
        "{} is on another disk than {}, so that outputs cannot be moved there; have all of \
            `.stagetune/` on one disk, for \
         example by making `.stagetune` itself a link",
        .path.display(), .other.display()
    )]
    OtherDisk {
        /// A directory of ours.
        path: PathBuf,
        /// The one above it.
        other: PathBuf,
    },
    /// The output was made by a newer release, whose entries this one leaves alone.
    #[error(
        "{} has format {format}, newer than this stagetune knows; update stagetune, or remove that directory",
        .path.display()
    )]
    Newer {
        /// The entry.
        path: PathBuf,
        /// Its format.
        format: u32,
    },
}

impl OutputError {
    /// Whether the world is at fault, which may mend.
    pub(crate) fn is_of_the_world(&self) -> bool {
        match self {
            Self::Disk(_) | Self::Read { .. } | Self::Pack { .. } => true,
            Self::Entry { .. } | Self::OtherDisk { .. } | Self::Newer { .. } => false,
        }
    }
}

/// Why an output was not published.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// The stage left something that cannot be kept: the trial's fault.
    #[error("left an output that cannot be kept: {0}")]
    Unfit(String),
    /// The world's fault.
    #[error(transparent)]
    World(#[from] OutputError),
}

impl Permit {
    /// The claimed key.
    pub fn key(&self) -> &StageKey {
        &self.key
    }

    /// The name of the key.
    pub fn id(&self) -> &KeyId {
        &self.id
    }

    /// What was wrong with an entry that was found damaged and taken away.
    pub fn damaged(&self) -> Option<&str> {
        self.damaged.as_deref()
    }

    fn entry(&self, files: Vec<FileFacts>, run: Run) -> Entry {
        let Run { cost, seconds, attempts, began, ended, maker, metrics } = run;
        let (format, key) = (ENTRY_FORMAT, self.key.clone());
        Entry { format, key, files, cost, seconds, attempts, began, ended, maker, metrics }
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").field("id", &self.id).field("damaged", &self.damaged).finish_non_exhaustive()
    }
}

/// The manifest of what a stage wrote; tells the stage's faults from the world's.
fn describe(dir: &Path) -> Result<Vec<FileFacts>, PublishError> {
    entry::manifest(dir).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData
        | io::ErrorKind::NotFound
        | io::ErrorKind::PermissionDenied
        | io::ErrorKind::NotADirectory => PublishError::Unfit(error.to_string()),
        _ => PublishError::World(OutputError::Read { path: dir.to_owned(), source: error }),
    })
}

#[cfg(test)]
mod conformance;
#[cfg(test)]
mod seal_tests;
#[cfg(test)]
mod small_tests;
#[cfg(test)]
mod tests;
