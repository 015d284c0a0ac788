//! Runs of `stagetune-lab evidence`, and what their files have in common.

use serde_json::Value;
use std::process::{Command, Output};

/// A run.
pub fn lab(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stagetune-lab")).arg("evidence").args(arguments).output().unwrap()
}

/// The JSON of a run, after a look at what all of them have in common.
pub fn evidence(arguments: &[&str]) -> Value {
    let output = lab(arguments);
    let file: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{arguments:?}: {}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(file["name"], arguments[0]);
    assert!(file["command"].as_str().unwrap().starts_with("stagetune-lab evidence "), "{file}");
    assert_eq!(file["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(file["seed"], 1);
    assert!(file["cores"].as_u64().unwrap() > 0);
    assert!(
        file["date"].as_str().is_some_and(|date| date.ends_with('Z') && date.starts_with("20")),
        "{file}"
    );
    let code = if file["holds"].as_bool().unwrap() { 0 } else { 1 };
    assert_eq!(output.status.code(), Some(code), "the exit code says whether the claim holds");
    assert!(!output.stderr.is_empty(), "progress goes to standard error");
    file["result"].clone()
}

/// The `stagetune` command beside `stagetune-lab`: the tests of the workspace have built it, with the features that all packages together want; those of this
/// package alone build it here.
#[allow(dead_code)]
pub fn stagetune() -> String {
    let stagetune = std::path::Path::new(env!("CARGO_BIN_EXE_stagetune-lab")).with_file_name("stagetune");
    if !stagetune.is_file() {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
        let built =
            Command::new(cargo).args(["build", "--quiet", "--package", "stagetune-cli"]).status().unwrap();
        assert!(built.success());
    }
    stagetune.display().to_string()
}
