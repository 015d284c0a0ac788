//! Comparing: each proposal is made anew after the recorded history.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use stagetune::strategy::Proposal;
use stagetune::study::Study;
use stagetune::trial::TrialId;

use super::log::{Asked, Log, Step, instructions};
use super::scenarios::Scenario;

/// How far numbers may be apart on another instruction set, of their own size.
const TOLERANCE: f64 = 1e-9;

/// A new study of a scenario.
pub fn study(scenario: &Scenario, strategy: &str, options: &Map<String, Value>) -> Study {
    Study::configured(scenario.space.clone(), strategy, options, 31)
        .unwrap()
        .direction(scenario.direction)
        .unwrap()
        .cost_model(scenario.cost_model)
        .unwrap()
        .stop(scenario.rules)
        .unwrap()
}

/// Makes every proposal of a log anew; how many there were.
pub fn check(scenario: &Scenario, log: &Log) -> usize {
    let exact = log.instructions == instructions();
    let mut compared = 0;
    for run in &log.runs {
        let mut study = study(scenario, &run.strategy, &run.options);
        for (number, step) in run.steps.iter().enumerate() {
            let place = || format!("{}: {} {:?}, step {number}", scenario.name, run.strategy, run.options);
            match step {
                Step::Asked(recorded) => {
                    let trial = study.ask().unwrap_or_else(|error| panic!("{}: {error}", place()));
                    let now = asked(study.proposal(trial.id()).unwrap());
                    assert_same(recorded, &now, exact, &place);
                    compared += 1;
                }
                Step::Value { trial, value, costs } => {
                    let open = open(&study, *trial);
                    study.tell(open.observe(*value).unwrap().measured(costs.clone()).unwrap()).unwrap();
                }
                Step::Failure { trial, finished, broke, costs } => {
                    let failed = open(&study, *trial).fail("no").after(*finished);
                    let failed = broke.map_or(failed.clone(), |module| failed.broken_in(module));
                    study.tell(failed.measured(costs.clone()).unwrap()).unwrap();
                }
            }
        }
    }
    compared
}

fn open(study: &Study, trial: u64) -> stagetune::trial::Proposed {
    study.open().find(|open| open.id() == TrialId::new(trial)).unwrap().clone()
}

fn assert_same(recorded: &Asked, now: &Asked, exact: bool, place: &dyn Fn() -> String) {
    if exact {
        assert_eq!(recorded, now, "{}", place());
        return;
    }
    assert_eq!(recorded.source, now.source, "{}", place());
    let close = |a: f64, b: f64| (a - b).abs() <= TOLERANCE * (1.0 + a.abs().max(b.abs()));
    for (name, value) in &recorded.point {
        let same = match (value.as_f64(), now.point[name].as_f64()) {
            (Some(a), Some(b)) => close(a, b),
            _ => *value == now.point[name],
        };
        assert!(same, "{}: {name} was {value} and is {}", place(), now.point[name]);
    }
    for (name, numbers) in &recorded.numbers {
        let other = &now.numbers[name];
        let same = numbers.len() == other.len() && numbers.iter().zip(other).all(|(a, b)| close(*a, *b));
        assert!(same, "{}: {name} was {numbers:?} and is {other:?}", place());
    }
}

/// A proposal in plain JSON.
pub fn asked(proposal: &Proposal) -> Asked {
    let Proposal { point, why, hyper, .. } = proposal;
    let mut numbers = BTreeMap::new();
    let mut note = |name: &str, values: Vec<f64>| drop(numbers.insert(name.to_owned(), values));
    if let Some(cost) = why.expected_cost {
        note("expected cost", vec![cost]);
    }
    if let Some(belief) = why.belief {
        note("belief", vec![belief.mean, belief.sd, belief.acquisition]);
    }
    if let Some(arm) = &why.arm {
        note("arm", vec![arm.iteration as f64, arm.arm as f64, arm.level as f64, arm.first_free as f64]);
        note("probabilities", arm.probabilities.clone());
        note("losses", arm.losses.clone());
    }
    if let Some(hyper) = hyper {
        note("lengthscales", hyper.lengthscales.clone());
        note("hyper", vec![hyper.signal_variance, hyper.noise_variance, hyper.mean]);
    }
    let json = |(name, value): (&str, &stagetune::space::Value)| {
        (name.to_owned(), serde_json::to_value(value).unwrap())
    };
    let source = serde_json::to_value(why.source).unwrap();
    Asked { point: point.iter().map(json).collect(), source: source.as_str().unwrap().to_owned(), numbers }
}
