//! What every log must do.

use super::CostUnit;
use super::*;
use crate::disk::Disk;
use proptest::prelude::*;
use stagetune::objective::{Direction, Metric, Objectives};
use stagetune::space::{Cost, Module, Param, Space};
use stagetune::study::{Event, Owner, Study};
use stagetune::trial::{End, How, StageReport, TrialId};
use std::sync::Barrier;

/// The records of a real study of `trials` trials, one in `fail_every` a failure, one in three reused.
pub(crate) fn records(trials: usize, fail_every: usize) -> Vec<Stamped> {
    let params = [Param::float("x", 0.0, 1.0).unwrap(), Param::choice("c", ["a", "b"]).unwrap()];
    let space = Space::new([Module::new("s", params).unwrap().cost(Cost::Measured).unwrap()]).unwrap();
    let mut study = Study::named(space, "random", 7)
        .unwrap()
        .objectives(Objectives::one(Metric::of_last("f1"), Direction::Maximize))
        .unwrap();
    let stages = vec![StageDefinition {
        name: "s".into(),
        run: vec!["true".into()],
        after: vec![],
        inputs: Default::default(),
        env: Default::default(),
    }];
    let definition = Definition { stages, cost_unit: CostUnit::Seconds };
    let mut records = Vec::new();
    let mut add = |study: &mut Study, at: f64, record: Record| {
        study.apply(&record.event).unwrap();
        records.push(Stamped { at, record });
    };
    let started = study.started();
    add(&mut study, 1.0, started.into());
    let owned = Event::Owned { epoch: 1, by: Owner { host: "h".into(), ..Owner::default() } };
    let session = Some(Session { workers: 1, definition });
    add(&mut study, 1.0, Record { session, ..Record::from(owned) });
    for i in 0..trials {
        let at = 1.0 + i as f64;
        let trial = TrialId::new(i as u64);
        let proposal = Box::new(study.propose().unwrap());
        let x = proposal.point.get("x").unwrap().as_float().unwrap();
        add(&mut study, at, Event::Asked { trial, proposal }.into());
        let fails = i % fail_every == fail_every - 1;
        let report = match i % 3 {
            _ if fails => StageReport::failed(Some(2.0)),
            2 => StageReport::reused().with_metric("f1", x),
            _ => StageReport::ran(Some(2.0)).with_metric("f1", x).with_metric("loss", 1.0 - x),
        };
        let saved = if report.how == How::Reused { 2.0 } else { 0.0 };
        let run =
            Run { key: "k".into(), saved, seconds: 2.0, began: at, ended: at, attempts: 1, problem: None };
        let event = Event::Reported { trial, stage: "s".into(), report };
        add(&mut study, at, Record { run: Some(run), ..Record::from(event) });
        let end = match fails {
            true => End::Failed { stage: Some("s".into()), finished: 0, reason: "no".into() },
            false => End::Finished,
        };
        let ended = study.ended(trial, end).unwrap();
        add(&mut study, at + 0.5, ended.into());
    }
    records
}

/// The conformance suite: `open` gives one more hand on the same log, which is empty.
pub(super) fn behaves<L: Log>(open: impl Fn() -> L) {
    appends_in_order(&mut open(), &open());
    refuses_times_that_are_none(&mut open());
    one_of_several_threads_wins_each_position(&open);
    a_tail_sees_every_record_once(open(), open());
}

fn appends_in_order(log: &mut dyn Log, other: &dyn Log) {
    let all = records(5, 3);
    let (first, rest) = all.split_at(4);
    assert_eq!(log.read(0).unwrap(), []);
    log.append(0, first).unwrap();
    assert_eq!(log.read(0).unwrap(), first);
    assert!(matches!(log.append(3, rest), Err(LogError::Moved { expected: 3, found: 4 })));
    assert!(matches!(log.append(5, rest), Err(LogError::Moved { expected: 5, found: 4 })));
    assert_eq!(other.read(0).unwrap(), first);
    log.append(4, rest).unwrap();
    assert_eq!(log.read(0).unwrap(), all);
    for position in 0..=all.len() {
        assert_eq!(other.read(position as u64).unwrap(), all[position..], "{position}");
    }
    for beyond in [1000, u64::MAX] {
        assert_eq!(log.read(beyond).unwrap(), []);
        assert!(matches!(log.append(beyond, rest), Err(LogError::Moved { .. })));
    }
    log.append(all.len() as u64, &[]).unwrap();
    assert_eq!(log.read(0).unwrap(), all);
}

