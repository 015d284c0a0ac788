//! `cargo xtask tidy`: the house rules that no compiler checks.
//!
//! - every Rust file opens with a `//!` line and every Python file with a docstring;
//! - no source file is longer than [`rules::MOST_LINES`] lines;
//! - crates depend on each other, and the modules of each use each other, only along the arrows in
//!   [`arrow::CRATES`];
//! - every folder of the engine and every crate is on the map, `ARCHITECTURE.md`;
//! - README has at most so many words, and its sentences are short;
//! - every direct dependency is in `docs/dependencies.md`, and no other;
//! - nothing speaks of one machine's directories, and nothing is left over that reads as unfinished.

mod arrow;
mod crates;
mod dependencies;
mod map;
mod paths;
mod prose;
mod rules;
#[cfg(test)]
mod tests;

use crate::step;
use anyhow::{Context, Result, bail};
use std::path::Path;

/// A text file of the workspace.
#[derive(Debug)]
pub struct Source {
    /// Its path from the root, with `/` between the parts.
    pub path: String,
    /// Its content.
    pub text: String,
}

/// Checks the workspace and prints every finding.
pub fn run() -> Result<()> {
    let mut sources = Vec::new();
    collect(&step::root(), "", &mut sources)?;
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    let findings = check(&sources);
    for finding in &findings {
        println!("{finding}");
    }
    if !findings.is_empty() {
        bail!("{} untidy places, listed above", findings.len());
    }
    println!("{} files are tidy; {}", sources.len(), prose::described(&sources));
    Ok(())
}

/// Every finding, as `path:line: what is wrong and how to mend it`.
fn check(sources: &[Source]) -> Vec<String> {
    let mut findings: Vec<String> = sources.iter().flat_map(rules::check).collect();
    findings.extend(sources.iter().flat_map(arrow::check));
    findings.extend(crates::check(sources));
    findings.extend(map::check(sources));
    findings.extend(dependencies::check(sources));
    findings.extend(prose::check(sources));
    findings
}

/// Directories that hold no sources of ours.
const SKIPPED: [&str; 5] = ["target", ".git", ".venv", "__pycache__", "node_modules"];

/// Folders of files that are wrong on purpose, some of them not even text.
const CORPORA: [&str; 3] = ["crates/stagetune-pipeline/tests/malformed", "fuzz/crashes", "fuzz/seeds"];

/// File names and endings that are text and ours; licence texts are not ours.
const TEXT: [&str; 8] = [".rs", ".py", ".md", ".toml", ".sh", ".json", "run", ".txt"];

fn collect(root: &Path, folder: &str, sources: &mut Vec<Source>) -> Result<()> {
    let directory = root.join(folder);
    let reading = || format!("cannot read {}", directory.display());
    for entry in std::fs::read_dir(&directory).with_context(reading)? {
        let entry = entry.with_context(reading)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        let kind = entry.file_type().with_context(reading)?;
        let skipped = SKIPPED.contains(&name.as_str()) || CORPORA.contains(&path.as_str());
        if kind.is_dir() && !skipped {
            collect(root, &path, sources)?;
        } else if kind.is_file() && TEXT.iter().any(|ending| name.ends_with(ending)) {
            let text = std::fs::read_to_string(entry.path())
                .with_context(|| format!("cannot read {path} as text"))?;
            sources.push(Source { path, text });
        }
    }
    Ok(())
}
