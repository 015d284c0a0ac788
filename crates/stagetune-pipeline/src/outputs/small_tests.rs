//! What the pack promises: few files, nothing lost, nothing wrong, whatever happens in between.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::disk::Disk;

fn key(x: usize) -> StageKey {
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

fn open(dir: &Path) -> Cache {
    Cache::open(dir, Disk::default(), None).unwrap()
}

/// Makes an output with a file, a program, a link and an empty directory.
fn make(cache: &Cache, root: &Path, x: usize, bytes: usize) -> Result<Output, PublishError> {
    let Claim::Mine(permit) = cache.claim(&key(x))? else { panic!("{x} is there") };
    let out = root.join(format!("attempts/{x}/out"));
    let _ = fs::remove_dir_all(&out);
    fs::create_dir_all(out.join("sub/empty")).unwrap();
    let digits = x.to_string();
    let value = "0".repeat(bytes.saturating_sub(digits.len())) + &digits;
    fs::write(out.join("value"), value).unwrap();
    fs::write(out.join("sub/program"), "#!").unwrap();
    std::os::unix::fs::symlink("../value", out.join("sub/link")).unwrap();
    cache.publish(permit, &out, Run { cost: 1.0, ..Run::default() })
}

fn value(output: &Output) -> usize {
    let text = fs::read_to_string(output.dir.join("sub/link")).unwrap();
    text.parse().unwrap()
}

/// Everything below a directory.
fn count(dir: &Path) -> usize {
    let below = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap());
    below.map(|entry| 1 + if entry.file_type().unwrap().is_dir() { count(&entry.path()) } else { 0 }).sum()
}

#[test]
fn thousands_of_small_outputs_leave_few_files_and_are_all_there() {
    let dir = tempfile::tempdir().unwrap();
    let (state, cache) = (dir.path().join("state"), open(&dir.path().join("state")));
    for x in 0..1000 {
        make(&cache, dir.path(), x, 8).unwrap();
    }
    assert!(count(&state) < 700, "{} files and directories", count(&state));
    let cache = open(&state);
    let listed = cache.list().unwrap();
    assert_eq!(listed.len(), 1000);
    assert!(listed.iter().all(|listed| cache.verify(listed) == Verdict::Sound));
    for x in 0..1000 {
        assert!(cache.find(&key(x)).unwrap().is_some(), "{x}");
    }
    // Looking gave none its directory back; using does.
    let before = count(&state);
    assert!(before < 700, "{before}");
    for x in (0..1000).step_by(7) {
        assert_eq!(value(&cache.open(&key(x)).unwrap().unwrap()), x);
        assert!(matches!(cache.claim(&key(x)).unwrap(), Claim::Ready(_)));
    }
    assert_eq!(cache.list().unwrap().len(), 1000);
    let held = cache.open(&key(1)).unwrap().unwrap();
    assert_eq!(cache.shrink(0).unwrap().len(), 999, "the one in use stays");
    assert_eq!(value(&held), 1);
    assert_eq!(open(&state).list().unwrap().len(), 1);
}

#[test]
fn what_is_large_or_in_use_keeps_its_directory() {
    let dir = tempfile::tempdir().unwrap();
    let cache = open(dir.path());
    make(&cache, dir.path(), 1, 100_000).unwrap();
    let held = make(&cache, dir.path(), 2, 8).unwrap();
    make(&cache, dir.path(), 3, 8).unwrap();
    cache.pack_small(0).unwrap();
    let packed: Vec<bool> = (1..4).map(|x| !cache.dir(&key(x).id()).exists()).collect();
    assert_eq!((packed, value(&held)), (vec![false, false, true], 2));
    assert!(cache.recheck(&held).is_ok());
}

#[test]
fn a_damaged_row_is_noticed_and_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let cache = open(dir.path());
    for x in 0..3 {
        make(&cache, dir.path(), x, 8).unwrap();
    }
    cache.pack_small(0).unwrap();
    let raw = rusqlite::Connection::open(dir.path().join("cache/packed.db")).unwrap();
    let id = |x| key(x).id().to_string();
    raw.execute("UPDATE entry SET content = zeroblob(10) WHERE key = ?1", [id(0)]).unwrap();
    raw.execute("UPDATE entry SET entry = x'7b' WHERE key = ?1", [id(1)]).unwrap();
    let verdicts: Vec<Verdict> = cache.list().unwrap().iter().map(|listed| cache.verify(listed)).collect();
    assert_eq!(verdicts.iter().filter(|verdict| matches!(verdict, Verdict::Damaged(_))).count(), 2);
    for x in 0..2 {
        assert!(cache.open(&key(x)).unwrap().is_none() && cache.find(&key(x)).unwrap().is_none());
        let Claim::Mine(permit) = cache.claim(&key(x)).unwrap() else { panic!("{x}") };
        assert!(permit.damaged().is_some());
        drop(permit);
        assert_eq!(value(&make(&cache, dir.path(), x, 8).unwrap()), x);
    }
    assert_eq!(value(&cache.open(&key(2)).unwrap().unwrap()), 2);
    // One of a newer release is left alone.
    cache.pack_small(0).unwrap();
    let newer = br#"{"format": 99}"#;
    raw.execute("UPDATE entry SET entry = ?2 WHERE key = ?1", rusqlite::params![id(1), newer]).unwrap();
    assert!(matches!(cache.claim(&key(1)), Err(OutputError::Newer { format: 99, .. })));
    assert!(cache.shrink(0).is_ok_and(|evicted| evicted.len() == 2));
    assert_eq!(cache.list().unwrap().len(), 1);
}