fn refuses_times_that_are_none(log: &mut dyn Log) {
    let before = log.read(0).unwrap();
    let record = before[0].record.clone();
    for at in [f64::NAN, f64::INFINITY] {
        let stamped = Stamped { at, record: record.clone() };
        let refused = log.append(before.len() as u64, &[stamped]);
        assert!(matches!(refused, Err(LogError::Unwritable { .. })));
    }
    let stamped = Stamped { at: -0.0, record };
    log.append(before.len() as u64, &[stamped]).unwrap();
    assert_eq!(log.read(0).unwrap().len(), before.len() + 1);
}

fn one_of_several_threads_wins_each_position<L: Log>(open: &impl Fn() -> L) {
    const THREADS: usize = 8;
    const ROUNDS: usize = 25;
    let begin = open().read(0).unwrap().len();
    let record = records(1, 9)[1].record.clone();
    let barrier = Barrier::new(THREADS);
    let logs: Vec<L> = (0..THREADS).map(|_| open()).collect();
    let wins: Vec<Vec<bool>> = std::thread::scope(|scope| {
        let race = |(thread, mut log): (usize, L)| {
            let (barrier, record) = (&barrier, record.clone());
            scope.spawn(move || {
                let round = |round: usize| {
                    barrier.wait();
                    let stamped = Stamped { at: thread as f64, record: record.clone() };
                    match log.append((begin + round) as u64, &[stamped]) {
                        Ok(()) => true,
                        Err(LogError::Moved { .. }) => false,
                        Err(error) => panic!("{error}"),
                    }
                };
                (0..ROUNDS).map(round).collect()
            })
        };
        let racers: Vec<_> = logs.into_iter().enumerate().map(race).collect();
        racers.into_iter().map(|racer| racer.join().unwrap()).collect()
    });
    let after = open().read(begin as u64).unwrap();
    assert_eq!(after.len(), ROUNDS);
    for (round, stamped) in after.iter().enumerate() {
        let winners: Vec<usize> = (0..THREADS).filter(|thread| wins[*thread][round]).collect();
        assert_eq!(winners, [stamped.at as usize], "round {round}");
    }
}

pub(super) fn a_tail_sees_every_record_once<R: Log, W: Log>(reader: R, mut writer: W) {
    let begin = writer.read(0).unwrap().len() as u64;
    let mut tail = Tail::new(reader, begin);
    assert_eq!(tail.read_new().unwrap(), []);
    let all = records(20, 4);
    let seen = std::thread::scope(|scope| {
        let appends = scope.spawn(|| {
            for (position, stamped) in all.iter().enumerate() {
                writer.append(begin + position as u64, std::slice::from_ref(stamped)).unwrap();
            }
        });
        let mut seen = Vec::new();
        while seen.len() < all.len() && !appends.is_finished() {
            seen.extend(tail.read_new().unwrap());
            std::thread::yield_now();
        }
        seen.extend(tail.read_new().unwrap());
        seen
    });
    assert_eq!(seen, all);
    assert_eq!(tail.position(), begin + all.len() as u64);
    assert_eq!(tail.read_new().unwrap(), []);
}

#[test]
fn every_log_keeps_what_was_appended_in_order_and_lets_one_of_several_win() {
    let memory = Memory::default();
    behaves(|| memory.clone());
    let dir = tempfile::tempdir().unwrap();
    behaves(|| Sqlite::open(&dir.path().join("journal.db"), "study", Disk::default()).unwrap());
}

#[test]
fn results_survive_a_power_cut_and_proposals_need_not() {
    let reported = |record: &Record| match &record.event {
        Event::Started(_) | Event::Ended { .. } => Some(true),
        Event::Owned { .. } | Event::Asked { .. } | Event::Reported { .. } => Some(false),
        _ => None,
    };
    for Stamped { record, .. } in records(3, 2) {
        assert_eq!(Some(record.must_survive_power_cut()), reported(&record), "{record:?}");
    }
    let people = [Event::Paused { reason: String::new() }, Event::Resumed];
    assert!(people.into_iter().all(|event| Record::from(event).must_survive_power_cut()));
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in ".*") {
        let _ = read_record(&text);
    }

    #[test]
    fn a_record_cut_anywhere_is_refused(cut in any::<prop::sample::Index>(), which in 0usize..8) {
        let text = serde_json::to_string(&records(2, 2)[which].record).unwrap();
        // Every character of these records is a byte.
        prop_assert!(read_record(&text[..cut.index(text.len())]).is_err());
        prop_assert_eq!(&read_record(&text).unwrap(), &records(2, 2)[which].record);
    }
}
