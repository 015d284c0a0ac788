//! What every journal must do, and what the SQLite one does besides.

use super::*;
use crate::disk::Disk;
use crate::record::{CostUnit, How, StageRecord};
use proptest::prelude::*;
use stagetune::space::{Cost, Module, Param, Space};
use stagetune::study::{Direction, Study};
use std::io;
use std::path::Path;

/// The records of a real study of `trials` trials, one in `fail_every` a failure.
fn records(trials: usize, fail_every: usize) -> Vec<Stamped> {
    let params = [Param::float("x", 0.0, 1.0).unwrap(), Param::choice("c", ["a", "b"]).unwrap()];
    let space = Space::new([Module::new("s", params).unwrap().cost(Cost::Measured).unwrap()]).unwrap();
    let mut study = Study::named(space, "random", 7).unwrap().direction(Direction::Maximize).unwrap();
    let definition = Definition {
        metric: "f1".into(),
        direction: Direction::Maximize,
        stages: vec![StageDefinition {
            name: "s".into(),
            run: vec!["true".into()],
            after: vec![],
            inputs: Default::default(),
            env: Default::default(),
        }],
        params: vec![],
        cost_unit: CostUnit::Seconds,
    };
    let opened = Record::Opened { release: "0".into(), process: 1, host: "h".into(), workers: 1, definition };
    let mut records = vec![Stamped { at: 0.0, record: opened }];
    for i in 0..trials {
        let trial = study.ask().unwrap();
        let written = study.events().len();
        let before = written - if i == 0 { 2 } else { 1 };
        for event in study.events_since(before) {
            records.push(Stamped { at: i as f64, record: Record::Study { event: event.clone() } });
        }
        let how = if i % 3 == 2 { How::Reused } else { How::Ran };
        let stage = StageRecord {
            stage: "s".into(),
            how,
            key: "k".into(),
            cost: 2.0,
            seconds: 2.0,
            began: 0.0,
            ended: 0.0,
            attempts: 1,
        };
        if i % fail_every == fail_every - 1 {
            study.tell(trial.fail("no").measured(vec![Some(2.0)]).unwrap()).unwrap();
        } else {
            let x = trial.point().get("x").unwrap().as_float().unwrap();
            study.tell(trial.observe(x).unwrap().measured(vec![Some(2.0)]).unwrap()).unwrap();
        }
        let event = study.events_since(written)[0].clone();
        let told = Record::Told { event, charged: Some(2.0), stages: vec![stage] };
        records.push(Stamped { at: i as f64 + 0.5, record: told });
    }
    records
}

fn sqlite(dir: &Path) -> Sqlite {
    Sqlite::open(&dir.join("journal.db"), "study", Disk::default()).unwrap()
}

/// The conformance suite.
fn behaves(journal: &mut dyn Journal) {
    let all = records(5, 3);
    let (first, rest) = all.split_at(4);
    assert_eq!(journal.read(0).unwrap(), []);
    journal.append(0, first).unwrap();
    assert_eq!(journal.read(0).unwrap(), first);
    assert!(matches!(journal.append(3, rest), Err(JournalError::Moved { expected: 3, found: 4 })));
    assert!(matches!(journal.append(5, rest), Err(JournalError::Moved { expected: 5, found: 4 })));
    assert_eq!(journal.read(0).unwrap(), first);
    journal.append(4, rest).unwrap();
    assert_eq!(journal.read(0).unwrap(), all);
    assert_eq!(journal.read(4).unwrap(), rest);
    assert_eq!(journal.read(1000).unwrap(), []);
    journal.append(all.len() as u64, &[]).unwrap();
    assert_eq!(journal.read(0).unwrap(), all);
}

#[test]
fn every_journal_appends_in_order_and_reads_back_what_was_appended() {
    behaves(&mut Memory::default());
    let dir = tempfile::tempdir().unwrap();
    behaves(&mut sqlite(dir.path()));
    assert_eq!(
        Sqlite::look(&dir.path().join("journal.db"), "study").unwrap().read(0).unwrap(),
        records(5, 3)
    );
}

#[test]
fn studies_of_one_journal_do_not_mix() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.db");
    let mut one = Sqlite::open(&path, "one", Disk::default()).unwrap();
    let mut two = Sqlite::open(&path, "two", Disk::default()).unwrap();
    behaves(&mut one);
    behaves(&mut two);
    assert_eq!(one.studies().unwrap(), ["one", "two"]);
    assert_ne!(one.identity("one"), two.identity("two"));
    let Err(JournalError::NoStudy { known, .. }) = Sqlite::look(&path, "three") else { panic!("found") };
    assert_eq!(known, ["one", "two"]);
}

#[test]
fn of_two_processes_that_append_at_once_one_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (mut one, mut two) = (sqlite(dir.path()), sqlite(dir.path()));
    let all = records(1, 9);
    one.append(0, &all).unwrap();
    assert!(matches!(two.append(0, &all), Err(JournalError::Moved { expected: 0, .. })));
    two.append(all.len() as u64, &all).unwrap();
    assert_eq!(one.read(0).unwrap().len(), 2 * all.len());
}

