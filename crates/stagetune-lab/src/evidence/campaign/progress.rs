//! What a campaign has done so far: a file with a line for each case, so that an interrupted one
//! goes on where it was.

use super::Part;
use super::tally::{Finding, Tally};
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;

/// A case that was finished.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Case {
    pub part: Part,
    pub case: u64,
    pub seed: u64,
    pub tally: Tally,
    pub findings: Vec<Finding>,
    pub seconds: f64,
}

/// The file, and what is in it.
#[derive(Debug)]
pub struct Progress {
    file: File,
    pub done: BTreeSet<(Part, u64)>,
    pub cases: Vec<Case>,
}

impl Progress {
    /// Reads a file, or begins one. A line that was cut off by a kill is a case that is run again.
    pub fn open(path: &Path, seed: u64) -> Result<Self> {
        let reading = || format!("cannot use {} for progress", path.display());
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).with_context(reading)?;
        }
        let text = fs::read_to_string(path).unwrap_or_default();
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let cases: Vec<Case> = text
            .get(..whole)
            .unwrap_or_default()
            .lines()
            .map(serde_json::from_str)
            .collect::<Result<_, _>>()
            .with_context(reading)?;
        ensure!(
            cases.iter().all(|case| case.seed == seed),
            "{} is of another seed; name another file with --progress, or remove it",
            path.display()
        );
        let file = OpenOptions::new().create(true).append(true).open(path).with_context(reading)?;
        file.set_len(whole as u64).with_context(reading)?;
        Ok(Self { file, done: cases.iter().map(|case| (case.part, case.case)).collect(), cases })
    }

    /// Adds a case that was finished.
    pub fn add(&mut self, case: Case) -> Result<()> {
        let line = format!("{}\n", serde_json::to_string(&case)?);
        self.file.write_all(line.as_bytes())?;
        self.done.insert((case.part, case.case));
        self.cases.push(case);
        Ok(())
    }
}
