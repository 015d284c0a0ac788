//! Journals that are damaged, incomplete, taken away or not there: every command says the same, and nothing begins
//! or goes on without a word.

use crate::harness::{Lab, THREE, has_lines, said, send, text, wait_until};
use rusqlite::Connection;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Commands that need a study.
const ABOUT: [&[&str]; 10] = [
    &["status"],
    &["best"],
    &["trials"],
    &["export"],
    &["report", "-o", "-"],
    &["note", "words"],
    &["pause"],
    &["resume"],
    &["forget", "0"],
    &["rerun", "0"],
];

/// Commands that begin one, or do without.
const WITHOUT: [&[&str]; 3] = [&["run"], &["run", "--dry-run"], &["cache", "why"]];

fn few() -> String {
    THREE.replace("trials = 40", "trials = 8")
}

fn state(lab: &Lab) -> PathBuf {
    lab.root().join(".stagetune")
}

fn journal(lab: &Lab) -> PathBuf {
    state(lab).join("journal.db")
}

fn change(lab: &Lab, statement: &str) {
    Connection::open(journal(lab)).unwrap().execute_batch(statement).unwrap();
}

fn page(lab: &Lab, number: usize) {
    let mut bytes = fs::read(journal(lab)).unwrap();
    bytes[number * 4096..(number + 1) * 4096].fill(0x5a);
    fs::write(journal(lab), bytes).unwrap();
}

/// The code, and the line of the error.
fn told(output: &Output) -> (Option<i32>, String) {
    let error = text(&output.stderr);
    let line = error.lines().find(|line| line.starts_with("error: ")).unwrap_or_default().to_owned();
    (output.status.code(), line)
}

/// A state of the journal: what it is called, what makes it, the exit code, and words of the error.
type Case<'a> = (&'a str, &'a dyn Fn(&Lab), i32, &'a str);

#[test]
fn every_command_says_the_same_about_a_journal_that_it_cannot_read() {
    let forget_it = |lab: &Lab| fs::remove_file(state(lab).join("witness-three")).unwrap();
    let at_birth = |lab: &Lab| {
        forget_it(lab);
        change(lab, "DELETE FROM event");
    };
    let cases: [Case<'_>; 13] = [
        ("no journal", &|lab| fs::remove_dir_all(state(lab)).unwrap(), 8, "there is no study yet"),
        (
            "never any study",
            &|lab| (forget_it(lab), fs::write(journal(lab), "").unwrap()).1,
            8,
            "no study called",
        ),
        ("another study", &|lab| lab.write(&few().replace("\"three\"", "\"four\"")), 8, "it has three"),
        ("killed at birth", &at_birth, 8, "no study called `three`"),
        ("no database", &|lab| fs::write(journal(lab), "a text").unwrap(), 7, "not a database"),
        ("deleted", &|lab| fs::remove_file(journal(lab)).unwrap(), 7, "missing or empty, and had"),
        ("emptied", &|lab| fs::write(journal(lab), "").unwrap(), 7, "missing or empty, and had"),
        ("newer", &|lab| change(lab, "PRAGMA user_version = 99"), 7, "use the release that wrote it"),
        ("damaged page", &|lab| page(lab, 4), 7, "is damaged"),
        (
            "cut",
            &|lab| {
                let bytes = fs::read(journal(lab)).unwrap();
                fs::write(journal(lab), &bytes[..bytes.len() / 2]).unwrap();
            },
            7,
            "is damaged",
        ),
        (
            "broken chain",
            &|lab| change(lab, "UPDATE event SET at = at + 1 WHERE position = 9"),
            7,
            "record 9",
        ),
        ("cut tail", &|lab| change(lab, "DELETE FROM event WHERE position > 9"), 7, "the last"),
        (
            "a header that cannot be written",
            &|lab| {
                let mut bytes = fs::read(journal(lab)).unwrap();
                bytes[18] = 9;
                fs::write(journal(lab), bytes).unwrap();
            },
            7,
            "cannot be written",
        ),
    ];
    let template = Lab::new(&few());
    template.done(&["run", "--quiet"]);
    for (name, make, code, words) in cases {
        let lab = Lab::new(&few());
        copy(&template.root(), &lab.root());
        make(&lab);
        let before = fs::read(journal(&lab)).unwrap_or_default();
        let first = told(&lab.stagetune(ABOUT[0]));
        assert_eq!(first.0, Some(code), "{name}: {first:?}");
        assert!(first.1.contains(words), "{name}: {first:?}");
        let agree = ABOUT.iter().chain(WITHOUT.iter().filter(|_| code == 7));
        for command in agree {
            assert_eq!(told(&lab.stagetune(command)), first, "{name}: {command:?}");
        }
        let json = lab.stagetune(&["status", "--json"]);
        assert!(said(&json).contains(&format!("\"code\":{code}")), "{name}: {}", said(&json));
        assert_eq!(fs::read(journal(&lab)).unwrap_or_default(), before, "{name}: left alone");
        if code == 8 {
            lab.done(&["run", "--quiet"]);
        }
    }
}

/// Copies a directory as `cp -r` does.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    let done = Command::new("cp").arg("-r").arg(from.join(".")).arg(to).status().unwrap();
    assert!(done.success());
}

