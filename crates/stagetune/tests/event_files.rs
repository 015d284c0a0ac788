//! A new event touches at most four source files: what it is, what it does to a study, whether it survives a
//! power cut, and what people see of it.

// Clippy lets tests unwrap but not the helpers beside them; the engine sees no files, this test does.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use std::path::{Path, PathBuf};

const CRATES: [&str; 4] = ["stagetune", "stagetune-pipeline", "stagetune-cli", "stagetune-lab"];

/// Where a new event is made known.
const PLACES: [&str; 4] = ["study/event.rs", "study/apply.rs", "log/record.rs", "ledger/fold.rs"];

/// Where commands of people append events: a command is made here, and no event.
const COMMANDS: &str = "commands/control.rs";

/// Every Rust file below a folder that is not a file of tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("tests.rs") {
            found.push(path);
        }
    }
}

/// The code of a file: without comments, and up to its tests.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let code = text.split("#[cfg(test)]").next().unwrap();
    code.lines().map(|line| line.split("//").next().unwrap()).collect::<Vec<_>>().join("\n")
}

#[test]
fn an_event_that_nobody_needs_for_its_work_is_named_in_four_files() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    for folder in CRATES {
        sources(&crates.join(folder).join("src"), &mut files);
    }
    assert!(files.len() > 200, "only {} source files were found", files.len());
    for event in ["Noted", "Resumed"] {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let named = |path: &&PathBuf| code(path).split(|c| !is_part(c)).any(|word| word == event);
        let makes_known = |path: &&PathBuf| !path.ends_with(COMMANDS);
        let named: Vec<&PathBuf> = files.iter().filter(named).filter(makes_known).collect();
        let is_place = |path: &&PathBuf| PLACES.iter().any(|place| path.ends_with(place));
        assert!(named.len() == PLACES.len() && named.iter().all(is_place), "{event}: {named:?}");
    }
}
