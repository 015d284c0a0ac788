//! `stagetune-lab evidence` about the `stagetune` command, at toy sizes: numbers are there and make sense; times are not judged.

// Clippy lets tests unwrap and panic but not the helpers beside them.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{evidence, stagetune};

#[test]
fn overhead_is_measured_against_the_bare_commands() {
    let result = evidence(&["overhead", "--trials", "4", "--repeats", "1", "--stagetune", &stagetune()]);
    let ms = |name: &str| result[name].as_f64().unwrap();
    assert!(ms("bare_ms") > 0.0 && ms("executed_ms") > 0.0 && ms("reused_ms") > 0.0, "{result}");
    assert!((ms("executed_ms") - ms("bare_ms") - ms("added_to_executed_ms")).abs() < 1e-9);
}

#[test]
fn what_a_study_leaves_is_counted() {
    let result = evidence(&["files", "--trials", "20", "--stagetune", &stagetune()]);
    // Three stages a trial, each an entry and its file, and a log of the second.
    assert!(result["files"].as_u64().is_some_and(|files| (100..200).contains(&files)), "{result}");
}

#[test]
fn a_long_study_is_opened_and_looked_at() {
    let result = evidence(&["long-study", "--trials", "200", "--repeats", "1", "--stagetune", &stagetune()]);
    // Started, owned, and for each trial: asked, a launch and a report of each of three stages, ended.
    assert_eq!(result["records"], 2 + 200 * 8);
    assert!(
        ["open_seconds", "status_seconds", "report_seconds"]
            .iter()
            .all(|name| result[name].as_f64().unwrap() > 0.0)
    );
}
