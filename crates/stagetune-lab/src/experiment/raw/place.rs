//! Which results a path names: a plan, a folder, a part of a folder, or a file of raw results.

use super::Results;
use super::file::{FILE, read};
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};

/// The file that people read, which `stagetune-lab run` writes beside the raw results.
pub const SUMMARY: &str = "summary.json";

/// What a path names.
#[derive(Debug)]
pub enum Place {
    /// Raw results, and where they stand.
    Raw(PathBuf, Box<Results>),
    /// A summary alone, which may not be there.
    Summary(PathBuf),
}

/// Finds results: `FOLDER`, `FOLDER/plan.toml`, `FOLDER/runs.jsonl.zst`, `FOLDER/PART`,
/// `FOLDER/summary.json`, or a summary of any other name.
pub fn find(path: &Path) -> Result<Place> {
    let named = |name: &str| path.file_name().is_some_and(|file| file == name);
    let is_file = path.is_file();
    let toml = path.extension().is_some_and(|extension| extension == "toml");
    let folder = if named(FILE) || toml || (named(SUMMARY) && !is_file) {
        path.with_file_name("")
    } else if is_file {
        return Ok(Place::Summary(path.to_owned()));
    } else {
        path.to_owned()
    };
    let own = folder.join(FILE);
    if own.is_file() {
        return the_only_one(own);
    }
    let summary = if named(SUMMARY) { path.to_owned() } else { folder.join(SUMMARY) };
    let above = folder.parent().map(|above| above.join(FILE)).filter(|above| above.is_file());
    let (Some(part), Some(above)) = (folder.file_name(), above) else { return Ok(Place::Summary(summary)) };
    let mut parts = read(&above)?;
    match parts.iter().position(|results| *results.part == *part) {
        Some(place) => Ok(Place::Raw(above, Box::new(parts.swap_remove(place)))),
        None => Ok(Place::Summary(summary)),
    }
}

/// The results of a file that has no parts.
fn the_only_one(path: PathBuf) -> Result<Place> {
    let mut parts = read(&path)?;
    if let Some(place) = parts.iter().position(|results| results.part.is_empty()) {
        return Ok(Place::Raw(path, Box::new(parts.swap_remove(place))));
    }
    let names: Vec<&str> = parts.iter().map(|results| results.part.as_str()).collect();
    let folder = path.with_file_name("");
    let first = folder.join(names.first().copied().unwrap_or_default());
    bail!(
        "{} has the parts {}; name one of them, such as {}",
        path.display(),
        names.join(", "),
        first.display()
    )
}

/// The raw results that a path names.
pub fn raw(path: &Path) -> Result<Results> {
    match find(path)? {
        Place::Raw(_, results) => Ok(*results),
        Place::Summary(_) => bail!(
            "there are no raw results at {}; give a folder with {FILE}, a part of it or its plan",
            path.display()
        ),
    }
}

/// The results in folders, each with a path that [`find`] takes; only parts of some names where
/// names are given.
pub fn parts(folders: &[PathBuf], only: Option<&[String]>) -> Result<Vec<(PathBuf, Results)>> {
    let mut all = Vec::new();
    for folder in folders {
        for results in read(&folder.join(FILE))? {
            if only.is_none_or(|only| only.contains(&results.part)) {
                let path = if results.part.is_empty() { folder.clone() } else { folder.join(&results.part) };
                all.push((path, results));
            }
        }
    }
    // By the letters of the paths, as a shell sorts them: the order of problems is part of how
    // intervals are drawn.
    all.sort_by(|(a, _), (b, _)| a.as_os_str().cmp(b.as_os_str()));
    Ok(all)
}
