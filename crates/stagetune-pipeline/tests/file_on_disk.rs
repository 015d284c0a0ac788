//! What only the disk can tell: inputs and programs that are there, links that lead elsewhere, and what surprises.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::path::Path;

use stagetune_pipeline::file::{Pipeline, Problem, find_program, starter};
use tempfile::TempDir;

const FILE: &str = r#"
[study]
name = "scans"
metric = "dice"
direction = "maximize"
budget = { trials = 20 }

[[stage]]
name = "clean"
run = ["sh", "clean.sh", "{sigma}", "{out}"]
inputs = ["clean.sh", "data"]
[stage.params]
sigma = { float = [1, 15] }

[[stage]]
name = "fit"
run = ["sh", "fit.sh", "{clean}", "{lr}", "{out}"]
inputs = ["fit.sh"]
[stage.params]
lr = { float = [1e-5, 0.1], log = true }
"#;

/// A study's directory inside a larger one, with the files that `FILE` names.
fn study(text: &str) -> (TempDir, std::path::PathBuf) {
    study_called("study", text)
}

fn study_called(name: &str, text: &str) -> (TempDir, std::path::PathBuf) {
    let outer = TempDir::new().unwrap();
    let root = outer.path().join(name);
    fs::create_dir_all(root.join("data")).unwrap();
    for file in ["clean.sh", "fit.sh", "data/a.bin"] {
        fs::write(root.join(file), "exit 0\n").unwrap();
    }
    fs::write(root.join("pipeline.toml"), text).unwrap();
    (outer, root)
}

fn load(root: &Path) -> Result<(Pipeline, Vec<Problem>), String> {
    Pipeline::load_with_warnings(&root.join("pipeline.toml")).map_err(|error| error.to_string())
}

#[track_caller]
fn assert_refused(root: &Path, expected: &str) {
    let error = load(root).map(|_| ()).unwrap_err();
    assert!(error.contains(expected), "{error}");
}

#[track_caller]
fn warnings(text: &str) -> Vec<String> {
    let (_outer, root) = study(text);
    let warnings = load(&root).unwrap_or_else(|error| panic!("{error}")).1;
    warnings.into_iter().map(|warning| warning.message).collect()
}

#[track_caller]
fn assert_warns(text: &str, expected: &str) {
    let warnings = warnings(text);
    assert!(warnings.len() == 1 && warnings[0].contains(expected), "{warnings:?} instead of {expected}");
}

#[test]
fn a_good_file_is_loaded_without_a_warning_and_its_root_is_absolute() {
    let (_outer, root) = study(FILE);
    let (pipeline, warnings) = load(&root).unwrap();
    assert_eq!(warnings, vec![]);
    assert_eq!(pipeline.root, root.canonicalize().unwrap());
    assert_eq!(pipeline.file, root.join("pipeline.toml"));
}

#[test]
fn a_file_that_is_too_long_is_refused_as_such_even_where_it_is_cut_inside_a_letter() {
    let (_outer, root) = study(&format!("#{}", "学".repeat(400_000)));
    assert_refused(&root, "bytes, more than 1000000");
}

#[test]
fn a_missing_input_is_refused() {
    let (_outer, root) = study(&FILE.replace("\"data\"", "\"dada\""));
    assert_refused(&root, "did you mean \"data\"");
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_outside_is_refused_unless_declared() {
    let (outer, root) = study(&FILE.replace("\"data\"", "\"data\", \"link\""));
    fs::create_dir(outer.path().join("secret")).unwrap();
    std::os::unix::fs::symlink(outer.path().join("secret"), root.join("link")).unwrap();
    assert_refused(&root, "is a link that leads outside");
    let declared = fs::read_to_string(root.join("pipeline.toml"))
        .unwrap()
        .replace("budget", "outside = [\"../secret\"]\nbudget");
    fs::write(root.join("pipeline.toml"), declared).unwrap();
    load(&root).unwrap();
}

#[test]
fn an_input_outside_is_absolute_once_declared() {
    let text = FILE
        .replace("\"data\"", "\"../shared/x.bin\"")
        .replace("budget", "outside = [\"../shared\"]\nbudget");
    let (outer, root) = study(&text);
    assert_refused(&root, "there is no file");
    fs::create_dir(outer.path().join("shared")).unwrap();
    fs::write(outer.path().join("shared/x.bin"), "x").unwrap();
    let (pipeline, _) = load(&root).unwrap();
    assert_eq!(pipeline.stages[0].inputs[1], outer.path().canonicalize().unwrap().join("shared/x.bin"));
}

#[test]
fn a_study_in_a_directory_with_odd_characters_may_not_put_its_path_into_code() {
    let code =
        FILE.replace("\"sh\", \"fit.sh\", \"{clean}\",", "\"sh\", \"-c\", \"cp {clean}/x .\", \"sh\",");
    let (_outer, root) = study_called("my study; rm -rf x", &code);
    assert_refused(&root, "is put into code");
    // As arguments of their own, the same paths are harmless.
    fs::write(root.join("pipeline.toml"), FILE).unwrap();
    load(&root).unwrap();
    let (_outer, root) = study(&code);
    load(&root).unwrap();
}

#[cfg(unix)]
#[test]
fn programs_are_found_on_the_path_beside_the_executable_and_inside_the_study() {
    use std::os::unix::fs::PermissionsExt;
    let (_outer, root) = study(FILE);
    assert!(find_program("sh", &root).is_some_and(|path| path.is_absolute()));
    let own = std::env::current_exe().unwrap();
    assert_eq!(find_program(own.file_name().unwrap().to_str().unwrap(), &root), Some(own));
    assert_eq!(find_program("./fit.sh", &root), None);
    fs::set_permissions(root.join("fit.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    assert!(find_program("./fit.sh", &root).is_some_and(|path| path.ends_with("fit.sh")));
    assert_eq!(find_program("no-such-program-anywhere", &root), None);
}

#[test]
fn a_file_that_a_command_reads_and_the_cache_does_not_know_of_is_noticed() {
    assert_warns(
        &FILE.replace("inputs = [\"fit.sh\"]\n", ""),
        "\"fit.sh\" is a file that is not among the inputs",
    );
    let option = FILE.replace("\"fit.sh\", \"{clean}\"", "\"fit.sh\", \"--data=data/a.bin\", \"{clean}\"");
    assert_warns(&option, "\"data/a.bin\" is a file that is not among the inputs");
}

#[test]
fn what_works_but_surprises_is_told() {
    assert_warns(&FILE.replace("\"{lr}\", ", ""), "the parameter `lr` is never used");
    assert_warns(&FILE.replace("budget = { trials = 20 }\n", ""), "no budget");
    assert_warns(
        &FILE.replace("name = \"fit\"", "name = \"fit\"\ncost = 3"),
        "given cost while others are measured",
    );
    assert_warns(&FILE.replace("\"{sigma}\", \"{out}\"", "\"{sigma}\""), "never uses `{out}`");
    assert_warns(&FILE.replace("\"{lr}\", ", "\"{lr}\", \"&&\", "), "in a shell only");
    let unneeded = FILE.replace("name = \"fit\"", "name = \"fit\"\nafter = []").replace("\"{clean}\", ", "");
    assert_warns(&unneeded, "does not need stage `clean`");
}

#[test]
fn the_starter_is_loaded_where_its_scripts_are() {
    let (_outer, root) = study(starter());
    let (pipeline, _) = load(&root).unwrap();
    assert_eq!(pipeline.study.name, "my-study");
}
