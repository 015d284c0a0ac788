//! What every store of outputs promises, checked over all of them.

use super::*;
use crate::disk::Disk;
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A store with its directory, opened as often as a test wants.
type Open = fn(&Path, Disk) -> Result<Box<dyn Outputs>, OutputError>;

const STORES: [(&str, Open); 2] = [
    ("cache", |dir, disk| Ok(Box::new(Cache::open(dir, disk, None)?))),
    ("memory", |dir, disk| Ok(Box::new(Memory::new(&dir.join("kept"), disk)))),
];

fn each(check: impl Fn(&str, &dyn Outputs, &Path)) {
    for (name, open) in STORES {
        let dir = tempfile::tempdir().unwrap();
        let outputs = open(dir.path(), Disk::default()).unwrap();
        check(name, &*outputs, dir.path());
    }
}

fn key(x: impl ToString) -> StageKey {
    StageKey {
        format: KEY_FORMAT,
        stage: "a".into(),
        run: vec!["tool".into()],
        params: BTreeMap::from([("x".to_owned(), x.to_string())]),
        inputs: BTreeMap::new(),
        env: BTreeMap::new(),
        after: BTreeMap::new(),
    }
}

fn run() -> Run {
    Run { cost: 2.0, metrics: BTreeMap::from([("loss".to_owned(), 0.5)]), ..Run::default() }
}

/// The `out` of an attempt, with many files in it.
fn attempt(root: &Path, name: &str) -> PathBuf {
    let dir = root.join("attempts").join(name).join("out");
    fs::create_dir_all(dir.join("sub")).unwrap();
    for i in 0..20 {
        fs::write(dir.join(format!("sub/{i}")), name).unwrap();
    }
    dir
}

fn permit(outputs: &dyn Outputs, key: &StageKey) -> Permit {
    match outputs.claim(key).unwrap() {
        Claim::Mine(permit) => permit,
        other => panic!("{other:?}"),
    }
}

fn check_whole(output: &Output, text: &str) {
    for i in 0..20 {
        assert_eq!(fs::read_to_string(output.dir.join(format!("sub/{i}"))).unwrap(), text);
    }
}

#[test]
fn handles_can_go_to_other_threads() {
    fn check<T: Send + 'static>() {}
    check::<Permit>();
    check::<Output>();
    check::<std::sync::Arc<Output>>();
}

#[test]
fn what_was_published_is_found_with_all_that_is_known_of_it() {
    each(|name, outputs, root| {
        assert!(outputs.open(&key(1)).unwrap().is_none(), "{name}");
        let made = permit(outputs, &key(1));
        assert_eq!((made.key(), made.id()), (&key(1), &key(1).id()));
        let dir = attempt(root, "one");
        let made = outputs.publish(made, &dir, run()).unwrap();
        assert!(!dir.exists(), "{name}: it was moved, not copied");
        let found = outputs.open(&key(1)).unwrap().unwrap();
        assert_eq!((&found.entry, &found.dir), (&made.entry, &made.dir), "{name}");
        assert_eq!((found.entry.cost, found.entry.metrics["loss"]), (2.0, 0.5), "{name}");
        check_whole(&found, "one");
        assert!(matches!(outputs.claim(&key(1)).unwrap(), Claim::Ready(_)), "{name}");
        assert!(outputs.open(&key(2)).unwrap().is_none(), "{name}");
    });
}

#[test]
fn a_claimed_key_is_busy_until_its_permit_is_dropped() {
    each(|name, outputs, _| {
        let mine = permit(outputs, &key(1));
        assert!(matches!(outputs.claim(&key(1)).unwrap(), Claim::Busy), "{name}");
        assert!(outputs.open(&key(1)).unwrap().is_none(), "{name}");
        let _another = permit(outputs, &key(2));
        std::thread::spawn(move || drop(mine)).join().unwrap();
        permit(outputs, &key(1));
    });
}

