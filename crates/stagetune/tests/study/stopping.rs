//! When a study stops.

use stagetune::space::{Cost, Module, Param, Space};
use stagetune::study::{Direction, NoProgress, StopReason, StopRules, Study, StudyError};

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

/// Two stages with a bool each, or four points; of these one may be forbidden.
fn bools(forbidden: Option<&str>) -> Space {
    let module = |name, param| {
        Module::new(name, [Param::bool(param).unwrap()]).unwrap().cost(Cost::Given(1.0)).unwrap()
    };
    let space = Space::new([module("first", "a"), module("second", "b")]).unwrap();
    forbidden.into_iter().fold(space, |space, condition| space.forbid(condition).unwrap())
}

#[test]
fn a_space_of_which_all_was_tried_ends_a_study_that_asks_and_no_other() {
    let rules = StopRules { all_tried: true, ..StopRules::default() };
    for (forbidden, points) in [(None, 4), (Some("a and b"), 3)] {
        for name in ["random", "gp-ei", "lambo", "auto"] {
            let mut study = Study::named(bools(forbidden), name, 1).unwrap().stop(rules).unwrap();
            let mut seen = std::collections::BTreeSet::new();
            while study.stopped().is_none() {
                let trial = study.ask().unwrap();
                seen.insert(trial.point().clone());
                // A point that failed was tried.
                match seen.len() {
                    2 => study.tell(trial.fail("diverged")).unwrap(),
                    n => study.tell(trial.observe(n as f64).unwrap()).unwrap(),
                }
            }
            assert_eq!(study.stopped(), Some(StopReason::AllTried { points }), "{name}");
            assert_eq!(seen.len() as u64, points, "{name}");
            let error = study.ask().unwrap_err().to_string();
            assert!(error.contains(&format!("all {points} points of the space were tried")), "{error}");

            // The events belong to a study without the rule as well, and that one repeats.
            let events = study.events().to_vec();
            let mut freely = Study::named(bools(forbidden), name, 1).unwrap().replay(events.clone()).unwrap();
            assert_eq!(freely.stopped(), None);
            let again = freely.ask().unwrap();
            assert!(seen.contains(again.point()), "{name}");
            // What was repeated before the rule was there is no problem for it.
            freely.tell(again.observe(0.5).unwrap()).unwrap();
            let events = freely.events().to_vec();
            let ruled = Study::named(bools(forbidden), name, 1).unwrap().stop(rules).unwrap();
            let ruled = ruled.replay(events).unwrap();
            assert_eq!(ruled.stopped(), Some(StopReason::AllTried { points }), "{name}");
        }
    }
}

#[test]
fn points_that_are_being_tried_count_and_better_news_come_first() {
    let rules = StopRules { all_tried: true, trials: Some(4), target: Some(0.0), ..StopRules::default() };
    let mut study = Study::named(bools(None), "gp-ei", 1).unwrap().stop(rules).unwrap();
    let open: Vec<_> = (0..4).map(|_| study.ask().unwrap()).collect();
    // More trials would not help, and are not what is missing.
    assert_eq!(study.stopped(), Some(StopReason::AllTried { points: 4 }));
    for trial in open {
        study.tell(trial.observe(0.0).unwrap()).unwrap();
    }
    assert_eq!(study.stopped(), Some(StopReason::Target { target: 0.0, best: 0.0 }));
}

#[test]
fn open_trials_are_expected_to_cost_what_their_proposals_say_or_what_is_known_since() {
    let mut study = scripted(given(), &[[0, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 0]]);
    assert_eq!(study.expected_open_cost(), 0.0);
    let first = study.ask().unwrap();
    assert_eq!(study.expected_open_cost(), 111.0);
    // The first module's output will be there.
    study.ask().unwrap();
    assert_eq!(study.expected_open_cost(), 112.0);
    study.tell(first.observe(1.0).unwrap()).unwrap();
    assert_eq!(study.expected_open_cost(), 1.0);

    let measured = space([Cost::Measured, Cost::Measured, Cost::Given(1.0)]);
    let mut study = scripted(measured, &[[0, 0, 0], [1, 0, 1]]);
    let (first, _second) = (study.ask().unwrap(), study.ask().unwrap());
    assert_eq!(study.expected_open_cost(), 0.0);
    let first = first.observe(1.0).unwrap().measured(vec![Some(5.0), Some(2.0), None]).unwrap();
    study.tell(first).unwrap();
    assert_eq!(study.expected_open_cost(), 8.0);
}

#[test]
fn numbers_that_nobody_reads_digit_by_digit_are_told_with_their_exponent() {
    let reason = StopReason::NotWorthIt { price: 1e300, trials: 2, gain: 1e-30, cost: 12.5 };
    let text = reason.to_string();
    assert!(text.contains("gain 1e-30 for a cost of 12.5, less than the 1.25e301 that"), "{text}");
    let text = StopReason::Cost { limit: 1e200, spent: 2.5e200 }.to_string();
    assert_eq!(text, "2.5e200 of the budget of 1e200 is spent");
    let text = StopReason::Target { target: 0.001, best: -0.5 }.to_string();
    assert_eq!(text, "the value -0.5 reaches the target 0.001");
}
