//! One ask of a strategy with its hyper-parameters fitted, side by side, and a replay.

use crate::data::{DIM, points, sizes, values};
use divan::Bencher;
use stagetune::space::{Cost, CostModel, Module, Param, RunHistory, Space};
use stagetune::strategy::{
    Auto, AutoOptions, EipuPrefix, EipuPrefixOptions, GpUcb, GpUcbOptions, Lambo, LamboOptions, Strategy,
    View,
};
use stagetune::study::Study;
use stagetune::trial::{Proposed, Trial, TrialId};

/// Four modules of two variables: eight arms, when each but the last is in two halves.
fn space() -> Space {
    let module = |m: usize| {
        let params = [0, 1].map(|i| Param::float(&format!("x{}", 2 * m + i), 0.0, 1.0).unwrap());
        Module::new(&format!("m{m}"), params).unwrap().cost(Cost::Given(10f64.powi(3 - m as i32))).unwrap()
    };
    Space::new((0..DIM / 2).map(module)).unwrap()
}

fn ask(bencher: Bencher, n: usize, make: impl Fn(&Space) -> Box<dyn Strategy>) {
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
            Trial::Observed(Proposed::new(TrialId::new(i as u64), point).observe(y).unwrap())
        })
        .collect();
    let view = View {
        space: &space,
        trials: &trials,
        costs: None,
        cost_model: CostModel::Previous,
        history: &history,
        spent: 0.0,
        budget: None,
        most_trials: None,
    };
    let mut strategy = make(&space);
    let first = strategy.propose(&view).unwrap();
    strategy.accept(&view.past(), &first).unwrap();
    bencher.bench_local(|| strategy.propose(&view).unwrap());
}

/// Eight arms.
#[divan::bench(args = sizes(1_000), sample_count = 10, max_time = 3)]
fn lambo_paper_ask(bencher: Bencher, n: usize) {
    ask(bencher, n, |space| Box::new(Lambo::new(space, LamboOptions::paper(), 1).unwrap()));
}

/// The whole space at once.
#[divan::bench(args = sizes(1_000), sample_count = 10, max_time = 3)]
fn gp_ucb_ask(bencher: Bencher, n: usize) {
    ask(bencher, n, |space| Box::new(GpUcb::new(space, GpUcbOptions::default(), 1).unwrap()));
}

/// Eight variables in three modules and a cache that holds half as many prefixes as there were trials; every ask fits.
#[divan::bench(args = [50, 100, 200, 400], sample_count = 10, max_time = 3)]
fn auto_ask(bencher: Bencher, n: usize) {
    cached_ask(bencher, n, |space| Box::new(Auto::new(space, AutoOptions::default(), 1).unwrap()));
}

/// The same for one of its rivals, side by side.
#[divan::bench(args = [50, 100, 200, 400], sample_count = 10, max_time = 3)]
fn eipu_prefix_ask(bencher: Bencher, n: usize) {
    let options = EipuPrefixOptions::default();
    cached_ask(bencher, n, |space| Box::new(EipuPrefix::new(space, options.clone(), 1).unwrap()));
}

fn cached_ask(bencher: Bencher, n: usize, make: impl Fn(&Space) -> Box<dyn Strategy>) {
    let mut from = 0;
    let modules = [(3, 40.0), (3, 10.0), (2, 1.0)].map(|(variables, cost)| {
        let params: Vec<Param> =
            (from..from + variables).map(|i| Param::float(&format!("x{i}"), 0.0, 1.0).unwrap()).collect();
        from += variables;
        Module::new(&format!("m{from}"), params).unwrap().cost(Cost::Given(cost)).unwrap()
    });
    let space = Space::new(modules).unwrap();
    let (x, mut history) = (points(n, 1), RunHistory::new());
    let mut trials: Vec<Trial> = Vec::new();
    for i in 0..n {
        // Two trials share what the first two modules were given.
        let mut u = x.row(i).to_vec();
        u[..6].copy_from_slice(&x.row(i / 2)[..6]);
        let point = space.decode(&u).unwrap();
        history.record(&space, &point).unwrap();
        let value = u.iter().map(|u| (u - 0.4).powi(2)).sum::<f64>() + 0.1 * (20.0 * u[0]).sin();
        trials.push(Trial::Observed(Proposed::new(TrialId::new(i as u64), point).observe(value).unwrap()));
    }
    let (space, trials, cost_model) = (&space, trials.as_slice(), CostModel::Cache);
    let view = View {
        space,
        trials,
        costs: None,
        cost_model,
        history: &history,
        spent: 0.0,
        budget: None,
        most_trials: None,
    };
    let mut strategy = make(space);
    let first = strategy.propose(&view).unwrap();
    strategy.accept(&view.past(), &first).unwrap();
    bencher.bench_local(|| strategy.propose(&view).unwrap());
}

/// A study of a hundred trials from its events.
#[divan::bench(sample_count = 10, max_time = 3)]
fn replay_of_100_trials(bencher: Bencher) {
    let space = space();
    let fresh = || Study::named(space.clone(), "lambo-paper", 1).unwrap();
    let mut study = fresh();
    for _ in 0..100 {
        let trial = study.ask().unwrap();
        let value = space.encode(trial.point()).unwrap().iter().map(|u| (u - 0.4).powi(2)).sum();
        study.tell(trial.observe(value).unwrap()).unwrap();
    }
    bencher.bench_local(|| fresh().replay(study.events().to_vec()).unwrap());
}
