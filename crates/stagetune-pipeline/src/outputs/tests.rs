//! What the cache promises: outputs appear whole, are checked, made once, and kept by worth.

use super::staging::{Staged, Staging};
use super::*;
use crate::disk::Disk;
use crate::stop::Stop;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

fn key(stage: &str, x: &str) -> StageKey {
    StageKey {
        format: KEY_FORMAT,
        stage: stage.into(),
        run: vec!["tool".into()],
        params: BTreeMap::from([("x".to_owned(), x.to_owned())]),
        inputs: BTreeMap::new(),
        env: BTreeMap::new(),
        after: BTreeMap::new(),
    }
}

/// What a stage does to its output, and what is said of it.
type Spoilt = (fn(&Path), &'static str);

fn open(dir: &Path) -> Cache {
    Cache::open(dir, Disk::default(), None).unwrap()
}

/// A run of that cost, for nobody.
fn run(cost: f64) -> Run {
    Run { cost, seconds: cost, attempts: 1, ended: 1.0, ..Run::default() }
}

fn keep(staging: Box<Staging<'_>>, cost: f64) -> Result<Output, OutputError> {
    let files = staging.manifest().unwrap();
    staging.commit(files, run(cost))
}

fn make(cache: &Cache, key: &StageKey, text: &str, cost: f64) -> Output {
    match cache.stage(key, &Stop::new()).unwrap() {
        Staged::Ready(hit) => hit,
        Staged::Stopped => panic!("nobody stopped"),
        Staged::Mine(staging) => {
            fs::create_dir(staging.out().join("sub")).unwrap();
            fs::write(staging.out().join("sub/file"), text).unwrap();
            fs::create_dir(staging.out().join("empty")).unwrap();
            std::os::unix::fs::symlink("sub/file", staging.out().join("link")).unwrap();
            keep(staging, cost).unwrap()
        }
    }
}

#[test]
fn an_output_is_there_as_a_whole_and_comes_back_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let cache = open(dir.path());
    assert!(cache.find(&key("a", "1")).unwrap().is_none());
    let made = make(&cache, &key("a", "1"), "text", 2.0);
    let found = open(dir.path()).find(&key("a", "1")).unwrap().unwrap();
    assert_eq!((found.dir.clone(), &*found.entry), (made.dir, &*made.entry));
    assert_eq!(fs::read_to_string(found.dir.join("link")).unwrap(), "text");
    assert_eq!(found.entry.files.len(), 3);
    assert!(cache.find(&key("a", "2")).unwrap().is_none());
    assert_eq!(fs::read_dir(dir.path().join("tmp")).unwrap().count(), 0);
    assert_eq!(fs::read_dir(dir.path().join("locks")).unwrap().count(), 0);
}

#[test]
fn a_stage_that_gives_up_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let cache = open(dir.path());
    let Staged::Mine(staging) = cache.stage(&key("a", "1"), &Stop::new()).unwrap() else { panic!("a hit") };
    fs::write(staging.out().join("half"), "half").unwrap();
    staging.again().unwrap();
    assert_eq!(fs::read_dir(staging.out()).unwrap().count(), 0);
    drop(staging);
    for folder in ["tmp", "locks", "cache"] {
        assert_eq!(fs::read_dir(dir.path().join(folder)).unwrap().count(), 0, "{folder}");
    }
}

