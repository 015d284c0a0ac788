//! What all records must do, wherever they are kept.

use super::*;
use crate::disk::Disk;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Barrier;

fn dir(root: &Path) -> Dir {
    Dir::at(root, Survives::KilledProcess, Disk::default())
}

/// The conformance suite, on records of which there are none.
fn behave(records: &dyn Records) {
    keep_what_they_were_given(records);
    refuse_names_that_are_none(records);
    hold_no_record_and_folder_of_one_name(records);
    let one_winner = |round: usize| one_of_eight_threads_creates(records, &format!("race/{round}"));
    (0..200).for_each(one_winner);
    a_reader_never_sees_half_a_record(records);
}

fn keep_what_they_were_given(records: &dyn Records) {
    assert_eq!(records.list("").unwrap(), [""; 0]);
    assert_eq!(records.get("attempts/abc/ended").unwrap(), None);
    assert_eq!(records.create("attempts/abc/ended", b"1").unwrap(), Created::Created);
    assert_eq!(records.create("attempts/abc/ended", b"2").unwrap(), Created::Exists);
    assert_eq!(records.get("attempts/abc/ended").unwrap().unwrap(), b"1");
    records.replace("attempts/abc/ended", b"3").unwrap();
    assert_eq!(records.get("attempts/abc/ended").unwrap().unwrap(), b"3");
    records.replace("attempts/abd", b"").unwrap();
    assert_eq!(records.get("attempts/abd").unwrap().unwrap(), b"");
    assert_eq!(records.create("beat", &[0, 255, 10]).unwrap(), Created::Created);
    assert_eq!(records.get("beat").unwrap().unwrap(), [0, 255, 10]);

    assert_eq!(records.list("").unwrap(), ["attempts/abc/ended", "attempts/abd", "beat"]);
    for prefix in ["a", "attempts", "attempts/", "attempts/ab"] {
        assert_eq!(records.list(prefix).unwrap(), ["attempts/abc/ended", "attempts/abd"], "{prefix}");
    }
    for prefix in ["attempts/abc", "attempts/abc/", "attempts/abc/ended"] {
        assert_eq!(records.list(prefix).unwrap(), ["attempts/abc/ended"], "{prefix}");
    }
    assert_eq!(records.list("c").unwrap(), [""; 0]);
    assert_eq!(records.list("beat/").unwrap(), [""; 0]);

    records.remove("attempts/abc/ended").unwrap();
    records.remove("attempts/abc/ended").unwrap();
    records.remove("never/there").unwrap();
    records.remove("beat/below").unwrap();
    assert_eq!(records.get("attempts/abc/ended").unwrap(), None);
    assert_eq!(records.list("").unwrap(), ["attempts/abd", "beat"]);
    assert_eq!(records.create("attempts/abc/ended", b"4").unwrap(), Created::Created);
}

fn refuse_names_that_are_none(records: &dyn Records) {
    let before = records.list("").unwrap();
    let long = "x".repeat(201);
    for name in ["", "/", "/etc", "a/", "a//b", "..", "a/../b", "./a", ".hidden", "a b", "é", "a\0", &long] {
        let outcomes = [
            records.create(name, b"").map(|_| ()),
            records.get(name).map(|_| ()),
            records.replace(name, b""),
            records.remove(name),
        ];
        for outcome in outcomes {
            assert!(matches!(outcome, Err(RecordsError::Name { .. })), "{name:?}");
        }
    }
    for prefix in ["/", "../", "..", "a//", "a b"] {
        assert!(matches!(records.list(prefix), Err(RecordsError::Name { .. })), "{prefix:?}");
    }
    assert_eq!(records.list("").unwrap(), before);
}

fn hold_no_record_and_folder_of_one_name(records: &dyn Records) {
    for name in ["beat/below", "beat/far/below", "attempts", "attempts/abc"] {
        assert!(matches!(records.create(name, b""), Err(RecordsError::Folder { .. })), "{name}");
        assert!(matches!(records.replace(name, b""), Err(RecordsError::Folder { .. })), "{name}");
        assert_eq!(records.get(name).unwrap(), None, "{name}");
        records.remove(name).unwrap();
    }
    assert_eq!(records.list("").unwrap(), ["attempts/abc/ended", "attempts/abd", "beat"]);
}

