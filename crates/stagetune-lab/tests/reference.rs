//! The reference checker on the laboratory's own fixtures, on damaged copies of them, and on the project's shared files.

// Clippy lets tests unwrap but not the helpers beside them.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use stagetune_lab::reference::{ReferenceError, check_directory, check_text};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn fixtures(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(folder)
}

fn fixture(name: &str) -> Value {
    let text = std::fs::read_to_string(fixtures("good").join(name)).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The error of checking a fixture after `damage` was done to it.
fn error_after(name: &str, damage: impl Fn(&mut Value)) -> String {
    let mut value = fixture(name);
    damage(&mut value);
    check_text(name, &value.to_string()).unwrap_err().to_string()
}

fn stagetune_lab(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stagetune-lab")).args(arguments).output().unwrap()
}

#[test]
fn every_good_fixture_is_within_its_tolerance() {
    let report = check_directory(&fixtures("good")).unwrap();
    assert_eq!(report.exit_code(), 0, "{report}");
    assert!(report.outcomes.iter().all(|outcome| outcome.ignored_keys.is_empty()), "{report}");
}

#[test]
fn a_fixture_with_one_wrong_number_fails_and_says_where() {
    let report = check_directory(&fixtures("wrong")).unwrap();
    assert_eq!(report.exit_code(), 1, "{report}");
    assert!(
        report.to_string().contains("cases[0].value[1]") && report.to_string().contains("FAIL"),
        "{report}"
    );
}

/// Every number that a check must notice, as a pointer into each fixture.
const WATCHED: &[(&str, &[&str])] = &[
    (
        "functions.json",
        &["/cases/0/value/2", "/cases/1/low", "/cases/2/high", "/cases/0/minimum", "/cases/3/minimum"],
    ),
    (
        "acquisition.json",
        &[
            "/expected_improvement/2/ei",
            "/expected_improvement/4/log_ei",
            "/gittins/1/index",
            "/max_value_entropy/0/value",
        ],
    ),
    ("bandit.json", &["/cases/4/loss_estimate/7", "/cases/2/p_next/0"]),
    (
        "gp.json",
        &[
            "/cases/0/mean/1",
            "/cases/1/covariance/0/2",
            "/cases/2/covariance/1/1",
            "/cases/2/log_marginal_likelihood",
            "/cases/0/gradient_log/lengthscales/1",
            "/cases/1/gradient_log/signal_variance",
            "/cases/2/gradient_log/noise_variance",
        ],
    ),
];

#[test]
fn every_compared_number_is_noticed_when_it_is_wrong() {
    for (name, pointers) in WATCHED {
        for pointer in *pointers {
            let mut value = fixture(name);
            let number = value.pointer_mut(pointer).unwrap();
            let was = number.as_f64().unwrap();
            // An improvement of 1e-35 must be noticed, too: relative where there is something to relate to.
            *number = json!(if was == 0.0 { 0.1 } else { was * 1.1 });
            let outcome = check_text(name, &value.to_string()).unwrap();
            let place = pointer[1..].replace("/", ".");
            assert!(!outcome.ok, "{name} {pointer}");
            let keys = outcome.tally.place.replace(['[', ']'], ".").replace("..", ".");
            assert_eq!(keys.trim_end_matches('.'), place, "{name}");
        }
    }
}

#[test]
fn a_fit_below_the_stated_likelihood_fails_and_one_above_does_not() {
    let error_with = |change: f64| {
        let mut value = fixture("fit.json");
        let stated = value["cases"][1]["best_log_marginal_likelihood"].as_f64().unwrap();
        value["cases"][1]["best_log_marginal_likelihood"] = json!(stated + change);
        check_text("fit.json", &value.to_string()).unwrap()
    };
    let out_of_reach = error_with(1.0);
    assert!(!out_of_reach.ok && (out_of_reach.tally.largest_error - 1.0).abs() < 0.01);
    assert_eq!(out_of_reach.tally.place, "cases[1].best_log_marginal_likelihood");
    assert!(error_with(-5.0).ok);
}

#[test]
fn a_file_is_recognised_by_its_keys_whatever_its_name() {
    let text = fixture("bandit.json").to_string();
    assert_eq!(check_text("functions.json", &text).unwrap().format, "bandit");
}

#[test]
fn an_unknown_format_is_an_error_that_lists_the_known_ones() {
    for value in [json!({"tolerance": 1, "cases": [{"z": 1}]}), json!({"cases": []}), json!([1]), json!({})] {
        let error = check_text("odd.json", &value.to_string()).unwrap_err().to_string();
        assert!(error.contains("odd.json is of no known format") && error.contains("bandit"), "{error}");
    }
}

#[test]
fn a_malformed_file_is_an_error_that_names_file_and_key() {
    let error = error_after("bandit.json", |v| drop(v["cases"][1].as_object_mut().unwrap().remove("sigma")));
    assert_eq!(error, "bandit.json: `cases[1].sigma` is missing");
    let error = error_after("bandit.json", |v| v["cases"][0]["sigma"][0] = json!(0));
    assert_eq!(error, "bandit.json: `cases[0].sigma[0]` is 0; a sign is 1 or -1");
    let error = error_after("functions.json", |v| v["cases"][2]["x"][1] = json!([0.0]));
    assert_eq!(error, "functions.json: `cases[2].x[1]` has 1 entries where 3 belong");
    let error = error_after("functions.json", |v| v["cases"][0]["function"] = json!("hartman6"));
    assert!(error.contains("`cases[0].function` is unknown") && error.contains("hartmann"), "{error}");
    let error = error_after("acquisition.json", |v| v["gittins"][0]["lambda_cost"] = json!(-1.0));
    assert!(error.contains("`gittins[0].lambda_cost` is refused"), "{error}");
    let error = error_after("acquisition.json", |v| v["tolerance"] = json!("small"));
    assert_eq!(error, "acquisition.json: `tolerance` is a text where a number belongs");
    let error = error_after("acquisition.json", |v| drop(v.as_object_mut().unwrap().remove("tolerance")));
    assert_eq!(error, "acquisition.json: `tolerance` is missing");
    let error = error_after("gp.json", |v| v["cases"][0]["kernel"] = json!("rbf"));
    assert_eq!(error, "gp.json: `cases[0].kernel` is `rbf`; known are se, matern32 and matern52");
    let error = error_after("gp.json", |v| v["cases"][0]["noise_variance"] = json!(-1.0));
    assert!(error.contains("`cases[0]` is refused by the engine"), "{error}");
    let error = error_after("fit.json", |v| v["cases"][0]["bounds"]["lengthscales"] = json!([2, 1]));
    assert!(error.contains("`cases[0].bounds.lengthscales` is not a pair"), "{error}");
    assert!(matches!(check_text("a.json", "{\"cases\": [NaN]}"), Err(ReferenceError::Syntax { .. })));
}

#[test]
fn a_file_without_cases_is_no_pass() {
    let text = json!({"tolerance": 1.0, "gittins": []}).to_string();
    assert!(check_text("a.json", &text).unwrap_err().to_string().contains("holds no cases"));
}

#[test]
fn keys_that_no_check_looks_at_are_reported() {
    let mut value = fixture("bandit.json");
    value["cases"][0]["temperature"] = json!(1.0);
    let outcome = check_text("bandit.json", &value.to_string()).unwrap();
    assert!(outcome.ok);
    assert_eq!(outcome.ignored_keys, ["cases[].temperature"]);
}

#[test]
fn an_empty_or_missing_directory_is_an_error() {
    let empty = Path::new(env!("CARGO_TARGET_TMPDIR")).join("empty");
    std::fs::create_dir_all(&empty).unwrap();
    assert!(matches!(check_directory(&empty), Err(ReferenceError::Empty { .. })));
    assert!(matches!(check_directory(&empty.join("missing")), Err(ReferenceError::Read { .. })));
    let output = stagetune_lab(&["reference", empty.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("nothing to check"));
}

#[test]
fn the_command_prints_a_table_or_json_and_ends_with_the_documented_code() {
    let (good, wrong) = (fixtures("good"), fixtures("wrong"));
    let output = stagetune_lab(&["reference", good.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("file"));
    let output = stagetune_lab(&["reference", wrong.to_str().unwrap(), "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["ok"], json!(false));
    assert_eq!(report["files"][0]["where"], json!("cases[0].value[1]"));
}

#[test]
fn the_shared_reference_files_are_within_tolerance() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/reference");
    if !shared.is_dir() {
        eprintln!("skipped: there is no shared/reference beside the repository");
        return;
    }
    let report = check_directory(&shared).unwrap();
    assert_eq!(report.exit_code(), 0, "{report}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_no_panic() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let good = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/good");
    let lab = std::process::Command::new(env!("CARGO_BIN_EXE_stagetune-lab"));
    let done = { lab }.args(["reference", good]).stdout(full).output().unwrap();
    assert_eq!(done.status.code(), Some(2));
    let complaint = String::from_utf8_lossy(&done.stderr);
    assert!(complaint.starts_with("error: cannot write to standard output"), "{complaint}");
}