#[test]
fn every_kind_of_damage_is_found_and_mended_by_making_the_output_again() {
    let pipe = |path: &Path| {
        fs::remove_file(path).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    let damages: [&dyn Fn(&Path); 12] = [
        &|entry| {
            let rights = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            fs::set_permissions(entry.join("out/sub/file"), rights).unwrap();
        },
        &|entry| fs::write(entry.join("out/sub/file"), "tex!").unwrap(),
        &|entry| fs::write(entry.join("out/sub/file"), "").unwrap(),
        &|entry| fs::remove_file(entry.join("out/sub/file")).unwrap(),
        &|entry| fs::write(entry.join("out/more"), "").unwrap(),
        &|entry| fs::remove_dir(entry.join("out/empty")).unwrap(),
        &|entry| fs::write(entry.join("entry.json"), "").unwrap(),
        &|entry| fs::remove_file(entry.join("entry.json")).unwrap(),
        &|entry| fs::remove_dir_all(entry.join("out")).unwrap(),
        &|entry| pipe(&entry.join("out/sub/file")),
        &|entry| pipe(&entry.join("entry.json")),
        &|entry| {
            fs::remove_file(entry.join("entry.json")).unwrap();
            fs::create_dir(entry.join("entry.json")).unwrap();
        },
    ];
    for (i, damage) in damages.iter().enumerate() {
        let dir = tempfile::tempdir().unwrap();
        let cache = open(dir.path());
        let id = key("a", "1").id();
        drop(make(&cache, &key("a", "1"), "text", 2.0));
        damage(&cache.dir(&id));
        // The process that made it notices as well as another one.
        for cache in [&cache, &open(dir.path())] {
            assert!(cache.find(&key("a", "1")).unwrap().is_none(), "{i}");
        }
        let listed = cache.list().unwrap();
        assert!(matches!(cache.verify(&listed[0]), Verdict::Damaged(_)), "{i}");
        let Staged::Mine(staging) = cache.stage(&key("a", "1"), &Stop::new()).unwrap() else { panic!("{i}") };
        assert!(staging.damaged.is_some(), "{i}");
        drop(staging);
        drop(make(&cache, &key("a", "1"), "text", 2.0));
        assert_eq!(cache.verify(&cache.list().unwrap()[0]), Verdict::Sound, "{i}");
    }
}

#[test]
fn an_entry_under_the_name_of_another_is_not_believed() {
    let dir = tempfile::tempdir().unwrap();
    let cache = open(dir.path());
    drop(make(&cache, &key("a", "1"), "text", 2.0));
    fs::rename(cache.dir(&key("a", "1").id()), cache.dir(&key("a", "2").id())).unwrap();
    assert!(cache.find(&key("a", "2")).unwrap().is_none());
    assert!(matches!(cache.verify(&cache.list().unwrap()[0]), Verdict::Damaged(_)));
}

#[test]
fn of_many_who_want_an_output_one_makes_it() {
    let dir = tempfile::tempdir().unwrap();
    let (made, shared) = (AtomicUsize::new(0), open(dir.path()));
    std::thread::scope(|scope| {
        for worker in 0..8 {
            let (dir, made, shared) = (dir.path(), &made, &shared);
            // Half of them share a cache, as threads do; the others have their own, as processes do.
            scope.spawn(move || {
                let own = open(dir);
                let cache = if worker % 2 == 0 { shared } else { &own };
                for round in 0..25 {
                    let wanted = key("a", &((round + worker / 4) % 25).to_string());
                    if let Staged::Mine(staging) = cache.stage(&wanted, &Stop::new()).unwrap() {
                        made.fetch_add(1, Ordering::SeqCst);
                        std::thread::sleep(std::time::Duration::from_millis(2));
                        keep(staging, 1.0).unwrap();
                    }
                }
            });
        }
    });
    assert_eq!(made.load(Ordering::SeqCst), 25);
}

#[test]
fn what_is_cheap_to_recompute_per_byte_goes_first_and_what_is_in_use_stays() {
    let dir = tempfile::tempdir().unwrap();
    let cache = open(dir.path());
    drop(make(&cache, &key("dear", "1"), &"x".repeat(10_000), 100.0));
    drop(make(&cache, &key("cheap", "1"), &"x".repeat(10_000), 1.0));
    drop(make(&cache, &key("small", "1"), "x", 10.0));
    let in_use = make(&cache, &key("used", "1"), &"x".repeat(10_000), 0.1);
    assert_eq!(cache.would_evict(25_000).unwrap()[0].stage, "used");
    let stages: Vec<String> = cache.shrink(25_000).unwrap().into_iter().map(|one| one.stage).collect();
    assert_eq!(stages, ["cheap"]);
    drop(in_use);
    let stages: Vec<String> = cache.shrink(0).unwrap().into_iter().map(|one| one.stage).collect();
    assert_eq!(stages, ["used", "dear", "small"]);
    assert!(cache.list().unwrap().is_empty());
}

#[test]
fn a_limit_is_kept_while_outputs_are_made() {
    let dir = tempfile::tempdir().unwrap();
    let cache = Cache::open(dir.path(), Disk::default(), Some(35_000)).unwrap();
    for i in 0..20 {
        drop(make(&cache, &key("a", &i.to_string()), &"x".repeat(10_000), f64::from(i)));
        assert!(cache.list().unwrap().iter().map(|listed| listed.bytes).sum::<u64>() <= 35_000);
    }
    let left: Vec<f64> = cache.list().unwrap().iter().map(|l| l.entry.as_ref().unwrap().cost).collect();
    assert!((2..=3).contains(&left.len()) && left.iter().all(|cost| *cost >= 17.0), "{left:?}");
}

#[test]
fn many_who_make_outputs_under_a_limit_do_not_get_into_each_others_way() {
    let dir = tempfile::tempdir().unwrap();
    let open = || Cache::open(dir.path(), Disk::default(), Some(20_000)).unwrap();
    let (shared, own) = (open(), open());
    std::thread::scope(|scope| {
        for worker in 0..6 {
            let cache = if worker % 2 == 0 { &shared } else { &own };
            scope.spawn(move || {
                for i in 0..30 {
                    let hit = make(cache, &key("a", &(i % 10 + worker).to_string()), &"x".repeat(5000), 1.0);
                    // Whatever others evict, what is held stays readable.
                    std::thread::sleep(std::time::Duration::from_millis(1));
                    assert_eq!(fs::read_to_string(hit.dir.join("sub/file")).unwrap().len(), 5000);
                }
            });
        }
    });
}

#[test]
fn a_damaged_output_that_is_still_read_is_made_again_when_it_is_free() {
    let dir = tempfile::tempdir().unwrap();
    let cache = open(dir.path());
    let reader = make(&cache, &key("a", "1"), "text", 1.0);
    fs::write(reader.dir.join("more"), "").unwrap();
    std::thread::scope(|scope| {
        let making = scope.spawn(|| drop(make(&cache, &key("a", "1"), "text", 1.0)));
        std::thread::sleep(std::time::Duration::from_millis(50));
        assert!(!making.is_finished() && reader.dir.exists());
        drop(reader);
        making.join().unwrap();
    });
    assert_eq!(cache.verify(&cache.list().unwrap()[0]), Verdict::Sound);
}

#[test]
fn outputs_that_cannot_be_kept_are_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let cache = open(dir.path());
    let cases: [Spoilt; 4] = [
        (|out| fs::remove_dir(out).unwrap(), "No such file"),
        (|out| std::os::unix::fs::symlink(out.join("a"), out.join("b")).unwrap(), "make it relative"),
        (|out| drop(std::os::unix::net::UnixListener::bind(out.join("s")).unwrap()), "neither a file"),
        (
            |out| {
                fs::remove_dir(out).unwrap();
                fs::write(out, "").unwrap();
            },
            "not a directory any more",
        ),
    ];
    for (i, (spoil, expected)) in cases.iter().enumerate() {
        let Staged::Mine(staging) = cache.stage(&key("a", &i.to_string()), &Stop::new()).unwrap() else {
            panic!("a hit")
        };
        spoil(&staging.out());
        let problem = staging.manifest().unwrap_err();
        assert!(problem.contains(expected), "{i}: {problem}");
    }
}

