//! Owners and supervisors that are killed: no command outlives them, and what had ended has its end on disk.

use crate::suite::{is_gone, number_in, script, sight, until};
use stagetune_pipeline::disk::Disk;
use stagetune_pipeline::executor::{Attempt, Executor, Exit, Local, LocalOptions, Refused, Sight, read_end};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Runs until somebody says go, then ends with 3.
const PATIENT: &str = r#"echo $$ > "$1/process"; while [ ! -e "$1/go" ]; do sleep 0.01; done; exit 3"#;

/// Runs for a minute, and does not listen; so does what it started.
const DEAF: &str =
    r#"(trap '' TERM; sleep 60) & echo $! > "$1/child"; trap '' TERM; echo $$ > "$1/process"; sleep 60"#;

/// Not a test by itself: the owner that the tests below kill.
#[test]
fn an_owner() {
    let Some(root) = std::env::var_os("STAGETUNE_TEST_OWNER").map(PathBuf::from) else { return };
    let local = crate::supervised(&root);
    let scripts = fs::read_to_string(root.join("scripts")).unwrap();
    for (number, text) in scripts.split('\0').enumerate() {
        local.launch(&script(&root, number as u64, text)).unwrap();
    }
    until("the word to leave", || root.join("leave").exists());
}

fn owner(root: &Path, scripts: &[&str]) -> Child {
    fs::write(root.join("scripts"), scripts.join("\0")).unwrap();
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed::an_owner"])
        .env("STAGETUNE_TEST_OWNER", root)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The directories of attempts, by number.
fn attempts(root: &Path, count: usize) -> Vec<PathBuf> {
    let found = || -> Vec<PathBuf> {
        let entries = fs::read_dir(root.join("attempts")).into_iter().flatten();
        let mut found: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        found.sort_by_key(|path| path.to_str().unwrap().rsplit('.').nth(1).unwrap().parse::<u64>().unwrap());
        found
    };
    until("the attempts", || found().len() == count);
    found()
}

fn ended(dir: &Path) -> Exit {
    until("an end", || read_end(dir).unwrap().is_some());
    read_end(dir).unwrap().unwrap().exit
}

fn signal(process: u32, name: &str) {
    assert!(Command::new("kill").args([name, &process.to_string()]).status().unwrap().success());
}

#[test]
fn no_command_outlives_a_killed_owner_and_what_ended_has_its_true_end() {
    let root = tempfile::tempdir().unwrap();
    let mut owner = owner(root.path(), &[PATIENT, DEAF, PATIENT]);
    let dirs = attempts(root.path(), 3);
    let processes: Vec<String> = dirs.iter().map(|dir| number_in(dir.join("process"))).collect();
    let child = number_in(dirs[1].join("child"));
    // The owner stands still while the first command ends: nobody but the supervisor can write the end down.
    signal(owner.id(), "-STOP");
    fs::write(dirs[0].join("go"), "").unwrap();
    until("the end of the first", || is_gone(&processes[0]));
    owner.kill().unwrap();
    owner.wait().unwrap();
    assert_eq!(ended(&dirs[0]), Exit::Code(3));
    assert_eq!(ended(&dirs[1]), Exit::Stopped);
    assert_eq!(ended(&dirs[2]), Exit::Stopped);
    for process in processes.iter().chain([&child]) {
        until("the end of a process", || is_gone(process));
    }
    // The next owner sees that nothing runs.
    let next = crate::supervised(root.path());
    for dir in &dirs {
        let token = dir.file_name().unwrap().to_str().unwrap().to_owned().try_into().unwrap();
        next.wait(&token, crate::suite::LONG);
        assert_eq!(sight(&next, &token), Sight::Gone);
    }
}

#[test]
fn at_whatever_instant_an_owner_is_killed_every_command_that_began_has_an_end() {
    for round in 0..12 {
        let root = tempfile::tempdir().unwrap();
        let quick = r#"echo $$ > "$1/process"; sleep 0.02; echo > "$1/finished"; exit 3"#;
        let mut owner = owner(root.path(), &[quick; 6]);
        until("the first attempt", || root.path().join("attempts").exists());
        std::thread::sleep(Duration::from_millis(round * 4));
        owner.kill().unwrap();
        owner.wait().unwrap();
        for entry in fs::read_dir(root.path().join("attempts")).unwrap() {
            let dir = entry.unwrap().path();
            let probe = || fs::File::open(dir.join("began")).ok().is_none_or(|file| file.try_lock().is_ok());
            until("the end of the supervisor", probe);
            let began = dir.join("process").exists();
            let end = read_end(&dir).unwrap();
            assert!(end.is_some() || !began, "round {round}: it began and has no end");
            if let Some(end) = end {
                assert!(matches!(end.exit, Exit::Code(3) | Exit::Stopped), "{end:?}");
                assert!(end.exit == Exit::Stopped || dir.join("finished").exists());
            }
            // It may have been ended before it wrote its number.
            let process = fs::read_to_string(dir.join("process")).unwrap_or_default();
            assert!(process.is_empty() || is_gone(&process), "round {round}: {process}");
        }
    }
}

#[test]
fn an_attempt_whose_supervisor_was_killed_is_lost_and_its_command_ends() {
    let root = tempfile::tempdir().unwrap();
    let local = crate::supervised(root.path());
    let one = script(root.path(), 1, DEAF);
    local.launch(&one).unwrap();
    let process = number_in(one.dir.join("process"));
    signal(parent(&process), "-KILL");
    local.wait(&one.token, crate::suite::LONG);
    assert_eq!(sight(&local, &one.token), Sight::Gone);
    assert_eq!(read_end(&one.dir).unwrap(), None);
    until("the end of the command", || is_gone(&process) && is_gone(&number_in(one.dir.join("child"))));
}

#[test]
fn what_left_the_group_of_its_command_ends_too() {
    let root = tempfile::tempdir().unwrap();
    let local = crate::supervised(root.path());
    let text = r#"setsid sh -c '
            echo $$ > "$1/child"
            (setsid sleep 60 & echo $! > "$1/grandchild")
            sleep 60' sh "$1" &
        while [ ! -e "$1/grandchild" ]; do sleep 0.01; done"#;
    let (ended, cancelled) =
        (script(root.path(), 1, text), script(root.path(), 2, &format!("{text}; sleep 60")));
    for (one, exit) in [(&ended, Exit::Success), (&cancelled, Exit::Stopped)] {
        local.launch(one).unwrap();
        let children = ["child", "grandchild"].map(|name| number_in(one.dir.join(name)));
        if exit == Exit::Stopped {
            local.cancel(&one.token).unwrap();
        }
        assert_eq!(crate::suite::end(&local, one).exit, exit);
        assert!(children.iter().all(|child| is_gone(child)), "{exit:?}: {children:?}");
    }
}

#[test]
fn a_supervisor_has_a_group_of_its_own_and_so_has_its_command() {
    let root = tempfile::tempdir().unwrap();
    let local = crate::supervised(root.path());
    let one: Attempt = script(root.path(), 1, PATIENT);
    local.launch(&one).unwrap();
    let process = number_in(one.dir.join("process"));
    let supervisor = parent(&process);
    let groups = [group(std::process::id()), group(supervisor), group(process.trim().parse().unwrap())];
    assert!(groups[0] != groups[1] && groups[1] != groups[2] && groups[0] != groups[2], "{groups:?}");
}

#[test]
fn a_supervisor_that_is_not_there_is_a_fault_of_the_world() {
    let root = tempfile::tempdir().unwrap();
    let supervisor = Some(root.path().join("none"));
    let options = LocalOptions { supervisor, attempts: root.path().join("attempts"), disk: Disk::default() };
    let refused = Local::new(options).launch(&script(root.path(), 1, "true")).unwrap_err();
    assert!(matches!(refused, Refused::World { .. }), "{refused}");
}

/// A number of `/proc/<process>/stat` after the name: 1 is the parent, 2 the group.
fn stat(process: u32, field: usize) -> u32 {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let (_, after) = text.rsplit_once(')').unwrap();
    after.split_whitespace().nth(field).unwrap().parse().unwrap()
}

fn parent(process: &str) -> u32 {
    stat(process.trim().parse().unwrap(), 1)
}

fn group(process: u32) -> u32 {
    stat(process, 2)
}

#[test]
fn what_a_supervisor_and_its_owner_left_when_both_were_killed_ends_with_the_next_look() {
    let root = tempfile::tempdir().unwrap();
    let text = r#"setsid sh -c 'echo $$ > "$1/child"; sleep 60' sh "$1" &
        while [ ! -e "$1/child" ]; do sleep 0.01; done; echo $$ > "$1/process"; sleep 60"#;
    let mut owner = owner(root.path(), &[text]);
    let dir = attempts(root.path(), 1).remove(0);
    let (process, child) = (number_in(dir.join("process")), number_in(dir.join("child")));
    // The owner first: then it is not there to end what its supervisor leaves.
    signal(owner.id(), "-STOP");
    signal(parent(&process), "-KILL");
    owner.kill().unwrap();
    owner.wait().unwrap();
    assert!(!is_gone(&process) && !is_gone(&child), "they outlived both");
    let next = crate::supervised(root.path());
    let token = dir.file_name().unwrap().to_str().unwrap().to_owned().try_into().unwrap();
    until("the end of the lock", || sight(&next, &token) == Sight::Gone);
    until("the end of both", || is_gone(&process) && is_gone(&child));
}

#[test]
fn what_left_its_group_ends_too_when_its_supervisor_was_killed() {
    let root = tempfile::tempdir().unwrap();
    let local = crate::supervised(root.path());
    let text = r#"setsid sh -c 'trap "" TERM; echo $$ > "$1/child"; sleep 60' sh "$1" &
        while [ ! -e "$1/child" ]; do sleep 0.01; done; echo $$ > "$1/process"; sleep 60"#;
    let one = script(root.path(), 1, text);
    local.launch(&one).unwrap();
    let (process, child) = (number_in(one.dir.join("process")), number_in(one.dir.join("child")));
    signal(parent(&process), "-KILL");
    until("the end of both", || is_gone(&process) && is_gone(&child));
}

#[test]
fn a_supervisor_in_reserve_that_stands_still_does_not_hold_up_the_end() {
    let root = tempfile::tempdir().unwrap();
    let mut owner = owner(root.path(), &["true"]);
    let dir = attempts(root.path(), 1).remove(0);
    assert_eq!(ended(&dir), Exit::Success);
    let children = || {
        let found = Command::new("pgrep").args(["-P", &owner.id().to_string()]).output().unwrap();
        String::from_utf8(found.stdout).unwrap()
    };
    until("the reserve alone", || children().lines().count() == 1);
    signal(children().trim().parse().unwrap(), "-STOP");
    fs::write(root.path().join("leave"), "").unwrap();
    assert!(owner.wait().unwrap().success());
}

/// Starts `child`, which has no variable of ours, and writes down what is looked for by name.
fn without_variables(start: &str) -> String {
    format!(
        r#"{start} sh -c 'trap "" TERM; echo $$ > "$1/child"; while :; do sleep 60; done' sh "$1" &
        while [ ! -s "$1/child" ]; do sleep 0.01; done; echo $$ > "$1/process"; while :; do sleep 60; done"#
    )
}

#[test]
fn what_has_no_variable_of_ours_ends_when_its_supervisor_was_killed() {
    for start in ["env -i PATH=$PATH", "env -i PATH=$PATH setsid", "setsid -f env -i PATH=$PATH"] {
        let root = tempfile::tempdir().unwrap();
        let local = crate::supervised(root.path());
        // Another attempt and what this process started by itself go on.
        let other = script(root.path(), 2, PATIENT);
        let mut own = Command::new("sleep").arg("60").spawn().unwrap();
        let one = script(root.path(), 1, &without_variables(start));
        local.launch(&other).unwrap();
        local.launch(&one).unwrap();
        let (process, child) = (number_in(one.dir.join("process")), number_in(one.dir.join("child")));
        signal(parent(&process), "-KILL");
        local.wait(&one.token, crate::suite::LONG);
        assert_eq!(sight(&local, &one.token), Sight::Gone);
        until("the end of both", || is_gone(&process) && is_gone(&child));
        assert!(own.try_wait().unwrap().is_none() && sight(&local, &other.token) == Sight::Running);
        fs::write(other.dir.join("go"), "").unwrap();
        assert_eq!(crate::suite::end(&local, &other).exit, Exit::Code(3));
        own.kill().unwrap();
        own.wait().unwrap();
    }
}

#[test]
fn what_has_no_variable_of_ours_and_stayed_in_its_group_ends_with_the_next_look_when_both_were_killed() {
    let root = tempfile::tempdir().unwrap();
    let mut owner = owner(root.path(), &[&without_variables("env -i PATH=$PATH")]);
    let dir = attempts(root.path(), 1).remove(0);
    let (process, child) = (number_in(dir.join("process")), number_in(dir.join("child")));
    signal(owner.id(), "-STOP");
    signal(parent(&process), "-KILL");
    owner.kill().unwrap();
    owner.wait().unwrap();
    let next = crate::supervised(root.path());
    let token = dir.file_name().unwrap().to_str().unwrap().to_owned().try_into().unwrap();
    until("the end of the lock", || sight(&next, &token) == Sight::Gone);
    until("the end of both", || is_gone(&process) && is_gone(&child));
}

/// A program in the place of the supervisor, and what the executor says of the attempt.
fn said_with(program: &str, argument: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    let root = tempfile::tempdir().unwrap();
    let supervisor = root.path().join("supervisor");
    fs::write(&supervisor, format!("#!/bin/sh\n{program}\n")).unwrap();
    fs::set_permissions(&supervisor, fs::Permissions::from_mode(0o755)).unwrap();
    let (attempts, one) = (root.path().join("attempts"), script(root.path(), 1, argument));
    let local = Local::new(LocalOptions { supervisor: Some(supervisor), attempts, disk: Disk::default() });
    match local.launch(&one) {
        Err(refused) => refused.to_string(),
        Ok(()) => {
            local.wait(&one.token, crate::suite::LONG);
            local.look(std::slice::from_ref(&one.token)).unwrap_err().to_string()
        }
    }
}

#[test]
fn a_supervisor_that_cannot_work_is_told_from_one_that_was_killed() {
    let said = said_with("read order; exit 71", "true");
    assert!(said.contains("no thread") && said.contains("fewer workers"), "{said}");
    let said = said_with("read order; exit 72", "true");
    assert!(said.contains("no open file") && said.contains("ulimit -n"), "{said}");
    // An order that it cannot take without being read.
    let said = said_with("exit 3", &"#".repeat(10_000_000));
    assert!(!said.contains("Broken pipe") && said.contains("ended at once (exit status: 3)"), "{said}");
}
