//! The rows of a table on disk: one file for each training that is done, so that a computation that was stopped goes on.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
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
}

impl Rows {
    /// The rows in `folder`, which is made if it is not there.
    pub fn open(folder: &Path) -> Result<Self> {
        crate::volume::directory(folder)?;
        Ok(Self { folder: folder.to_owned() })
    }

    /// Row `number`, if it is there, whole, and of this key and length.
    pub fn find(&self, number: usize, key: &str, length: usize) -> Option<Row> {
        let row: Row = serde_json::from_slice(&std::fs::read(self.file(number)).ok()?).ok()?;
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
    fn packing_keeps_five_digits() {
        for f1 in [0.0, 0.123_45, 0.771, 1.0] {
            assert!((f64::from(packed(f1)) / f64::from(UNIT) - f1).abs() < 1e-5);
        }
        assert_eq!(packed(f64::NAN), 0);
    }
}
