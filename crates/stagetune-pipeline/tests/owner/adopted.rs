//! Attempts that ended while nobody owned the study are adopted, and a newer owner wins.

use std::sync::Arc;

use stagetune::study::{Event, Owner as Who};
use stagetune::trial::How;
use stagetune_pipeline::disk::Disk;
use stagetune_pipeline::executor::{Exit, Scripted};
use stagetune_pipeline::log::{Log, Memory, Stamped};
use stagetune_pipeline::outputs;
use stagetune_pipeline::owner::{Owner, Quiet, RunError};
use stagetune_pipeline::stop::Stop;

use crate::harness::{LONG, TWO, count, events, finish, options, parts, parts_with, pipeline, until};

/// A log that refuses everything after so many records, as if the owner had been killed there.
struct Cut {
    log: Memory,
    at: u64,
}

impl Log for Cut {
    fn append(
        &mut self,
        position: u64,
        records: &[Stamped],
    ) -> Result<(), stagetune_pipeline::log::LogError> {
        if position + records.len() as u64 > self.at {
            return Err(stagetune_pipeline::log::LogError::Unwritable { problem: "killed".into() });
        }
        self.log.append(position, records)
    }

    fn read(&self, position: u64) -> Result<Vec<Stamped>, stagetune_pipeline::log::LogError> {
        self.log.read(position)
    }
}