#[test]
fn what_cannot_be_kept_is_the_stages_fault_and_stays_where_it_is() {
    each(|name, outputs, root| {
        let dir = attempt(root, "one");
        std::os::unix::fs::symlink(dir.join("sub"), dir.join("link")).unwrap();
        let refused = outputs.publish(permit(outputs, &key(1)), &dir, run());
        let Err(PublishError::Unfit(reason)) = refused else { panic!("{name}: {refused:?}") };
        assert!(reason.contains("make it relative"), "{name}: {reason}");
        let none = outputs.publish(permit(outputs, &key(1)), &root.join("none"), run());
        assert!(matches!(none, Err(PublishError::Unfit(_))), "{name}");
        fs::remove_file(dir.join("link")).unwrap();
        outputs.publish(permit(outputs, &key(1)), &dir, run()).unwrap();
    });
}

#[test]
fn an_output_depends_on_no_other_and_its_files_are_read_only() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    each(|name, outputs, root| {
        let above = outputs.publish(permit(outputs, &key(1)), &attempt(root, "one"), run()).unwrap();
        let data = root.join("data");
        fs::write(&data, "mine").unwrap();
        let dir = attempt(root, "two");
        symlink(above.dir.join("sub/3"), dir.join("file")).unwrap();
        symlink(&above.dir, dir.join("folder")).unwrap();
        symlink("sub/5", dir.join("within")).unwrap();
        symlink("/etc/hostname", dir.join("outside")).unwrap();
        fs::hard_link(above.dir.join("sub/4"), dir.join("hard")).unwrap();
        fs::hard_link(&data, dir.join("data")).unwrap();
        fs::create_dir(dir.join("shut")).unwrap();
        fs::write(dir.join("shut/program"), "#!").unwrap();
        fs::set_permissions(dir.join("shut/program"), fs::Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(dir.join("shut"), fs::Permissions::from_mode(0o555)).unwrap();
        let made = outputs.publish(permit(outputs, &key(2)), &dir, run()).unwrap();

        // The entry above is gone: nothing of this one is.
        fs::remove_dir_all(&above.dir).unwrap();
        let read = |path: &str| fs::read_to_string(made.dir.join(path)).unwrap();
        for path in ["file", "folder/sub/7", "hard"] {
            assert_eq!(read(path), "one", "{name}: {path}");
        }
        assert_eq!((read("within"), read("data")), ("two".into(), "mine".into()), "{name}");
        let about = |path: &str| fs::symlink_metadata(made.dir.join(path)).unwrap();
        assert!(about("within").is_symlink() && about("outside").is_symlink() && about("file").is_file());
        for path in ["file", "folder/sub/7", "hard", "data", "sub/3"] {
            assert_eq!((about(path).mode() & 0o222, about(path).nlink()), (0, 1), "{name}: {path}");
        }
        assert_eq!(about("shut/program").mode() & 0o777, 0o555, "{name}");
        assert_eq!(
            fs::metadata(&data).unwrap().mode() & 0o200,
            0o200,
            "{name}: the user's file is as it was"
        );
        fs::remove_dir_all(&made.dir).unwrap();
    });
}

#[test]
fn links_to_what_goes_away_are_refused_with_their_names() {
    use std::os::unix::fs::symlink;
    each(|name, outputs, root| {
        let keep = outputs.publish(permit(outputs, &key(1)), &attempt(root, "one"), run()).unwrap();
        let gone = keep.dir.join("never was");
        let dir = attempt(root, "two");
        let back = format!("../{}/sub", dir.file_name().unwrap().to_string_lossy());
        for to in [&*gone, Path::new(&back)] {
            symlink(to, dir.join("link")).unwrap();
            let refused = outputs.publish(permit(outputs, &key(2)), &dir, run());
            let Err(PublishError::Unfit(reason)) = refused else { panic!("{name}: {refused:?}") };
            assert!(reason.contains("`link`"), "{name}: {reason}");
            fs::remove_file(dir.join("link")).unwrap();
        }
        outputs.publish(permit(outputs, &key(2)), &dir, run()).unwrap();
    });
}

