//! What runs at this moment, in a small file for whoever asks from outside.
//!
//! The file follows within a tenth of a second. Written at every change, it cost a short stage more
//! than its process: each version is a new file, and a file system that was just given many files
//! to delete makes new ones slowly.

use std::path::PathBuf;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use super::patience::Waiting;
use crate::disk::Disk;
use crate::regular;
use crate::state_dir::StateDir;

/// A stage at work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunningStage {
    /// The trial.
    pub trial: u64,
    /// The stage.
    pub stage: String,
    /// When it began, in seconds since 1970.
    pub began: f64,
    /// How long its runs took so far, on average.
    pub expected: Option<f64>,
}

/// The stages at work; the file is gone when the session ends.
#[derive(Debug)]
pub struct Live {
    path: PathBuf,
    disk: Disk,
    stages: Mutex<Vec<RunningStage>>,
    /// What the file says. Only who writes the file waits for it.
    written: Mutex<Now>,
}

/// What the file says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Now {
    /// The stages at work.
    pub running: Vec<RunningStage>,
    /// What is waited for because the world is at fault.
    #[serde(default)]
    pub waiting: Vec<Waiting>,
}

impl Live {
    pub(super) fn new(state: &StateDir, study: &str, disk: Disk) -> Self {
        Self { path: state.live(study), disk, stages: Mutex::default(), written: Mutex::default() }
    }

    /// What the file says; nothing if there is none.
    pub fn read(state: &StateDir, study: &str) -> Now {
        let text = regular::read(&state.live(study)).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    pub(super) fn began(&self, stage: RunningStage) {
        self.change(|stages| stages.push(stage));
    }

    pub(super) fn ended(&self, trial: u64, stage: &str) {
        self.change(|stages| stages.retain(|r| r.trial != trial || r.stage != stage));
    }

    /// Brings the file up to date, with what is waited for.
    pub(super) fn write(&self, waiting: Vec<Waiting>) {
        let Ok(mut written) = self.written.lock() else { return };
        let Ok(running) = self.stages.lock().map(|stages| stages.clone()) else { return };
        let now = Now { running, waiting };
        if now != *written {
            // Only a courtesy to lookers-on: the study does not depend on it. Where it fails it is
            // tried again.
            let done = self.disk.replace(&self.path, &serde_json::to_vec(&now).unwrap_or_default());
            if done.is_ok() {
                *written = now;
            }
        }
    }

    fn change(&self, change: impl FnOnce(&mut Vec<RunningStage>)) {
        let Ok(mut stages) = self.stages.lock() else { return };
        change(&mut stages);
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let _ = self.disk.remove_file(&self.path);
    }
}
