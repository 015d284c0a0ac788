//! Whose fault it was that an attempt ended as it did: the stage's, or the world's.

use std::path::Path;

use super::error::RunError;
use super::open::Context;
use super::stage::{WORDS, Work};
use super::trial::given;
use crate::executor::last_lines;
use crate::outputs::Looks;

impl Context<'_> {
    /// Fails where the world, and not the stage, may be why an attempt ended as it did: an input or an output that it
    /// was given changed or vanished, or its directory did; for a failed attempt also a full disk. Its directory goes.
    pub(super) fn blame_the_world(
        &self,
        work: &Work<'_>,
        dir: &Path,
        before: &[(String, Looks)],
        failed: Option<(&str, u32)>,
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
        failed: Option<(&str, u32)>,
    ) -> Result<(), RunError> {
        let stage = work.stage.name.clone();
        if !dir.is_dir() {
            return Err(RunError::AttemptRemoved { stage, path: dir.to_owned() });
        }
        self.keys.check_since(self.pipeline, work.m, before)?;
        for above in given(work.stage).iter() {
            let Some(output) = work.outputs.get(above).and_then(Option::as_ref) else { continue };
            if let Err(problem) = self.outputs.recheck(output) {
                return Err(RunError::OutputChanged { stage, above: self.stage_name(above), problem });
            }
        }
        let Some((problem, attempt)) = failed else { return Ok(()) };
        let trial = work.trial.id().index();
        let words = last_lines(&self.log_path(trial, &stage, attempt), WORDS).unwrap_or_default();
        if self.options.disk.is_full(dir) || words.iter().any(|line| tells_of_a_full_disk(line)) {
            let problem = problem.to_owned();
            return Err(RunError::DiskFull { stage, trial, problem, path: dir.to_owned() });
        }
        Ok(())
    }
}

/// Whether a line is what programs say when a disk or a quota is full.
fn tells_of_a_full_disk(line: &str) -> bool {
    FULL_DISK.iter().any(|said| line.contains(said))
}

/// The texts of `ENOSPC` and `EDQUOT`, which programs of every language print.
const FULL_DISK: [&str; 3] = ["No space left on device", "Disk quota exceeded", "Disc quota exceeded"];
