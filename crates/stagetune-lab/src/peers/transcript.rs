//! The file of a game: what a peer asked for, in order, under which conditions.

use crate::write::write_whole;
use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The format of these files: 1, the first.
const FORMAT: u32 = 1;

/// A game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transcript {
    /// Of the release that wrote it.
    format: u32,
    /// What it was played under.
    #[serde(flatten)]
    pub game: Game,
    /// What was observed at the starting points: a replay must see the same.
    pub start_values: Vec<f64>,
    /// What was asked for after the start, in the unit cube.
    pub x: Vec<Vec<f64>>,
    /// How long the peer took for each.
    pub seconds: Vec<f64>,
}

/// All that a game depends on besides the peer's version.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Game {
    /// Who plays.
    pub peer: String,
    /// The problem's name.
    pub problem: String,
    /// The fingerprint of a table: one that was computed anew has the same name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// Standard deviation of the noise.
    pub noise: f64,
    /// The starting points.
    pub start: String,
    /// What all randomness comes from.
    pub seed: u64,
    /// The number of the run, from 1.
    pub sim: usize,
}

impl Game {
    /// Its file in a folder of games.
    pub fn file(&self, folder: &Path) -> PathBuf {
        folder.join(&self.problem).join(format!("{}-{:04}.json", self.peer, self.sim))
    }
}

impl Transcript {
    /// A game that was played.
    pub fn new(game: Game, start_values: Vec<f64>, x: Vec<Vec<f64>>, seconds: Vec<f64>) -> Self {
        Self { format: FORMAT, game, start_values, x, seconds }
    }

    /// The game, if it was played; one under other conditions is refused.
    pub fn load(folder: &Path, game: &Game) -> Result<Option<Self>> {
        let found = Self::find(folder, game)?;
        if let Some(other) = found.as_ref().filter(|found| found.game != *game) {
            bail!(
                "{} was played under other conditions: {:?} instead of {game:?}; play into another folder",
                game.file(folder).display(),
                other.game
            );
        }
        Ok(found)
    }

    /// The game of this name, under whatever conditions.
    pub fn find(folder: &Path, game: &Game) -> Result<Option<Self>> {
        let path = game.file(folder);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        };
        let damaged =
            || format!("{} is not a game of this release; delete it and play it again", path.display());
        let transcript: Self = serde_json::from_str(&text).with_context(damaged)?;
        ensure!(transcript.format == FORMAT && transcript.x.len() == transcript.seconds.len(), damaged());
        Ok(Some(transcript))
    }

    /// How many trials it had, starting points included.
    pub fn trials(&self) -> usize {
        self.start_values.len() + self.x.len()
    }

    /// Keeps it.
    pub fn save(&self, folder: &Path) -> Result<()> {
        let path = self.game.file(folder);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        }
        write_whole(&path, format!("{}\n", serde_json::to_string(self)?).as_bytes())
    }
}
