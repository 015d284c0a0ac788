//! Asking and telling.

use std::sync::{Arc, Mutex};

use stagetune::space::{CostModel, Module, Param, Space};
use stagetune::strategy::{Random, StrategyError};
use stagetune::study::{Direction, Event, Study, StudyError};
use stagetune::trial::{End, Proposed, Trial, TrialId};

use crate::script::*;

/// All that can be seen of a study.
fn facts(study: &Study) -> String {
    let trials: Vec<Trial> = study.trials().collect();
    format!("{:?} {:?} {:?} {:?}", study.events(), trials, study.account(), study.best())
}

#[test]
fn trials_are_numbered_in_the_order_asked_and_may_be_told_in_any() {
    let mut study = scripted(given(), &[[0, 0, 0], [1, 0, 0], [2, 0, 0]]);
    let trials: Vec<Proposed> = (0..3).map(|_| study.ask().unwrap()).collect();
    assert_eq!(trials.iter().map(|t| t.id().index()).collect::<Vec<_>>(), [0, 1, 2]);
    study.tell(trials[2].clone().observe(0.2).unwrap()).unwrap();
    study.tell(trials[0].clone().fail("no")).unwrap();
    assert_eq!(study.open().collect::<Vec<_>>(), [&trials[1]]);
    let told: Vec<u64> = study.account().charges().iter().map(|c| c.trial.index()).collect();
    assert_eq!(told, [2, 0]);
    let states: Vec<(bool, bool)> = study.trials().map(|t| (t.is_open(), t.is_failed())).collect();
    assert_eq!(states, [(false, true), (true, false), (false, false)]);
    assert_eq!(study.trials().len(), 3);
}

#[test]
fn an_outcome_that_does_not_belong_is_refused_and_nothing_is_lost() {
    let mut study = scripted(given(), &[[0, 0, 0], [1, 0, 0]]);
    let first = step(&mut study, 1.0);
    let open = study.ask().unwrap();
    let before = facts(&study);

    let stranger = Proposed::new(TrialId::new(7), open.point().clone()).observe(1.0).unwrap();
    let error = study.tell(stranger).unwrap_err();
    assert_eq!(error, StudyError::UnknownTrial { id: TrialId::new(7), asked: 2 });
    let far = TrialId::new(u64::MAX);
    assert!(matches!(study.tell_value(far, 1.0), Err(StudyError::UnknownTrial { .. })));

    // The same outcome again is a second telling, too.
    for value in [1.0, 2.0] {
        let again = first.clone().observe(value).unwrap();
        assert_eq!(study.tell(again), Err(StudyError::Closed { id: first.id() }));
    }
    assert_eq!(study.tell(first.clone().fail("late")), Err(StudyError::Closed { id: first.id() }));

    let other = Proposed::new(open.id(), first.point().clone()).observe(1.0).unwrap();
    let error = study.tell(other).unwrap_err().to_string();
    assert!(error.contains("is to run a=1 b=0 c=0") && error.contains("of a=0 b=0 c=0"), "{error}");

    let stages = open.clone().observe(1.0).unwrap().measured(vec![Some(1.0)]).unwrap();
    assert!(matches!(study.tell(stages), Err(StudyError::Stages { found: 1, modules: 3, .. })));
    let finished = open.clone().fail("?").after(4);
    assert!(matches!(study.tell(finished), Err(StudyError::Finished { finished: 4, modules: 3, .. })));
    let broke = open.clone().fail("?").broken_in(3);
    assert!(matches!(study.tell(broke), Err(StudyError::Broke { module: 3, modules: 3, .. })));
    let both = open.clone().fail("?").after(2).broken_in(1);
    assert!(matches!(study.tell(both), Err(StudyError::BrokeFinished { module: 1, finished: 2, .. })));
    assert!(matches!(study.tell_value(open.id(), f64::NAN), Err(StudyError::Trial(_))));
    let dear = open.clone().observe(1.0).unwrap().measured(vec![Some(f64::MAX); 3]).unwrap();
    assert!(matches!(study.tell(dear), Err(StudyError::Overflow { .. })));

    assert_eq!(facts(&study), before);
    study.tell(open.observe(0.5).unwrap()).unwrap();
    assert_eq!(study.best().map(|best| best.value()), Some(0.5));
}

#[test]
fn a_number_is_enough_to_tell_an_outcome() {
    let mut study = scripted(given(), &[[0, 0, 0], [1, 0, 0]]);
    let ids = [study.ask().unwrap().id(), study.ask().unwrap().id()];
    study.tell_value(ids[0], 0.5).unwrap();
    study.tell_failure(ids[1], "killed").unwrap();
    assert_eq!(study.open().count(), 0);
    let Some(Event::Ended { end: End::Failed { reason, .. }, .. }) = study.events().last() else {
        panic!("the last event is that of the failure");
    };
    assert_eq!(reason, "killed");
    assert_eq!(study.tell_failure(ids[0], "late"), Err(StudyError::Closed { id: ids[0] }));
}

