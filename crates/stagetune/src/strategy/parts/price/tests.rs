//! Prices against numbers worked out by hand, and their gradients against finite differences.

use super::*;
use crate::space::{Cost, Module, Param, Point, RunHistory, Space, Value};
use crate::strategy::View;
use crate::trial::{Proposed, Trial, TrialId};

fn space(costs: [Cost; 2]) -> Space {
    let module = |(m, cost): (usize, Cost)| {
        let name = ["a", "b"][m];
        let param = Param::float(["x", "y"][m], 0.0, 1.0).unwrap();
        Module::new(name, [param]).unwrap().cost(cost).unwrap()
    };
    Space::new(costs.into_iter().enumerate().map(module)).unwrap()
}

/// Trials whose second stage costs e^{2y} and whose first costs 3.
fn trials(space: &Space) -> Vec<Trial> {
    let point = |x: f64, y: f64| -> Point { space.point([("x", Value::from(x)), ("y", y.into())]).unwrap() };
    (0..12)
        .map(|i| {
            let y = f64::from(i) / 11.0;
            let trial = Proposed::new(TrialId::new(i as u64), point(1.0 - y * y, y));
            let stages = vec![(i % 2 == 0).then_some(3.0), Some((2.0 * y).exp())];
            Trial::Observed(trial.observe(y).unwrap().measured(stages).unwrap())
        })
        .collect()
}

fn stages(numbers: &[usize]) -> StageSet {
    numbers.iter().copied().collect()
}

fn costs(space: &Space, trials: &[Trial]) -> StageCosts {
    let history = RunHistory::new();
    let view = View::of(space, trials, &history);
    StageCosts::of(&view, 1, 1).unwrap()
}

#[test]
fn given_costs_are_summed_over_the_stages_that_run() {
    let costs = costs(&space([Cost::Given(10.0), Cost::Given(1.0)]), &[]);
    let ln =
        |runs: &[usize]| Price::new(&costs, &stages(runs)).ln(&Batch::from_rows(&[[0.3, 0.4]])).unwrap()[0];
    assert_eq!(ln(&[0, 1]), 11f64.ln());
    assert_eq!(ln(&[1]), 0.0);
    // Nothing costs a thousandth of everything.
    assert_eq!(ln(&[]), (11.0 * LEAST_SHARE).ln());
}

#[test]
fn free_pipelines_and_those_that_nobody_measured_cost_one_full_run() {
    let at = Batch::from_rows(&[[0.3, 0.4]]);
    let free = costs(&space([Cost::Given(0.0), Cost::Given(0.0)]), &[]);
    assert_eq!(Price::new(&free, &stages(&[1])).ln(&at).unwrap(), [0.0]);
    let unknown = costs(&space([Cost::Measured, Cost::Given(4.0)]), &[]);
    assert_eq!(Price::new(&unknown, &StageSet::all(2)).ln(&at).unwrap(), [8f64.ln()]);
    let nothing = costs(&space([Cost::Measured, Cost::Measured]), &[]);
    assert_eq!(Price::new(&nothing, &StageSet::all(2)).ln(&at).unwrap(), [2f64.ln()]);
}

#[test]
fn a_stage_learns_from_its_own_runs_and_variables_alone() {
    let space = space([Cost::Measured, Cost::Measured]);
    let costs = costs(&space, &trials(&space));
    let ln = |runs: &[usize], x: f64, y: f64| {
        Price::new(&costs, &stages(runs)).ln(&Batch::from_rows(&[[x, y]])).unwrap()[0]
    };
    for y in [0.05, 0.5, 0.93] {
        assert!((ln(&[1], 0.1, y) - 2.0 * y).abs() < 0.1, "{y}");
        assert_eq!(ln(&[1], 0.1, y), ln(&[1], 0.9, y));
    }
    assert!((ln(&[0], 0.4, 0.2) - 3f64.ln()).abs() < 1e-6);
    assert!((ln(&[0, 1], 0.4, 0.5) - (3.0 + 1f64.exp()).ln()).abs() < 0.1);
}

#[test]
fn gradients_meet_finite_differences_with_and_without_draws() {
    let space = space([Cost::Measured, Cost::Measured]);
    let costs = costs(&space, &trials(&space));
    let (runs, draws) = (StageSet::all(2), normal_draws(64, 2, 3));
    for price in [Price::new(&costs, &runs), Price::new(&costs, &runs).expected(&draws, 0.1)] {
        let at = [0.37, 0.61];
        let found = price.ln_with_gradient(&Batch::from_rows(&[at])).unwrap();
        assert_eq!(found.value, price.ln(&Batch::from_rows(&[at])).unwrap());
        for d in 0..2 {
            let value = |step: f64| {
                let mut x = at;
                x[d] += step;
                price.ln(&Batch::from_rows(&[x])).unwrap()[0]
            };
            let difference = (value(1e-6) - value(-1e-6)) / 2e-6;
            assert!((difference - found.gradient.row(0)[d]).abs() < 1e-5, "{d}: {difference}");
        }
    }
}

#[test]
fn draws_are_standard_normal() {
    let draws = normal_draws(1024, 2, 9);
    let mean = |f: &dyn Fn(f64) -> f64| draws.as_slice().iter().map(|z| f(*z)).sum::<f64>() / 2048.0;
    assert!(mean(&|z| z).abs() < 0.01 && (mean(&|z| z * z) - 1.0).abs() < 0.02);
}
