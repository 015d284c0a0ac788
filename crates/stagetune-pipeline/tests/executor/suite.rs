//! What every executor promises; the tests of this crate and of the command run it over theirs.

use stagetune_pipeline::executor::{
    Attempt, Body, Ended, Executor, Exit, Local, Scripted, Sight, Token, read_end,
};
use stagetune_pipeline::file::DEFAULT_GRACE;
use stagetune_pipeline::outputs::KeyId;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Longer than anything here takes on a busy machine.
pub const LONG: Duration = Duration::from_secs(20);

/// An executor whose attempts end when the suite says so.
pub trait Subject {
    fn executor(&self) -> &dyn Executor;
    /// Lets an attempt end by itself, with an exit code and a file `v` in its `out`.
    fn finish(&self, attempt: &Attempt, code: i32);
    /// Lets an attempt take longer than its timeout.
    fn be_late(&self, attempt: &Attempt);
    /// How often it was started.
    fn starts(&self, attempt: &Attempt) -> usize;
}

/// Commands that wait for a file.
pub struct Commands(pub Local);

impl Subject for Commands {
    fn executor(&self) -> &dyn Executor {
        &self.0
    }

    fn finish(&self, attempt: &Attempt, code: i32) {
        let go = attempt.dir.join("go");
        fs::write(go.with_extension("new"), code.to_string()).unwrap();
        fs::rename(go.with_extension("new"), go).unwrap();
    }

    fn be_late(&self, _: &Attempt) {}

    fn starts(&self, attempt: &Attempt) -> usize {
        fs::read_to_string(attempt.dir.join("starts")).map_or(0, |text| text.lines().count())
    }
}

impl Subject for Scripted {
    fn executor(&self) -> &dyn Executor {
        self
    }

    fn finish(&self, attempt: &Attempt, code: i32) {
        let exit = if code == 0 { Exit::Success } else { Exit::Code(code) };
        self.end(&attempt.token, exit, &[("v", b"made\n")]).unwrap();
    }

    fn be_late(&self, attempt: &Attempt) {
        let limit = attempt.timeout.unwrap().as_secs_f64();
        self.end(&attempt.token, Exit::Timeout(limit), &[]).unwrap();
    }

    fn starts(&self, attempt: &Attempt) -> usize {
        self.launched().iter().filter(|token| **token == attempt.token).count()
    }
}

/// What an attempt of the suite runs: it notes that it was started, and waits for its exit code.
const SCRIPT: &str = r#"echo started >> "$1/starts"
while [ ! -e "$1/go" ]; do sleep 0.01; done
echo made > "$1/out/v"
exit $(cat "$1/go")"#;

pub fn attempt(root: &Path, number: u64) -> Attempt {
    let token = Token::fresh("suite", &KeyId::try_from("0".repeat(32)).unwrap(), number);
    let dir = root.join("attempts").join(token.as_str());
    let argv = ["sh", "-c", SCRIPT, "sh"].map(Into::into).into_iter().chain([dir.clone().into()]).collect();
    let body = Body::Command { argv, dir: root.to_owned(), env: BTreeMap::new() };
    let log = root.join(format!("{number}.log"));
    Attempt { token, stage: "a".into(), body, dir, log, timeout: None, grace: DEFAULT_GRACE }
}

/// An attempt that runs a script in the study's directory, with the directory of the attempt as `$1`.
pub fn script(root: &Path, number: u64, text: &str) -> Attempt {
    let mut attempt = attempt(root, number);
    let argv =
        ["sh", "-c", text, "sh"].map(Into::into).into_iter().chain([attempt.dir.clone().into()]).collect();
    attempt.body = Body::Command { argv, dir: root.to_owned(), env: BTreeMap::new() };
    attempt
}

pub fn sight(executor: &dyn Executor, token: &Token) -> Sight {
    executor.look(std::slice::from_ref(token)).unwrap()[token]
}

pub fn end(executor: &dyn Executor, attempt: &Attempt) -> Ended {
    executor.wait(&attempt.token, LONG);
    assert_eq!(sight(executor, &attempt.token), Sight::Gone);
    read_end(&attempt.dir).unwrap().expect("what is gone has left its end")
}

pub fn until(what: &str, holds: impl Fn() -> bool) {
    let timer = Instant::now();
    while !holds() {
        assert!(timer.elapsed() < LONG, "{what} never came");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A killed process may be a zombie until its new parent looks.
pub fn is_gone(process: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.trim())).unwrap_or_default();
    stat.is_empty() || stat.contains(") Z ")
}

pub fn number_in(path: PathBuf) -> String {
    until("a number", || fs::read_to_string(&path).is_ok_and(|text| text.ends_with('\n')));
    fs::read_to_string(path).unwrap()
}

pub fn a_token_starts_once(subject: &dyn Subject, root: &Path) {
    let one = attempt(root, 1);
    for _ in 0..3 {
        subject.executor().launch(&one).unwrap();
    }
    subject.finish(&one, 0);
    assert_eq!(end(subject.executor(), &one).exit, Exit::Success);
    subject.executor().launch(&one).unwrap();
    assert_eq!(end(subject.executor(), &one).exit, Exit::Success);
    assert_eq!(subject.starts(&one), 1);
}