#[test]
fn an_old_copy_put_back_and_a_write_ahead_log_that_is_lost_or_damaged_are_noticed() {
    let lab = Lab::new(&few());
    lab.done(&["run", "--quiet"]);
    let old = fs::read(journal(&lab)).unwrap();
    lab.write(&few().replace("trials = 8", "trials = 12"));
    lab.done(&["run", "--quiet"]);
    fs::write(journal(&lab), &old).unwrap();
    for command in [&["run"][..], &["status"]] {
        let (code, error) = told(&lab.stagetune(command));
        assert!(
            code == Some(7) && error.contains("the last") && error.contains("stagetune repair"),
            "{error}"
        );
    }

    for damage in ["lost", "damaged"] {
        let lab = Lab::new(THREE);
        let mut child = lab.start(&["run", "--quiet"]);
        wait_until("some trials", || has_lines(&lab.outside().join("runs"), 30));
        send(&child, "-KILL");
        child.wait().unwrap();
        // Killed at any moment it is no false alarm.
        lab.done(&["status"]);
        let log = state(&lab).join("journal.db-wal");
        if damage == "lost" {
            fs::remove_file(&log).unwrap();
        } else {
            let mut bytes = fs::read(&log).unwrap();
            bytes[500] ^= 1;
            fs::write(&log, bytes).unwrap();
        }
        for command in [&["run"][..], &["status"]] {
            assert_eq!(lab.stagetune(command).status.code(), Some(7), "{damage}: {command:?}");
        }
        let ran = lab.runs().values().sum::<usize>();
        lab.done(&["repair"]);
        lab.done(&["run", "--quiet"]);
        assert_eq!(lab.json(&["status", "--json"])["observed"], 40, "{damage}");
        assert!(lab.runs().values().sum::<usize>() > ran);
        // All that had run before was reused; only what ran when it was killed may have run again.
        let again: usize = lab.runs().values().map(|times| times - 1).sum();
        assert!(again <= 1, "{damage}: {again}");
    }
}

/// A study of one stage that waits for a file outside.
fn waiting(patience: &str) -> Lab {
    Lab::new(&format!(
        r#"
[study]
name = "one"
metric = "f"
direction = "minimize"
strategy = "random"
budget = {{ trials = 3 }}
patience = "{patience}"
[[stage]]
name = "only"
run = ["sh", "-c", 'echo begun >> ../outside/begun; while [ ! -e ../outside/go ]; do sleep 0.01; done; echo "{{{{\"f\": $1}}}}" > "$2/result.json"', "sh", "{{x}}", "{{out}}"]
[stage.params]
x = {{ float = [0, 1] }}
"#
    ))
}

/// Begins, takes the journal away while a stage runs, and lets the stage end.
fn taken_away(lab: &Lab) -> std::process::Child {
    let child = lab.command(&["run"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("the stage", || has_lines(&lab.outside().join("begun"), 1));
    for ending in ["", "-wal", "-shm"] {
        let name = format!("journal.db{ending}");
        fs::rename(state(lab).join(&name), lab.outside().join(&name)).unwrap();
    }
    fs::write(lab.outside().join("go"), "").unwrap();
    child
}

#[test]
fn a_journal_that_is_moved_away_while_a_study_runs_is_waited_for() {
    let lab = waiting("2 min");
    let child = taken_away(&lab);
    let live = state(&lab).join("live-one.json");
    let waits = || fs::read_to_string(&live).is_ok_and(|text| text.contains("removed or moved away"));
    wait_until("the study that waits", waits);
    for ending in ["", "-wal", "-shm"] {
        let name = format!("journal.db{ending}");
        fs::rename(lab.outside().join(&name), state(&lab).join(&name)).unwrap();
    }
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("put back that very file"), "{}", text(&output.stderr));
    assert_eq!(lab.json(&["status", "--json"])["observed"], 3);
}

#[test]
fn a_journal_that_stays_away_or_is_replaced_ends_the_run_with_a_code_and_a_sentence() {
    let lab = waiting("300 ms");
    let output = taken_away(&lab).wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(10), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("removed or moved away"), "{}", text(&output.stderr));

    let lab = waiting("2 min");
    let child = taken_away(&lab);
    let live = state(&lab).join("live-one.json");
    wait_until("the study that waits", || fs::read_to_string(&live).is_ok_and(|text| text.contains("moved")));
    fs::write(journal(&lab), "another file").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(7), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("replaced by another file"), "{}", text(&output.stderr));
}

#[test]
fn a_directory_that_may_only_be_read_shows_its_study_and_refuses_to_go_on_with_it() {
    let lab = Lab::new(&few());
    lab.done(&["run", "--quiet"]);
    let modes = |dir: &str, file: &str| {
        for (kind, mode) in [("d", dir), ("f", file)] {
            let found = ["-type", kind, "-exec", "chmod", mode, "{}", "+"];
            assert!(Command::new("find").arg(lab.root()).args(found).status().unwrap().success());
        }
    };
    modes("555", "444");
    for command in [&["status"][..], &["best"], &["trials"], &["export"], &["report", "-o", "-"], &["repair"]]
    {
        lab.done(command);
    }
    // Who is root may write everywhere.
    let is_root = fs::write(lab.root().join("probe"), "").is_ok();
    if !is_root {
        for command in [&["run"][..], &["note", "words"]] {
            let (code, error) = told(&lab.stagetune(command));
            assert!(code == Some(1) && error.contains("writable"), "{command:?}: {error}");
        }
    }
    modes("755", "644");
}
