//! Disks that are full, directories that cannot be written: a readable journal, a clear error, and nothing lost.

use crate::harness::{Lab, THREE, story, text, told};
use std::process::Command;

#[test]
fn whenever_the_disk_is_full_the_error_is_clear_and_the_study_goes_on_afterwards() {
    // Without patience: a limit on file sizes does not go away by waiting.
    let few = THREE.replace("budget = { trials = 40 }", "budget = { trials = 12 }\npatience = 0");
    let undisturbed = Lab::new(&few);
    undisturbed.done(&["run", "--quiet"]);
    let reference = story(&undisturbed.records("three"));

    let mut failed = 0;
    // A limit on file sizes makes real writes fail, those of the database too, at another place for each size.
    for blocks in (0..400).step_by(16) {
        let lab = Lab::new(&few);
        let script = format!("ulimit -f {blocks}; exec \"$0\" run --quiet");
        let mut command = Command::new("sh");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_stagetune")]).current_dir(lab.root());
        let output = command.output().unwrap();
        if !output.status.success() {
            failed += 1;
            let error = text(&output.stderr);
            assert!(matches!(output.status.code(), Some(1)), "{blocks}: {:?} {error}", output.status);
            assert!(error.contains("error: ") && error.contains(".stagetune"), "{blocks}: {error}");
            assert!(!error.contains("panicked"), "{blocks}: {error}");
        }
        let so_far = story(&lab.records("three"));
        assert_eq!(reference.get(..so_far.len()), Some(&so_far[..]), "{blocks}");
        lab.assert_cache_is_whole();
        lab.done(&["run", "--quiet"]);
        assert_eq!(story(&lab.records("three")), reference, "{blocks}");
    }
    assert!(failed >= 3, "only {failed} sizes made a write fail");
}

#[test]
fn a_state_directory_that_cannot_be_made_is_named() {
    let lab = Lab::new(THREE);
    std::fs::write(lab.root().join(".stagetune"), "a file").unwrap();
    let output = lab.stagetune(&["run"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains(".stagetune"), "{}", text(&output.stderr));
    assert_eq!(std::fs::read_to_string(lab.root().join(".stagetune")).unwrap(), "a file");
}

#[test]
fn a_damaged_output_is_made_again_and_a_damaged_journal_is_left_alone() {
    let lab = Lab::new(THREE);
    lab.done(&["run", "--quiet"]);
    let before: usize = lab.runs().values().sum();
    let listed = lab.json(&["cache", "ls", "--json"]);
    for last in listed.as_array().unwrap().iter().filter(|entry| entry["stage"] == "third") {
        let entry = lab.root().join(".stagetune/cache").join(last["key"].as_str().unwrap());
        std::fs::write(entry.join("out/result.json"), "{\"f\": 0}").unwrap();
    }
    assert_eq!(lab.stagetune(&["cache", "verify"]).status.code(), Some(9));
    lab.write(&THREE.replace("\"three\"", "\"four\"").replace("trials = 40", "trials = 4"));
    let output = lab.stagetune(&["run"]);
    assert!(text(&output.stderr).contains("was damaged"), "{}", text(&output.stderr));
    assert!(lab.runs().values().sum::<usize>() > before);
    lab.done(&["cache", "verify", "--remove"]);
    lab.done(&["cache", "verify"]);

    let journal = lab.root().join(".stagetune/journal.db");
    let told_before = told(&lab.records("four")).len();
    assert_eq!(told_before, 4);
    for file in ["journal.db-wal", "journal.db-shm"] {
        let _ = std::fs::remove_file(lab.root().join(".stagetune").join(file));
    }
    std::fs::write(&journal, "nonsense").unwrap();
    for command in [&["status"][..], &["run"], &["best"], &["trials"], &["report", "-o", "-"]] {
        let output = lab.stagetune(command);
        assert_eq!(output.status.code(), Some(7), "{command:?}");
        let error = text(&output.stderr);
        assert!(error.contains("journal.db") && error.contains("stagetune repair"), "{command:?}: {error}");
    }
    assert_eq!(std::fs::read_to_string(&journal).unwrap(), "nonsense");
}
