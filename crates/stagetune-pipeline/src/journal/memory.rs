//! A journal that is gone when its process ends: for rehearsals and tests.

use super::{Journal, JournalError, Stamped};

/// Records in memory.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    records: Vec<Stamped>,
}

impl Journal for Memory {
    fn append(&mut self, position: u64, records: &[Stamped]) -> Result<(), JournalError> {
        let found = self.records.len() as u64;
        if found != position {
            return Err(JournalError::Moved { expected: position, found });
        }
        self.records.extend_from_slice(records);
        Ok(())
    }

    fn read(&self, position: u64) -> Result<Vec<Stamped>, JournalError> {
        let from = usize::try_from(position).unwrap_or(usize::MAX);
        Ok(self.records.get(from..).unwrap_or_default().to_vec())
    }
}
