//! A problem that is a table: the score of every setting of a real pipeline on a grid, computed
//! once and looked up ever after.
//!
//! A table is a folder:
//!
//! ```text
//! table.json   name, metric, unit, modules (name, seconds: mean and sd, params: name and values), best, mean; other keys are allowed
//! f1.u16       one little-endian u16 per setting, row by row: the first parameter moves slowest; score = entry / unit
//! f1.u16.zst   the same, compressed: instead of the plain file, which is taken where both are there
//! ```
//!
//! Scores are maximised by the pipeline and minimised here: the value at a setting is −score, so
//! that the minimum is −best and the maximum −worst, both exact. Parameters are ordered grids, and
//! a point is the index of each. The seconds are what a module took where the table was made.

use crate::packed;
use crate::write::write_whole;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The file of the entries.
pub const ENTRIES: &str = "f1.u16";

/// The same, compressed.
pub const PACKED: &str = "f1.u16.zst";

/// The file that says what they are.
pub const ABOUT: &str = "table.json";

/// More entries than we would wait for anybody to compute: 512 MB.
const MOST_ENTRIES: u64 = 1 << 28;

/// `best` in the file is for people and may be rounded, to three digits at least.
const ROUNDED: f64 = 1e-3;

/// A table in memory.
#[derive(Debug)]
pub struct Table {
    about: About,
    entries: Vec<u16>,
    best: u16,
    worst: u16,
    fingerprint: String,
}

/// What `table.json` says.
#[derive(Debug, Deserialize)]
struct About {
    name: String,
    metric: String,
    unit: u32,
    modules: Vec<TableModule>,
    best: Option<f64>,
}

/// A module of the pipeline that was tabulated.
#[derive(Clone, Debug, Deserialize)]
pub struct TableModule {
    /// As the pipeline calls it.
    pub name: String,
    /// What it took, if that was measured.
    pub seconds: Option<Seconds>,
    /// Its parameters in order.
    pub params: Vec<TableParam>,
}

/// Seconds of one module over many settings.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Seconds {
    /// On average.
    pub mean: f64,
    /// Standard deviation.
    #[serde(default)]
    pub sd: f64,
}

/// A parameter on its grid.
#[derive(Clone, Debug, Deserialize)]
pub struct TableParam {
    /// As the pipeline calls it.
    pub name: String,
    /// Its values, rising or falling.
    pub values: Vec<f64>,
}

/// A folder that is no table: where, what, and how to mend it.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// A file is missing or cannot be read.
    #[error("cannot read {}: {error}; a table is a folder with {ABOUT} and {ENTRIES} or \
        {PACKED}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The description is not JSON of this form.
    #[error("{}: {error}; it needs name, metric, unit and modules with their params \
        and values", path.display())]
    NotUnderstood {
        /// The file.
        path: PathBuf,
        /// What and where.
        error: serde_json::Error,
    },
    /// Something in the description makes no sense.
    #[error("{}: {problem}", path.display())]
    Unsound {
        /// The file.
        path: PathBuf,
        /// What, and how to mend it.
        problem: String,
    },
    /// There are more or fewer entries than settings.
    #[error("{} has {found} bytes, but {grid} = {settings} settings take {expected}; compute the \
        table again, or mend the values in {ABOUT}", path.display())]
    WrongLength {
        /// The file.
        path: PathBuf,
        /// Values of each parameter, with × between them.
        grid: String,
        /// Their product.
        settings: u64,
        /// Two for each setting.
        expected: u64,
        /// The file's.
        found: u64,
    },
}

impl Table {
    /// Reads and checks a folder.
    pub fn read(folder: &Path) -> Result<Self, TableError> {
        let path = folder.join(ABOUT);
        let unreadable = |path: &Path| {
            let path = path.to_owned();
            |error| TableError::Unreadable { path, error }
        };
        let text = std::fs::read_to_string(&path).map_err(unreadable(&path))?;
        let about: About = serde_json::from_str(&text)
            .map_err(|error| TableError::NotUnderstood { path: path.clone(), error })?;
        let unsound = |problem: String| TableError::Unsound { path: path.clone(), problem };
        let settings = about.check().map_err(unsound)?;

        let (file, bytes) =
            entries(folder).map_err(|(path, error)| TableError::Unreadable { path, error })?;
        let (found, expected) = (bytes.len() as u64, 2 * settings);
        if found != expected {
            let lengths: Vec<String> = about.params().map(|param| param.values.len().to_string()).collect();
            let grid = lengths.join(" × ");
            return Err(TableError::WrongLength { path: file, grid, settings, expected, found });
        }
        let entries: Vec<u16> =
            bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
        let (worst, best) = entries.iter().fold((u16::MAX, 0), |(low, high), &e| (low.min(e), high.max(e)));
        if worst == best {
            let problem = format!(
                "every entry of {ENTRIES} is {best}, which leaves nothing to tune; compute the table again"
            );
            return Err(TableError::Unsound { path: folder.to_owned(), problem });
        }
        let reached = f64::from(best) / f64::from(about.unit);
        if let Some(stated) = about.best.filter(|stated| !((stated - reached).abs() <= ROUNDED)) {
            let problem = format!(
                "`best` is {stated}, but the highest of {ENTRIES} over `unit` is {reached}; they \
                    are not of one table"
            );
            return Err(TableError::Unsound { path: path.clone(), problem });
        }
        let mut hash = blake3::Hasher::new();
        let lengths = about.params().map(|param| param.values.len() as u64);
        lengths.chain([u64::from(about.unit)]).for_each(|number| {
            hash.update(&number.to_le_bytes());
        });
        let fingerprint = hash.update(&bytes).finalize().to_hex().chars().take(16).collect();
        Ok(Self { about, entries, best, worst, fingerprint })
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.about.name
    }