#[test]
fn a_pack_that_cannot_be_used_is_left_alone_and_outputs_are_made_again() {
    for broken in [&b"no database at all, and long enough to be one"[..], b"short"] {
        let dir = tempfile::tempdir().unwrap();
        let cache = open(dir.path());
        make(&cache, dir.path(), 1, 8).unwrap();
        cache.pack_small(0).unwrap();
        drop(cache);
        let path = dir.path().join("cache/packed.db");
        fs::write(&path, broken).unwrap();
        let cache = open(dir.path());
        assert!(cache.open(&key(1)).unwrap().is_none());
        assert!(matches!(cache.unusable_pack().unwrap(), Some((_, Unusable::Damaged(_)))));
        assert_eq!(value(&make(&cache, dir.path(), 1, 8).unwrap()), 1);
        cache.pack_small(0).unwrap();
        assert_eq!(value(&cache.open(&key(1)).unwrap().unwrap()), 1);
        assert_eq!(fs::read(&path).unwrap(), broken);
        // Once it is taken away, there is a new one.
        cache.remove_damaged_pack().unwrap();
        cache.pack_small(0).unwrap();
        assert_eq!(cache.unusable_pack().unwrap(), None);
        assert!(!cache.dir(&key(1).id()).exists() && cache.find(&key(1)).unwrap().is_some());
    }
    let dir = tempfile::tempdir().unwrap();
    make(&open(dir.path()), dir.path(), 1, 8).unwrap();
    open(dir.path()).pack_small(0).unwrap();
    let path = dir.path().join("cache/packed.db");
    let raw = rusqlite::Connection::open(&path).unwrap();
    raw.pragma_update(None, "user_version", 7).unwrap();
    let cache = open(dir.path());
    assert!(cache.open(&key(1)).unwrap().is_none());
    cache.remove_damaged_pack().unwrap();
    assert_eq!(cache.unusable_pack().unwrap(), Some((path, Unusable::Newer(7))));
}

#[test]
fn a_write_that_fails_on_the_way_into_the_pack_or_out_of_it_loses_nothing() {
    for at in 1.. {
        let dir = tempfile::tempdir().unwrap();
        for x in 0..3 {
            make(&open(dir.path()), dir.path(), x, 8).unwrap();
        }
        let disk = Disk::failing_at(at, io::ErrorKind::StorageFull);
        let work = || -> Result<(), OutputError> {
            let cache = Cache::open(dir.path(), disk.clone(), None)?;
            cache.pack_small(0)?;
            for x in 0..3 {
                // Refused, or right.
                if let Some(output) = cache.open(&key(x))? {
                    assert_eq!(value(&output), x, "{at}");
                }
            }
            Ok(())
        };
        let outcome = work();
        let cache = open(dir.path());
        for x in 0..3 {
            assert_eq!(value(&cache.open(&key(x)).unwrap().unwrap()), x, "{at}");
        }
        cache.sweep().unwrap();
        assert_eq!(fs::read_dir(dir.path().join("tmp")).unwrap().count(), 0, "{at}");
        if !disk.has_failed() {
            outcome.unwrap();
            assert!(at > 10, "{at}");
            break;
        }
    }
}

#[test]
fn packing_and_using_at_the_same_time_gives_everybody_the_right_output() {
    let dir = tempfile::tempdir().unwrap();
    open(dir.path());
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let cache = open(dir.path());
                while !over.load(Ordering::SeqCst) {
                    cache.pack_small(0).unwrap();
                }
            });
        }
        let workers = [1, 2, 3].map(|worker| {
            let dir = dir.path();
            scope.spawn(move || {
                let cache = open(dir);
                for round in 0..200 {
                    let x = round * worker % 40;
                    loop {
                        match cache.claim(&key(x)).unwrap() {
                            Claim::Ready(output) => break assert_eq!(value(&output), x),
                            Claim::Busy => std::thread::yield_now(),
                            Claim::Mine(permit) => {
                                drop(permit);
                                let place = dir.join(format!("worker-{worker}"));
                                if let Claim::Mine(permit) = cache.claim(&key(x)).unwrap() {
                                    let out = place.join("out");
                                    fs::create_dir_all(out.join("sub")).unwrap();
                                    fs::write(out.join("value"), x.to_string()).unwrap();
                                    std::os::unix::fs::symlink("../value", out.join("sub/link")).unwrap();
                                    let run = Run { cost: 1.0, ..Run::default() };
                                    cache.publish(permit, &out, run).unwrap();
                                }
                            }
                        }
                    }
                }
            })
        });
        let ended = workers.map(|worker| worker.join());
        over.store(true, Ordering::SeqCst);
        ended.into_iter().for_each(|ended| ended.unwrap());
    });
    let cache = open(dir.path());
    assert!(cache.list().unwrap().iter().all(|listed| cache.verify(listed) == Verdict::Sound));
}
