//! `lambo-paper` is what it was: the same proposals and the same settings as before `lambo` got options of its own.

// Clippy lets tests unwrap and panic but not the helpers beside them.
#![allow(clippy::unwrap_used, clippy::panic)]

use stagetune::space::{Cost, CostModel, Module, Param, Space};
use stagetune::strategy::{by_name, complete_options};
use stagetune::study::Study;

fn space() -> Space {
    let module = |name: &str, cost: f64, params: Vec<Param>| {
        Module::new(name, params).unwrap().cost(Cost::Given(cost)).unwrap()
    };
    let float = |name: &str| Param::float(name, 0.0, 1.0).unwrap();
    Space::new([
        module("first", 40.0, vec![float("a"), Param::int("n", 1, 9).unwrap()]),
        module("second", 10.0, vec![float("b")]),
        module("third", 1.0, vec![float("c")]),
    ])
    .unwrap()
}

/// The coded points of 34 trials; number 20 fails.
fn proposals(cost_model: CostModel) -> Vec<Vec<f64>> {
    let space = space();
    let mut study = Study::named(space.clone(), "lambo-paper", 7).unwrap().cost_model(cost_model).unwrap();
    (0..34)
        .map(|number| {
            let trial = study.ask().unwrap();
            let u = space.encode(trial.point()).unwrap();
            let value: f64 =
                u.iter().enumerate().map(|(i, u)| (3.0 * u + i as f64).sin()).sum::<f64>() + u[0] * u[3];
            match number {
                20 => study.tell(trial.fail("broke")).unwrap(),
                _ => study.tell(trial.observe(value).unwrap()).unwrap(),
            }
            u
        })
        .collect()
}

/// What came after the 15 points of the start, in seven digits: the last ones may differ from machine to machine.
const BEFORE: [[f64; 4]; 19] = [
    [1.0, 0.8333333, 0.5212941, 0.4762778],
    [1.0, 0.8333333, 0.5, 0.3395927],
    [1.0, 0.8333333, 0.5, 0.4685488],
    [1.0, 0.8333333, 0.5, 0.6167788],
    [1.0, 0.8333333, 0.5, 0.4459493],
    [1.0, 0.8333333, 0.5, 0.0],
    [1.0, 0.8333333, 0.5, 0.9699098],
    [1.0, 0.8333333, 0.7973644, 0.3968167],
    [1.0, 0.8333333, 0.7973644, 0.5819503],
    [1.0, 0.8333333, 0.7973644, 0.4781587],
    [1.0, 0.8333333, 0.7339622, 0.4341225],
    [1.0, 0.8333333, 0.7339622, 0.5118792],
    [1.0, 0.8333333, 0.7339622, 0.429447],
    [0.8433128, 0.7222222, 0.9256332, 0.4135655],
    [0.8433128, 0.7222222, 0.9256332, 0.6948694],
    [0.8433128, 0.7222222, 0.9256332, 0.1724614],
    [0.8433128, 0.7222222, 0.9256332, 1.0],
    [0.8433128, 0.7222222, 0.9256332, 0.5292281],
    [0.8433128, 0.7222222, 0.9256332, 0.4841846],
];

/// Its options before there were anchors.
const OPTIONS: &str = r#"{"design": {"uniform": 15}, "model": {"family": "squared-exponential", "shared_lengthscale": true,
    "priors": false, "noise": {"known": 0.0001}, "refit_every": 25, "refit_share": 0.0}, "alpha": {"lcb": "printed"},
    "losses": "rescale", "eta": 1.0, "partition": "bisect", "depths": {"all": 1}, "abandon": {"below": 0.1, "after": 10},
    "refinements": 2, "refresh_every": 25, "growth": {"every": 20, "more_than": 5}, "lambda": 0.1, "scores": [],
    "theory": null, "max_arms": 64,
    "effort": {"raw": 128, "near_hints": 48, "starts": 4, "max_evaluations": 60}}"#;

#[test]
fn its_proposals_are_those_of_before_under_both_cost_models() {
    for cost_model in [CostModel::Previous, CostModel::Cache] {
        for (number, (now, before)) in proposals(cost_model)[15..].iter().zip(&BEFORE).enumerate() {
            let same = now.iter().zip(before).all(|(now, before)| (now - before).abs() < 1e-6);
            assert!(same, "proposal {number} after the start: {now:?}, before {before:?}");
        }
    }
}

#[test]
fn its_options_of_before_come_to_the_same_so_that_studies_go_on() {
    let before = complete_options("lambo-paper", &serde_json::from_str(OPTIONS).unwrap()).unwrap();
    let identity = by_name("lambo-paper", &space(), 7).unwrap().identity();
    assert_eq!((identity.name.as_str(), identity.seed, identity.options), ("lambo-paper", 7, before));
}