    /// What its scores are, such as `f1`.
    pub fn metric(&self) -> &str {
        &self.about.metric
    }

    /// Modules in order.
    pub fn modules(&self) -> &[TableModule] {
        &self.about.modules
    }

    /// Parameters of all modules in order.
    pub fn params(&self) -> impl Iterator<Item = &TableParam> {
        self.about.params()
    }

    /// Equal for tables of the same entries on the same grid, and for no others.
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// The highest score.
    pub fn best(&self) -> f64 {
        self.score(self.best)
    }

    /// The lowest score.
    pub fn worst(&self) -> f64 {
        self.score(self.worst)
    }

    /// The mean score of all settings.
    pub fn mean(&self) -> f64 {
        let sum: u64 = self.entries.iter().map(|&entry| u64::from(entry)).sum();
        sum as f64 / self.entries.len() as f64 / f64::from(self.about.unit)
    }

    /// The lowest score of the table's kind that is within so many percent of the best.
    ///
    /// Worked out in whole entries, so that a score that is just within is not lost to rounding.
    pub fn within(&self, percent: u32) -> f64 {
        let share = 100_u64.saturating_sub(u64::from(percent));
        self.score((u64::from(self.best) * share).div_ceil(100) as u16)
    }

    /// How many settings.
    pub fn settings(&self) -> usize {
        self.entries.len()
    }

    /// The score at these indices; `None` if there is no such setting.
    pub fn at(&self, indices: &[usize]) -> Option<f64> {
        let mut row = 0;
        let mut given = indices.iter();
        for param in self.params() {
            let index = *given.next().filter(|index| **index < param.values.len())?;
            row = row * param.values.len() + index;
        }
        if given.next().is_some() {
            return None;
        }
        self.entries.get(row).map(|&entry| self.score(entry))
    }

    /// Indices of the first setting with the highest score.
    pub fn best_indices(&self) -> Vec<usize> {
        let mut row = self.entries.iter().position(|&entry| entry == self.best).unwrap_or(0);
        let lengths: Vec<usize> = self.params().map(|param| param.values.len()).collect();
        let mut indices = vec![0; lengths.len()];
        for (index, length) in indices.iter_mut().zip(lengths).rev() {
            (*index, row) = (row % length, row / length);
        }
        indices
    }

    fn score(&self, entry: u16) -> f64 {
        f64::from(entry) / f64::from(self.about.unit)
    }
}

/// The bytes of the entries, and the file that they are from.
fn entries(folder: &Path) -> Result<(PathBuf, Vec<u8>), (PathBuf, std::io::Error)> {
    let (plain, packed) = (folder.join(ENTRIES), folder.join(PACKED));
    match std::fs::read(&plain) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && packed.exists() => {
            packed::unpack(&packed).map(|bytes| (packed.clone(), bytes)).map_err(|error| (packed, error))
        }
        Err(error) => Err((plain, error)),
        Ok(bytes) => Ok((plain, bytes)),
    }
}

/// Compresses the entries of a table, once it is one, and removes the plain file.
pub fn pack(folder: &Path) -> anyhow::Result<()> {
    use anyhow::Context;
    Table::read(folder)?;
    let plain = folder.join(ENTRIES);
    if !plain.exists() {
        return Ok(());
    }
    let bytes = std::fs::read(&plain).with_context(|| format!("cannot read {}", plain.display()))?;
    let packed = packed::pack(&bytes).with_context(|| format!("cannot compress {}", plain.display()))?;
    write_whole(&folder.join(PACKED), &packed)?;
    std::fs::remove_file(&plain).with_context(|| format!("cannot remove {}", plain.display()))
}

impl About {
    fn params(&self) -> impl Iterator<Item = &TableParam> {
        self.modules.iter().flat_map(|module| &module.params)
    }

    /// The number of settings, or what is wrong.
    fn check(&self) -> Result<u64, String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        if self.name.is_empty() || self.name.len() > 64 || !self.name.chars().all(plain) {
            return Err(format!("`name` is {:?}; use 1 to 64 letters, digits, `-` and `_`", self.name));
        }
        if self.name.parse::<super::Problem>().is_ok() {
            return Err(format!("`name` is {}, which is a test function; choose another", self.name));
        }
        if self.unit == 0 {
            return Err("`unit` is 0; give what an entry is divided by, such as 65535".to_owned());
        }
        if self.modules.is_empty() {
            return Err("`modules` is empty; name at least one with its params".to_owned());
        }
        let mut settings: u64 = 1;
        for module in &self.modules {
            let name = &module.name;
            if module.params.is_empty() {
                return Err(format!(
                    "module {name} has no `params`; a module that is not tuned is no module of a table"
                ));
            }
            let sound = |seconds: &Seconds| {
                seconds.mean.is_finite() && seconds.mean > 0.0 && seconds.sd.is_finite() && seconds.sd >= 0.0
            };
            if module.seconds.as_ref().is_some_and(|seconds| !sound(seconds)) {
                return Err(format!(
                    "`seconds` of module {name} need a mean above 0 and an sd of at least 0"
                ));
            }
            for param in &module.params {
                let rising = param.values.windows(2).all(|pair| pair[0] < pair[1]);
                let falling = param.values.windows(2).all(|pair| pair[0] > pair[1]);
                if param.values.is_empty() || !(rising || falling) {
                    return Err(format!(
                        "`values` of {} in module {name} are not in order; give at least one, each \
                            once, rising or falling",
                        param.name
                    ));
                }
                settings = settings.saturating_mul(param.values.len() as u64);
            }
        }
        if settings > MOST_ENTRIES {
            return Err(format!("the values make more than {MOST_ENTRIES} settings; give fewer"));
        }
        Ok(settings)
    }
}

#[cfg(test)]
mod tests;
