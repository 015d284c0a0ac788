//! A miniature of the whole: `stagetune run` tunes the example's own pipeline file on a small volume, and a training that diverges does not end it.
#![allow(clippy::unwrap_used)]

mod common;

use common::small_phantom;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The `stagetune` program beside `microct`: the tests of the workspace have built it, those of this package alone build it here.
fn stagetune() -> PathBuf {
    let stagetune = Path::new(env!("CARGO_BIN_EXE_microct")).with_file_name("stagetune");
    if !stagetune.is_file() {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
        let built =
            Command::new(cargo).args(["build", "--quiet", "--package", "stagetune-cli"]).status().unwrap();
        assert!(built.success());
    }
    stagetune
}

/// The pipeline file of the example with changes, and a small phantom beside it.
fn prepared(folder: &Path, file: &str, changes: &[(&str, &str)]) {
    small_phantom(folder);
    let mut text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(file)).unwrap();
    for (old, new) in changes {
        assert!(text.contains(old), "{file} has no `{old}`");
        text = text.replace(old, new);
    }
    std::fs::write(folder.join(file), text).unwrap();
}

fn run(folder: &Path, file: &str) -> Vec<Value> {
    let stagetune = stagetune();
    let done = Command::new(&stagetune).args(["run", file]).current_dir(folder).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let told =
        Command::new(&stagetune).args(["trials", file, "--json"]).current_dir(folder).output().unwrap();
    let text = String::from_utf8(told.stdout).unwrap();
    match serde_json::from_str::<Value>(&text) {
        Ok(Value::Array(trials)) => trials,
        Ok(value) => value["trials"].as_array().cloned().unwrap_or_else(|| vec![value]),
        Err(_) => text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
    }
}

const SMALL: (&str, &str) = ("\"--batch\", \"{batch}\",", "\"--batch\", \"{batch}\", \"--crops\", \"16\",");

#[test]
fn lambo_tunes_the_three_stages_and_reuses_them() {
    let folder = tempfile::tempdir().unwrap();
    let budget = ("{ trials = 200, cost = \"5 min\" }", "{ trials = 8 }");
    prepared(folder.path(), "pipeline.toml", &[SMALL, budget]);
    let trials = run(folder.path(), "pipeline.toml");
    assert_eq!(trials.len(), 8);
    // Fewer denoised volumes than trials: a later trial has kept an earlier one's.
    let denoised = std::fs::read_dir(folder.path().join(".stagetune/cache")).unwrap().count();
    assert!(denoised < 3 * trials.len(), "{denoised} outputs of 8 trials with 3 stages");
    assert!(trials.iter().all(|trial| (0.0..=1.0).contains(&trial["value"].as_f64().unwrap())), "{trials:?}");
}

#[test]
fn a_training_that_diverges_does_not_end_the_study() {
    let folder = tempfile::tempdir().unwrap();
    let budget = ("{ trials = 200, cost = \"3 min\" }", "{ trials = 6 }");
    // Half of the learning rates are absurd.
    let absurd = ("lr = { float = [1e-7, 1e-1] }", "lr = { choice = [\"0.01\", \"1e30\"] }");
    prepared(folder.path(), "pipeline-2.toml", &[SMALL, budget, absurd]);
    let trials = run(folder.path(), "pipeline-2.toml");
    assert_eq!(trials.len(), 6);
    let failed = trials.iter().filter(|trial| trial["value"].is_null()).count();
    assert!((1..6).contains(&failed), "{trials:?}");
}
