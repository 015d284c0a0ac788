//! Spaces of finitely many points: what was told is not asked for again while there is anything else.

// Clippy lets tests unwrap but not the helpers beside them.
#![allow(clippy::unwrap_used)]

use stagetune::space::{Cost, CostModel, Module, Param, Point, Space, Value};
use stagetune::strategy::{NAMES, Source};
use stagetune::study::Study;
use std::collections::BTreeSet;

/// Two modules of ints, bools and choices.
fn grid(values: i64) -> Space {
    let first = Module::new("first", [Param::int("a", 0, values).unwrap(), Param::bool("b").unwrap()]);
    let second = [Param::int("c", 1, values + 2).unwrap(), Param::choice("d", ["x", "y", "z"]).unwrap()];
    let second = Module::new("second", second);
    Space::new([
        first.unwrap().cost(Cost::Given(10.0)).unwrap(),
        second.unwrap().cost(Cost::Given(1.0)).unwrap(),
    ])
    .unwrap()
}

fn value(point: &Point) -> f64 {
    let one = |value: &Value| match value {
        Value::Int(i) => (*i as f64 - 2.0).powi(2),
        Value::Float(x) => *x,
        Value::Bool(b) => f64::from(u8::from(*b)),
        Value::Choice(text) => text.len() as f64 + f64::from(text.as_bytes()[0] % 3),
    };
    point.values().iter().map(one).sum()
}

/// The points in order, and what chose each.
fn run(space: Space, name: &str, model: CostModel, trials: usize) -> Vec<(Point, Source)> {
    let mut study = Study::named(space, name, 3).unwrap().cost_model(model).unwrap();
    let step = |_| {
        let trial = study.ask().unwrap();
        let point = trial.point().clone();
        let source = study.why(trial.id()).unwrap().source;
        study.tell(trial.observe(value(&point)).unwrap()).unwrap();
        (point, source)
    };
    (0..trials).map(step).collect()
}

#[test]
fn a_point_of_a_grid_is_asked_for_once_while_others_are_left() {
    for name in NAMES {
        for model in [CostModel::Previous, CostModel::Cache] {
            // 6 · 2 · 7 · 3 = 252 points.
            let mut seen: BTreeSet<String> = BTreeSet::new();
            for (number, (point, source)) in run(grid(5), name, model, 50).into_iter().enumerate() {
                let new = seen.insert(point.to_string());
                // A point by chance may come twice.
                assert!(new || source != Source::Model, "{name}, {model:?}: trial {number} repeats {point}");
            }
        }
    }
}

#[test]
fn a_small_grid_is_searched_to_its_end_and_beyond() {
    // 1 · 2 · 2 · 3 = 12 points.
    for name in NAMES.into_iter().filter(|name| *name != "random") {
        let points = run(grid(0), name, CostModel::Previous, 40);
        let different: BTreeSet<String> = points.iter().map(|(point, _)| point.to_string()).collect();
        assert_eq!(different.len(), 12, "{name}");
    }
}

#[test]
fn several_workers_on_a_grid_do_not_repeat_each_other_nor_what_was_told() {
    for name in NAMES {
        let mut study = Study::named(grid(3), name, 5).unwrap();
        let mut seen: BTreeSet<String> = BTreeSet::new();
        // 4 · 2 · 5 · 3 = 120 points, three at a time; every fifth fails.
        for round in 0..12 {
            let open: Vec<_> = (0..3).map(|_| study.ask().unwrap()).collect();
            for (worker, trial) in open.into_iter().enumerate() {
                let point = trial.point().clone();
                let source = study.why(trial.id()).unwrap().source;
                assert!(
                    seen.insert(point.to_string()) || source != Source::Model,
                    "{name}: round {round}, worker {worker} repeats {point}"
                );
                match (3 * round + worker) % 5 {
                    4 => study.tell(trial.fail("broken")).unwrap(),
                    _ => study.tell(trial.observe(value(&point)).unwrap()).unwrap(),
                };
            }
        }
    }
}
