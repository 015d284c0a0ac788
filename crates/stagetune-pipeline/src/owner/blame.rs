//! Whose fault it was that an attempt ended as it did: the stage's, or the world's.

use std::path::Path;

use super::error::RunError;
use super::open::Context;
use super::stage::{WORDS, Work};
use super::trial::given;
use crate::executor::last_lines;
use crate::outputs::Looks;

/// An attempt that failed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failed<'a> {
    /// How.
    pub(super) problem: &'a str,
    /// Its number, from 1.
    pub(super) attempt: u32,
    /// When it began, in seconds since 1970.
    pub(super) began: f64,
}

impl Context<'_> {
    /// Fails where the world, and not the stage, may be why an attempt ended as it did: an input or
    /// an output that it was given changed or vanished, or its directory did; for a failed attempt
    /// also a full disk. Its directory goes.
    pub(super) fn blame_the_world(
        &self,
        work: &Work<'_>,
        dir: &Path,
        before: &[(String, Looks)],
        failed: Option<Failed<'_>>,
    ) -> Result<(), RunError> {
        let found = self.worlds_fault(work, dir, before, failed);
        if found.is_err() {
            self.discard(dir);
        }
        found
    }

    fn worlds_fault(
        &self,
        work: &Work<'_>,
        dir: &Path,
        before: &[(String, Looks)],
        failed: Option<Failed<'_>>,
    ) -> Result<(), RunError> {
        let stage = work.stage.name.clone();
        // A stage may remove its output; it knows nothing of `began`.
        if !dir.join("began").exists() {
            return Err(RunError::AttemptRemoved { stage, path: dir.to_owned() });
        }
        self.keys.check_since(self.pipeline, work.m, before)?;
        for above in given(work.stage).iter() {
            let Some(output) = work.outputs.get(above).and_then(Option::as_ref) else { continue };
            if let Err(problem) = self.outputs.recheck(output) {
                return Err(RunError::OutputChanged { stage, above: self.stage_name(above), problem });
            }
        }
        let Some(Failed { problem, attempt, began }) = failed else { return Ok(()) };
        let trial = work.trial.id().index();
        let words = last_lines(&self.log_path(trial, &stage, attempt), WORDS).unwrap_or_default();
        let last = words.iter().rev().filter(|line| !line.trim().is_empty()).take(LAST);
        if let Some(line) = last.clone().find(|line| tells_of_no_process(line)) {
            return Err(RunError::NoRoom { stage, problem: format!("it {problem}: {}", line.trim()) });
        }
        // Where several attempts fill a disk together, the first that ends makes room before the
        // others are looked at.
        let was_full = self.patience.disk_was_full_since(began);
        if was_full || self.options.disk.is_full(dir) {
            self.patience.note_full_disk();
            let (problem, path) = (problem.to_owned(), self.state.path().to_owned());
            return Err(RunError::DiskFull { stage, trial, problem, path });
        }
        // A disk of the stage's own, which nobody else knows; or ours, where there is room again by now.
        if let Some(line) = last.clone().find(|line| tells_of_a_full_disk(line)) {
            self.patience.note_full_disk();
            let problem = format!("{problem}, and said: {}", line.trim());
            return Err(RunError::SaidFull { stage, trial, problem });
        }
        Ok(())
    }
}

/// Only the last lines that say anything tell why a command ended: what stands before them was overcome.
const LAST: usize = 3;

/// Whether a line is what shells and programs say when the system has no process left for them.
fn tells_of_no_process(line: &str) -> bool {
    line.contains("Cannot fork")
        || line.contains("fork: ") && line.contains("Resource temporarily unavailable")
}

/// Whether a line is what programs say when a disk or a quota is full.
fn tells_of_a_full_disk(line: &str) -> bool {
    FULL_DISK.iter().any(|said| line.contains(said))
}

/// The texts of `ENOSPC` and `EDQUOT`, which programs of every language print.
const FULL_DISK: [&str; 3] = ["No space left on device", "Disk quota exceeded", "Disc quota exceeded"];
