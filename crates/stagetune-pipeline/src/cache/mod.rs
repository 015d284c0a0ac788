//! The stage cache: outputs by what determines them, complete or not there at all.
//!
//! ```text
//! .stagetune/cache/<key>/out/…        what the stage wrote into {out}
//! .stagetune/cache/<key>/entry.json   the key in full, a manifest of the files with their hashes, cost, times
//! .stagetune/tmp/<key>.…/             a stage at work; renamed to its place in one step once it has finished
//! .stagetune/locks/<key>              held by whoever runs the stage, so that nobody else does
//! ```
//!
//! An entry that is being read is locked too (shared, on its `entry.json`), so that no eviction takes it away.

mod entry;
mod evict;
mod hash;
mod inputs;
mod key;
mod store;
mod why;

pub use entry::{ENTRY_FORMAT, Entry, FileFacts, FileKind, Maker};
pub use evict::Evicted;
pub use inputs::{InputError, Inputs};
pub use key::{KEY_FORMAT, KeyId, StageKey};
pub use store::{Cache, CacheError, Claim, Hit, Listed, Run, Staging, Verdict};
pub use why::{Difference, Nearest};

#[cfg(test)]
mod tests;
