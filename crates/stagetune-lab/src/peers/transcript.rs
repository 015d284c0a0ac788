//! Games: what a peer asked for, in order, under which conditions.
//!
//! The games on a problem stand in one file, `PROBLEM.jsonl.zst`, a line for each, compressed.
//! While games are played each has a file of its own, `PROBLEM/PEER-0001.json`, so that playing can
//! be stopped at any instant; a game that has one is read from there.

use crate::packed;
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
    /// The file that it has of its own in a folder of games, until it is folded.
    pub fn file(&self, folder: &Path) -> PathBuf {
        folder.join(&self.problem).join(format!("{}-{:04}.json", self.peer, self.sim))
    }

    fn has_name(&self, other: &Self) -> bool {
        (&self.problem, &self.peer, self.sim) == (&other.problem, &other.peer, other.sim)
    }
}

/// The games of a folder on one problem, whoever played them.
#[derive(Debug)]
pub struct Games {
    folder: PathBuf,
    problem: String,
    path: PathBuf,
    /// Those of the common file.
    folded: Vec<Transcript>,
}

impl Games {
    /// Reads the common file, if there is one.
    pub fn open(folder: &Path, problem: &str) -> Result<Self> {
        let path = folder.join(format!("{problem}.jsonl.{}", packed::EXTENSION));
        let mut folded = Vec::new();
        if path.exists() {
            let damaged = || format!("{} is cut or damaged; restore it from the repository", path.display());
            let text =
                String::from_utf8(packed::unpack(&path).with_context(damaged)?).with_context(damaged)?;
            for (number, line) in (1..).zip(text.lines()) {
                let place = || format!("{}, line {number}: no game of this release", path.display());
                let game: Transcript = serde_json::from_str(line).with_context(place)?;
                ensure!(game.is_whole() && game.game.problem == problem, place());
                folded.push(game);
            }
        }
        Ok(Self { folder: folder.to_owned(), problem: problem.to_owned(), path, folded })
    }

    /// The game of this name, under whatever conditions.
    pub fn find(&self, game: &Game) -> Result<Option<Transcript>> {
        let own = Transcript::read(&game.file(&self.folder))?;
        Ok(own.or_else(|| self.folded.iter().find(|folded| folded.game.has_name(game)).cloned()))
    }

    /// The game, if it was played; one under other conditions is refused.
    pub fn load(&self, game: &Game) -> Result<Option<Transcript>> {
        let found = self.find(game)?;
        if let Some(other) = found.as_ref().filter(|found| found.game != *game) {
            bail!(
                "game {} of {} on {} in {} was played under other conditions: {:?} instead of \
                    {game:?}; play into another folder",
                game.sim,
                game.peer,
                game.problem,
                self.folder.display(),
                other.game
            );
        }
        Ok(found)
    }

    /// Moves games that have files of their own into the common one.
    pub fn fold(mut self) -> Result<()> {
        let own = self.folder.join(&self.problem);
        let Ok(entries) = std::fs::read_dir(&own) else { return Ok(()) };
        let mut paths = Vec::new();
        for entry in entries {
            let path = entry.with_context(|| format!("cannot read {}", own.display()))?.path();
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            if name.ends_with(".json") && !name.starts_with('.') {
                paths.push(path);
            }
        }
        paths.sort();
        for path in &paths {
            let Some(game) = Transcript::read(path)? else { continue };
            self.folded.retain(|other| !other.game.has_name(&game.game));
            self.folded.push(game);
        }
        if paths.is_empty() {
            return Ok(());
        }
        self.write()?;
        for path in &paths {
            std::fs::remove_file(path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
        // Left where something else lies in it.
        let _ = std::fs::remove_dir(&own);
        Ok(())
    }

    fn write(&mut self) -> Result<()> {
        self.folded.sort_by(|a, b| (&a.game.peer, a.game.sim).cmp(&(&b.game.peer, b.game.sim)));
        let mut text = String::new();
        for game in &self.folded {
            text.push_str(&serde_json::to_string(game)?);
            text.push('\n');
        }
        let packed = packed::pack(text.as_bytes()).context("cannot compress the games")?;
        write_whole(&self.path, &packed)
    }
}

impl Transcript {
    /// A game that was played.
    pub fn new(game: Game, start_values: Vec<f64>, x: Vec<Vec<f64>>, seconds: Vec<f64>) -> Self {
        Self { format: FORMAT, game, start_values, x, seconds }
    }

    /// The file of a game that has one of its own.
    fn read(path: &Path) -> Result<Option<Self>> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        };
        let damaged =
            || format!("{} is not a game of this release; delete it and play it again", path.display());
        let transcript: Self = serde_json::from_str(&text).with_context(damaged)?;
        ensure!(transcript.is_whole(), damaged());
        Ok(Some(transcript))
    }

    fn is_whole(&self) -> bool {
        self.format == FORMAT && self.x.len() == self.seconds.len()
    }

    /// How many trials it had, starting points included.
    pub fn trials(&self) -> usize {
        self.start_values.len() + self.x.len()
    }

    /// Keeps it in a file of its own.
    pub fn save(&self, folder: &Path) -> Result<()> {
        let path = self.game.file(folder);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        }
        write_whole(&path, format!("{}\n", serde_json::to_string(self)?).as_bytes())
    }
}