#[test]
fn the_summary_is_what_the_records_come_to() {
    let dir = tempfile::tempdir().unwrap();
    let mut journal = sqlite(dir.path());
    let all = records(30, 4);
    for (position, record) in all.iter().enumerate() {
        journal.append(position as u64, std::slice::from_ref(record)).unwrap();
        assert_eq!(journal.summary().unwrap(), Summary::of(&all[..=position]));
    }
    let summary = Sqlite::look(&dir.path().join("journal.db"), "study").unwrap().summary().unwrap();
    assert_eq!((summary.trials, summary.observed, summary.failed), (30, 23, 7));
    assert_eq!((summary.spent, summary.saved, summary.seed), (60.0, 20.0, 7));
    let values = all.iter().filter_map(|r| match r.record.event() {
        Some(stagetune::study::Event::Observed { value, .. }) => Some(*value),
        _ => None,
    });
    assert_eq!(summary.best.as_ref().map(|best| best.value), values.reduce(f64::max));
    assert_eq!(summary.best.unwrap().point.len(), 2);
    assert_eq!(summary.wall, 29.5);
    assert!(summary.open.is_empty());
}

#[test]
fn a_summary_that_lags_behind_is_worked_out_anew() {
    let dir = tempfile::tempdir().unwrap();
    let mut journal = sqlite(dir.path());
    let all = records(6, 4);
    journal.append(0, &all).unwrap();
    let database = rusqlite::Connection::open(dir.path().join("journal.db")).unwrap();
    for tamper in ["UPDATE summary SET position = 3", "UPDATE summary SET body = '{}'", "DELETE FROM summary"]
    {
        database.execute_batch(tamper).unwrap();
        assert_eq!(sqlite(dir.path()).summary().unwrap(), Summary::of(&all), "{tamper}");
    }
}

#[test]
fn files_of_others_of_later_releases_and_of_nobody_are_refused_and_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.db");
    assert!(matches!(Sqlite::look(&path, "s"), Err(JournalError::Missing { .. })));
    std::fs::write(&path, "this is no database, it is a text that somebody put here").unwrap();
    assert!(matches!(Sqlite::open(&path, "s", Disk::default()), Err(JournalError::Damaged { .. })));
    assert!(std::fs::read_to_string(&path).unwrap().starts_with("this is no"));
    std::fs::remove_file(&path).unwrap();
    rusqlite::Connection::open(&path).unwrap().execute_batch("CREATE TABLE recipes (x)").unwrap();
    assert!(matches!(Sqlite::open(&path, "s", Disk::default()), Err(JournalError::Foreign { .. })));
    std::fs::remove_file(&path).unwrap();
    drop(Sqlite::open(&path, "s", Disk::default()).unwrap());
    rusqlite::Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    assert!(matches!(Sqlite::look(&path, "s"), Err(JournalError::Newer { found: 99, .. })));
}

#[test]
fn a_damaged_or_missing_record_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let mut journal = sqlite(dir.path());
    journal.append(0, &records(2, 9)).unwrap();
    let database = rusqlite::Connection::open(dir.path().join("journal.db")).unwrap();
    database.execute_batch("UPDATE event SET body = substr(body, 1, 40) WHERE position = 2").unwrap();
    assert!(matches!(journal.read(0), Err(JournalError::Record { position: 2, .. })));
    database.execute_batch("DELETE FROM event WHERE position = 2").unwrap();
    assert!(matches!(journal.read(0), Err(JournalError::Record { position: 2, .. })));
}

#[test]
fn a_write_that_fails_leaves_the_journal_as_it_was() {
    let all = records(3, 9);
    for at in 1.. {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("journal.db");
        let disk = Disk::failing_at(at, io::ErrorKind::StorageFull);
        let mut written = 0;
        let outcome = (|| {
            let mut journal = Sqlite::open(&path, "study", disk.clone())?;
            for record in &all {
                journal.append(written, std::slice::from_ref(record))?;
                written += 1;
            }
            Ok::<(), JournalError>(())
        })();
        let again = sqlite(dir.path());
        assert_eq!(again.read(0).unwrap(), all[..written as usize], "after write {at}");
        assert_eq!(again.summary().unwrap(), Summary::of(&all[..written as usize]));
        match outcome {
            Ok(()) => return assert!(at > 10, "{at}"),
            Err(error) => assert!(error.to_string().contains("free some space"), "{error}"),
        }
    }
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in ".*") {
        let _ = read_record(&text);
    }

    #[test]
    fn a_record_cut_anywhere_is_refused(cut in any::<prop::sample::Index>(), which in 0usize..6) {
        let text = serde_json::to_string(&records(2, 2)[which.min(5)].record).unwrap();
        // Every character of these records is a byte.
        prop_assert!(read_record(&text[..cut.index(text.len())]).is_err());
        prop_assert_eq!(&read_record(&text).unwrap(), &records(2, 2)[which.min(5)].record);
    }
}
