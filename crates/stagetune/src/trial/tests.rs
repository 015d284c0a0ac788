//! Tests of trials: what an outcome keeps of its proposal, and which numbers it refuses.

use super::*;
use crate::space::{Module, Param, Space};

fn open() -> Proposed {
    let space = Space::new([Module::new("only", [Param::int("n", 0, 9).unwrap()]).unwrap()]).unwrap();
    Proposed::new(TrialId::new(4), space.point([("n", 3)]).unwrap())
}

#[test]
fn an_observed_trial_keeps_its_number_and_its_point() {
    let trial = open();
    let seen = trial.clone().observe(0.25).unwrap().measured(vec![Some(2.0)]).unwrap();
    assert_eq!((seen.id(), seen.point(), seen.value()), (trial.id(), trial.point(), 0.25));
    assert_eq!(seen.stages(), [Some(2.0)]);
    let seen = Trial::from(Outcome::from(seen));
    assert_eq!((seen.id(), seen.point(), seen.value()), (trial.id(), trial.point(), Some(0.25)));
    assert!(!seen.is_open() && !seen.is_failed());
}

#[test]
fn a_failed_trial_keeps_its_reason_and_how_far_it_came_and_has_no_value() {
    let trial = open();
    let failed = trial.clone().fail("out of memory").after(2).measured(vec![Some(1.0), None]).unwrap();
    assert_eq!((failed.id(), failed.point()), (trial.id(), trial.point()));
    assert_eq!((failed.reason(), failed.finished()), ("out of memory", 2));
    let outcome = Outcome::from(failed);
    assert_eq!(outcome.stages(), [Some(1.0), None]);
    let failed = Trial::from(outcome);
    assert!(failed.is_failed() && failed.value().is_none());
}

#[test]
fn a_failure_without_details_had_finished_nothing() {
    let failed = open().fail("killed");
    assert_eq!((failed.finished(), failed.broke(), failed.stages()), (0, None, &[][..]));
    assert_eq!(open().fail("killed").broken_in(2).broke(), Some(2));
}

#[test]
fn an_open_trial_has_no_value() {
    let trial = Trial::Proposed(open());
    assert!(trial.is_open() && !trial.is_failed() && trial.value().is_none());
}

#[test]
fn a_value_that_no_model_can_use_is_refused_with_the_remedy() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.1e100, -1.1e100] {
        let error = open().observe(value).unwrap_err().to_string();
        assert!(error.starts_with("trial 4") && error.contains("tell a failure"), "{error}");
    }
    assert!(open().observe(1e100).is_ok() && open().observe(-1e100).is_ok());
}

#[test]
fn a_measured_cost_that_is_none_is_refused_with_its_module() {
    for cost in [f64::NAN, f64::INFINITY, -1.0] {
        let stages = vec![None, Some(0.0), Some(cost)];
        let error = open().observe(1.0).unwrap().measured(stages.clone()).unwrap_err();
        assert!(matches!(error, TrialError::Cost { module: 2, .. }));
        assert!(open().fail("x").measured(stages).is_err());
    }
}

#[test]
fn turning_the_sign_twice_gives_the_same_bits() {
    for value in [0.0, -0.0, 0.1, -1e100] {
        let turned = open().observe(value).unwrap().negated();
        assert_eq!(turned.value().to_bits(), (-value).to_bits());
        assert_eq!(turned.negated().value().to_bits(), value.to_bits());
    }
}

#[test]
fn a_trial_number_is_written_bare() {
    let id = TrialId::new(u64::MAX);
    let text = serde_json::to_string(&id).unwrap();
    assert_eq!(text, u64::MAX.to_string());
    assert_eq!(serde_json::from_str::<TrialId>(&text).unwrap(), id);
}