#[test]
fn whoever_maximises_sees_the_own_values_and_the_strategy_sees_minimised_ones() {
    let (space, viewed) = (given(), Arc::<Mutex<Vec<String>>>::default());
    let points = (0..4).map(|a| point(&space, [a, 0, 0])).collect();
    let script =
        Script { points, refuses: None, says: None, seen: Arc::default(), viewed: Arc::clone(&viewed) };
    let mut study = Study::new(space, Box::new(script)).direction(Direction::Maximize).unwrap();
    for value in [0.25, 0.75, 0.0] {
        step(&mut study, value);
    }
    study.ask().unwrap();
    assert_eq!(study.best().map(|best| (best.id().index(), best.value())), Some((1, 0.75)));
    let values: Vec<Option<f64>> = study.trials().map(|trial| trial.value()).collect();
    assert_eq!(values, [Some(0.25), Some(0.75), Some(0.0), None]);
    let bests: Vec<Option<f64>> = study.account().charges().iter().map(|charge| charge.best).collect();
    assert_eq!(bests, [Some(0.25), Some(0.75), Some(0.75)]);
    let reported = study.events().iter().filter_map(|event| match event {
        Event::Reported { report, .. } => report.metrics.get("value").copied(),
        _ => None,
    });
    assert_eq!(reported.collect::<Vec<_>>(), [0.25, 0.75, 0.0]);
    let last = viewed.lock().unwrap().last().unwrap().clone();
    for value in ["value: -0.25", "value: -0.75", "value: -0.0"] {
        assert!(last.contains(value), "{last}");
    }
}

#[test]
fn of_equal_values_the_first_told_is_best() {
    let mut study = scripted(given(), &[[0, 0, 0], [1, 0, 0]]);
    let (first, second) = (study.ask().unwrap(), study.ask().unwrap());
    assert!(study.best().is_none());
    study.tell(second.clone().observe(0.5).unwrap()).unwrap();
    study.tell(first.observe(0.5).unwrap()).unwrap();
    assert_eq!(study.best().map(|best| best.id()), Some(second.id()));
}

#[test]
fn every_trial_can_say_why() {
    let mut study = scripted(given(), &[[0, 0, 0], [0, 1, 0]]);
    step(&mut study, 1.0);
    let trial = study.ask().unwrap();
    assert_eq!(study.proposal(trial.id()).map(|p| &p.point), Some(trial.point()));
    assert_eq!(
        study.why(trial.id()).map(|why| (why.first_changed, why.expected_cost)),
        Some((Some(1), Some(11.0)))
    );
    assert!(study.why(TrialId::new(2)).is_none() && study.why(TrialId::new(u64::MAX)).is_none());
}

#[test]
fn a_strategy_that_errs_leaves_the_study_as_it_was() {
    let mut study = scripted(given(), &[]);
    assert_eq!(study.ask(), Err(StrategyError::Exhausted.into()));
    assert!(study.events().is_empty() && study.trials().len() == 0);

    let space = given();
    let points = (0..3).map(|a| point(&space, [a, 0, 0])).collect();
    let script =
        Script { points, refuses: Some(1), says: None, seen: Arc::default(), viewed: Arc::default() };
    let mut study = Study::new(space, Box::new(script));
    let open = study.ask().unwrap();
    let before = facts(&study);
    assert!(matches!(study.ask(), Err(StudyError::Strategy(_))));
    assert_eq!(facts(&study), before);
    study.tell(open.observe(1.0).unwrap()).unwrap();
}

#[test]
fn a_proposal_that_the_space_does_not_allow_is_refused() {
    let module = |name| Module::new("only", [Param::int(name, 0, 9).unwrap()]).unwrap();
    let other = Space::new([module("z")]).unwrap();
    let foreign = Script {
        points: vec![other.point([("z", 1)]).unwrap()],
        refuses: None,
        says: None,
        seen: Arc::default(),
        viewed: Arc::default(),
    };
    let mut study = Study::new(given(), Box::new(foreign));
    assert!(matches!(study.ask(), Err(StudyError::Space(_))));

    let mut study = scripted(given().forbid("a > 4").unwrap(), &[[5, 0, 0]]);
    let error = study.ask().unwrap_err().to_string();
    assert!(error.contains("a=5 b=0 c=0, which is forbidden"), "{error}");
    assert!(study.events().is_empty());
}

#[test]
fn a_proposal_that_no_event_can_hold_is_refused() {
    let space = given();
    let points = vec![point(&space, [0, 0, 0])];
    let script =
        Script { points, refuses: None, says: Some(f64::NAN), seen: Arc::default(), viewed: Arc::default() };
    let mut study = Study::new(space, Box::new(script));
    let error = study.ask().unwrap_err().to_string();
    assert!(error.contains("expected_cost = NaN"), "{error}");
    assert!(study.events().is_empty());
}

#[test]
fn options_are_fixed_once_the_study_has_begun() {
    let begun = || {
        let mut study = scripted(given(), &[[0, 0, 0]]);
        study.ask().unwrap();
        study
    };
    assert!(matches!(begun().direction(Direction::Maximize), Err(StudyError::Begun { .. })));
    assert!(matches!(begun().cost_model(CostModel::Cache), Err(StudyError::Begun { .. })));
    assert!(matches!(begun().stop(Default::default()), Err(StudyError::Begun { .. })));
    assert!(matches!(begun().label(Default::default()), Err(StudyError::Begun { .. })));
    assert!(matches!(begun().replay([]), Err(StudyError::Begun { .. })));
}

#[test]
fn two_open_trials_of_random_are_never_the_same() {
    let mut study = Study::new(
        Space::new([Module::new("m", [Param::int("n", 0, 5).unwrap()]).unwrap()]).unwrap(),
        Box::new(Random::new(3)),
    );
    let mut points: Vec<_> = (0..6).map(|_| study.ask().unwrap().point().clone()).collect();
    points.sort();
    points.dedup();
    assert_eq!(points.len(), 6);
    assert_eq!(study.ask(), Err(StrategyError::Exhausted.into()));
    study.tell_value(TrialId::new(2), 1.0).unwrap();
    assert!(study.ask().is_ok());
}
