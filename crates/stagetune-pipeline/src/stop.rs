//! How a run is asked to end: to finish what is running, or to stop at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// A request that threads share; it only ever becomes more urgent.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    urgency: Arc<AtomicU8>,
}

const FINISH: u8 = 1;
const NOW: u8 = 2;

impl Stop {
    /// Nobody has asked yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Trials that are running may end; no new ones begin.
    pub fn finish(&self) {
        self.urgency.fetch_max(FINISH, Ordering::SeqCst);
    }

    /// Processes are killed; what has finished is kept.
    pub fn now(&self) {
        self.urgency.fetch_max(NOW, Ordering::SeqCst);
    }

    /// Whether no new trial should begin.
    pub fn is_asked(&self) -> bool {
        self.urgency.load(Ordering::SeqCst) >= FINISH
    }

    /// Whether everything should stop at once.
    pub fn is_now(&self) -> bool {
        self.urgency.load(Ordering::SeqCst) >= NOW
    }
}
