//! Commands as processes: arguments, time limits, groups, stops.

use super::*;
use std::collections::BTreeMap;
use std::fs;

fn job(dir: &Path, argv: &[&str]) -> Job {
    Job {
        argv: argv.iter().map(|part| (*part).into()).collect(),
        dir: dir.to_owned(),
        env: BTreeMap::from([("COLOUR".to_owned(), "a b; $HOME".to_owned())]),
        log: dir.join("log"),
        timeout: None,
    }
}

fn run(job: &Job) -> Ended {
    Processes::default().run(job, &Stop::new())
}

#[test]
fn an_argument_reaches_the_program_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let nasty = ["a b", "$(touch hacked)", "; rm -rf .", "\"", "'", "*", "-n", "", "`id`", "a\nb"];
    let argv: Vec<&str> = ["sh", "-c", r#"for a in "$@"; do printf '%s\0' "$a"; done"#, "sh"]
        .into_iter()
        .chain(nasty)
        .collect();
    assert!(matches!(run(&job(dir.path(), &argv)).exit, Exit::Success));
    let seen = fs::read_to_string(dir.path().join("log")).unwrap();
    assert_eq!(seen.split_terminator('\0').collect::<Vec<_>>(), nasty);
    assert!(!dir.path().join("hacked").exists());
}

#[test]
fn variables_directory_and_both_outputs_are_as_asked() {
    let dir = tempfile::tempdir().unwrap();
    run(&job(dir.path(), &["sh", "-c", "echo \"$COLOUR\"; pwd >&2; cat"]));
    let root = fs::canonicalize(dir.path()).unwrap();
    assert_eq!(
        fs::read_to_string(dir.path().join("log")).unwrap(),
        format!("a b; $HOME\n{}\n", root.display())
    );
}

#[test]
fn exit_codes_and_signals_are_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let exit = |script: &str| run(&job(dir.path(), &["sh", "-c", script])).exit;
    assert!(matches!(exit("exit 3"), Exit::Code(3)));
    assert!(matches!(exit("kill -9 $$"), Exit::Signal(9)));
    assert!(matches!(run(&job(dir.path(), &["no-such-program-here"])).exit, Exit::NotStarted(_)));
    assert!(matches!(run(&job(dir.path(), &[])).exit, Exit::NotStarted(_)));
}

#[test]
fn a_timeout_kills_the_whole_group() {
    let dir = tempfile::tempdir().unwrap();
    let script = "(trap '' TERM; sleep 30; touch late) & trap '' TERM; echo $! > child; sleep 30";
    let mut job = job(dir.path(), &["sh", "-c", script]);
    job.timeout = Some(Duration::from_millis(300));
    assert!(matches!(run(&job).exit, Exit::Timeout(_)));
    assert_gone(&fs::read_to_string(dir.path().join("child")).unwrap());
}

#[test]
fn what_a_command_leaves_behind_goes_with_it() {
    let dir = tempfile::tempdir().unwrap();
    run(&job(dir.path(), &["sh", "-c", "sleep 30 & echo $! > child"]));
    assert_gone(&fs::read_to_string(dir.path().join("child")).unwrap());
}

#[test]
fn a_stop_at_once_ends_a_command() {
    let dir = tempfile::tempdir().unwrap();
    let stop = Stop::new();
    let ended = std::thread::scope(|scope| {
        let running = scope.spawn(|| Processes::default().run(&job(dir.path(), &["sleep", "30"]), &stop));
        stop.finish();
        std::thread::sleep(Duration::from_millis(100));
        assert!(!running.is_finished(), "a first request lets commands end");
        stop.now();
        running.join().unwrap()
    });
    assert!(matches!(ended.exit, Exit::Stopped));
}

/// A killed process may be a zombie until its new parent looks.
fn assert_gone(pid: &str) {
    let state = || fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
    for _ in 0..200 {
        let state = state();
        if state.is_empty() || state.contains(") Z ") {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("still there: {}", state());
}
