//! Others append to the log of a study that is being run.

use std::sync::Arc;

use stagetune::study::{Event, StudyError};
use stagetune::trial::{End, StageReport, TrialId};
use stagetune_pipeline::executor::Scripted;
use stagetune_pipeline::ledger::TrialState;
use stagetune_pipeline::log::Memory;
use stagetune_pipeline::owner::{Owner, Quiet, RunError, append_control, study};
use stagetune_pipeline::stop::Stop;

use crate::harness::{LONG, TWO, count, events, finish, options, parts, pipeline, until};

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
