//! Stages that fail, hang, or say nothing sensible are recorded, learned from, and do not end the study.

use crate::harness::{Lab, said, text};

/// One stage that misbehaves in as many ways as `kind` has values.
const BROKEN: &str = r#"
[study]
name = "broken"
metric = "f"
direction = "maximize"
strategy = "random"
seed = 1
budget = { trials = 40 }

[[stage]]
name = "good"
run = ["sh", "-c", "true", "sh", "{x}", "{out}"]
[stage.params]
x = { float = [0, 1] }

[[stage]]
name = "bad"
timeout = "300 ms"
run = ["sh", "-c", '''
case "$1" in
  works) echo "{{\"f\": $2}}" > "$3/result.json" ;;
  exits) echo "out of cheese" >&2; exit 3 ;;
  killed) kill -9 $$ ;;
  hangs) sleep 60 & sleep 60 ;;
  nan) echo '{{"f": NaN}}' > "$3/result.json" ;;
  silent) true ;;
  other) echo '{{"g": 1}}' > "$3/result.json" ;;
  text) echo 'f = 1' > "$3/result.json" ;;
  huge) echo '{{"f": 1e200}}' > "$3/result.json" ;;
esac
''', "sh", "{kind}", "{y}", "{out}"]
[stage.params]
kind = { choice = ["works", "exits", "killed", "hangs", "nan", "silent", "other", "text", "huge"] }
y = { float = [0, 1] }
"#;

#[test]
fn every_kind_of_failure_is_recorded_with_its_reason_and_the_study_goes_on() {
    let lab = Lab::new(BROKEN);
    let output = lab.stagetune(&["run"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("out of cheese"), "{}", text(&output.stderr));
    assert!(said(&output).contains("done"), "{}", said(&output));
    let trials = lab.json(&["trials", "--all", "--json"]);
    let trials = trials.as_array().unwrap();
    assert_eq!(trials.len(), 40);
    let mut seen = std::collections::BTreeSet::new();
    for trial in trials {
        let kind = trial["point"]["kind"].as_str().unwrap();
        seen.insert(kind);
        let reason = trial["reason"].as_str().unwrap_or_default();
        let expected = match kind {
            "works" => {
                assert_eq!(trial["value"], trial["point"]["y"]);
                continue;
            }
            "exits" => "exit code 3: out of cheese",
            "killed" => "killed by signal 9",
            "hangs" => "timeout of 0.3 s",
            "nan" => "NaN",
            "silent" => "no result.json",
            "other" => "without `f`; it has `g`",
            "text" => "not JSON",
            _ => "not a usable number",
        };
        assert!(reason.contains(expected), "{kind}: {reason}");
        assert_eq!(trial["stages"][0]["how"], "ran", "{kind}");
    }
    assert_eq!(seen.len(), 9, "{seen:?}");
    assert_eq!(lab.json(&["status", "--json"])["state"], "finished");
}

#[test]
fn a_pipeline_that_never_works_gives_up_and_says_why() {
    let lab =
        Lab::new(&BROKEN.replace("\"works\", \"exits\", \"killed\", \"hangs\", \"nan\", ", "\"exits\", "));
    let output = lab.stagetune(&["run"]);
    assert_eq!(output.status.code(), Some(5));
    let error = text(&output.stderr);
    assert!(error.contains("all 10 trials failed") && error.contains(".log"), "{error}");
    assert_eq!(lab.json(&["status", "--json"])["failed"], 10);
    assert_eq!(lab.json(&["best", "--json"]), serde_json::Value::Null);
}

#[test]
fn a_stage_is_tried_again_as_often_as_its_retries_allow() {
    let pipeline = r#"
[study]
name = "again"
metric = "f"
direction = "minimize"
budget = { trials = 3 }
[[stage]]
name = "flaky"
retries = 2
run = ["sh", "-c", '''
echo run >> "../outside/$1"
if [ $(wc -l < "../outside/$1") -lt 3 ]; then echo "not yet"; touch "$2/left-over"; exit 1; fi
if [ -e "$2/left-over" ]; then exit 9; fi
echo "{{\"f\": $1}}" > "$2/result.json"
''', "sh", "{x}", "{out}"]
[stage.params]
x = { float = [0, 1] }
"#;
    let lab = Lab::new(pipeline);
    lab.done(&["run"]);
    let trials = lab.json(&["trials", "--all", "--json"]);
    for trial in trials.as_array().unwrap() {
        assert_eq!((&trial["state"], &trial["stages"][0]["attempts"]), (&"observed".into(), &3.into()));
    }
    let logs = std::fs::read_dir(lab.root().join(".stagetune/logs/again")).unwrap().count();
    // The third try of each says nothing, and leaves no log.
    assert_eq!(logs, 6);
}

#[test]
fn reported_costs_are_charged_and_a_missing_one_is_a_failure() {
    let pipeline = r#"
[study]
name = "reported"
metric = "f"
direction = "minimize"
strategy = "random"
budget = { cost = 50 }
[[stage]]
name = "only"
cost = "reported"
run = ["sh", "-c", 'if [ "$1" = true ]; then echo "{{\"f\": 1}}"; else echo "{{\"f\": 1, \"cost\": 7}}"; fi > "$2/result.json"', "sh", "{forgets}", "{out}", "{x}"]
[stage.params]
x = { float = [0, 1] }
forgets = { bool = true }
"#;
    let lab = Lab::new(pipeline);
    lab.done(&["run", "--quiet"]);
    let status = lab.json(&["status", "--json"]);
    assert_eq!((&status["observed"], &status["spent"]), (&8.into(), &56.0.into()), "{status}");
    assert!(status["failed"].as_u64().unwrap() > 0);
}
