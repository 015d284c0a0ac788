//! What can be said to a study without owning it: forget, rerun, pause, resume, note.

use crate::harness::{Lab, has_lines, text, wait_until};
use std::fs;

/// Trials fail until there is room outside.
fn failing() -> Lab {
    Lab::new(
        r#"
[study]
name = "failing"
metric = "f"
direction = "minimize"
strategy = "random"
budget = { trials = 6 }
[[stage]]
name = "first"
run = ["sh", "-c", 'echo first >> ../outside/runs; echo $1 > "$2/v"', "sh", "{x}", "{out}"]
[stage.params]
x = { float = [0, 1] }
[[stage]]
name = "second"
run = ["sh", "-c", 'echo second >> ../outside/begun; [ -e ../outside/mended ] || echo the licence server is away; [ -e ../outside/mended ] || exit 3; echo "{{\"f\": $1}}" > "$2/result.json"', "sh", "{y}", "{out}", "{first}"]
[stage.params]
y = { float = [0, 1] }
"#,
    )
}

#[test]
fn what_slipped_through_as_failed_is_run_again_with_the_same_settings() {
    let lab = failing();
    lab.stagetune(&["run"]);
    let status = lab.json(&["status", "--json"]);
    assert_eq!((&status["failed"], &status["observed"]), (&6.into(), &0.into()));
    let before = lab.json(&["trials", "--all", "--json"]);
    fs::write(lab.outside().join("mended"), "").unwrap();
    // Others than those with these words are left alone.
    let none = lab.json(&["rerun", "--failed", "--because", "no such words", "--json"]);
    assert_eq!(none["rerun"], serde_json::json!([]));
    let said = lab.json(&["rerun", "--failed", "--because", "licence server", "--json"]);
    assert_eq!(said["rerun"], serde_json::json!([0, 1, 2, 3, 4, 5]));
    assert_eq!(said["as"], serde_json::json!([6, 7, 8, 9, 10, 11]));
    lab.done(&["run"]);
    let status = lab.json(&["status", "--json"]);
    assert_eq!(
        (&status["failed"], &status["observed"], &status["withdrawn"]),
        (&0.into(), &6.into(), &6.into())
    );
    let after = lab.json(&["trials", "--all", "--json"]);
    for trial in 0..6 {
        assert_eq!(after[trial + 6]["point"], before[trial]["point"], "{trial}");
    }
    // The first stage's outputs were there.
    assert_eq!(lab.runs()["first"], 6);
    let again = lab.stagetune(&["rerun", "0"]);
    assert!(text(&again.stderr).contains("forgotten before"), "{}", text(&again.stderr));
}

#[test]
fn a_trial_is_forgotten_and_never_shown_as_a_result_again() {
    let lab = failing();
    fs::write(lab.outside().join("mended"), "").unwrap();
    lab.done(&["run"]);
    let best = lab.json(&["best", "--json"])["trial"].as_u64().unwrap();
    lab.done(&["forget", &best.to_string(), "--because", "the microscope was out of focus"]);
    assert_ne!(lab.json(&["best", "--json"])["trial"].as_u64(), Some(best));
    let shown = lab.done(&["trials", "--trial", &best.to_string()]);
    assert!(shown.contains("out of focus"), "{shown}");
    for (arguments, wanted) in [(["forget", "99"], "no trial 99"), (["forget", &best.to_string()], "before")]
    {
        let refused = lab.stagetune(&arguments);
        assert_eq!(refused.status.code(), Some(1));
        assert!(text(&refused.stderr).contains(wanted), "{}", text(&refused.stderr));
    }
    // A study that was never begun is not begun by a word about it.
    let fresh = failing();
    assert_eq!(fresh.stagetune(&["forget", "0"]).status.code(), Some(8));
    assert!(!fresh.root().join(".stagetune/journal.db").exists());
}

#[test]
fn a_study_that_runs_is_paused_and_resumed_by_others() {
    let lab = failing();
    let file = fs::read_to_string(lab.root().join("pipeline.toml")).unwrap();
    lab.write(&file.replace("trials = 6", "trials = 60").replace("echo first", "sleep 0.1; echo first"));
    fs::write(lab.outside().join("mended"), "").unwrap();
    let mut child = lab.start(&["run"]);
    wait_until("some trials", || has_lines(&lab.outside().join("begun"), 2));
    lab.done(&["pause", "the disk is being replaced"]);
    let status = || lab.json(&["status", "--json"]);
    wait_until("the last open trial", || status()["open"] == serde_json::json!([]));
    let paused = status();
    assert_eq!(paused["paused"], "the disk is being replaced");
    assert!(paused["observed"].as_u64() < Some(60), "{paused}");
    lab.done(&["note", "--trial", "0", "blurred"]);
    assert_eq!(lab.stagetune(&["note", "--trial", "999", "x"]).status.code(), Some(1));
    lab.done(&["resume"]);
    assert!(child.wait().unwrap().success());
    let done = status();
    assert_eq!((&done["observed"], &done["paused"]), (&60.into(), &serde_json::Value::Null));
    assert_eq!(done["notes"], serde_json::json!([[0, "blurred"]]));
}
