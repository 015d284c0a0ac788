//! Claims that wait, with a directory to work in: how the tests of the cache make an output in one step.

use std::path::PathBuf;
use std::time::Duration;

use super::store::Cache;
use super::{Claim, FileFacts, KeyId, Output, OutputError, Outputs, Permit, Run, StageKey, describe};
use crate::stop::Stop;

/// Who has an output, or has to make it.
#[derive(Debug)]
pub enum Staged<'a> {
    /// It is there.
    Ready(Output),
    /// It is not, and nobody else makes it while this is held.
    Mine(Box<Staging<'a>>),
    /// A stop was asked for while somebody else made it.
    Stopped,
}

/// A stage at work. Dropped without a commit it leaves nothing behind.
#[derive(Debug)]
pub struct Staging<'a> {
    cache: &'a Cache,
    /// There until it is used for the commit.
    permit: Option<Permit>,
    id: KeyId,
    dir: PathBuf,
    /// An entry that was found damaged and taken away, with what was wrong.
    pub damaged: Option<String>,
}

/// Between looks at a stage that somebody else runs: short beside any stage worth caching.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

impl Cache {
    /// The output of a stage, or the right to make it. Waits for whoever makes it just now.
    pub fn stage(&self, key: &StageKey, stop: &Stop) -> Result<Staged<'_>, OutputError> {
        loop {
            match self.claim(key)? {
                Claim::Ready(output) => return Ok(Staged::Ready(output)),
                Claim::Busy if stop.is_now() => return Ok(Staged::Stopped),
                Claim::Busy => std::thread::sleep(LOOK_AGAIN),
                Claim::Mine(permit) => {
                    let dir = self.new_temporary(permit.id())?;
                    let (id, damaged) = (permit.id().clone(), permit.damaged().map(str::to_owned));
                    let staging = Staging { cache: self, permit: Some(permit), id, dir, damaged };
                    self.disk.make_new_dir(&staging.out())?;
                    return Ok(Staged::Mine(Box::new(staging)));
                }
            }
        }
    }
}

impl Staging<'_> {
    /// The fresh directory for the stage.
    pub fn out(&self) -> PathBuf {
        self.dir.join("out")
    }

    /// The name of the key.
    pub fn id(&self) -> &KeyId {
        &self.id
    }

    /// Empties the directory for another attempt.
    pub fn again(&self) -> Result<(), OutputError> {
        self.cache.disk.remove_dir(&self.out())?;
        Ok(self.cache.disk.make_new_dir(&self.out())?)
    }

    /// What the stage has written, or why it cannot be kept.
    pub fn manifest(&self) -> Result<Vec<FileFacts>, String> {
        describe(&self.out()).map_err(|error| error.to_string())
    }

    /// Keeps the output: afterwards it is there as a whole, before that not at all.
    pub fn commit(mut self, files: Vec<FileFacts>, run: Run) -> Result<Output, OutputError> {
        match self.permit.take() {
            Some(permit) => self.cache.keep(permit, &self.out(), files, run),
            None => Err(OutputError::Entry { problem: "it was committed before".into() }),
        }
    }
}

impl Drop for Staging<'_> {
    fn drop(&mut self) {
        // Whatever remains is swept by the next claim of this key or the next start.
        let _ = self.cache.disk.remove_dir(&self.dir);
    }
}
