//! `stagetune-lab evidence campaign`, small: nothing is found in the command as it is, and what is
//! broken on purpose is found.

// Clippy lets tests unwrap and panic but not the helpers beside them.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{evidence, lab, stagetune};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// A campaign in a directory of its own.
fn campaign(dir: &Path, program: &str, arguments: &[&str]) -> Value {
    let progress = dir.join("progress.jsonl");
    let mut all = vec!["campaign", "--stagetune", program, "--dir", dir.to_str().unwrap()];
    all.extend(["--progress", progress.to_str().unwrap()]);
    all.extend(arguments);
    evidence(&all)
}

/// A program in place of the command that does something else, too.
fn spoilt(dir: &Path, script: &str) -> String {
    let path = dir.join("stagetune");
    let script = format!("#!/bin/sh\n{}", script.replace("STAGETUNE", &stagetune()));
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn kills_damage_pipelines_and_failing_writes_find_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let arguments = ["--kills", "60", "--pipelines", "8", "--corruptions", "20", "--writes", "0"];
    let result = campaign(dir.path(), &stagetune(), &arguments);
    assert_eq!(result["findings"], serde_json::json!([]), "{result:#}");
    let count = |part: &str, name: &str| result[part][name].as_u64().unwrap_or(0);
    assert!(count("kills", "kills") >= 60 && count("kills", "kills_at_writes") > 0, "{result:#}");
    assert_eq!((count("pipelines", "cases"), count("corruptions", "cases")), (8, 20));
    assert!(count("pipelines", "trials") > 50 && count("pipelines", "reused") > 50, "{result:#}");
    assert!(count("corruptions", "damages") > 10, "{result:#}");
}

#[test]
fn one_write_of_eight_fails_and_nothing_is_found() {
    let dir = tempfile::tempdir().unwrap();
    for case in ["0", "17"] {
        let result = campaign(dir.path(), &stagetune(), &["--only", "writes", "--case", case]);
        assert_eq!(result["findings"], serde_json::json!([]), "{result:#}");
        assert!(result["writes"]["failed_writes"].as_u64().unwrap() > 5, "{result:#}");
    }
}

#[test]
fn a_campaign_goes_on_where_it_was_interrupted_and_refuses_the_progress_of_another_seed() {
    let dir = tempfile::tempdir().unwrap();
    let progress = dir.path().join("progress.jsonl");
    campaign(dir.path(), &stagetune(), &["--only", "pipelines", "--pipelines", "2"]);
    let first = fs::read_to_string(&progress).unwrap();
    assert_eq!(first.lines().count(), 2);
    // A kill in the middle of a line.
    fs::write(&progress, format!("{first}{{\"part\":\"pipe")).unwrap();
    let result = campaign(dir.path(), &stagetune(), &["--only", "pipelines", "--pipelines", "3"]);
    let second = fs::read_to_string(&progress).unwrap();
    assert!(second.starts_with(&first) && second.lines().count() == 3, "{second}");
    assert_eq!(result["pipelines"]["cases"], 3);
    let refused =
        lab(&["campaign", "--only", "pipelines", "--seed", "2", "--progress", progress.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("another seed"));
}

/// What a campaign finds in a program that is broken on purpose.
fn found(script: &str, arguments: &[&str]) -> Value {
    let dir = tempfile::tempdir().unwrap();
    let program = spoilt(dir.path(), script);
    campaign(dir.path(), &program, arguments)["found"].clone()
}

const TWO_PIPELINES: [&str; 4] = ["--only", "pipelines", "--pipelines", "2"];

#[test]
fn stages_that_compute_something_else_are_found() {
    let found = found("sed -i 's/; v=/; v=1/' pipeline.toml; exec STAGETUNE \"$@\"", &TWO_PIPELINES);
    assert!(found["wrong"].as_u64().unwrap() > 0, "{found}");
}

#[test]
fn a_told_trial_whose_record_is_gone_is_found() {
    let script = "STAGETUNE \"$@\"; code=$?; rm -f .stagetune/journal.db*; exit $code";
    let found = found(script, &TWO_PIPELINES);
    assert!(found["lost"].as_u64().unwrap() > 0, "{found}");
}

#[test]
fn panics_and_wrong_exit_codes_are_found() {
    let found_panics = found("echo \"thread 'main' panicked\" >&2; exec STAGETUNE \"$@\"", &TWO_PIPELINES);
    assert!(found_panics["panics"].as_u64().unwrap() > 0, "{found_panics}");
    let found_codes = found("STAGETUNE \"$@\"; exit 4", &TWO_PIPELINES);
    assert!(found_codes["refused"].as_u64().unwrap() > 0, "{found_codes}");
}

#[test]
fn a_process_that_stays_and_a_command_that_does_not_end_are_found() {
    let one = ["--only", "pipelines", "--case", "0", "--longest-survival", "1"];
    let found_survivor = found("sleep 30 & exec STAGETUNE \"$@\"", &one);
    assert!(found_survivor["survivors"].as_u64().unwrap() > 0, "{found_survivor}");
    let one = ["--only", "pipelines", "--case", "0", "--longest", "2", "--longest-survival", "1"];
    let found_hang = found("[ $1 = trials ] && exec sleep 30; exec STAGETUNE \"$@\"", &one);
    assert!(found_hang["hangs"].as_u64().unwrap() > 0, "{found_hang}");
}

#[test]
fn damage_that_nothing_notices_is_found() {
    let script = "[ \"$1 $2\" = 'cache verify' ] && exit 0; exec STAGETUNE \"$@\"";
    let found = found(script, &["--only", "corruptions", "--corruptions", "12"]);
    assert!(found["unseen"].as_u64().unwrap() > 0, "{found}");
}
