//! Callables as stages, failing writes, and the sweep of attempts.

use crate::suite::{attempt, end, sight, until};
use stagetune_pipeline::disk::Disk;
use stagetune_pipeline::executor::{
    Attempt, Body, Call, Executor, Exit, Local, LocalOptions, NoIdea, Refused, Sight, SweptAttempts,
    read_end, sweep,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

type Numbers = Result<BTreeMap<String, f64>, String>;

fn call(root: &Path, number: u64) -> Attempt {
    let params = BTreeMap::from([("lr".to_owned(), "0.5".to_owned())]);
    let inputs = BTreeMap::from([("denoise".to_owned(), PathBuf::from("there"))]);
    Attempt { body: Body::Call { name: "train".into(), params, inputs }, ..attempt(root, number) }
}

fn ended(function: impl Fn(&Call<'_>) -> Numbers + Send + Sync + 'static) -> (Exit, Option<String>, String) {
    let root = tempfile::tempdir().unwrap();
    let local = crate::local(root.path());
    local.register("train", Arc::new(function));
    let one = Attempt { timeout: Some(Duration::from_secs(5)), ..call(root.path(), 1) };
    local.launch(&one).unwrap();
    let ended = end(&local, &one);
    let result = fs::read_to_string(one.dir.join("out/result.json")).ok();
    (ended.exit, result, fs::read_to_string(&one.log).unwrap())
}

#[test]
fn a_callable_is_given_what_it_needs_and_its_numbers_are_its_result() {
    let (exit, result, _) = ended(|call| {
        assert_eq!(call.inputs["denoise"], Path::new("there"));
        assert!(call.out.is_dir() && !(call.cancelled)());
        Ok(BTreeMap::from([("f1".to_owned(), call.params["lr"].parse().unwrap())]))
    });
    assert_eq!((exit, result.as_deref()), (Exit::Success, Some(r#"{"f1":0.5}"#)));
}

#[test]
fn a_result_that_the_callable_wrote_itself_is_kept() {
    let (exit, result, _) = ended(|call| {
        fs::write(call.out.join("result.json"), "{}").unwrap();
        Ok(BTreeMap::from([("f1".to_owned(), 1.0)]))
    });
    assert_eq!((exit, result.as_deref()), (Exit::Success, Some("{}")));
}

#[test]
fn errors_panics_and_numbers_that_are_none_are_raised() {
    let (exit, result, log) = ended(|_| Err("no data".into()));
    assert_eq!((exit, result), (Exit::Raised("no data".into()), None));
    assert!(log.contains("no data"), "{log}");
    let (exit, ..) = ended(|_| panic!("out of {}", "luck"));
    assert_eq!(exit, Exit::Raised("panicked: out of luck".into()));
    let (exit, ..) = ended(|_| Ok(BTreeMap::from([("f1".to_owned(), f64::NAN)])));
    assert!(matches!(exit, Exit::Raised(problem) if problem.contains("`f1` = NaN")));
}

#[test]
fn a_callable_learns_that_it_was_cancelled_or_is_late() {
    let root = tempfile::tempdir().unwrap();
    let local = crate::local(root.path());
    local.register(
        "train",
        Arc::new(|call: &Call<'_>| {
            until("the cancel", || (call.cancelled)());
            Err("cancelled".into())
        }),
    );
    let (one, mut two) = (call(root.path(), 1), call(root.path(), 2));
    two.timeout = Some(Duration::from_millis(100));
    local.launch(&one).unwrap();
    local.launch(&two).unwrap();
    assert_eq!(end(&local, &two).exit, Exit::Timeout(0.1));
    assert_eq!(sight(&local, &one.token), Sight::Running);
    local.cancel(&one.token).unwrap();
    assert_eq!(end(&local, &one).exit, Exit::Stopped);
}

#[test]
fn a_callable_that_nobody_registered_can_never_start() {
    let root = tempfile::tempdir().unwrap();
    let refused = crate::local(root.path()).launch(&call(root.path(), 1)).unwrap_err();
    assert!(matches!(&refused, Refused::Never(why) if why.contains("`train`")), "{refused}");
}

#[test]
fn whichever_write_fails_an_attempt_is_refused_or_has_its_end_or_is_lost() {
    let (mut refused, mut lost) = (0, 0);
    for at in 1.. {
        let root = tempfile::tempdir().unwrap();
        let disk = Disk::failing_at(at, ErrorKind::StorageFull);
        let options =
            LocalOptions { supervisor: None, attempts: root.path().join("attempts"), disk: disk.clone() };
        let local = Local::new(options);
        let one = crate::suite::script(root.path(), 1, "true");
        match local.launch(&one) {
            Err(Refused::World { source, .. }) => {
                assert_eq!(source.kind(), ErrorKind::StorageFull);
                refused += 1;
            }
            Err(other) => panic!("write {at}: {other}"),
            Ok(()) => {
                local.wait(&one.token, crate::suite::LONG);
                match local.look(std::slice::from_ref(&one.token)) {
                    Ok(seen) => {
                        assert_eq!(seen[&one.token], Sight::Gone, "write {at}");
                        let exit = read_end(&one.dir).unwrap().unwrap().exit;
                        assert!(matches!(exit, Exit::Success | Exit::NoRoom(_)), "write {at}: {exit:?}");
                    }
                    Err(NoIdea::Unwritten { problem, .. }) => {
                        assert!(problem.contains("free some space"), "write {at}: {problem}");
                        lost += 1;
                    }
                    Err(other) => panic!("write {at}: {other}"),
                }
            }
        }
        if !disk.has_failed() {
            assert!(refused >= 4 && lost >= 2, "{refused} refused, {lost} lost");
            return;
        }
    }
}

#[test]
fn only_attempts_of_this_host_that_nobody_needs_and_that_do_not_run_are_swept() {
    let root = tempfile::tempdir().unwrap();
    let local = crate::local(root.path());
    let (ended, needed) =
        (crate::suite::script(root.path(), 1, ""), crate::suite::script(root.path(), 2, ""));
    let (running, elsewhere) = (attempt(root.path(), 3), attempt(root.path(), 4));
    for one in [&ended, &needed, &running] {
        local.launch(one).unwrap();
    }
    end(&local, &ended);
    end(&local, &needed);
    fs::create_dir_all(&elsewhere.dir).unwrap();
    fs::write(elsewhere.dir.join("began"), "host some-other-host\nowner 1\n").unwrap();
    let keep = BTreeSet::from([needed.token.clone()]);
    let of_another = sweep(&root.path().join("attempts"), "another", &keep, &Disk::default()).unwrap();
    assert_eq!(of_another, SweptAttempts { removed: 0, running: 0, others: 3 });
    let swept = sweep(&root.path().join("attempts"), "suite", &keep, &Disk::default()).unwrap();
    assert_eq!(swept, SweptAttempts { removed: 1, running: 1, others: 1 });
    assert!(!ended.dir.exists() && needed.dir.exists() && running.dir.exists() && elsewhere.dir.exists());
}
