//! When a study stops.

use lambo::space::{Cost, Space};
use lambo::study::{Direction, NoProgress, StopReason, StopRules, Study, StudyError};

use crate::script::*;

fn points(n: i64) -> Vec<[i64; 3]> {
    (0..n).map(|i| [0, i / 10, i % 10]).collect()
}

fn study(rules: StopRules) -> Study {
    scripted(given(), &points(20)).stop(rules).unwrap()
}

fn no_progress(trials: usize, at_least: f64) -> StopRules {
    StopRules { no_progress: Some(NoProgress { trials, at_least }), ..StopRules::default() }
}

#[test]
fn open_trials_count_and_are_still_told() {
    let mut study = study(StopRules { trials: Some(2), ..StopRules::default() });
    step(&mut study, 1.0);
    let open = study.ask().unwrap();
    assert_eq!(study.stopped(), Some(StopReason::Trials { limit: 2 }));
    let error = study.ask().unwrap_err();
    assert!(error.to_string().contains("all 2 trials were asked for"), "{error}");
    study.tell(open.observe(0.5).unwrap()).unwrap();
    assert_eq!(study.best().map(|best| best.value()), Some(0.5));
}

#[test]
fn a_budget_ends_with_the_trial_that_spends_it() {
    let mut study = study(StopRules { cost: Some(112.0), ..StopRules::default() });
    step(&mut study, 1.0);
    assert_eq!(study.stopped(), None);
    step(&mut study, 1.0);
    assert_eq!(study.stopped(), Some(StopReason::Cost { limit: 112.0, spent: 112.0 }));
}

#[test]
fn a_target_is_in_the_users_direction() {
    let rules = StopRules { target: Some(0.5), ..StopRules::default() };
    for (direction, short, reached) in [(Direction::Minimize, 0.6, 0.5), (Direction::Maximize, 0.4, 0.7)] {
        let mut study = study(rules).direction(direction).unwrap();
        step(&mut study, short);
        assert_eq!(study.stopped(), None);
        step(&mut study, reached);
        assert_eq!(study.stopped(), Some(StopReason::Target { target: 0.5, best: reached }));
        // A study that got there stays there.
        assert!(matches!(study.ask(), Err(StudyError::Stopped { .. })));
    }
}

#[test]
fn no_progress_looks_at_the_last_trials_told() {
    for (direction, sign) in [(Direction::Minimize, 1.0), (Direction::Maximize, -1.0)] {
        let mut study = study(no_progress(2, 0.25)).direction(direction).unwrap();
        for value in [9.0, 8.0, 8.5, 7.0, 6.875] {
            step(&mut study, sign * value);
            assert_eq!(study.stopped(), None, "after {value}");
        }
        let trial = study.ask().unwrap();
        study.tell(trial.fail("failures are no progress")).unwrap();
        let reason = study.stopped().unwrap();
        assert_eq!(reason.to_string(), "the last 2 trials improved the best value by less than 0.25");
    }
}

#[test]
fn with_nothing_asked_for_any_progress_will_do() {
    let mut study = study(no_progress(2, 0.0));
    for value in [1.0, 1.0, 1.0 - 1e-15, 1.0] {
        step(&mut study, value);
        assert_eq!(study.stopped(), None);
    }
    step(&mut study, 1.0);
    assert_eq!(study.stopped().unwrap().to_string(), "the last 2 trials did not improve the best value");
}

#[test]
fn a_study_that_only_fails_makes_no_progress() {
    let mut study = study(no_progress(3, 0.0));
    for _ in 0..3 {
        assert_eq!(study.stopped(), None);
        let trial = study.ask().unwrap();
        study.tell(trial.fail("again")).unwrap();
    }
    assert!(matches!(study.stopped(), Some(StopReason::NoProgress(_))));
}

#[test]
fn rules_that_make_no_sense_are_refused_by_name() {
    let refused = |space: Space, rules: StopRules| match scripted(space, &[]).stop(rules) {
        Err(StudyError::Rule { rule, .. }) => rule,
        other => unreachable!("{other:?}"),
    };
    let none = StopRules::default();
    assert_eq!(refused(given(), StopRules { trials: Some(0), ..none }), "trials");
    for cost in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(refused(given(), StopRules { cost: Some(cost), ..none }), "cost");
    }
    for target in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(refused(given(), StopRules { target: Some(target), ..none }), "target");
    }
    for (trials, at_least) in [(0, 0.1), (1, -0.1), (1, f64::NAN), (1, f64::INFINITY)] {
        assert_eq!(refused(given(), no_progress(trials, at_least)), "no_progress");
    }
}

#[test]
fn a_budget_needs_costs_that_somebody_knows() {
    let rules = StopRules { cost: Some(1.0), ..StopRules::default() };
    let unknown = scripted(space([Cost::Given(1.0), Cost::Unknown, Cost::Given(1.0)]), &[]);
    let error = unknown.stop(rules).unwrap_err().to_string();
    assert!(error.contains("`second`") && error.contains("measured"), "{error}");
    let mut measured = scripted(space([Cost::Measured; 3]), &points(2)).stop(rules).unwrap();
    let trial = measured.ask().unwrap();
    // A trial whose cost nobody tells would make the budget endless.
    let error = measured.tell(trial.clone().observe(0.0).unwrap()).unwrap_err().to_string();
    assert!(error.contains("stops by cost") && error.contains("`measured`"), "{error}");
    measured.tell(trial.observe(0.0).unwrap().measured(vec![Some(0.5), None, None]).unwrap()).unwrap();
    assert_eq!(measured.stopped(), None);
    let trial = measured.ask().unwrap();
    measured.tell(trial.observe(0.0).unwrap().measured(vec![Some(2.0), None, None]).unwrap()).unwrap();
    assert_eq!(measured.stopped(), Some(StopReason::Cost { limit: 1.0, spent: 2.5 }));
}
