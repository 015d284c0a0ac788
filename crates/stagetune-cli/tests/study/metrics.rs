//! The numbers of every stage, and what trials ran with, from the stage to the files.

use crate::harness::Lab;
use serde_json::Value;

/// Two stages that both report numbers, some under hostile names; the objective is one of the first stage's.
const METRICS: &str = r#"
[study]
name = "metrics"
metric = "train.loss"
direction = "minimize"
strategy = "random"
seed = 5
budget = { trials = 8 }

[[stage]]
name = "train"
cost = 3
run = ["sh", "-c", 'echo "{{\"loss\": $1, \"a \\\"b\\\", <script>\": 0.5, \"name\": \"x\"}}" > "$2/result.json"', "sh", "{a}", "{out}"]
[stage.params]
a = { int = [0, 3] }

[[stage]]
name = "score"
cost = 1
run = ["sh", "-c", 'test $1 = 9 && exit 1; echo "{{\"f1\": $1}}" > "$2/result.json"', "sh", "{c}", "{out}"]
[stage.params]
c = { int = [0, 9] }
"#;

/// A name that no format may stumble over.
const NASTY: &str = "a \"b\", <script>";

fn trials(lab: &Lab) -> Vec<Value> {
    lab.json(&["trials", "--json"]).as_array().unwrap().clone()
}

#[test]
fn every_number_of_every_stage_is_in_trials_export_and_report_also_of_reused_stages() {
    let lab = Lab::new(METRICS);
    lab.done(&["run", "--quiet"]);
    let trials = trials(&lab);
    assert!(trials.iter().any(|trial| trial["stages"][0]["how"] == "reused"), "{trials:?}");
    assert!(trials.iter().any(|trial| trial["state"] == "failed"), "{trials:?}");
    for trial in &trials {
        let (train, score) = (&trial["stages"][0]["metrics"], &trial["stages"][1]["metrics"]);
        assert_eq!(train["loss"].as_f64(), trial["point"]["a"].as_f64(), "{trial}");
        assert_eq!((train[NASTY].as_f64(), &train["name"]), (Some(0.5), &Value::Null), "{trial}");
        // A trial that failed later keeps the numbers of the stages before.
        let failed = trial["state"] == "failed";
        assert_eq!(failed, trial["point"]["c"] == 9, "{trial}");
        assert_eq!(trial["value"], if failed { Value::Null } else { train["loss"].clone() }, "{trial}");
        assert_eq!(score["f1"].as_f64(), trial["point"]["c"].as_f64().filter(|_| !failed), "{trial}");
    }
    let csv = lab.done(&["export"]);
    let head = csv.lines().next().unwrap();
    let names =
        r#"score.seconds,"train.a ""b"", <script>",train.loss,score.f1,release,host,interpreter,commit"#;
    assert!(head.ends_with(names), "{head}");
    let shown = lab.done(&["trials"]);
    assert!(shown.contains(NASTY) && shown.lines().next().unwrap().contains("f1"), "{shown}");
    let whole = lab.done(&["trials", "--trial", "0"]);
    assert!(whole.contains("reported f1") && whole.contains(&format!("reported {NASTY} 0.5")), "{whole}");
    let page = lab.done(&["report", "-o", "-"]);
    assert!(page.contains("a &quot;b&quot;, &lt;script&gt;") && page.contains("id=\"metrics\""));
    assert_eq!(page.matches("<script").count(), 1, "only the page's own script");
    assert_eq!(lab.stagetune(&["trials", "--trial", "8"]).status.code(), Some(1));
}

#[test]
fn every_trial_says_what_it_ran_with() {
    let lab = Lab::new(&METRICS.replace("[\"sh\", \"-c\"", "[\"./python-like\", \"-c\""));
    std::fs::copy("/bin/sh", lab.root().join("python-like")).unwrap();
    lab.done(&["run", "--quiet"]);
    for trial in trials(&lab) {
        assert_eq!(trial["release"], env!("CARGO_PKG_VERSION"));
        assert!(!trial["host"].as_str().unwrap().is_empty());
        assert!(trial["interpreter"].as_str().unwrap().contains("python-like"), "{trial}");
        assert!(trial.get("commit").is_some(), "{trial}");
    }
    let json: Value = serde_json::from_str(&lab.done(&["export", "--format", "json"])).unwrap();
    assert_eq!(json["trials"][0]["release"], env!("CARGO_PKG_VERSION"));
    assert!(lab.done(&["report", "-o", "-"]).contains("8 trials ran with stagetune"));
}
