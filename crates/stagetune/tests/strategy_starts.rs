//! What strategies have in common: where they start, and what a frozen prefix is worth.

// Clippy lets tests unwrap but not the helpers beside them.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use stagetune::space::{Cost, CostModel, Module, Param, Point, Space};
use stagetune::strategy::{Memory, NAMES};
use stagetune::study::{StopRules, Study};

fn space() -> Space {
    let module = |name: &str, cost: f64, params: [&str; 2]| {
        let params = params.map(|p| Param::float(p, -3.0, 7.0).unwrap());
        Module::new(name, params).unwrap().cost(Cost::Given(cost)).unwrap()
    };
    Space::new([module("first", 10.0, ["a", "b"]), module("second", 1.0, ["c", "d"])]).unwrap()
}

fn value(point: &Point) -> f64 {
    point.values().iter().filter_map(|v| v.as_float()).map(|x| (x - 1.0).powi(2)).sum()
}

fn run(study: &mut Study, trials: usize) -> Vec<Point> {
    let step = |_| {
        let trial = study.ask().unwrap();
        let point = trial.point().clone();
        study.tell(trial.observe(value(&point)).unwrap()).unwrap();
        point
    };
    (0..trials).map(step).collect()
}

#[test]
fn everybody_starts_at_the_same_points_but_those_with_a_design_of_their_own() {
    let space = space();
    let start = |name: &str| run(&mut Study::named(space.clone(), name, 3).unwrap(), 15);
    let common = start("gp-ucb");
    for name in NAMES.into_iter().filter(|name| !["auto", "random", "carbo", "lambo"].contains(name)) {
        let shared = if name == "eeipu" { 10 } else { 15 };
        assert_eq!(start(name)[..shared], common[..shared], "{name}");
    }
}

#[test]
fn those_who_freeze_keep_the_first_module_bit_for_bit_and_others_never_do() {
    let space = space();
    let freezing = [
        "auto",
        "eipu-prefix",
        "carbo",
        "ca-mobo",
        "eeipu",
        "switch-eipu",
        "switch-eipu-ahead",
        "pbgi",
        "pbgi-fixed",
        "ts",
    ];
    for name in ["gp-ei", "mes", "eipu"].into_iter().chain(freezing) {
        for model in [CostModel::Previous, CostModel::Cache] {
            let mut study = Study::named(space.clone(), name, 5).unwrap().cost_model(model).unwrap();
            let points = run(&mut study, 32);
            let first = |point: &Point| point.values()[..2].to_vec();
            let kept =
                (15..32).filter(|&i| points[..i].iter().any(|p| first(p) == first(&points[i]))).count();
            let cheap = study.account().charges()[15..].iter().filter(|c| c.cost == Some(1.0)).count();
            assert_eq!(kept, cheap, "{name}, {model:?}: what is kept is not charged");
            assert_eq!(
                kept > 0,
                freezing.contains(&name),
                "{name}, {model:?} kept the first module {kept} times"
            );
        }
    }
}

#[test]
fn carbo_designs_until_an_eighth_of_the_budget_is_spent() {
    let rules = StopRules { cost: Some(880.0), ..StopRules::default() };
    let mut study = Study::named(space(), "carbo", 1).unwrap().stop(rules).unwrap();
    run(&mut study, 12);
    let designed =
        study.trials().filter(|trial| study.why(trial.id()).is_some_and(|why| why.belief.is_none())).count();
    // Ten full runs of 11 are 110 of 880.
    assert_eq!(designed, 10);
}

#[test]
fn pbgi_remembers_its_lambda_and_eeipu_what_its_warm_up_had_cost() {
    let memories = |name: &str| -> Vec<(String, f64)> {
        let mut study = Study::named(space(), name, 2).unwrap();
        run(&mut study, 30);
        let ids: Vec<_> = study.trials().map(|trial| trial.id()).collect();
        let memory = |id| study.proposal(id).unwrap().memory.clone();
        let read = |memory: Memory| memory.read::<BTreeMap<String, f64>>().unwrap();
        ids.into_iter().filter_map(memory).flat_map(read).collect()
    };
    let lambdas = memories("pbgi");
    assert!(
        lambdas
            .iter()
            .enumerate()
            .all(|(i, (name, value))| { name == "lambda" && *value == 0.1 * 0.5_f64.powi(i as i32 + 1) })
    );
    assert!(!lambdas.is_empty(), "a bowl is exhausted within 15 iterations at least once");
    assert_eq!(memories("pbgi-fixed"), []);
    assert_eq!(memories("eeipu"), [("warm_up_cost".to_owned(), 110.0)]);
}
