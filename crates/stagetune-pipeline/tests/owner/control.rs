//! Others append to the log of a study that is being run.

use std::sync::Arc;

use stagetune::study::{Event, StudyError};
use stagetune::trial::{End, StageReport, TrialId};
use stagetune_pipeline::executor::Scripted;
use stagetune_pipeline::ledger::{Ledger, TrialState};
use stagetune_pipeline::log::Memory;
use stagetune_pipeline::owner::{Owner, Quiet, RunError, append_control, study};
use stagetune_pipeline::stop::Stop;

use crate::harness::{LONG, Notes, TWO, count, events, finish, options, parts, pipeline, until};

#[test]
fn trials_are_attached_told_and_withdrawn_by_others_while_the_owner_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let pipeline = pipeline(TWO, dir.path());
    let (log, executor, stop) = (Memory::default(), Arc::new(Scripted::new()), Stop::new());
    let fresh = || Ok(study(&pipeline, "random")?);
    let control = |events: &dyn Fn(&stagetune::study::Study) -> Result<Vec<Event>, RunError>| {
        append_control(&mut log.clone(), "two", &fresh, events)
    };
    let withdraw = |trial: u64| {
        let end = End::Withdrawn { reason: "not meant".into() };
        control(&move |study| Ok(vec![study.ended(TrialId::new(trial), end.clone())?]))
    };
    let ended = std::thread::scope(|scope| {
        let made = parts(&pipeline, &log, &executor);
        let run = scope.spawn(|| Owner::with(&pipeline, options(2, &stop), made, &Quiet)?.run());
        assert!(executor.wait_for_running(2, LONG));
        // Trial 0 is withdrawn while its first stage runs; trial 2 comes with its result.
        withdraw(0).unwrap();
        control(&|study| {
            let trial = TrialId::new(study.trials().len() as u64);
            let point = pipeline.space.point([("a", 0.25), ("b", 0.75)]).map_err(StudyError::from)?;
            let reports = ["first", "second"].map(|stage| Event::Reported {
                trial,
                stage: stage.into(),
                report: StageReport::ran(Some(1.0)).with_metric("f", 0.125),
            });
            let attached = Event::Attached { trial, point, from: Some("last year".into()) };
            let mut events = vec![attached];
            events.extend(reports);
            events.push(Event::Ended { trial, end: End::Finished, cost: Some(2.0) });
            Ok(events)
        })
        .unwrap();
        control(&|_| Ok(vec![Event::Noted { trial: None, text: "careful".into() }])).unwrap();
        while !run.is_finished() {
            executor.running().iter().for_each(|token| finish(&executor, token));
            std::thread::yield_now();
        }
        run.join().unwrap()
    });
    let ledger = ended.unwrap().ledger;
    assert_eq!(ledger.trials[0].state, TrialState::Withdrawn);
    // Its first stage ended after that: it is charged, and its second stage never ran.
    assert_eq!((ledger.trials[0].cost, ledger.trials[0].stages.len()), (Some(10.0), 1));
    assert_eq!(ledger.spent, 10.0 + 2.0 + 6.0 * 11.0);
    let attached = ledger.trials.iter().find(|trial| trial.why.contains("last year")).unwrap();
    assert_eq!((attached.state, attached.value), (TrialState::Observed, Some(0.125)));
    assert_eq!(ledger.best.as_ref().map(|best| best.value), Some(0.125));
    assert_eq!(ledger.notes, [(None, "careful".to_owned())]);
    assert_eq!((ledger.trials.len(), ledger.observed, ledger.open()), (8, 7, vec![]));
    let told = |trial: u64| {
        let of = |event: &Event| matches!(event, Event::Ended { trial: ended, .. } if ended.index() == trial);
        count(&log, of)
    };
    assert!((0..8).all(|trial| told(trial) == 1), "every trial ends once: {:?}", events(&log));
}

/// Runs two trials, the first of which others say something of while its first stage runs.
fn told_meanwhile(say: &dyn Fn(&stagetune::study::Study, TrialId) -> Vec<Event>) -> Ledger {
    let dir = tempfile::tempdir().unwrap();
    let pipeline = pipeline(&TWO.replace("trials = 8", "trials = 2"), dir.path());
    let (log, executor, stop) = (Memory::default(), Arc::new(Scripted::new()), Stop::new());
    let fresh = || Ok(study(&pipeline, "random")?);
    let ended = std::thread::scope(|scope| {
        let made = parts(&pipeline, &log, &executor);
        let run = scope.spawn(|| Owner::with(&pipeline, options(1, &stop), made, &Quiet)?.run());
        assert!(executor.wait_for_running(1, LONG));
        append_control(&mut log.clone(), "two", &fresh, &|study| Ok(say(study, TrialId::new(0)))).unwrap();
        while !run.is_finished() {
            executor.running().iter().for_each(|token| finish(&executor, token));
            std::thread::yield_now();
        }
        run.join().unwrap()
    });
    ended.unwrap().ledger
}