fn one_of_eight_threads_creates(records: &dyn Records, name: &str) {
    const THREADS: u8 = 8;
    let barrier = Barrier::new(usize::from(THREADS));
    let winners: Vec<u8> = std::thread::scope(|scope| {
        let race = |thread: u8| {
            let barrier = &barrier;
            scope.spawn(move || {
                barrier.wait();
                records.create(name, &[thread; 100]).unwrap() == Created::Created
            })
        };
        let racers: Vec<_> = (0..THREADS).map(race).collect();
        let won = racers.into_iter().map(|racer| racer.join().unwrap());
        won.zip(0..).filter_map(|(won, thread)| won.then_some(thread)).collect()
    });
    let [winner] = winners[..] else { panic!("{name}: {winners:?} won") };
    assert_eq!(records.get(name).unwrap().unwrap(), [winner; 100]);
}

fn a_reader_never_sees_half_a_record(records: &dyn Records) {
    let contents = [vec![b'a'; 10], vec![b'b'; 100_000]];
    records.replace("turns", &contents[0]).unwrap();
    std::thread::scope(|scope| {
        let read = || {
            let mut seen = [0, 0];
            while seen.iter().any(|times| *times < 50) {
                let read = records.get("turns").unwrap().unwrap();
                let which = contents.iter().position(|content| *content == read);
                seen[which.unwrap_or_else(|| panic!("{} bytes", read.len()))] += 1;
            }
        };
        let readers = [scope.spawn(read), scope.spawn(read)];
        for turn in 0.. {
            records.replace("turns", &contents[turn % 2]).unwrap();
            if readers.iter().all(|reader| reader.is_finished()) {
                break;
            }
        }
    });
}

#[test]
fn records_behave_in_memory() {
    behave(&Memory::default());
}

#[test]
fn records_behave_in_a_directory() {
    let root = tempfile::tempdir().unwrap();
    behave(&dir(&root.path().join("made/when/needed")));
    let beside = root.path().join("made/when/needed/.new");
    assert_eq!(fs::read_dir(beside).unwrap().count(), 0, "nothing is left beside");
}

#[test]
fn records_behave_in_a_directory_where_they_survive_a_power_cut() {
    let root = tempfile::tempdir().unwrap();
    keep_what_they_were_given(&Dir::at(root.path(), Survives::PowerCut, Disk::default()));
}

#[test]
fn whichever_write_fails_a_record_is_the_old_one_or_the_new_one() {
    for survives in [Survives::KilledProcess, Survives::PowerCut] {
        for (old, name) in [(None, "a/b"), (Some(b"old".to_vec()), "a/b"), (Some(b"old".to_vec()), "c")] {
            for work in ["create", "replace", "remove"] {
                let failures = failures(survives, old.as_deref(), name, work);
                assert!(failures >= 1, "{work} {name}: {failures}");
            }
        }
    }
}

/// Lets every write of some work fail, one at a time, and returns how many there were.
fn failures(survives: Survives, old: Option<&[u8]>, name: &str, work: &str) -> u64 {
    for at in 1.. {
        let root = tempfile::tempdir().unwrap();
        let sound = dir(root.path());
        if let Some(old) = old {
            sound.replace(name, old).unwrap();
        }
        let disk = Disk::failing_at(at, ErrorKind::StorageFull);
        let faulty = Dir::at(root.path(), survives, disk.clone());
        let new = if work == "remove" { None } else { Some(&b"new"[..]) };
        let outcome = match work {
            "create" => faulty.create(name, b"new").map(|created| created == Created::Created),
            "replace" => faulty.replace(name, b"new").map(|()| true),
            _ => faulty.remove(name).map(|()| true),
        };
        let now = sound.get(name).unwrap();
        assert!(now.as_deref() == old || now.as_deref() == new, "{work} {name}, write {at}: {now:?}");
        assert!(sound.list("").unwrap().iter().all(|listed| listed == name));
        match outcome {
            Ok(true) => assert_eq!(now.as_deref(), new),
            Ok(false) => assert_eq!(now.as_deref(), old),
            Err(error) => assert!(error.to_string().contains("free some space"), "{error}"),
        }
        // Whatever failed, there is room for another try.
        sound.replace(name, b"again").unwrap();
        assert_eq!(sound.get(name).unwrap().unwrap(), b"again");
        if !disk.has_failed() {
            return at - 1;
        }
    }
    0
}
