//! What holds of commands on this machine, with a supervisor and without.

use crate::suite::{LONG, attempt, end, is_gone, number_in, script, sight, until};
use stagetune_pipeline::executor::{Attempt, Body, Executor, Exit, Local, Sight, read_end};
use std::fs;
use std::path::Path;
use std::time::Duration;

pub fn words_arguments_and_variables(local: &Local, root: &Path) {
    let nasty = ["a b", "$(touch hacked)", "; rm -rf .", "\"", "*", "", "a\nb"];
    let mut one =
        script(root, 1, r#"shift; for a in "$@"; do printf '%s\0' "$a"; done; cat; echo "$C" >&2; pwd"#);
    if let Body::Command { argv, env, .. } = &mut one.body {
        argv.extend(nasty.map(Into::into));
        env.insert("C".into(), "x; $HOME".into());
    }
    local.launch(&one).unwrap();
    assert_eq!(end(local, &one).exit, Exit::Success);
    let place = fs::canonicalize(root).unwrap();
    let expected = format!("{}\0x; $HOME\n{}\n", nasty.join("\0"), place.display());
    assert_eq!(fs::read_to_string(&one.log).unwrap(), expected);
    assert!(!root.join("hacked").exists());
}

pub fn every_way_to_end(local: &Local, root: &Path) {
    let exit = |number: u64, text: &str| {
        let one = script(root, number, text);
        local.launch(&one).unwrap();
        end(local, &one).exit
    };
    assert_eq!(exit(1, "exit 3"), Exit::Code(3));
    assert_eq!(exit(2, "kill -9 $$"), Exit::Signal(9));
    let mut none = attempt(root, 3);
    none.body =
        Body::Command { argv: vec!["no-such-program".into()], dir: root.into(), env: Default::default() };
    local.launch(&none).unwrap();
    assert!(matches!(end(local, &none).exit, Exit::NotStarted(_)));
    // A directory that is gone, or a log that cannot be written, is no fault of the command.
    for (number, dir, log) in
        [(4, root.join("none"), root.join("log")), (5, root.into(), root.join("none/log"))]
    {
        let mut one = attempt(root, number);
        one.body = Body::Command { argv: vec!["true".into()], dir, env: Default::default() };
        one.log = log;
        local.launch(&one).unwrap();
        assert!(matches!(end(local, &one).exit, Exit::NoRoom(_)), "{number}");
    }
    let mut empty = attempt(root, 6);
    empty.body = Body::Command { argv: Vec::new(), dir: root.into(), env: Default::default() };
    assert!(local.launch(&empty).is_err());
}

pub fn the_whole_group_ends(local: &Local, root: &Path) {
    let deaf = r#"(trap '' TERM; sleep 60) & echo $! > "$1/child"; trap '' TERM; sleep 60"#;
    let mut late = script(root, 1, deaf);
    late.timeout = Some(Duration::from_millis(300));
    let left = script(root, 2, r#"sleep 60 & echo $! > "$1/child""#);
    let stopped = script(root, 3, deaf);
    for attempt in [&late, &left, &stopped] {
        local.launch(attempt).unwrap();
    }
    let child = number_in(stopped.dir.join("child"));
    local.cancel(&stopped.token).unwrap();
    assert_eq!(sight(local, &stopped.token), Sight::Running, "it does not listen to the first word");
    for (attempt, exit) in [(&late, Exit::Timeout(0.3)), (&left, Exit::Success), (&stopped, Exit::Stopped)] {
        assert_eq!(end(local, attempt).exit, exit);
        let child = number_in(attempt.dir.join("child"));
        until("the end of a child", || is_gone(&child));
    }
    assert!(is_gone(&child));
}

pub fn nothing_of_ours_is_inherited(local: &Local, root: &Path) {
    let path = root.join("lock");
    let held = fs::File::create(&path).unwrap();
    held.try_lock().unwrap();
    let text =
        r#"for fd in /proc/self/fd/*; do readlink "$fd"; done > "$1/out/fds"; echo > "$1/ready"; sleep 60"#;
    let one = script(root, 1, text);
    local.launch(&one).unwrap();
    until("the list", || one.dir.join("ready").exists());
    let fds = fs::read_to_string(one.dir.join("out/fds")).unwrap();
    for ours in ["/lock", "/began", "ended.json"] {
        assert!(!fds.lines().any(|line| line.ends_with(ours)), "{ours} in\n{fds}");
    }
    assert!(fds.lines().any(|line| line.ends_with(".log")) && fds.contains("/dev/null"), "{fds}");
    drop(held);
    // The stage still runs. A process that another test is starting just now has a part in the lock
    // for a moment.
    let again = fs::File::open(&path).unwrap();
    until("the lock that the stage has no part in", || again.try_lock().is_ok());
    local.cancel(&one.token).unwrap();
    end(local, &one);
}

/// A stage without a terminal fails; it must not stand still for ever.
pub fn what_wants_a_terminal_ends(local: &Local, root: &Path) {
    let reads = script(root, 1, "read answer || exit 7");
    // What the system does to a group that is not in the foreground and reads from the terminal.
    let asks = script(root, 2, r#"sleep 60 & echo $! > "$1/child"; kill -TTIN $$; sleep 60"#);
    let paused = script(root, 3, r#"(sleep 0.3; kill -CONT $$) & kill -STOP $$; exit 5"#);
    for attempt in [&reads, &asks, &paused] {
        local.launch(attempt).unwrap();
    }
    assert_eq!(end(local, &reads).exit, Exit::Code(7), "the input is empty");
    let exit = end(local, &asks).exit;
    assert_eq!(exit, Exit::Signal(21));
    assert!(exit.problem().unwrap().contains("wanted to use the terminal"), "{exit:?}");
    let child = number_in(asks.dir.join("child"));
    until("the end of a child", || is_gone(&child));
    assert_eq!(end(local, &paused).exit, Exit::Code(5), "what people stop, they let go on");
}

/// What is asked to end may take its time to save something, and no more than that.
pub fn what_is_asked_to_end_has_its_time(local: &Local, root: &Path) {
    let saves = r#"trap 'sleep 0.5; echo saved > "$1/saved"; exit 0' TERM; echo > "$1/ready"; while :; do sleep 0.05; done"#;
    let patient = Attempt { grace: Duration::from_secs(60), ..script(root, 1, saves) };
    let short = Attempt { grace: Duration::from_millis(20), ..script(root, 2, saves) };
    for attempt in [&patient, &short] {
        local.launch(attempt).unwrap();
        until("the stage", || attempt.dir.join("ready").exists());
        local.cancel(&attempt.token).unwrap();
        assert_eq!(end(local, attempt).exit, Exit::Stopped);
    }
    assert!(patient.dir.join("saved").exists());
    assert!(!short.dir.join("saved").exists());
}

pub fn a_long_log_is_cut(local: &Local, root: &Path) {
    let one = script(root, 1, "echo first; yes | head -c 100000000; echo last");
    local.launch(&one).unwrap();
    assert_eq!(end(local, &one).exit, Exit::Success);
    let kept = fs::read_to_string(&one.log).unwrap();
    assert!(kept.starts_with("first\n") && kept.ends_with("y\nlast\n"));
    assert!(kept.contains("[stagetune leaves out 36000011 bytes here"));
    let limit = stagetune_pipeline::executor::LOG_LIMIT;
    assert!((limit..limit + 200).contains(&(kept.len() as u64)), "{}", kept.len());
}

/// Its timeout does not count before it has begun.
pub fn a_pipe_as_log_is_not_waited_for(local: &Local, root: &Path) {
    let one = Attempt { timeout: Some(Duration::from_secs(1)), ..script(root, 1, "true") };
    assert!(std::process::Command::new("mkfifo").arg(&one.log).status().unwrap().success());
    local.launch(&one).unwrap();
    let exit = end(local, &one).exit;
    assert!(matches!(&exit, Exit::NoRoom(problem) if problem.contains("move it away")), "{exit:?}");
}

/// Whatever an attempt that was lost has left there, the command finds an empty directory of its own.
pub fn what_was_left_is_not_a_fresh_output(local: &Local, root: &Path) {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let elsewhere = root.join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::write(elsewhere.join("kept"), "kept").unwrap();
    let leave: [&dyn Fn(&Path); 4] = [
        &|out| fs::write(out.join("result.json"), "{}").unwrap(),
        &|out| {
            fs::create_dir_all(out.join("a/b")).unwrap();
            fs::write(out.join("a/b/old"), "old").unwrap();
            fs::set_permissions(out.join("a/b"), fs::Permissions::from_mode(0o555)).unwrap();
        },
        &|out| symlink(&elsewhere, out.join("link")).unwrap(),
        &|out| {
            fs::remove_dir(out).unwrap();
            symlink(&elsewhere, out).unwrap();
        },
    ];
    for (number, leave) in (1..).zip(leave) {
        let look = r#"ls -A "$1/out" > "$1/seen"; [ -L "$1/out" ] && echo link >> "$1/seen"; echo new > "$1/out/new""#;
        let one = script(root, number, look);
        fs::create_dir_all(one.dir.join("out")).unwrap();
        fs::write(one.dir.join("began"), "host another\nowner 1\ngroup 1\n").unwrap();
        leave(&one.dir.join("out"));
        local.launch(&one).unwrap();
        assert_eq!(end(local, &one).exit, Exit::Success);
        assert_eq!(fs::read_to_string(one.dir.join("seen")).unwrap(), "", "{number}");
        assert_eq!(fs::read_dir(one.dir.join("out")).unwrap().count(), 1, "{number}");
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 1, "{number}");
    }
}

pub fn what_is_dropped_ends(local: Local, root: &Path) {
    let one = script(root, 1, r#"echo $$ > "$1/process"; exec sleep 60"#);
    local.launch(&one).unwrap();
    let process = number_in(one.dir.join("process"));
    drop(local);
    assert!(is_gone(&process));
    assert_eq!(read_end(&one.dir).unwrap().unwrap().exit, Exit::Stopped);
}

/// `other` is a second executor in the same directory, as a new owner would have.
pub fn others_see_it(local: &Local, other: &Local, root: &Path) {
    let one = attempt(root, 1);
    local.launch(&one).unwrap();
    assert_eq!(sight(other, &one.token), Sight::Running);
    other.launch(&one).unwrap();
    assert!(other.cancel(&one.token).is_err(), "it is not its to cancel");
    fs::write(one.dir.join("go"), "4").unwrap();
    other.wait(&one.token, LONG);
    assert_eq!(sight(other, &one.token), Sight::Gone);
    assert_eq!(read_end(&one.dir).unwrap().unwrap().exit, Exit::Code(4));
    other.launch(&one).unwrap();
    assert_eq!(sight(other, &one.token), Sight::Gone);
    assert_eq!(fs::read_to_string(one.dir.join("starts")).unwrap().lines().count(), 1);
}

/// The tests of commands over the executor that `$make` makes for a directory.
macro_rules! every_local {
    ($make:expr) => {
        fn with(check: fn(&stagetune_pipeline::executor::Local, &std::path::Path)) {
            let root = tempfile::tempdir().unwrap();
            check(&$make(root.path()), root.path());
        }

        #[test]
        fn arguments_variables_and_words_arrive_as_they_are() {
            with($crate::commands::words_arguments_and_variables);
        }

        #[test]
        fn every_way_to_end_is_told_apart() {
            with($crate::commands::every_way_to_end);
        }

        #[test]
        fn whatever_a_command_started_ends_with_it() {
            with($crate::commands::the_whole_group_ends);
        }

        #[test]
        fn a_command_has_no_part_in_our_files_and_locks() {
            with($crate::commands::nothing_of_ours_is_inherited);
        }

        #[test]
        fn a_command_that_wants_a_terminal_fails_and_does_not_stand_still() {
            with($crate::commands::what_wants_a_terminal_ends);
        }

        #[test]
        fn what_is_asked_to_end_has_its_time_and_no_more() {
            with($crate::commands::what_is_asked_to_end_has_its_time);
        }

        #[test]
        fn of_a_long_log_the_beginning_and_the_end_are_kept() {
            with($crate::commands::a_long_log_is_cut);
        }

        #[test]
        fn a_pipe_in_the_place_of_a_log_is_a_fault_of_the_world_and_not_waited_for() {
            with($crate::commands::a_pipe_as_log_is_not_waited_for);
        }

        #[test]
        fn a_directory_that_was_left_is_never_taken_for_a_fresh_output() {
            with($crate::commands::what_was_left_is_not_a_fresh_output);
        }

        #[test]
        fn attempts_end_with_their_executor() {
            let root = tempfile::tempdir().unwrap();
            $crate::commands::what_is_dropped_ends($make(root.path()), root.path());
        }

        #[test]
        fn another_owner_sees_what_runs_and_what_has_ended() {
            let root = tempfile::tempdir().unwrap();
            $crate::commands::others_see_it(&$make(root.path()), &$make(root.path()), root.path());
        }
    };
}
pub(crate) use every_local;