pub fn it_runs_and_is_gone_with_its_end(subject: &dyn Subject, root: &Path) {
    let (one, two) = (attempt(root, 1), attempt(root, 2));
    assert_eq!(sight(subject.executor(), &one.token), Sight::Gone, "never launched");
    let before = now();
    subject.executor().launch(&one).unwrap();
    subject.executor().launch(&two).unwrap();
    let seen = subject.executor().look(&[one.token.clone(), two.token.clone()]).unwrap();
    assert!(seen.values().all(|sight| *sight == Sight::Running) && seen.len() == 2);
    assert_eq!(read_end(&one.dir).unwrap(), None);
    subject.finish(&one, 3);
    let ended = end(subject.executor(), &one);
    assert_eq!(ended.exit, Exit::Code(3));
    assert!(before <= ended.began && ended.began <= ended.ended && ended.ended <= now(), "{ended:?}");
    assert!((ended.ended - ended.began - ended.seconds).abs() < 1.0 && !ended.host.is_empty(), "{ended:?}");
    assert_eq!(sight(subject.executor(), &two.token), Sight::Running);
    subject.finish(&two, 0);
    assert_eq!(end(subject.executor(), &two).exit, Exit::Success);
    assert_eq!(fs::read_to_string(two.dir.join("out/v")).unwrap(), "made\n");
}

pub fn out_is_fresh(subject: &dyn Subject, root: &Path) {
    let one = attempt(root, 1);
    fs::create_dir_all(one.dir.join("out/stale")).unwrap();
    fs::write(one.dir.join("out/old"), "old").unwrap();
    subject.executor().launch(&one).unwrap();
    subject.finish(&one, 0);
    end(subject.executor(), &one);
    let names: Vec<_> =
        fs::read_dir(one.dir.join("out")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["v"]);
}

pub fn a_cancel_stops_it(subject: &dyn Subject, root: &Path) {
    let (one, two) = (attempt(root, 1), attempt(root, 2));
    for attempt in [&one, &two] {
        subject.executor().launch(attempt).unwrap();
    }
    subject.executor().cancel(&one.token).unwrap();
    assert_eq!(end(subject.executor(), &one).exit, Exit::Stopped);
    subject.executor().cancel(&one.token).unwrap();
    assert_eq!(sight(subject.executor(), &two.token), Sight::Running);
    subject.finish(&two, 0);
    assert_eq!(end(subject.executor(), &two).exit, Exit::Success);
    subject.executor().cancel(&two.token).unwrap();
    assert_eq!(end(subject.executor(), &two).exit, Exit::Success, "it had ended");
    subject.executor().cancel(&attempt(root, 3).token).unwrap();
}

pub fn a_timeout_ends_it(subject: &dyn Subject, root: &Path) {
    let mut one = attempt(root, 1);
    one.timeout = Some(Duration::from_millis(200));
    subject.executor().launch(&one).unwrap();
    subject.be_late(&one);
    assert_eq!(end(subject.executor(), &one).exit, Exit::Timeout(0.2));
}

pub fn a_wait_has_a_limit(subject: &dyn Subject, root: &Path) {
    let one = attempt(root, 1);
    subject.executor().launch(&one).unwrap();
    let timer = Instant::now();
    subject.executor().wait(&one.token, Duration::from_millis(50));
    assert!(timer.elapsed() >= Duration::from_millis(50) && timer.elapsed() < LONG);
    subject.finish(&one, 0);
    subject.executor().wait(&one.token, LONG * 10);
    assert!(timer.elapsed() < LONG);
}

pub fn the_worlds_faults_are_told_apart(subject: &dyn Subject, root: &Path) {
    use stagetune_pipeline::executor::Refused;
    let mut one = attempt(root, 1);
    fs::write(root.join("file"), "").unwrap();
    let good = std::mem::replace(&mut one.dir, root.join("file/attempt"));
    let refused = subject.executor().launch(&one).unwrap_err();
    assert!(matches!(refused, Refused::World { .. }), "{refused}");
    // What was refused can be launched when the world is mended.
    one.dir = good;
    subject.executor().launch(&one).unwrap();
    subject.finish(&one, 0);
    assert_eq!(end(subject.executor(), &one).exit, Exit::Success);
}

fn now() -> f64 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64()
}

/// The suite over the executor that `$make` makes for a directory.
macro_rules! every_executor {
    ($make:expr) => {
        fn each(check: fn(&dyn $crate::suite::Subject, &std::path::Path)) {
            let root = tempfile::tempdir().unwrap();
            check(&$make(root.path()), root.path());
        }

        #[test]
        fn a_token_starts_once_however_often_it_is_launched() {
            each($crate::suite::a_token_starts_once);
        }

        #[test]
        fn an_attempt_runs_and_then_is_gone_with_its_end_on_disk() {
            each($crate::suite::it_runs_and_is_gone_with_its_end);
        }

        #[test]
        fn what_stood_in_an_attempts_directory_is_not_taken_as_its_output() {
            each($crate::suite::out_is_fresh);
        }

        #[test]
        fn a_cancelled_attempt_is_stopped_and_others_go_on() {
            each($crate::suite::a_cancel_stops_it);
        }

        #[test]
        fn an_attempt_that_takes_too_long_is_ended() {
            each($crate::suite::a_timeout_ends_it);
        }

        #[test]
        fn a_wait_ends_with_the_attempt_or_at_its_limit() {
            each($crate::suite::a_wait_has_a_limit);
        }

        #[test]
        fn a_fault_of_the_world_is_no_end_of_an_attempt() {
            each($crate::suite::the_worlds_faults_are_told_apart);
        }
    };
}
pub(crate) use every_executor;
