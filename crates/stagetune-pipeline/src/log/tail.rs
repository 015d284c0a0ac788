//! Following a log while others append to it.

use super::{Log, LogError, Stamped};

/// A log and how far it was read.
#[derive(Debug)]
pub struct Tail<L> {
    log: L,
    position: u64,
}

impl<L: Log> Tail<L> {
    /// Follows a log from a position: what stands before it was read already.
    pub fn new(log: L, position: u64) -> Self {
        Self { log, position }
    }

    /// The records that were appended since the last call; none if there are none, without waiting for any.
    pub fn read_new(&mut self) -> Result<Vec<Stamped>, LogError> {
        let records = self.log.read(self.position)?;
        self.position += records.len() as u64;
        Ok(records)
    }

    /// How many records were read.
    pub fn position(&self) -> u64 {
        self.position
    }
}
