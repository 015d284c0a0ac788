//! Faults of the world are waited for, and are no results: full disks, inputs and outputs that
//! change or vanish.

use crate::harness::{Lab, has_lines, text, wait_until};
use std::fs;
use std::process::Stdio;

/// Two stages; `second` does what a test says.
fn two_stages(patience: &str, second: &str) -> Lab {
    let lab = Lab::new(&format!(
        r#"
[study]
name = "two"
metric = "f"
direction = "minimize"
strategy = "random"
budget = {{ trials = 4 }}
patience = "{patience}"
[[stage]]
name = "first"
run = ["sh", "-c", 'echo first >> ../outside/runs; echo $1 > "$2/v"', "sh", "{{x}}", "{{out}}"]
[stage.params]
x = {{ float = [0, 1] }}
[[stage]]
name = "second"
inputs = ["data"]
run = ["sh", "-c", '''{second}
echo "{{{{\"f\": $1}}}}" > "$2/result.json"''', "sh", "{{y}}", "{{out}}", "{{first}}"]
[stage.params]
y = {{ float = [0, 1] }}
"#
    ));
    fs::write(lab.root().join("data"), "data").unwrap();
    lab
}

fn assert_nothing_failed(lab: &Lab) {
    let status = lab.json(&["status", "--json"]);
    assert_eq!((&status["observed"], &status["failed"]), (&4.into(), &0.into()), "{status}");
    assert_eq!(status["waiting"], serde_json::json!([]));
}

/// Fails as programs do where a disk is full, until there is room.
const FULL: &str = r#"[ -e ../outside/room ] || cat data > /dev/full || exit 1"#;

