//! Every command on a small study: facts, files, messages, exit codes.

use crate::harness::{Lab, THREE, said, text};

fn finished() -> Lab {
    let lab = Lab::new(THREE);
    lab.done(&["run", "--quiet"]);
    lab
}

#[test]
fn a_first_study_from_init_to_report() {
    let lab = Lab::new("");
    let taken = lab.stagetune(&["init"]);
    assert_eq!(taken.status.code(), Some(1));
    assert!(text(&taken.stderr).contains("--force"));
    lab.done(&["init", "--force"]);
    let starter = std::fs::read_to_string(lab.root().join("pipeline.toml")).unwrap();
    assert!(starter.starts_with("#:schema .stagetune/pipeline.schema.json"));
    let schema: serde_json::Value =
        serde_json::from_slice(&std::fs::read(lab.root().join(".stagetune/pipeline.schema.json")).unwrap())
            .unwrap();
    assert_eq!(schema, lab.json(&["schema"]));

    // The starter is a study that runs.
    lab.write(&starter.replace("trials = 50", "trials = 5"));
    assert!(lab.done(&["check"]).contains("fine"));
    assert!(lab.done(&["run"]).contains("best     score"));
    std::fs::remove_dir_all(lab.root().join(".stagetune")).unwrap();

    lab.write(THREE);
    assert!(lab.done(&["check"]).contains("fine"));
    assert_eq!(lab.stagetune(&["status"]).status.code(), Some(8));
    let next = lab.json(&["run", "--dry-run", "--json"]);
    assert_eq!((&next["trial"], &next["stages"][0]["cached"]), (&0.into(), &false.into()));
    assert!(!lab.root().join(".stagetune/journal.db").exists(), "a rehearsal writes nothing");

    let shown = lab.done(&["run"]);
    assert!(shown.contains("study three: first → second → third") && shown.contains("done: "), "{shown}");
    assert_eq!(shown.lines().filter(|line| line.contains("Σ")).count(), 40);
    let first: Vec<&str> =
        next["stages"][0]["argv"].as_array().unwrap().iter().filter_map(|a| a.as_str()).collect();
    assert!(shown.contains(&format!("a={}", first[4])), "the rehearsal told what would run");

    assert!(lab.done(&["status"]).contains("finished"));
    assert!(lab.done(&["trials", "--best", "3"]).contains('★'));
    let shown = |arguments: &[&str]| lab.json(arguments).as_array().unwrap().len();
    assert_eq!((shown(&["trials", "--json"]), shown(&["trials", "--json", "--last", "7"])), (40, 7));
    lab.done(&["report", "-o", "page.html"]);
    let page = std::fs::read_to_string(lab.root().join("page.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") || page.starts_with("<!DOCTYPE html>"));
    assert!(!page.contains("http://") || page.matches("http://").all(|_| page.contains("www.w3.org")));
    assert!(!page.contains("$(touch") || page.contains("$(touch ../outside/hacked)"));
}

#[test]
fn the_best_trial_is_the_lowest_one_and_its_outputs_are_there() {
    let lab = finished();
    let best = lab.json(&["best", "--json"]);
    let trials = lab.json(&["trials", "--all", "--json"]);
    let lowest =
        trials.as_array().unwrap().iter().filter_map(|t| t["value"].as_f64()).fold(f64::INFINITY, f64::min);
    assert_eq!(best["value"].as_f64(), Some(lowest));
    let out = best["outputs"]["third"].as_str().unwrap();
    let result: serde_json::Value =
        serde_json::from_slice(&std::fs::read(format!("{out}/result.json")).unwrap()).unwrap();
    assert_eq!(result["f"].as_f64(), Some(lowest));
    let shown = lab.done(&["best"]);
    assert!(shown.contains(&format!("c = {}", best["point"]["c"])), "{shown}");
}

#[test]
fn exports_hold_every_trial() {
    let lab = finished();
    let csv = lab.done(&["export"]);
    assert_eq!(csv.lines().count(), 41);
    assert!(csv.starts_with("trial,state,value,best,cost,spent,"), "{csv}");
    let json: serde_json::Value = serde_json::from_str(&lab.done(&["export", "--format", "json"])).unwrap();
    assert_eq!(json["trials"].as_array().unwrap().len(), 40);
    if cfg!(feature = "parquet") {
        lab.done(&["export", "-o", "trials.parquet"]);
        assert!(std::fs::read(lab.root().join("trials.parquet")).unwrap().starts_with(b"PAR1"));
    }
}

