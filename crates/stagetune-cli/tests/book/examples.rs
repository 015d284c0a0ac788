//! Every example of a pipeline file passes `stagetune check` without a warning and is run to its end.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The root of the repository.
pub const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Stands for every program that examples name: writes numbers into the directory after `--out`.
const STAND_IN: &str = r#"#!/bin/sh
while [ $# -gt 1 ]; do
  [ "$1" = --out ] && out=$2
  shift
done
[ -n "$out" ] || exit 0
echo '{"score": 0.5, "f1": 0.5, "loss": 0.25, "cost": 2, "rmse": 1.5}' > "$out/result.json"
"#;

/// What examples call.
const PROGRAMS: [&str; 4] = ["bin/python3", "bin/notify-send", "bin/mail-me", "study/.venv/bin/python"];

/// What examples read, from the directory of the study.
const INPUTS: [&str; 13] = [
    "denoise.py",
    "detrend.py",
    "peaks.py",
    "prepare.py",
    "score.py",
    "smooth.py",
    "train.py",
    "src/model.py",
    "requirements.lock",
    "data/signal.csv",
    "data/truth.npy",
    "data/volume.npy",
    "../data/volume.npy",
];

/// A stage for examples that have none: two points, so that a study without another end has one.
const STAGE: &str = r#"
[[stage]]
name = "score"
run = ["python3", "score.py", "--robust", "{robust}", "--out", "{out}"]
inputs = ["score.py"]
[stage.params]
robust = { bool = true }
"#;

/// Examples that run side by side.
const AT_A_TIME: usize = 4;

/// The keys that a study must have.
const STUDY: [(&str, &str); 3] =
    [("name", "\"example\""), ("metric", "\"score\""), ("direction", "\"maximize\"")];

/// A block of TOML with the place where it stands.
pub struct Example {
    pub place: String,
    pub text: String,
}

/// Every page of the book, and README.
pub fn pages() -> Vec<PathBuf> {
    let (mut folders, mut found) =
        (vec![Path::new(ROOT).join("docs/src")], vec![Path::new(ROOT).join("README.md")]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The blocks of TOML in a page.
pub fn blocks(path: &Path) -> Vec<Example> {
    let (mut found, mut open) = (Vec::new(), None::<Example>);
    for (number, line) in (1..).zip(fs::read_to_string(path).unwrap().lines()) {
        match &mut open {
            Some(_) if line == "```" => found.extend(open.take()),
            Some(example) => example.text.extend([line, "\n"]),
            None if line == "```toml" => {
                open = Some(Example { place: format!("{}:{number}", path.display()), text: String::new() });
            }
            None => {}
        }
    }
    assert!(open.is_none(), "{}: a block that does not end", path.display());
    found
}

/// The example as a whole file.
fn completed(example: &str) -> String {
    let mut text = example.to_owned();
    if !text.contains("[study]\n") {
        let own = text.find("[study.").unwrap_or(0);
        text.insert_str(own, "[study]\nbudget = { trials = 3 }\n\n");
    }
    let header = text.find("[study]\n").unwrap() + "[study]\n".len();
    let end = text[header..].find("\n[").map_or(text.len(), |at| header + at);
    let own = text[header..end].to_owned();
    let has = |key: &str| own.lines().any(|line| line.starts_with(&format!("{key} =")));
    let mut missing: String =
        STUDY.iter().filter(|(key, _)| !has(key)).map(|(key, value)| format!("{key} = {value}\n")).collect();
    if !has("budget") {
        missing.push_str("budget = { trials = 3 }\n");
    }
    text.insert_str(header, &missing);
    match text.find("[[stage]]") {
        None => text.push_str(STAGE),
        // Something must be tuned, if only in a stage before it.
        Some(at) if !text.contains("params") => {
            text.insert_str(at, &STAGE.replace("name = \"score\"", "name = \"first\"").replacen('\n', "", 1));
        }
        Some(_) => {}
    }
    text
}

/// A directory with everything that examples name.
fn laboratory() -> tempfile::TempDir {
    let lab = tempfile::tempdir().unwrap();
    for input in INPUTS {
        let path = lab.path().join("study").join(input);
        let path = if input.starts_with("..") { lab.path().join(&input[3..]) } else { path };
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, input).unwrap();
    }
    for program in PROGRAMS {
        let path = lab.path().join(program);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, STAND_IN).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    lab
}

fn stagetune(lab: &Path, arguments: &[&str]) -> Output {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new(env!("CARGO_BIN_EXE_stagetune"));
    command.args(arguments).current_dir(lab.join("study"));
    command.env("PATH", format!("{}:{path}", lab.join("bin").display())).output().unwrap()
}

fn words(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn every_pipeline_file_of_the_book_and_of_readme_passes_its_check_and_runs_to_its_end() {
    let examples: Vec<Example> = pages().iter().flat_map(|page| blocks(page)).collect();
    assert!(examples.len() >= 40, "{} examples", examples.len());
    // Most of the time of a run is waiting.
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let parts: Vec<_> = examples
            .chunks(examples.len().div_ceil(AT_A_TIME))
            .map(|part| scope.spawn(move || part.iter().filter_map(fault).collect::<Vec<_>>()))
            .collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What an example has to complain of: its check says something, or its study does not end well.
fn fault(example: &Example) -> Option<String> {
    let lab = laboratory();
    let text = completed(&example.text);
    fs::write(lab.path().join("study/pipeline.toml"), &text).unwrap();
    let (checked, run) = (stagetune(lab.path(), &["check"]), stagetune(lab.path(), &["run"]));
    let (said, told) = (words(&checked), words(&run));
    let fine = checked.status.success() && !said.contains("warning");
    let fine = fine && run.status.success() && told.contains("done");
    (!fine).then(|| format!("{}: {said}{told}\n{text}", example.place))
}

#[test]
fn what_an_example_leaves_out_is_put_in() {
    let whole = completed("[study]\nseed = 3\n");
    for part in ["name = \"example\"", "seed = 3", "budget = { trials = 3 }", "[[stage]]"] {
        assert!(whole.contains(part), "{whole}");
    }
    let stage = completed("[[stage]]\nname = \"a\"\nrun = [\"b\"]\n");
    assert_eq!(stage.matches("[[stage]]").count(), 2);
    assert_eq!(stage.matches("name =").count(), 3);
    let whole = completed("[[stage]]\nname = \"a\"\nrun = [\"b\"]\nparams = { x = { bool = true } }\n");
    assert_eq!(whole.matches("[[stage]]").count(), 1);
}
