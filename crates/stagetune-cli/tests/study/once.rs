//! A stage whose inputs did not change never runs twice.

use crate::harness::{Lab, THREE, has_lines, send, told, wait_until};
use std::process::Stdio;

fn assert_once(lab: &Lab) {
    let runs = lab.runs();
    let twice: Vec<_> = runs.iter().filter(|(_, count)| **count > 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
    assert!(runs.len() > 20, "{}", runs.len());
}

#[test]
fn an_unchanged_stage_runs_once_with_four_workers_and_after_a_restart() {
    let lab = Lab::new(
        &THREE
            .replace("trials = 40", "trials = 120")
            .replace("\"lambo\"", "\"random\"")
            .replace("[0, 20]", "[6, 8]"),
    );
    let mut child = lab.start(&["run", "--quiet", "--workers", "4"]);
    wait_until("a few trials", || has_lines(&lab.outside().join("runs"), 25));
    send(&child, "-INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let before = told(&lab.records("three")).len();
    assert!(before > 0 && before < 120, "{before}");
    lab.done(&["run", "--quiet", "--workers", "4"]);
    assert_eq!(told(&lab.records("three")).len(), 120);
    let reused = lab.json(&["status", "--json"])["stages"][0]["reused"].as_u64().unwrap();
    assert!(reused >= 117, "{reused}");
    assert_once(&lab);
}

#[test]
fn two_studies_of_one_directory_share_what_they_make() {
    let lab = Lab::new(&THREE.replace("\"lambo\"", "\"random\""));
    std::fs::write(
        lab.root().join("other.toml"),
        THREE.replace("\"lambo\"", "\"random\"").replace("\"three\"", "\"other\""),
    )
    .unwrap();
    let (mut one, mut two) = (lab.start(&["run", "--quiet"]), lab.start(&["run", "--quiet", "other.toml"]));
    assert!(one.wait().unwrap().success() && two.wait().unwrap().success());
    assert_eq!(told(&lab.records("three")).len(), 40);
    assert_eq!(told(&lab.records("other")).len(), 40);
    assert_once(&lab);
}

/// A pipeline of one stage that takes no time.
const BRIEF: &str = r#"
[study]
name = "one"
metric = "f"
direction = "minimize"
strategy = "random"
budget = { trials = 1 }

[[stage]]
name = "only"
cost = 1
run = ["sh", "-c", 'echo "{{\"f\": $1}}" > "$2/result.json"', "sh", "{a}", "{out}"]
[stage.params]
a = { int = [0, 20] }
"#;

#[test]
fn of_200_pairs_of_studies_begun_at_once_in_a_fresh_directory_none_fails() {
    for pair in 0..200 {
        let lab = Lab::new(BRIEF);
        std::fs::write(lab.root().join("other.toml"), BRIEF.replace("\"one\"", "\"other\"")).unwrap();
        let begun = ["pipeline.toml", "other.toml"]
            .map(|file| lab.command(&["run", "--quiet", file]).stderr(Stdio::piped()).spawn());
        for child in begun {
            let output = child.unwrap().wait_with_output().unwrap();
            assert!(output.status.success(), "pair {pair}: {}", crate::harness::text(&output.stderr));
        }
        assert_eq!(
            (told(&lab.records("one")).len(), told(&lab.records("other")).len()),
            (1, 1),
            "pair {pair}"
        );
    }
}

#[test]
fn a_stage_whose_command_input_or_variable_changed_runs_again_and_the_study_says_so_first() {
    let pipeline = THREE.replace(
        "name = \"first\"\n",
        "name = \"first\"\ninputs = [\"data\"]\nenv = { LEVEL = \"1\" }\nwatch_env = [\"DEPTH\"]\n",
    );
    let lab = Lab::new(&pipeline);
    std::fs::write(lab.root().join("data"), "one").unwrap();
    lab.done(&["run", "--quiet"]);
    let runs = lab.runs().len();
    let refused = |what: &str| {
        let more = pipeline.replace("trials = 40", "trials = 41");
        if what != "LEVEL" {
            lab.write(&more);
        }
        let output = lab.stagetune(&["run", "--quiet"]);
        assert_eq!(output.status.code(), Some(6), "{what}");
        let error = crate::harness::text(&output.stderr);
        assert!(error.contains(what) && error.contains("--accept-changes"), "{error}");
    };
    std::fs::write(lab.root().join("data"), "two").unwrap();
    refused("data");
    std::fs::write(lab.root().join("data"), "one").unwrap();
    lab.write(&pipeline.replace("LEVEL = \"1\"", "LEVEL = \"2\""));
    refused("LEVEL");
    lab.write(&pipeline.replace("trials = 40", "trials = 41"));
    let output = lab.command(&["run", "--quiet"]).env("DEPTH", "9").output().unwrap();
    assert_eq!(output.status.code(), Some(6));
    assert_eq!(lab.runs().len(), runs);
    // Under another name every stage of a known point is reused, and none of a changed one.
    lab.write(&pipeline.replace("\"three\"", "\"four\""));
    lab.done(&["run", "--quiet"]);
    assert_eq!(lab.runs().values().sum::<usize>(), runs);
    std::fs::write(lab.root().join("data"), "two").unwrap();
    lab.write(&pipeline.replace("\"three\"", "\"five\""));
    lab.done(&["run", "--quiet"]);
    assert_eq!(lab.runs().values().sum::<usize>(), 2 * runs);
}