#[test]
fn what_killed_processes_left_is_swept_but_not_what_is_at_work() {
    let dir = tempfile::tempdir().unwrap();
    let cache = open(dir.path());
    let dead = key("a", "dead").id();
    let (here, there) = (crate::host::file_name(), crate::host::file_name_of("elsewhere"));
    fs::create_dir_all(dir.path().join(format!("tmp/{dead}.{here}.1-1/out"))).unwrap();
    let others =
        [format!("tmp/{dead}.{there}.1-1"), "tmp/whose".to_owned()].map(|name| dir.path().join(name));
    others.iter().for_each(|path| fs::create_dir_all(path.join("out")).unwrap());
    fs::write(dir.path().join(format!("locks/{dead}")), "").unwrap();
    let Staged::Mine(alive) = cache.stage(&key("a", "alive"), &Stop::new()).unwrap() else { panic!("a hit") };
    assert_eq!(open(dir.path()).sweep().unwrap(), Swept { removed: 1, finished: 0, others: 2 });
    assert!(alive.out().exists());
    drop(alive);
    // Not even whoever claims that very key touches what another host has at work.
    drop(cache.stage(&key("a", "dead"), &Stop::new()).unwrap());
    assert!(others.iter().all(|path| path.exists()));
    assert_eq!(fs::read_dir(dir.path().join("tmp")).unwrap().count(), 2);
}

