//! `runs.jsonl.zst`: lines of JSON, compressed.
//!
//! ```text
//! {"experiment": {"format": 1, "part": "auto", "about": {the rules, the command, the date …}}}
//! {"strategy": {"label": "lambo", "ask_seconds": {"median": …, "p95": …}}}
//! {"run": {"sim": 1, "final_regret": …, "movement_regret": …, "cost_to": {"0.05": …}, …}}
//! ```
//!
//! A strategy belongs to the experiment above it, a run to the strategy above it. Numbers have as
//! many digits as it takes to read them back exactly. Compressed files do not pack in a repository:
//! a file is written once, when its runs are done.

use super::super::summary::{AskSeconds, Summary};
use super::{Competitor, Results, Run, Together};
use crate::packed;
use crate::write::write_whole;
use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;

/// The name of the file.
pub const FILE: &str = "runs.jsonl.zst";

/// The format of these files: 1, the first.
const FORMAT: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line {
    Experiment(Box<Heading>),
    Strategy(Box<Who>),
    Run(Box<Run>),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Heading {
    format: u32,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    part: String,
    about: Summary,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Who {
    label: String,
    ask_seconds: AskSeconds,
    #[serde(default, skip_serializing_if = "is_nothing")]
    together: Together,
}

fn is_nothing(together: &Together) -> bool {
    *together == Together::default()
}

/// All parts of a file, in its order.
pub fn read(path: &Path) -> Result<Vec<Results>> {
    let damaged = || {
        format!("{} is cut or damaged; restore it from the repository, or run its plan again", path.display())
    };
    let bytes = packed::unpack(path).with_context(damaged)?;
    let text = String::from_utf8(bytes).with_context(damaged)?;
    let mut parts: Vec<Results> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let place = || format!("{}, line {number}: no result of this release", path.display());
        add(&mut parts, serde_json::from_str(line).with_context(place)?).with_context(place)?;
    }
    check(&parts).with_context(|| format!("{} is not complete; run its plan again", path.display()))?;
    Ok(parts)
}

fn add(parts: &mut Vec<Results>, line: Line) -> Result<()> {
    match line {
        Line::Experiment(heading) => {
            let Heading { format, part, about } = *heading;
            ensure!(format == FORMAT, "its format is {format}, and {FORMAT} is what this release reads");
            ensure!(parts.iter().all(|other| other.part != part), "the part {part:?} is there twice");
            parts.push(Results { part, about, competitors: Vec::new() });
        }
        Line::Strategy(who) => {
            let results = parts.last_mut().context("a strategy stands before any experiment")?;
            let Who { label, ask_seconds, together } = *who;
            let new = results.competitors.iter().all(|other| other.label != label);
            ensure!(new, "the strategy {label} is there twice");
            results.competitors.push(Competitor { label, ask_seconds, together, runs: Vec::new() });
        }
        Line::Run(run) => {
            let competitor = parts.last_mut().and_then(|results| results.competitors.last_mut());
            let competitor = competitor.context("a run stands before any strategy")?;
            let whole = run.steps.as_ref().is_none_or(|steps| steps.len().is_some());
            ensure!(whole, "the columns of `steps` are not equally long");
            competitor.runs.push(*run);
        }
    }
    Ok(())
}

fn check(parts: &[Results]) -> Result<()> {
    ensure!(!parts.is_empty(), "it has no experiment");
    for results in parts {
        let budget = results.about.budget;
        let sound = budget.is_finite() && budget > 0.0 && !results.about.costs.is_empty();
        ensure!(sound, "an experiment has no budget or no costs");
        ensure!(!results.competitors.is_empty(), "an experiment has no strategies");
        for competitor in &results.competitors {
            let numbers: BTreeSet<usize> = competitor.runs.iter().map(|run| run.sim).collect();
            let complete = !numbers.is_empty() && numbers.len() == competitor.runs.len();
            ensure!(complete, "{} has no runs, or one of them twice", competitor.label);
        }
    }
    Ok(())
}

/// Writes a file as a whole.
pub fn write(path: &Path, parts: &[Results]) -> Result<()> {
    let mut text = String::new();
    let mut add = |line: Line| -> Result<()> {
        text.push_str(&serde_json::to_string(&line)?);
        text.push('\n');
        Ok(())
    };
    for results in parts {
        let (part, about) = (results.part.clone(), results.about.clone());
        add(Line::Experiment(Box::new(Heading { format: FORMAT, part, about })))?;
        for competitor in &results.competitors {
            let Competitor { label, ask_seconds, together, runs } = competitor.clone();
            add(Line::Strategy(Box::new(Who { label, ask_seconds, together })))?;
            runs.into_iter().try_for_each(|run| add(Line::Run(Box::new(run))))?;
        }
    }
    let packed = packed::pack(text.as_bytes()).context("cannot compress the results")?;
    write_whole(path, &packed)
}

/// Writes a part among those that are there already, in the place of an older one of its name.
pub fn put(path: &Path, results: Results) -> Result<()> {
    let mut parts = if path.exists() { read(path)? } else { Vec::new() };
    match parts.iter_mut().find(|other| other.part == results.part) {
        Some(older) => *older = results,
        None => parts.push(results),
    }
    parts.sort_by(|a, b| a.part.cmp(&b.part));
    write(path, &parts)
}

/// A name that a part can have: it stands at the end of paths.
pub fn check_part(name: &str) -> Result<()> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
        bail!("`{name}` cannot be a part; use 1 to 64 letters, digits, `-` and `_`");
    }
    Ok(())
}
