//! Several processes at one log and at one directory of records: exactly one of them wins, and nobody reads
//! nonsense.
//!
//! The processes are this test program, started again for the same test: in them it plays the other part.

// Clippy lets tests unwrap and panic but not the helpers beside them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use stagetune::study::Event;
use stagetune_pipeline::disk::Disk;
use stagetune_pipeline::log::{Log, LogError, Sqlite, Stamped, Tail};
use stagetune_pipeline::records::{Created, Dir, Records, Survives};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

const PLACE: &str = "STAGETUNE_TEST_PLACE";
const NUMBER: &str = "STAGETUNE_TEST_NUMBER";
const PROCESSES: usize = 4;

/// A test of this file in a process of its own, where it plays the other part.
fn start(test: &str, place: &Path, number: usize) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]);
    command.env(PLACE, place).env(NUMBER, number.to_string()).stdout(Stdio::null());
    command.spawn().unwrap()
}

fn start_all(test: &str, place: &Path) {
    let children: Vec<Child> = (0..PROCESSES).map(|number| start(test, place, number)).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
}

/// Where, and the number of this process, if a test started it.
fn other_part() -> Option<(PathBuf, usize)> {
    let place = std::env::var_os(PLACE)?;
    Some((place.into(), std::env::var(NUMBER).unwrap().parse().unwrap()))
}

fn records(place: &Path) -> Dir {
    Dir::at(&place.join("records"), Survives::KilledProcess, Disk::default())
}

fn log(place: &Path) -> Sqlite {
    Sqlite::open(&place.join("journal.db"), "study", Disk::default()).unwrap()
}

fn closed(at: usize) -> Stamped {
    Stamped { at: at as f64, record: Event::Paused { reason: "x".repeat(at % 3000) }.into() }
}

/// Waits until every process has come to this round.
fn meet(records: &Dir, round: usize, number: usize) {
    let folder = format!("ready/{round}/");
    assert_eq!(records.create(&format!("{folder}{number}"), b"").unwrap(), Created::Created);
    while records.list(&folder).unwrap().len() < PROCESSES {
        std::thread::yield_now();
    }
}

#[test]
fn of_several_processes_one_creates_a_record_in_200_of_200() {
    if let Some((place, number)) = other_part() {
        return creating_records(&place, number);
    }
    let place = tempfile::tempdir().unwrap();
    start_all("of_several_processes_one_creates_a_record_in_200_of_200", place.path());
    let records = records(place.path());
    for round in 0..200 {
        let winners = records.list(&format!("won/{round}/")).unwrap();
        let [winner] = &winners[..] else { panic!("round {round}: {winners:?}") };
        let number: u8 = winner.rsplit('/').next().unwrap().parse().unwrap();
        assert_eq!(records.get(&format!("race/{round}")).unwrap().unwrap(), [number; 5000]);
    }
}

fn creating_records(place: &Path, number: usize) {
    let records = records(place);
    for round in 0..200 {
        meet(&records, round, number);
        let won = records.create(&format!("race/{round}"), &[number as u8; 5000]).unwrap();
        assert_eq!(records.get(&format!("race/{round}")).unwrap().unwrap().len(), 5000);
        if won == Created::Created {
            assert_eq!(records.create(&format!("won/{round}/{number}"), b"").unwrap(), Created::Created);
        }
    }
}

#[test]
fn of_several_processes_one_appends_at_a_position_in_200_of_200() {
    if let Some((place, number)) = other_part() {
        return appending_to_a_log(&place, number);
    }
    let place = tempfile::tempdir().unwrap();
    start_all("of_several_processes_one_appends_at_a_position_in_200_of_200", place.path());
    let (records, log) = (records(place.path()), log(place.path()));
    let appended = log.read(0).unwrap();
    assert_eq!(appended.len(), 200);
    for (round, stamped) in appended.iter().enumerate() {
        let winners = records.list(&format!("won/{round}/")).unwrap();
        assert_eq!(winners, [format!("won/{round}/{}", stamped.at)], "round {round}");
    }
}

fn appending_to_a_log(place: &Path, number: usize) {
    let records = records(place);
    // All at once, also when the file is made.
    meet(&records, 1000, number);
    let mut log = log(place);
    for round in 0..200 {
        meet(&records, round, number);
        match log.append(round as u64, &[closed(number)]) {
            Ok(()) => {
                let won = records.create(&format!("won/{round}/{number}"), b"").unwrap();
                assert_eq!(won, Created::Created);
            }
            Err(LogError::Moved { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn a_look_follows_another_process_that_appends_and_writes_nothing_itself() {
    if let Some((place, _)) = other_part() {
        return appending_much(&place);
    }
    let place = tempfile::tempdir().unwrap();
    drop(log(place.path()));
    let path = place.path().join("journal.db");
    let mut tail = Tail::new(Sqlite::look(&path, "study").unwrap(), 0);
    let mut child =
        start("a_look_follows_another_process_that_appends_and_writes_nothing_itself", place.path(), 0);
    let mut seen = Vec::new();
    let mut looks = 0;
    while child.try_wait().unwrap().is_none() {
        seen.extend(tail.read_new().unwrap());
        looks += 1;
    }
    assert!(child.wait().unwrap().success());
    assert!(looks > 5, "{looks}");
    seen.extend(tail.read_new().unwrap());
    let expected: Vec<Stamped> = (0..MUCH).map(closed).collect();
    assert_eq!(seen, expected);
}

/// More than the write-ahead log holds before it begins anew, several times.
const MUCH: usize = 1500;

fn appending_much(place: &Path) {
    for part in 0..3 {
        let mut log = log(place);
        for at in part * MUCH / 3..(part + 1) * MUCH / 3 {
            log.append(at as u64, &[closed(at)]).unwrap();
        }
    }
}