#[test]
fn a_write_that_fails_leaves_no_entry_or_a_whole_one() {
    for at in 1.. {
        let dir = tempfile::tempdir().unwrap();
        let disk = Disk::failing_at(at, io::ErrorKind::StorageFull);
        let outcome = (|| -> Result<(), OutputError> {
            let cache = Cache::open(dir.path(), disk.clone(), Some(10))?;
            for x in ["1", "2", "3"] {
                if let Staged::Mine(staging) = cache.stage(&key("a", x), &Stop::new())? {
                    fs::write(staging.out().join("file"), "01234567").unwrap();
                    keep(staging, 1.0)?;
                }
            }
            Ok(())
        })();
        let cache = open(dir.path());
        cache.sweep().unwrap();
        for listed in cache.list().unwrap() {
            assert_eq!(cache.verify(&listed), Verdict::Sound, "after write {at}");
        }
        if !disk.has_failed() {
            outcome.unwrap();
            assert!(at > 10, "{at}");
            return;
        }
    }
}

#[test]
fn why_says_what_differs_from_the_nearest_entry() {
    let dir = tempfile::tempdir().unwrap();
    let cache = open(dir.path());
    assert_eq!(cache.nearest(&key("a", "1")).unwrap(), None);
    drop(make(&cache, &key("b", "1"), "", 1.0));
    assert_eq!(cache.nearest(&key("a", "1")).unwrap(), None);
    drop(make(&cache, &key("a", "2"), "", 1.0));
    let mut far = key("a", "3");
    far.run.push("-v".into());
    drop(make(&cache, &far, "", 1.0));
    let nearest = cache.nearest(&key("a", "1")).unwrap().unwrap();
    assert_eq!(nearest.id, key("a", "2").id());
    let difference =
        Difference { what: "parameter `x`".into(), wanted: Some("1".into()), cached: Some("2".into()) };
    assert_eq!(nearest.differences, [difference]);
}

#[test]
fn an_output_that_a_killed_process_had_all_but_published_is_not_made_again() {
    for by_sweep in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let cache = open(dir.path());
        let id = key("a", "1").id();
        drop(make(&cache, &key("a", "1"), "text", 2.0));
        // As if it had been killed before the last step.
        fs::rename(cache.dir(&id), cache.temporary_name(&id, "")).unwrap();
        let cache = open(dir.path());
        if by_sweep {
            assert_eq!(cache.sweep().unwrap(), Swept { removed: 0, finished: 1, others: 0 });
            assert!(cache.find(&key("a", "1")).unwrap().is_some());
        }
        let Staged::Ready(found) = cache.stage(&key("a", "1"), &Stop::new()).unwrap() else {
            panic!("again")
        };
        assert_eq!(fs::read_to_string(found.dir.join("sub/file")).unwrap(), "text");
    }
}

