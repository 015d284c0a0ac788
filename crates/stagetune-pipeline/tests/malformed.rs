//! Malformed pipeline files, each a mistake that somebody makes or that somebody would like to get away with.
//!
//! Every file of `malformed/` gives an error with a line and a remedy. Where its first line is `# expect: …`, the messages contain that text. All messages
//! stand in `malformed.txt`, for people to read; `STAGETUNE_UPDATE=1 cargo test -p stagetune-pipeline --test malformed` writes it anew.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use stagetune_pipeline::file::{FileError, Pipeline};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/malformed")
}

/// The files by name, in order.
fn files() -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_name().to_string_lossy().ends_with(".toml"))
        .map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap()))
        .collect();
    files.sort();
    files
}

fn load(name: &str) -> FileError {
    let mut error = match Pipeline::load(&folder().join(name)) {
        Err(error) => error,
        Ok(_) => panic!("{name} was accepted"),
    };
    error.file = PathBuf::from(name);
    error
}

#[test]
fn every_malformed_file_gives_an_error_with_a_line_and_a_remedy() {
    let mut bad = Vec::new();
    for (name, bytes) in files() {
        let error = load(&name);
        let shown = error.to_string();
        let lines = bytes.split(|b| *b == b'\n').count();
        for problem in &error.problems {
            let placed = (1..=lines).contains(&problem.line) && problem.column >= 1;
            if !placed || problem.message.is_empty() || problem.help.is_empty() {
                bad.push(format!("{name}: no place or no remedy:\n{shown}"));
            }
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let expected = text.lines().next().and_then(|line| line.strip_prefix("# expect: "));
        if let Some(expected) = expected
            && !shown.contains(expected)
        {
            bad.push(format!("{name}: expected {expected:?}:\n{shown}"));
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n\n"));
}

#[test]
fn there_are_hundreds_of_malformed_files_and_no_two_alike() {
    let mut seen: BTreeMap<Vec<u8>, String> = BTreeMap::new();
    for (name, bytes) in files() {
        let content: Vec<u8> = match bytes.strip_prefix(b"# expect: ") {
            Some(rest) => rest.iter().copied().skip_while(|b| *b != b'\n').collect(),
            None => bytes,
        };
        if let Some(other) = seen.insert(content, name.clone()) {
            panic!("{name} is the same as {other}");
        }
    }
    assert!(seen.len() >= 200, "{} files", seen.len());
}

#[test]
fn the_messages_are_those_that_were_read_and_approved() {
    let mut messages = String::new();
    for (name, _) in files() {
        messages.push_str(&format!("── {name}\n{}\n\n", load(&name)));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/malformed.txt");
    if std::env::var_os("STAGETUNE_UPDATE").is_some() {
        std::fs::write(&path, &messages).unwrap();
    }
    let approved = std::fs::read_to_string(&path).unwrap_or_default();
    let (mut new, mut old) = (messages.split("── "), approved.split("── "));
    loop {
        match (new.next(), old.next()) {
            (None, None) => break,
            (new, old) => {
                assert_eq!(new, old, "read the new message; if it is good, run this with STAGETUNE_UPDATE=1")
            }
        }
    }
}

/// Something to tune.
const BOOL: &str = "\n[stage.params]\nb = { bool = true }\nf = { float = [0, 1] }";

fn numbered(n: usize, item: impl Fn(usize) -> String) -> String {
    (0..n).map(item).collect::<Vec<_>>().join(",")
}

fn lines(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn hostile_texts_end_soon_with_an_error() {
    let n = 100_000;
    for text in [
        "[".repeat(n),
        format!("x = {}", "[".repeat(n)),
        format!("x = {}", "{a=".repeat(n)),
        format!("{} = 1", vec!["a"; n].join(".")),
        format!("[{}]", vec!["a"; n].join(".")),
        format!("[[{}]]", vec!["a"; n].join(" . ")),
        format!("{} = 1", vec!["'a'"; n].join(" .\t")),
        format!("x = [{{ {} = 1 }}]", vec!["\"\\\"=\""; n].join(".")),
        format!("x = {{ y = \"\"\"\n\"\"\", {} = 1 }}", vec!["a"; n].join(".")),
        "[[stage]]\n".repeat(n),
        "[[stage]]\n[stage.params]\n".repeat(n / 4),
        "a = 1\n".repeat(n),
        "\"".repeat(n),
        "'''\n".repeat(n),
        "# comment\n".repeat(n),
        "\u{feff}".repeat(n),
        format!("[study]\nname = \"{}\"", "x".repeat(n)),
        format!("[study]\nstrategy = \"{}\"", "gp-ei".repeat(n)),
        format!("[[stage]]\nname = \"a\"\nrun = [{}]", "\"{x}\",".repeat(n)),
        format!("[[stage]]\nname = \"a\"\nrun = [\"{}\"]", "{x}".repeat(n)),
        format!("[[stage]]\nname = \"a\"\nafter = [{}]", "\"x\",".repeat(n)),
        format!("x = \"{}\"", "y".repeat(1_000_001)),
        format!("[study]\noutside = [{}]", numbered(n / 2, |i| format!("'../{i}'"))),
        format!("[[stage]]\nname = 'a'\nrun = ['sh']\ninputs = [{}]", numbered(n / 2, |i| format!("'{i}'"))),
        format!(
            "[[stage]]\nname = 'a'\nrun = ['sh']\nwatch_env = [{}]",
            numbered(n / 2, |i| format!("'{i}'"))
        ),
        format!("[[stage]]\nname = 'a'\nrun = ['sh']\nforbid = [{}]{BOOL}", "'b',".repeat(n)),
        format!("[[stage]]\nname = 'a'\nrun = ['sh']\nforbid = [{}]{BOOL}", "'b == true',".repeat(999)),
        format!("[[stage]]\nname = 'a'\nrun = ['sh']\ncuts = {{ f = [{}] }}{BOOL}", "0.5,".repeat(n)),
        format!(
            "[[stage]]\nname = 'a'\nrun = ['sh', {}]\n[stage.params]\nc = {{ choice = [{}] }}",
            "'{c}',".repeat(4000),
            numbered(1000, |i| format!("'{i}'"))
        ),
        format!("[[stage]]\nname = 'a'\nrun = ['sh', '{}']{BOOL}", "{b}{out}".repeat(n)),
        format!(
            "[[stage]]\nname = 'a'\nrun = ['sh']\n[stage.params]\n{}",
            lines(20_000, |i| format!("p{i} = {{ bool = true }}"))
        ),
        lines(1000, |i| format!("[[stage]]\nname = 's{i}'\nrun = ['sh', '{{s0}}', '{{s1}}', '{{out}}']")),
        lines(1000, |i| format!("[[stage]]\nname = 's{i}'\nafter = ['s{}']\nrun = ['sh']", 999 - i)),
    ] {
        let start: String = text.chars().take(40).collect();
        let error = Pipeline::parse(&text, Path::new("p.toml"), Path::new("/study")).expect_err(&start);
        assert!(error.to_string().len() < 100_000, "{start}: {} bytes of errors", error.to_string().len());
    }
}

#[test]
fn a_file_that_is_not_there_is_an_error_and_no_panic() {
    for (path, expected) in [("no/such/file.toml", "no such file"), ("tests", "directory")] {
        let error = Pipeline::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap_err();
        assert!(error.to_string().contains(expected) && error.problems[0].line == 0, "{error}");
    }
}
