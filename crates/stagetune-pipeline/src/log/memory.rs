//! A log that is gone when its process ends: for rehearsals and tests.

use std::sync::{Arc, Mutex, PoisonError};

use super::{Log, LogError, Stamped};

/// Records in memory. A clone is another hand on the same records.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    records: Arc<Mutex<Vec<Stamped>>>,
}

impl Log for Memory {
    fn append(&mut self, position: u64, records: &[Stamped]) -> Result<(), LogError> {
        records.iter().try_for_each(super::check_time)?;
        let mut held = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        let found = held.len() as u64;
        if found != position {
            return Err(LogError::Moved { expected: position, found });
        }
        held.extend_from_slice(records);
        Ok(())
    }

    fn read(&self, position: u64) -> Result<Vec<Stamped>, LogError> {
        let held = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        let from = usize::try_from(position).unwrap_or(usize::MAX);
        Ok(held.get(from..).unwrap_or_default().to_vec())
    }
}