#[test]
fn an_attempt_that_ended_while_nobody_owned_the_study_is_adopted_and_not_run_again() {
    let dir = tempfile::tempdir().unwrap();
    let pipeline = pipeline(&TWO.replace("trials = 8", "trials = 1"), dir.path());
    let (log, executor) = (Memory::default(), Arc::new(Scripted::new()));
    // The first owner dies after it has launched the first stage: started, owned, asked, launched.
    let outputs = Arc::new(outputs::Memory::new(&dir.path().join("outputs"), Disk::default()));
    let mut made = parts_with(&pipeline, &log, &executor, &outputs);
    made.log = Box::new(Cut { log: log.clone(), at: 4 });
    let stop = Stop::new();
    let died = std::thread::scope(|scope| {
        let run = scope.spawn(|| Owner::with(&pipeline, options(1, &stop), made, &Quiet)?.run());
        assert!(executor.wait_for_running(1, LONG));
        finish(&executor, &executor.running()[0]);
        run.join().unwrap()
    });
    assert!(died.is_err());
    let launched = executor.launched();
    assert_eq!((launched.len(), count(&log, |event| matches!(event, Event::Launched { .. }))), (1, 1));

    let stop = Stop::new();
    let ended = std::thread::scope(|scope| {
        let made = parts_with(&pipeline, &log, &executor, &outputs);
        let run = scope.spawn(|| Owner::with(&pipeline, options(1, &stop), made, &Quiet)?.run());
        assert!(executor.wait_for_running(1, LONG));
        finish(&executor, &executor.running()[0]);
        run.join().unwrap()
    });
    let ledger = ended.unwrap().ledger;
    assert_eq!(executor.launched().len(), 2, "the first stage ran once, the second once");
    let stages: Vec<_> = ledger.trials[0].stages.iter().map(|row| (row.stage.as_str(), row.how)).collect();
    assert_eq!(stages, [("first", How::Ran), ("second", How::Ran)]);
    assert_eq!((ledger.spent, ledger.observed), (11.0, 1));
    assert_eq!(ledger.owners.iter().map(|owner| owner.epoch).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn an_attempt_whose_output_was_kept_and_evicted_before_anybody_told_it_is_run_again_and_is_no_failure() {
    let dir = tempfile::tempdir().unwrap();
    let pipeline = pipeline(&TWO.replace("trials = 8", "trials = 1"), dir.path());
    let (log, executor) = (Memory::default(), Arc::new(Scripted::new()));
    let mut made = parts(&pipeline, &log, &executor);
    made.log = Box::new(Cut { log: log.clone(), at: 4 });
    std::thread::scope(|scope| {
        let stop = Stop::new();
        let pipeline = &pipeline;
        let run = scope.spawn(move || Owner::with(pipeline, options(1, &stop), made, &Quiet)?.run());
        assert!(executor.wait_for_running(1, LONG));
        finish(&executor, &executor.running()[0]);
        assert!(run.join().unwrap().is_err());
    });
    // The next owner has other outputs, as if the first one's had been evicted.
    let attempt = dir.path().join(".stagetune/attempts").join(executor.launched()[0].as_str());
    assert!(attempt.join("ended.json").is_file() && !attempt.join("out").exists());
    let elsewhere = Arc::new(outputs::Memory::new(&dir.path().join("others"), Disk::default()));
    let ended = std::thread::scope(|scope| {
        let stop = Stop::new();
        let (pipeline, made) = (&pipeline, parts_with(&pipeline, &log, &executor, &elsewhere));
        let run = scope.spawn(move || Owner::with(pipeline, options(1, &stop), made, &Quiet)?.run());
        for _ in ["first", "second"] {
            assert!(executor.wait_for_running(1, LONG));
            finish(&executor, &executor.running()[0]);
        }
        run.join().unwrap()
    });
    let ledger = ended.unwrap().ledger;
    assert_eq!((ledger.failed, ledger.observed, executor.launched().len()), (0, 1, 3));
}

#[test]
fn a_failed_attempt_that_nobody_told_is_adopted_as_a_failure() {
    // Started, owned, asked, launched.
    a_failure_survives_an_owner_that_dies_after(4);
}

#[test]
fn a_trial_whose_failed_stage_had_reported_ends_with_the_same_words_under_the_next_owner() {
    a_failure_survives_an_owner_that_dies_after(5);
}

fn a_failure_survives_an_owner_that_dies_after(records: u64) {
    let dir = tempfile::tempdir().unwrap();
    let pipeline = pipeline(&TWO.replace("trials = 8", "trials = 1"), dir.path());
    let (log, executor) = (Memory::default(), Arc::new(Scripted::new()));
    let outputs = Arc::new(outputs::Memory::new(&dir.path().join("outputs"), Disk::default()));
    let mut made = parts_with(&pipeline, &log, &executor, &outputs);
    made.log = Box::new(Cut { log: log.clone(), at: records });
    std::thread::scope(|scope| {
        let stop = Stop::new();
        let pipeline = &pipeline;
        let run = scope.spawn(move || Owner::with(pipeline, options(1, &stop), made, &Quiet)?.run());
        assert!(executor.wait_for_running(1, LONG));
        executor.end(&executor.running()[0], Exit::Code(3), &[]).unwrap();
        assert!(run.join().unwrap().is_err());
    });
    let made = parts_with(&pipeline, &log, &executor, &outputs);
    let ended = Owner::with(&pipeline, options(1, &Stop::new()), made, &Quiet).unwrap().run().unwrap();
    assert_eq!((executor.launched().len(), ended.ledger.failed), (1, 1));
    let reason = ended.ledger.trials[0].reason.clone().unwrap();
    assert!(reason.contains("exit code 3"), "{reason}");
}

#[test]
fn a_stop_does_not_use_up_the_tries_that_a_failed_stage_has_left() {
    let dir = tempfile::tempdir().unwrap();
    let text = TWO.replace("trials = 8", "trials = 1").replace("cost = 10", "cost = 10\nretries = 1");
    let pipeline = pipeline(&text, dir.path());
    let (log, executor) = (Memory::default(), Arc::new(Scripted::new()));
    let outputs = Arc::new(outputs::Memory::new(&dir.path().join("outputs"), Disk::default()));
    let run = |ends: &[Exit], stop_first: bool| {
        let stop = Stop::new();
        std::thread::scope(|scope| {
            let made = parts_with(&pipeline, &log, &executor, &outputs);
            let (pipeline, at_once) = (&pipeline, stop.clone());
            let run = scope.spawn(move || Owner::with(pipeline, options(1, &at_once), made, &Quiet)?.run());
            for exit in ends {
                assert!(executor.wait_for_running(1, LONG));
                if stop_first {
                    stop.now();
                }
                let token = executor.running()[0].clone();
                executor.end(&token, exit.clone(), &[("result.json", br#"{"f": 0.5}"#)]).unwrap();
            }
            run.join().unwrap().unwrap().ledger
        })
    };
    let stopped = run(&[Exit::Code(7)], true);
    assert_eq!((stopped.failed, stopped.open().len()), (0, 1));
    let ended = run(&[Exit::Success, Exit::Success], false);
    assert_eq!((ended.failed, ended.observed, executor.launched().len()), (0, 1, 3));
    assert_eq!(ended.trials[0].stages[0].attempts, 2, "the first try counts");
}

#[test]
fn an_owner_that_reads_of_a_newer_one_stops() {
    let dir = tempfile::tempdir().unwrap();
    let pipeline = pipeline(TWO, dir.path());
    let (mut log, executor) = (Memory::default(), Arc::new(Scripted::new()));
    let stop = Stop::new();
    let error = std::thread::scope(|scope| {
        let made = parts(&pipeline, &log, &executor);
        let run = scope.spawn(|| Owner::with(&pipeline, options(2, &stop), made, &Quiet)?.run());
        assert!(executor.wait_for_running(2, LONG));
        // Somebody else takes the study over.
        until("a place at the end of the log", || {
            let by = Who { host: "elsewhere".into(), process: 7, ..Who::default() };
            let record = Event::Owned { epoch: 2, by }.into();
            log.append(events(&log).len() as u64, &[Stamped { at: 1.0, record }]).is_ok()
        });
        run.join().unwrap().err().unwrap()
    });
    assert!(matches!(error, RunError::Superseded { .. }), "{error}");
    assert!(error.to_string().contains("elsewhere"), "{error}");
    let last = events(&log).pop().unwrap();
    assert!(matches!(last, Event::Owned { epoch: 2, .. }), "it wrote nothing more: {last:?}");
}

#[test]
fn an_output_that_was_lost_after_its_stage_reported_is_made_again_and_charged() {
    let dir = tempfile::tempdir().unwrap();
    let pipeline = pipeline(&TWO.replace("trials = 8", "trials = 1"), dir.path());
    let (log, executor) = (Memory::default(), Arc::new(Scripted::new()));
    // The first owner dies after the first stage has reported: started, owned, asked, launched, reported.
    let mut made = parts(&pipeline, &log, &executor);
    made.log = Box::new(Cut { log: log.clone(), at: 5 });
    std::thread::scope(|scope| {
        let stop = Stop::new();
        let pipeline = &pipeline;
        let run = scope.spawn(move || Owner::with(pipeline, options(1, &stop), made, &Quiet)?.run());
        assert!(executor.wait_for_running(1, LONG));
        finish(&executor, &executor.running()[0]);
        assert!(run.join().unwrap().is_err());
    });
    // Somebody empties the cache: the next owner has other outputs.
    let elsewhere = Arc::new(outputs::Memory::new(&dir.path().join("others"), Disk::default()));
    let ended = std::thread::scope(|scope| {
        let made = parts_with(&pipeline, &log, &executor, &elsewhere);
        let pipeline = &pipeline;
        let run = scope.spawn(move || Owner::with(pipeline, options(1, &Stop::new()), made, &Quiet)?.run());
        while !run.is_finished() {
            executor.running().iter().for_each(|token| finish(&executor, token));
            std::thread::yield_now();
        }
        run.join().unwrap()
    });
    let ledger = ended.unwrap().ledger;
    assert_eq!((ledger.observed, ledger.spent, executor.launched().len()), (1, 21.0, 3));
    let first = &ledger.trials[0].stages[0];
    assert_eq!((first.stage.as_str(), first.cost, first.attempts), ("first", 20.0, 2));
}

/// A log whose last records were made a month later, as after a clock that was set or a machine that slept.
fn a_month_later(log: &Memory) -> Memory {
    let mut later = Memory::default();
    let records = log.read(0).unwrap();
    let half = records.len() / 2;
    let moved = records.into_iter().enumerate().map(|(number, stamped)| {
        let at = if number < half { stamped.at } else { stamped.at + 30.0 * 86_400.0 };
        Stamped { at, ..stamped }
    });
    later.append(0, &moved.collect::<Vec<_>>()).unwrap();
    later
}

#[test]
fn a_clock_that_jumped_and_a_machine_that_slept_do_not_use_up_the_wall_budget() {
    let dir = tempfile::tempdir().unwrap();
    let budget = |trials: usize| format!("trials = {trials}, wall = \"1 h\"");
    let run = |trials: usize, log: &Memory, outputs: &Arc<outputs::Memory>| {
        let pipeline = pipeline(&TWO.replace("trials = 8", &budget(trials)), dir.path());
        let executor = Arc::new(Scripted::new());
        let ended = Stop::new();
        std::thread::scope(|scope| {
            let made = parts_with(&pipeline, log, &executor, outputs);
            let (pipeline, stop) = (&pipeline, ended.clone());
            let run = scope.spawn(move || Owner::with(pipeline, options(1, &stop), made, &Quiet)?.run());
            while !run.is_finished() {
                executor.running().iter().for_each(|token| finish(&executor, token));
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            run.join().unwrap().unwrap().ledger
        })
    };
    let outputs = Arc::new(outputs::Memory::new(&dir.path().join("outputs"), Disk::default()));
    let log = Memory::default();
    let before = run(2, &log, &outputs);
    let after = run(4, &a_month_later(&log), &outputs);
    assert_eq!((before.observed, after.observed), (2, 4));
    assert!(after.wall >= before.wall && after.wall < 600.0, "{} s", after.wall);
}
