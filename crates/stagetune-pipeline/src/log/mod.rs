//! The log: an append-only sequence of records; a study is what they replay to.
//!
//! Two operations: append at a position, refused if somebody appended first, and read from a position. So
//! several processes can share a study, whatever holds the sequence. [`Sqlite`] keeps it in
//! `.stagetune/journal.db`, [`Memory`] nowhere; [`Tail`] follows one while others append.
//!
//! Every record carries a checksum that covers the record and all before it ([`chain`]); reading checks it. A
//! beginning of a log is a log, so a small file beside it says how much was on the disk (`witness`). What is sound
//! of a damaged one is kept by a [`Repair`].
//!
//! # What survives what
//!
//! An append that has returned survives a killed process, whatever its records. One with a record that
//! [must survive a power cut](Record::must_survive_power_cut) is on the disk itself when it returns, unless
//! somebody took the [syncer](Log::syncer), who then waits for the disk on a thread of their own:
//!
//! | record | killed process | power cut |
//! | --- | --- | --- |
//! | study started, trial attached, trial ended, released, paused, resumed, noted | survives | survives |
//! | owned, trial asked, settled, stage launched, stage reported | survives | may be lost, from the end of the log on |
//!
//! Nothing is lost from the middle: what was told survives together with everything before it.

pub mod chain;
mod error;
mod memory;
mod record;
mod sqlite;
mod tail;
mod witness;

pub use error::LogError;
pub use memory::Memory;
pub use record::{CostUnit, Definition, Record, Run, Session, StageDefinition, Stamped, read_record};
pub use sqlite::{FORMAT, Look, Repair, Repaired, Sqlite};
pub use tail::Tail;

/// A sequence of records.
pub trait Log: Send {
    /// Appends records after the first `position`; all of them or none.
    fn append(&mut self, position: u64, records: &[Stamped]) -> Result<(), LogError>;

    /// The records after the first `position`, in order.
    fn read(&self, position: u64) -> Result<Vec<Stamped>, LogError>;

    /// Hands over the waiting for the disk: from now on no append waits, and what was appended survives a power cut
    /// once the syncer says so. A log without a disk has nothing to wait for.
    fn syncer(&mut self) -> Result<Box<dyn Syncer>, LogError> {
        Ok(Box::new(NoDisk))
    }
}

/// Makes what was appended to a log survive a power cut, on another thread than the one that appends.
pub trait Syncer: Send {
    /// Returns when all that had been appended before the call is on the disk itself.
    fn sync(&mut self) -> Result<(), LogError>;

    /// Does what can wait; for moments at which there is nothing to sync.
    fn rest(&mut self) {}
}

/// The syncer of a log that keeps nothing on a disk.
struct NoDisk;

impl Syncer for NoDisk {
    fn sync(&mut self) -> Result<(), LogError> {
        Ok(())
    }
}

/// A time that is no number has no place in a log: it would not be read back as it was written.
fn check_time(stamped: &Stamped) -> Result<(), LogError> {
    if stamped.at.is_finite() {
        return Ok(());
    }
    Err(LogError::Unwritable { problem: format!("its time is {}, which is not a moment", stamped.at) })
}

#[cfg(test)]
mod tests;