#[test]
fn a_directory_that_a_process_of_the_same_number_left_is_not_taken_as_a_fresh_one() {
    let dir = tempfile::tempdir().unwrap();
    let id = key("a", "1").id();
    let left = open(dir.path()).temporary_name(&id, "");
    fs::create_dir_all(left.join("out/stale")).unwrap();
    let fresh = open(dir.path()).new_temporary(&id).unwrap();
    assert_ne!(fresh, left);
    assert_eq!(fs::read_dir(fresh).unwrap().count(), 0);
    // Nor is it in the way of an entry that is removed.
    drop(make(&open(dir.path()), &key("a", "2"), "text", 1.0));
    let id = key("a", "2").id();
    fs::create_dir_all(open(dir.path()).temporary_name(&id, ".gone").join("stale")).unwrap();
    assert!(open(dir.path()).remove(&id).unwrap());
    assert!(open(dir.path()).list().unwrap().is_empty());
}

#[test]
fn entries_of_newer_releases_are_neither_used_nor_removed() {
    let dir = tempfile::tempdir().unwrap();
    let cache = open(dir.path());
    drop(make(&cache, &key("a", "1"), "text", 2.0));
    let path = cache.dir(&key("a", "1").id()).join("entry.json");
    fs::write(&path, r#"{"format": 99, "whatever": true}"#).unwrap();
    assert!(cache.open(&key("a", "1")).unwrap().is_none());
    assert!(matches!(cache.claim(&key("a", "1")), Err(OutputError::Newer { format: 99, .. })));
    assert_eq!(cache.verify(&cache.list().unwrap()[0]), Verdict::Newer(99));
    assert!(cache.shrink(0).unwrap().is_empty());
    assert!(path.exists());
}

#[test]
fn entries_of_every_format_are_read() {
    let first = r#"{"format":1,"key":{"format":1,"stage":"a","run":["tool"],"params":{"x":"1"},"inputs":{},
        "env":{"LANG":null},"after":{}},"files":[{"path":"f","kind":"file","bytes":4,"blake3":"00"},
        {"path":"d","kind":"empty-dir"},{"path":"l","kind":"link","to":"f"}],"cost":2.0,"seconds":3.0,
        "attempts":1,"began":4.0,"ended":5.0,"maker":{"study":"s","trial":7}}"#;
    let entry = entry::read(first.as_bytes()).unwrap();
    assert_eq!((entry.cost, entry.files.len(), entry.maker.trial), (2.0, 3, 7));
    assert!(entry.metrics.is_empty());
    let second = first.replacen(r#""format":1"#, r#""format":2"#, 1);
    let second = second.replace(r#""maker""#, r#""metrics":{"loss":0.5},"maker""#);
    let entry = entry::read(second.as_bytes()).unwrap();
    assert_eq!((entry.format, entry.metrics["loss"]), (2, 0.5));
}

#[test]
fn a_link_into_another_entry_which_older_releases_kept_is_damage() {
    let dir = tempfile::tempdir().unwrap();
    let cache = open(dir.path());
    let above = make(&cache, &key("a", "1"), "text", 2.0);
    let Staged::Mine(staging) = cache.stage(&key("b", "1"), &Stop::new()).unwrap() else { panic!() };
    std::os::unix::fs::symlink(above.dir.join("sub/file"), staging.out().join("link")).unwrap();
    drop(keep(staging, 1.0).unwrap());
    for is_there in [true, false] {
        let listed = cache.list().unwrap().into_iter().find(|listed| listed.id == key("b", "1").id());
        let Verdict::Damaged(problem) = cache.verify(&listed.unwrap()) else { panic!("{is_there}") };
        assert!(problem.contains("the link `link` leads to"), "{problem}");
        let _ = fs::remove_dir_all(&above.dir);
    }
}

#[test]
fn a_cache_on_another_disk_is_refused_with_what_to_do() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir_in("/dev/shm"));
    let device = |path: &Path| std::os::unix::fs::MetadataExt::dev(&fs::metadata(path).unwrap());
    let Some(other) = other.ok().filter(|other| device(other.path()) != device(dir.path())) else {
        println!("there is no second disk here: nothing was tried");
        return;
    };
    std::os::unix::fs::symlink(other.path(), dir.path().join("cache")).unwrap();
    let error = Cache::open(dir.path(), Disk::default(), None).unwrap_err();
    assert!(matches!(error, OutputError::OtherDisk { .. }) && error.to_string().contains("on one disk"));
}
