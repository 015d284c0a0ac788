//! Records that are gone when their process ends.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Created, Records, RecordsError, name};

/// Records in memory. A clone is another hand on the same records.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    records: Arc<Mutex<BTreeMap<String, Vec<u8>>>>,
}

impl Memory {
    fn held(&self) -> MutexGuard<'_, BTreeMap<String, Vec<u8>>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Records for Memory {
    fn create(&self, name: &str, bytes: &[u8]) -> Result<Created, RecordsError> {
        name::check(name)?;
        let mut held = self.held();
        if held.contains_key(name) {
            return Ok(Created::Exists);
        }
        check_folders(&held, name)?;
        held.insert(name.to_owned(), bytes.to_vec());
        Ok(Created::Created)
    }

    fn get(&self, name: &str) -> Result<Option<Vec<u8>>, RecordsError> {
        name::check(name)?;
        Ok(self.held().get(name).cloned())
    }

    fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), RecordsError> {
        name::check(name)?;
        let mut held = self.held();
        check_folders(&held, name)?;
        held.insert(name.to_owned(), bytes.to_vec());
        Ok(())
    }

    fn list(&self, prefix: &str) -> Result<Vec<String>, RecordsError> {
        name::check_prefix(prefix)?;
        Ok(self.held().keys().filter(|name| name.starts_with(prefix)).cloned().collect())
    }

    fn remove(&self, name: &str) -> Result<(), RecordsError> {
        name::check(name)?;
        self.held().remove(name);
        Ok(())
    }
}

/// A directory cannot hold a record and a folder of one name, so neither can this.
fn check_folders(held: &BTreeMap<String, Vec<u8>>, name: &str) -> Result<(), RecordsError> {
    let above = name.match_indices('/').any(|(at, _)| held.contains_key(&name[..at]));
    let folder = format!("{name}/");
    let below = held.range(folder.clone()..).next().is_some_and(|(first, _)| first.starts_with(&folder));
    if above || below { Err(RecordsError::Folder { name: name.to_owned() }) } else { Ok(()) }
}
