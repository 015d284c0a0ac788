//! The Python pipeline of the guide runs as it stands, where there is a Python.

use super::examples::ROOT;
use std::fs;
use std::path::Path;
use std::process::Command;

const FILES: [&str; 5] = ["pipeline.toml", "smooth.py", "detrend.py", "peaks.py", "data/signal.csv"];

#[test]
fn the_python_pipeline_scores_and_a_second_study_reuses_its_stages() {
    if !Command::new("python3").arg("--version").output().is_ok_and(|said| said.status.success()) {
        eprintln!("NOT CHECKED: there is no python3");
        return;
    }
    let lab = tempfile::tempdir().unwrap();
    fs::create_dir(lab.path().join("data")).unwrap();
    for file in FILES {
        fs::copy(Path::new(ROOT).join("examples/python").join(file), lab.path().join(file)).unwrap();
    }
    let file = lab.path().join("pipeline.toml");
    let text = fs::read_to_string(&file).unwrap();
    let budget = text.lines().find(|line| line.starts_with("budget =")).unwrap();
    let short = text.replace(budget, "budget = { trials = 2 }");
    fs::write(&file, &short).unwrap();
    let stagetune = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stagetune"));
        let output = command.args(arguments).current_dir(lab.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    stagetune(&["run"]);
    let best: serde_json::Value = serde_json::from_str(&stagetune(&["best", "--json"])).unwrap();
    assert!(best["value"].as_f64().is_some_and(|f1| f1 > 0.0 && f1 <= 1.0), "{best}");

    // Another study of the same directory begins at the same point, whose stages are all there.
    fs::write(&file, short.replace("name = \"peaks\"\nmetric", "name = \"again\"\nmetric")).unwrap();
    stagetune(&["run"]);
    let again: serde_json::Value = serde_json::from_str(&stagetune(&["trials", "--all", "--json"])).unwrap();
    let stages = again[0]["stages"].as_array().unwrap();
    assert!(stages.len() == 3 && stages.iter().all(|stage| stage["how"] == "reused"), "{again}");
}

#[test]
fn readme_and_the_guide_show_the_file_that_runs() {
    let file = fs::read_to_string(Path::new(ROOT).join("examples/python/pipeline.toml")).unwrap();
    let readme = fs::read_to_string(Path::new(ROOT).join("README.md")).unwrap();
    assert!(
        readme.contains(&format!("```toml\n{file}```")),
        "README shows another examples/python/pipeline.toml"
    );
    let guide = fs::read_to_string(Path::new(ROOT).join("docs/src/guides/python.md")).unwrap();
    for file in ["pipeline.toml", "smooth.py"] {
        assert!(guide.contains(&format!("{{{{#include ../../../examples/python/{file}}}}}")), "{file}");
    }
}
