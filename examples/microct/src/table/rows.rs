//! The rows of a table on disk: one file for each training that is done, so that a computation that was stopped goes on.

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

/// F1 = 1 in the table's whole numbers.
pub const UNIT: u16 = u16::MAX;

/// What a training came to.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Row {
    /// What the numbers belong to: data, grid and training. Rows of another one are computed anew.
    pub key: String,
    /// Processor seconds of training and maps on one core.
    pub unet_seconds: f64,
    /// Processor seconds of one reconstruction on one core, on average, the table's way.
    pub reconstruct_seconds: f64,
    /// The loss on slices that were not trained on.
    pub validation: Option<f32>,
    /// Why there are no maps.
    pub failure: Option<String>,
    /// F1 of every reconstruction in units of 1/65535; 0 where the training failed.
    pub f1: Vec<u16>,
}

/// A directory of rows.
#[derive(Debug)]
pub struct Rows {
    folder: PathBuf,
    _lock: File,
}

impl Rows {
    /// The rows in `folder`, which is made if it is not there, and is nobody else's until this is dropped.
    pub fn open(folder: &Path) -> Result<Self> {
        crate::volume::directory(folder)?;
        let file = folder.join("lock");
        let lock = File::create(&file).with_context(|| format!("cannot write {}", file.display()))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { folder: folder.to_owned(), _lock: lock }),
            Err(TryLockError::WouldBlock) => {
                bail!(
                    "another process computes rows in {}; wait for it or name another directory",
                    folder.display()
                )
            }
            Err(TryLockError::Error(error)) => {
                Err(error).with_context(|| format!("cannot lock {}", file.display()))
            }
        }
    }

    /// Refuses a folder with rows that belong to something else: they took hours, and would be overwritten.
    pub fn check(&self, keys: &[String]) -> Result<()> {
        for (number, key) in keys.iter().enumerate() {
            match self.read(number) {
                Some(row) if row.key != *key => bail!(
                    "{} is of other data or settings ({}, wanted is {key}); name another directory or delete this one",
                    self.file(number).display(),
                    row.key
                ),
                _ => {}
            }
        }
        Ok(())
    }

    /// Row `number`, if it is there, whole, and of this key and length.
    pub fn find(&self, number: usize, key: &str, length: usize) -> Option<Row> {
        let row = self.read(number)?;
        (row.key == key && row.f1.len() == length).then_some(row)
    }

    /// Keeps a row; it appears as a whole or not at all.
    pub fn keep(&self, number: usize, row: &Row) -> Result<()> {
        let file = self.file(number);
        let part = file.with_extension("part");
        let written = std::fs::write(&part, serde_json::to_vec(row)?);
        written
            .and_then(|()| std::fs::rename(&part, &file))
            .with_context(|| format!("cannot write {}", file.display()))
    }

    fn read(&self, number: usize) -> Option<Row> {
        serde_json::from_slice(&std::fs::read(self.file(number)).ok()?).ok()
    }

    fn file(&self, number: usize) -> PathBuf {
        self.folder.join(format!("{number:05}.json"))
    }
}

/// F1 as the table keeps it.
pub fn packed(f1: f64) -> u16 {
    (f1.clamp(0.0, 1.0) * f64::from(UNIT)).round() as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_comes_back_only_under_its_own_key_and_whole() {
        let folder = tempfile::tempdir().unwrap();
        let rows = Rows::open(folder.path()).unwrap();
        let row = Row {
            key: "a".to_owned(),
            unet_seconds: 1.5,
            reconstruct_seconds: 0.1,
            validation: Some(0.25),
            failure: None,
            f1: vec![0, UNIT],
        };
        rows.keep(3, &row).unwrap();
        assert_eq!(rows.find(3, "a", 2), Some(row));
        assert_eq!(rows.find(3, "b", 2), None);
        assert_eq!(rows.find(3, "a", 3), None);
        assert_eq!(rows.find(4, "a", 2), None);
        std::fs::write(folder.path().join("00003.json"), "{\"key\": \"a\", ").unwrap();
        assert_eq!(rows.find(3, "a", 2), None);
    }

    #[test]
    fn a_folder_belongs_to_one_process_and_one_table() {
        let folder = tempfile::tempdir().unwrap();
        let rows = Rows::open(folder.path()).unwrap();
        let complaint = Rows::open(folder.path()).unwrap_err().to_string();
        assert!(complaint.contains("another process"), "{complaint}");
        let row = Row {
            key: "mine".to_owned(),
            unet_seconds: 0.0,
            reconstruct_seconds: 0.0,
            validation: None,
            failure: None,
            f1: vec![],
        };
        rows.keep(0, &row).unwrap();
        assert!(rows.check(&["mine".to_owned(), "next".to_owned()]).is_ok());
        let complaint = rows.check(&["yours".to_owned()]).unwrap_err().to_string();
        assert!(complaint.contains("(mine, wanted is yours)"), "{complaint}");
        drop(rows);
        assert!(Rows::open(folder.path()).is_ok());
    }

    #[test]
    fn packing_keeps_five_digits() {
        for f1 in [0.0, 0.123_45, 0.771, 1.0] {
            assert!((f64::from(packed(f1)) / f64::from(UNIT) - f1).abs() < 1e-5);
        }
        assert_eq!(packed(f64::NAN), 0);
    }
}