#[test]
fn of_many_threads_one_makes_an_output_and_nobody_sees_half_of_it() {
    each(|name, outputs, root| {
        let made = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for worker in 0..6 {
                let made = &made;
                scope.spawn(move || {
                    for round in 0..20 {
                        let text = format!("{round}");
                        loop {
                            match outputs.claim(&key(round)).unwrap() {
                                Claim::Ready(output) => break check_whole(&output, &text),
                                Claim::Busy => std::thread::yield_now(),
                                Claim::Mine(permit) => {
                                    made.fetch_add(1, Ordering::SeqCst);
                                    let place = root.join(format!("worker-{worker}"));
                                    let dir = attempt(&place, &text);
                                    outputs.publish(permit, &dir, run()).unwrap();
                                }
                            }
                        }
                    }
                });
            }
        });
        assert_eq!(made.load(Ordering::SeqCst), 20, "{name}");
    });
}

#[test]
fn a_write_that_fails_loses_no_output() {
    for (name, open) in STORES {
        for at in 1.. {
            let root = tempfile::tempdir().unwrap();
            let dir = attempt(root.path(), "one");
            let disk = Disk::failing_at(at, io::ErrorKind::StorageFull);
            let first = open(root.path(), disk.clone()).and_then(|outputs| {
                let claim = outputs.claim(&key(1))?;
                Ok((outputs, claim))
            });
            let outcome = first.map_err(PublishError::World).and_then(|(outputs, claim)| match claim {
                Claim::Mine(permit) => outputs.publish(permit, &dir, run()),
                other => panic!("{other:?}"),
            });
            if !disk.has_failed() {
                outcome.unwrap();
                assert!(at > 2, "{name}: {at}");
                break;
            }
            if let Err(error) = outcome {
                assert!(matches!(error, PublishError::World(_)), "{name} {at}: {error}");
                let outputs = open(root.path(), Disk::default()).unwrap();
                // A process that another test is starting just now has a part in the lock for a moment.
                let timer = std::time::Instant::now();
                let output = loop {
                    match outputs.claim(&key(1)).unwrap() {
                        Claim::Ready(output) => break output,
                        Claim::Mine(permit) => break outputs.publish(permit, &dir, run()).unwrap(),
                        Claim::Busy => {
                            assert!(timer.elapsed().as_secs() < 20, "{name} {at}: nobody is at work")
                        }
                    }
                };
                check_whole(&output, "one");
            }
        }
    }
}

/// Not a test by itself: the processes of the test below.
#[test]
fn one_of_several_processes() {
    let Some(root) = std::env::var_os("STAGETUNE_TEST_OUTPUTS") else { return };
    let root = PathBuf::from(root);
    let cache = Cache::open(&root, Disk::default(), None).unwrap();
    for round in 0..30 {
        let text = format!("{round}");
        loop {
            match cache.claim(&key(round)).unwrap() {
                Claim::Ready(output) => break check_whole(&output, &text),
                Claim::Busy => std::thread::yield_now(),
                Claim::Mine(permit) => {
                    let dir = attempt(&root.join(std::process::id().to_string()), &text);
                    cache.publish(permit, &dir, run()).unwrap();
                }
            }
        }
    }
}

#[test]
fn of_many_processes_one_makes_an_output() {
    let root = tempfile::tempdir().unwrap();
    let me = std::env::current_exe().unwrap();
    let start = |_| {
        std::process::Command::new(&me)
            .args(["--exact", "outputs::conformance::one_of_several_processes"])
            .env("STAGETUNE_TEST_OUTPUTS", root.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap()
    };
    let children: Vec<_> = (0..4).map(start).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    // Whoever made an output has left the directory of its attempt.
    let attempts = |entry: fs::DirEntry| fs::read_dir(entry.path().join("attempts")).map_or(0, |d| d.count());
    let made: usize = fs::read_dir(root.path()).unwrap().map(|entry| attempts(entry.unwrap())).sum();
    assert_eq!(made, 30);
    assert_eq!(fs::read_dir(root.path().join("tmp")).unwrap().count(), 0);
}
