//! Keeping the cache below its limit: what is cheapest to recompute per byte goes first.
//!
//! ```text
//! worth of an entry = cost / max(bytes, 1)      among equals the one that was not used for longest goes first
//! ```

use super::OutputError;
use super::entry::Unreadable;
use super::key::KeyId;
use super::store::{Cache, Listed};

/// An entry that was taken away.
#[derive(Clone, Debug, PartialEq)]
pub struct Evicted {
    /// Its name.
    pub id: KeyId,
    /// The stage that had made it; empty if its `entry.json` could not be read.
    pub stage: String,
    /// What it held.
    pub bytes: u64,
    /// What it had cost.
    pub cost: f64,
}

impl Cache {
    /// Takes entries away until the rest holds at most `limit` bytes; damaged ones first, those in use never.
    pub fn shrink(&self, limit: u64) -> Result<Vec<Evicted>, OutputError> {
        let _one_at_a_time = self.shrinking.lock();
        // An entry that cannot be removed is in the way of nobody but the limit.
        self.evict(limit, |id| Ok(self.remove(id).unwrap_or(false)))
    }

    /// What [`Cache::shrink`] would take away if nothing was in use.
    pub fn would_evict(&self, limit: u64) -> Result<Vec<Evicted>, OutputError> {
        self.evict(limit, |_| Ok(true))
    }

    fn evict(
        &self,
        limit: u64,
        remove: impl Fn(&KeyId) -> Result<bool, OutputError>,
    ) -> Result<Vec<Evicted>, OutputError> {
        let mut entries: Vec<(f64, Listed, u64)> = self
            .list()?
            .into_iter()
            // Those of newer releases are theirs.
            .filter(|listed| !matches!(listed.entry, Err(Unreadable::Newer(_))))
            .map(|listed| {
                let bytes = listed.bytes;
                let worth = listed.entry.as_ref().map_or(-1.0, |e| e.cost / bytes.max(1) as f64);
                (worth, listed, bytes)
            })
            .collect();
        entries.sort_by(|(a, x, _), (b, y, _)| a.total_cmp(b).then(x.used.total_cmp(&y.used)));
        let mut total: u64 = entries.iter().map(|(_, _, bytes)| bytes).sum();
        let mut evicted = Vec::new();
        for (worth, listed, bytes) in entries {
            if total <= limit && worth >= 0.0 {
                break;
            }
            if remove(&listed.id)? {
                total -= bytes;
                let (stage, cost) =
                    listed.entry.map_or_else(|_| (String::new(), 0.0), |e| (e.key.stage, e.cost));
                evicted.push(Evicted { id: listed.id, stage, bytes, cost });
            }
        }
        if let Ok(mut known) = self.total.lock() {
            *known = Some(total);
        }
        Ok(evicted)
    }

    /// Counts a new entry, and shrinks the cache if it is too large now.
    pub(super) fn make_room(&self, bytes: u64) -> Result<(), OutputError> {
        let Some(limit) = self.limit else { return Ok(()) };
        let known = self.total.lock().ok().and_then(|total| *total);
        let total = match known {
            Some(total) => total.saturating_add(bytes),
            None => self.list()?.iter().map(|listed| listed.bytes).sum(),
        };
        if let Ok(mut known) = self.total.lock() {
            *known = Some(total);
        }
        if total > limit {
            // Somewhat below the limit, so that not every commit has to look at every entry.
            self.shrink(limit - limit / 10)?;
        }
        Ok(())
    }
}