#[test]
fn a_full_disk_is_waited_for_and_is_no_result() {
    let lab = two_stages("2 min", FULL);
    let child = lab.command(&["run"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("the first stage", || lab.outside().join("runs").exists());
    let waits = || lab.json(&["status", "--json"])["waiting"][0]["trial"] == 0;
    wait_until("the trial that waits", waits);
    let said = lab.done(&["status"]);
    assert!(said.contains("waits") && said.contains("make room"), "{said}");
    fs::write(lab.outside().join("room"), "").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    let error = text(&output.stderr);
    assert!(error.contains("trial 0 waits, up to") && error.contains("goes on after"), "{error}");
    assert_nothing_failed(&lab);
    // What had finished before was not run again.
    assert_eq!(lab.runs()["first"], 4);
}

#[test]
fn a_full_disk_that_a_stage_mentions_and_gets_over_is_not_why_it_fails() {
    let mentions = r#"echo "No space left on device; trying elsewhere"; for i in 1 2 3; do echo "step $i"; done; exit 3"#;
    let lab = two_stages("2 min", mentions);
    assert_eq!(lab.stagetune(&["run"]).status.code(), Some(5), "all of them failed");
}

#[test]
fn patience_that_is_over_ends_the_run_with_a_code_of_its_own_and_the_trial_goes_on_later() {
    let lab = two_stages("300 ms", FULL);
    let output = lab.stagetune(&["run"]);
    assert_eq!(output.status.code(), Some(10));
    let error = text(&output.stderr);
    assert!(error.contains("make room") && error.contains("stagetune forget 0"), "{error}");
    let status = lab.json(&["status", "--json"]);
    assert_eq!((&status["open"], &status["failed"]), (&serde_json::json!([0]), &0.into()));
    // Without patience it ends at once.
    let file = fs::read_to_string(lab.root().join("pipeline.toml")).unwrap();
    lab.write(&file.replace("300 ms", "0 s"));
    assert_eq!(lab.stagetune(&["run"]).status.code(), Some(1));
    fs::write(lab.outside().join("room"), "").unwrap();
    lab.done(&["run"]);
    assert_nothing_failed(&lab);
    assert_eq!(lab.runs()["first"], 4);
}

#[test]
fn a_trial_that_waits_can_be_forgotten_and_the_study_goes_on_with_the_next() {
    let lab = two_stages("2 min", FULL);
    let mut child = lab.start(&["run"]);
    wait_until("the first stage", || lab.outside().join("runs").exists());
    let waits = |trial: u64| lab.json(&["status", "--json"])["waiting"][0]["trial"] == trial;
    wait_until("the trial that waits", || waits(0));
    lab.done(&["forget", "0"]);
    wait_until("the next trial that waits", || waits(1));
    fs::write(lab.outside().join("room"), "").unwrap();
    assert!(child.wait().unwrap().success());
    let status = lab.json(&["status", "--json"]);
    assert_eq!((&status["observed"], &status["failed"]), (&3.into(), &0.into()), "{status}");
}

#[test]
fn an_input_that_is_gone_for_a_while_is_no_result() {
    let lab = two_stages(
        "2 min",
        r#"echo second >> ../outside/begun
while [ ! -e ../outside/go ]; do sleep 0.01; done; cat data > /dev/null || exit 3"#,
    );
    let mut child = lab.start(&["run"]);
    wait_until("the second stage", || has_lines(&lab.outside().join("begun"), 1));
    fs::rename(lab.root().join("data"), lab.outside().join("data")).unwrap();
    fs::write(lab.outside().join("go"), "").unwrap();
    let problem = || lab.json(&["status", "--json"])["waiting"][0]["problem"].as_str().map(str::to_owned);
    wait_until("the trial that waits", || problem().is_some_and(|problem| problem.contains("data")));
    fs::rename(lab.outside().join("data"), lab.root().join("data")).unwrap();
    assert!(child.wait().unwrap().success());
    assert_nothing_failed(&lab);
}

#[test]
fn what_was_made_of_an_input_that_was_changed_and_changed_back_is_not_kept() {
    let lab = two_stages(
        "2 min",
        r#"echo second >> ../outside/begun
while [ ! -e ../outside/go ]; do sleep 0.01; done"#,
    );
    let mut child = lab.start(&["run"]);
    wait_until("the second stage", || has_lines(&lab.outside().join("begun"), 1));
    fs::write(lab.root().join("data"), "other").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(20));
    fs::write(lab.root().join("data"), "data").unwrap();
    fs::write(lab.outside().join("go"), "").unwrap();
    assert!(child.wait().unwrap().success());
    assert_nothing_failed(&lab);
    // Four trials, and the one run whose input was written to.
    assert!(has_lines(&lab.outside().join("begun"), 5) && !has_lines(&lab.outside().join("begun"), 6));
}

#[test]
fn what_was_made_of_something_that_was_changed_and_put_back_with_its_time_is_not_kept() {
    for file in ["data", "\"$3/v\""] {
        let lab = two_stages(
            "2 min",
            &format!(
                r#"echo second >> ../outside/begun
if [ ! -e ../outside/once ]; then touch ../outside/once; sleep 0.05
cp -p {file} ../outside/keep; chmod u+w {file}; echo 999 > {file}; cp -p ../outside/keep {file}; fi"#
            ),
        );
        lab.done(&["run"]);
        assert_nothing_failed(&lab);
        assert!(has_lines(&lab.outside().join("begun"), 5) && !has_lines(&lab.outside().join("begun"), 6));
        assert_eq!(lab.runs()["first"], 4, "{file}: what it was given is as it was");
    }
}

#[test]
fn an_upstream_output_that_vanishes_while_it_is_used_is_made_again() {
    let lab = two_stages(
        "2 min",
        r#"echo second >> ../outside/begun
if [ ! -e ../outside/gone ]; then touch ../outside/gone; rm -rf .stagetune/cache; fi
cat "$3/v" > /dev/null || exit 3"#,
    );
    lab.done(&["run"]);
    assert_nothing_failed(&lab);
    // The first trial's stages ran twice: its output was lost with the cache.
    assert_eq!(lab.runs()["first"], 5);
}

#[test]
fn a_stage_that_writes_into_what_it_was_given_is_told_so_and_nothing_is_kept_of_it() {
    let lab = two_stages("2 min", r#"chmod u+w "$3" "$3/v"; echo more >> "$3/v""#);
    let output = lab.stagetune(&["run"]);
    assert_eq!(output.status.code(), Some(10), "{}", text(&output.stderr));
    let error = text(&output.stderr);
    assert!(error.contains("let it work on a copy") && error.contains("`first`"), "{error}");
    // The stage above ran again twice, not until patience was over.
    assert_eq!(lab.runs()["first"], 3);
    let entries = lab.json(&["cache", "ls", "--json"]);
    let stages: Vec<&str> =
        entries.as_array().unwrap().iter().filter_map(|entry| entry["stage"].as_str()).collect();
    assert!(stages.iter().all(|stage| *stage == "first"), "{stages:?}");
}

#[test]
fn a_command_is_run_when_the_study_waits_when_it_finds_a_better_value_and_when_it_ends() {
    let lab = two_stages("2 min", FULL);
    let file = fs::read_to_string(lab.root().join("pipeline.toml")).unwrap();
    let notify = r#"notify = ["sh", "-c", 'echo "$1 of $2: $3" >> ../outside/told', "sh", "{event}", "{study}", "{text}"]
patience"#;
    lab.write(&file.replace("patience", notify));
    let mut child = lab.start(&["run"]);
    wait_until("the first message", || has_lines(&lab.outside().join("told"), 1));
    fs::write(lab.outside().join("room"), "").unwrap();
    assert!(child.wait().unwrap().success());
    let told = fs::read_to_string(lab.outside().join("told")).unwrap();
    let lines: Vec<&str> = told.lines().collect();
    assert!(lines[0].starts_with("waits of two: ") && lines[0].contains("make room"), "{told}");
    assert!(lines[1].starts_with("best of two: f "), "{told}");
    assert_eq!(lines[lines.len() - 1], "ended of two: all 4 trials were asked for", "{told}");
}