fn reported(trial: TrialId, stage: &str) -> Event {
    let report = StageReport::ran(Some(1.0)).with_metric("f", 0.25);
    Event::Reported { trial, stage: stage.into(), report }
}

#[test]
fn a_stage_that_others_report_while_it_runs_is_charged_beside_it_and_the_study_goes_on() {
    let ledger = told_meanwhile(&|_, trial| vec![reported(trial, "first")]);
    assert_eq!((ledger.observed, ledger.trials[0].cost), (2, Some(1.0 + 10.0 + 1.0)));
    assert_eq!((ledger.trials[0].stages.len(), ledger.spent), (2, 12.0 + 11.0));
}

#[test]
fn what_ran_for_a_trial_that_others_told_meanwhile_is_charged() {
    let ledger = told_meanwhile(&|_, trial| {
        let end = Event::Ended { trial, end: End::Finished, cost: Some(2.0) };
        vec![reported(trial, "first"), reported(trial, "second"), end]
    });
    assert_eq!((ledger.observed, ledger.trials[0].value), (2, Some(0.25)));
    assert_eq!((ledger.trials[0].cost, ledger.spent), (Some(12.0), 12.0 + 11.0));
    assert_eq!(ledger.trials[0].stages.len(), 2);
}

#[test]
fn a_study_on_hold_that_has_reached_its_budget_ends_and_one_that_has_not_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let pipeline = pipeline(&TWO.replace("trials = 8", "trials = 1"), dir.path());
    let (log, executor, stop) = (Memory::default(), Arc::new(Scripted::new()), Stop::new());
    let fresh = || Ok(study(&pipeline, "random")?);
    let run = |notes: &Notes| {
        std::thread::scope(|scope| {
            let made = parts(&pipeline, &log, &executor);
            let run = scope.spawn(|| Owner::with(&pipeline, options(1, &stop), made, notes)?.run());
            while !run.is_finished() {
                executor.running().iter().for_each(|token| finish(&executor, token));
                std::thread::yield_now();
            }
            run.join().unwrap().unwrap().ledger.observed
        })
    };
    assert_eq!(run(&Notes::default()), 1);
    let paused = Event::Paused { reason: "maintenance".into() };
    append_control(&mut log.clone(), "two", &fresh, &|_| Ok(vec![paused.clone()])).unwrap();
    let notes = Notes::default();
    assert_eq!(run(&notes), 1);
    assert!(notes.0.lock().unwrap().iter().any(|news| news.contains("maintenance")));
}

#[test]
fn a_paused_study_begins_no_trial_until_it_is_resumed() {
    let dir = tempfile::tempdir().unwrap();
    let pipeline = pipeline(&TWO.replace("trials = 8", "trials = 3"), dir.path());
    let (log, executor, stop) = (Memory::default(), Arc::new(Scripted::new()), Stop::new());
    let fresh = || Ok(study(&pipeline, "random")?);
    let control =
        |event: Event| append_control(&mut log.clone(), "two", &fresh, &|_| Ok(vec![event.clone()]));
    let asked = |event: &Event| matches!(event, Event::Asked { .. });
    let ended = std::thread::scope(|scope| {
        let made = parts(&pipeline, &log, &executor);
        let run = scope.spawn(|| Owner::with(&pipeline, options(1, &stop), made, &Quiet)?.run());
        assert!(executor.wait_for_running(1, LONG));
        control(Event::Paused { reason: "maintenance".into() }).unwrap();
        // The trial that runs goes on to its end.
        finish(&executor, &executor.running()[0]);
        assert!(executor.wait_for_running(1, LONG));
        finish(&executor, &executor.running()[0]);
        until("the end of the first trial", || count(&log, |e| matches!(e, Event::Ended { .. })) == 1);
        std::thread::sleep(std::time::Duration::from_millis(300));
        assert_eq!(count(&log, asked), 1);
        control(Event::Resumed).unwrap();
        while !run.is_finished() {
            executor.running().iter().for_each(|token| finish(&executor, token));
            std::thread::yield_now();
        }
        run.join().unwrap()
    });
    assert_eq!(ended.unwrap().ledger.observed, 3);
}

#[test]
fn only_an_owner_may_say_that_it_owns_a_study_or_starts_stages() {
    let dir = tempfile::tempdir().unwrap();
    let pipeline = pipeline(TWO, dir.path());
    let mut log = Memory::default();
    let fresh = || Ok(study(&pipeline, "random")?);
    let owned = Event::Owned { epoch: 9, by: Default::default() };
    let refused = append_control(&mut log, "two", &fresh, &|study| Ok(vec![study.started(), owned.clone()]));
    assert!(matches!(refused, Err(RunError::NotOurs)));
    assert!(events(&log).is_empty());
}