#[test]
fn costs_are_those_of_the_stages_that_ran() {
    let lab = finished();
    let status = lab.json(&["status", "--json"]);
    let cost: f64 = status["stages"]
        .as_array()
        .unwrap()
        .iter()
        .zip([10.0, 3.0, 1.0])
        .map(|(stage, cost)| stage["ran"].as_f64().unwrap() * cost)
        .sum();
    assert_eq!(status["spent"].as_f64(), Some(cost));
    let everything = 40.0 * 14.0;
    assert_eq!(status["saved"].as_f64(), Some(everything - cost));
    assert_eq!(
        lab.runs().values().sum::<usize>() as u64,
        (0..3).map(|m| status["stages"][m]["ran"].as_u64().unwrap()).sum::<u64>()
    );
}

#[test]
fn why_tells_a_cached_stage_from_one_that_would_run() {
    let lab = finished();
    let same = lab.json(&["cache", "why", "--json"]);
    assert!(same.as_array().unwrap().iter().all(|stage| stage["cached"] == true));
    let other = lab.json(&["cache", "why", "--set", "b=0", "--json"]);
    assert_eq!((&other[0]["cached"], &other[2]["cached"]), (&true.into(), &false.into()));
    let shown = lab.done(&["cache", "why", "--stage", "second", "--set", "b=0"]);
    if shown.contains("would run") {
        assert!(shown.contains("parameter `b`"), "{shown}");
    }
    let wrong = lab.stagetune(&["cache", "why", "--set", "nope=1"]);
    assert!(text(&wrong.stderr).contains("no parameter `nope`"));
}

#[test]
fn making_room_frees_what_is_asked_and_the_study_still_continues() {
    let lab = finished();
    let before = lab.json(&["cache", "ls", "--json"]).as_array().unwrap().len();
    let would = lab.json(&["cache", "gc", "--to", "0", "--dry-run", "--json"]);
    assert_eq!(would["evicted"].as_array().unwrap().len(), before);
    assert_eq!(lab.json(&["cache", "ls", "--json"]).as_array().unwrap().len(), before);
    lab.done(&["cache", "gc", "--to", "0"]);
    assert_eq!(lab.json(&["cache", "ls", "--json"]), serde_json::json!([]));
    lab.write(&THREE.replace("trials = 40", "trials = 45"));
    lab.done(&["run", "--quiet"]);
    assert_eq!(lab.json(&["status", "--json"])["observed"], 45);
}

#[test]
fn errors_name_the_place_and_have_their_codes() {
    let lab = Lab::new(&THREE.replace("metric = \"f\"", "metrik = \"f\""));
    for command in ["check", "run", "status", "best", "trials", "export", "report"] {
        let output = lab.stagetune(&[command]);
        assert_eq!(output.status.code(), Some(3), "{command}");
        let error = text(&output.stderr);
        assert!(error.contains("pipeline.toml:4:") && error.contains("metric"), "{command}: {error}");
    }
    let json = lab.stagetune(&["check", "--json"]);
    let facts: serde_json::Value = serde_json::from_str(&said(&json)).unwrap();
    assert_eq!(facts["code"], 3);
    assert!(facts["problems"].as_array().unwrap().iter().any(|problem| problem["line"] == 4), "{facts}");
    assert_eq!(lab.stagetune(&["nonsense"]).status.code(), Some(2));
    assert_eq!(lab.stagetune(&["run", "no/such.toml"]).status.code(), Some(3));
    assert_eq!(lab.stagetune(&["run", "--workers", "0"]).status.code(), Some(2));
    lab.write(THREE);
    lab.done(&["run", "--quiet"]);
    lab.write(&THREE.replace("int = [0, 50]", "int = [0, 60]"));
    let output = lab.stagetune(&["run"]);
    assert_eq!(output.status.code(), Some(6));
    assert!(text(&output.stderr).contains("int 0 to 50"), "{}", text(&output.stderr));
}

