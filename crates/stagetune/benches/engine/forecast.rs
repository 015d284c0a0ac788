//! One forecast: a fit, the places, and all that is worked out over them; as `stagetune status` and the stopping rule pay for it.

use crate::data::{DIM, points, sizes, values};
use divan::Bencher;
use stagetune::forecast::{Horizon, forecast};
use stagetune::space::{Cost, CostModel, Module, Param, RunHistory, Space};
use stagetune::strategy::View;
use stagetune::trial::{Proposed, Trial, TrialId};

/// Eight variables in three modules.
fn space() -> Space {
    let module = |(m, range): (usize, std::ops::Range<usize>)| {
        let params: Vec<Param> = range.map(|i| Param::float(&format!("x{i}"), 0.0, 1.0).unwrap()).collect();
        Module::new(&format!("m{m}"), params).unwrap().cost(Cost::Measured).unwrap()
    };
    Space::new([0..2, 2..5, 5..DIM].into_iter().enumerate().map(module)).unwrap()
}

/// With measured stage costs, which are fitted as well, under a cache.
#[divan::bench(args = sizes(200), sample_count = 10, max_time = 3)]
fn forecast_of_three_modules(bencher: Bencher, n: usize) {
    let space = space();
    let x = points(n, 1);
    let mut history = RunHistory::new();
    let trials: Vec<Trial> = x
        .rows()
        .zip(values(&x))
        .enumerate()
        .map(|(i, (u, y))| {
            let point = space.decode(u).unwrap();
            history.record(&space, &point).unwrap();
            let costs = [10.0 + u[0], 3.0 + u[2], 1.0 + u[5]].map(Some).to_vec();
            let trial = Proposed::new(TrialId::new(i as u64), point).observe(y).unwrap();
            Trial::Observed(trial.measured(costs).unwrap())
        })
        .collect();
    let view = View {
        space: &space,
        trials: &trials,
        costs: None,
        cost_model: CostModel::Cache,
        history: &history,
        spent: 0.0,
        budget: None,
        most_trials: None,
    };
    bencher.bench_local(|| forecast(&view, Horizon::FullRuns(20.0), 1).unwrap());
}