#[test]
fn every_command_helps_with_examples() {
    let lab = Lab::new(THREE);
    assert!(lab.done(&["--help"]).contains("Exit codes"));
    for command in
        ["init", "check", "run", "status", "best", "trials", "export", "report", "strategies", "schema"]
    {
        assert!(lab.done(&[command, "--help"]).contains("Example"), "{command}");
    }
    for command in ["ls", "why", "verify", "gc"] {
        assert!(lab.done(&["cache", command, "--help"]).contains("Example"), "{command}");
    }
    assert!(lab.done(&["strategies"]).contains("lambo-paper"));
    assert!(lab.done(&["strategies", "lambo"]).contains("design"));
    assert_eq!(
        lab.json(&["strategies", "--json"]).as_array().unwrap().len(),
        stagetune::strategy::NAMES.len()
    );
}

#[test]
fn news_as_json_is_one_object_a_line() {
    let lab = Lab::new(&THREE.replace("trials = 40", "trials = 3"));
    let output = lab.done(&["run", "--json"]);
    let news: Vec<serde_json::Value> =
        output.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(news.first().map(|n| &n["news"]), Some(&"begun".into()));
    assert_eq!(news.last().map(|n| &n["news"]), Some(&"ended".into()));
    assert_eq!(news.iter().filter(|n| n["news"] == "told").count(), 3);
}

#[test]
fn a_study_goes_on_with_the_strategy_that_it_was_begun_with_and_says_so() {
    let lab = Lab::new(&THREE.replace("trials = 40", "trials = 3"));
    lab.done(&["run"]);
    lab.write(&THREE.replace("trials = 40", "trials = 4").replace("\"lambo\"", "\"auto\""));
    let output = lab.stagetune(&["run"]);
    assert!(output.status.success());
    let warned = text(&output.stderr);
    assert!(warned.contains("begun with the strategy lambo") && warned.contains("new `name`"), "{warned}");
    assert_eq!(lab.json(&["status", "--json"])["strategy"], "lambo");
    lab.write(&THREE.replace("trials = 40", "trials = 5").replace("\"lambo\"", "\"auto\""));
    assert!(lab.done(&["run", "--json"]).contains("\"news\":\"begun-with\""));
    // Any other strategy is refused.
    lab.write(&THREE.replace("\"lambo\"", "\"pbgi\""));
    assert!(text(&lab.stagetune(&["run"]).stderr).contains("whose strategy is `lambo`"));
}

#[test]
fn options_that_the_file_leaves_to_stagetune_may_be_others_in_another_release_and_those_it_gives_may_not() {
    // A study with an option of its own stands for one of a release with other defaults.
    let with = |trials: u32, share: &str| {
        THREE.replace("trials = 40", &format!("trials = {trials}")).replace("\"lambo\"", "\"auto\"")
            + &format!("\n[study.options]\n{share}\n")
    };
    let without = |trials: u32| with(trials, "").replace("[study.options]", "");
    let lab = Lab::new(&with(12, "least_share = 0.02"));
    lab.done(&["run"]);
    lab.write(&without(13));
    let output = lab.stagetune(&["run"]);
    let warned = text(&output.stderr);
    assert!(output.status.success(), "{warned}");
    let named = "(`least_share: 0.02`, and now `least_share: 0.05`)";
    assert!(warned.contains(named) && !warned.contains("AutoOptions"), "{warned}");
    assert_eq!(lab.json(&["status", "--json"])["trials"], 13);

    lab.write(&with(14, "least_share = 0.1"));
    let refused = text(&lab.stagetune(&["run"]).stderr);
    let named = "whose options is `least_share: 0.02`, but here it is `least_share: 0.1`";
    assert!(refused.contains(named) && refused.contains("--accept-changes"), "{refused}");
    // What can be said without going on is said all the same.
    assert!(lab.json(&["status", "--json"])["forecast"].is_object());
    assert!(lab.done(&["run", "--dry-run", "--accept-changes"]).contains("first"));
    assert!(lab.done(&["run", "--accept-changes", "--json"]).contains("\"news\":\"other-options\""));
    assert_eq!(lab.json(&["status", "--json"])["trials"], 14);
    // Fewer kernels than the trials before remember.
    lab.write(&with(15, "kernels = []"));
    lab.done(&["run", "--accept-changes"]);
    assert_eq!(lab.json(&["status", "--json"])["trials"], 15);
}
