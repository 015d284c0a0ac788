//! One ask of `auto` and one forecast over wide spaces at 200 trials: many parameters, many stages, choices of many values.

use divan::Bencher;
use stagetune::forecast::{Horizon, forecast};
use stagetune::numeric::Batch;
use stagetune::numeric::sobol::Sobol;
use stagetune::space::{Cost, CostModel, Module, Param, RunHistory, Space};
use stagetune::strategy::{Auto, AutoOptions, Strategy, View};
use stagetune::trial::{Proposed, Trial, TrialId};

/// Trials that were told.
const TRIALS: usize = 200;

const SPACES: [&str; 4] = ["200-parameters", "100-stages", "one-choice-of-1000", "four-choices-of-1000"];

/// Stages of so many floats each, with measured costs.
fn floats(stages: usize, each: usize) -> Vec<Module> {
    let stage = |m: usize| {
        let params = (0..each).map(|i| Param::float(&format!("x{m}-{i}"), 0.0, 1.0).unwrap());
        Module::new(&format!("m{m}"), params).unwrap().cost(Cost::Measured).unwrap()
    };
    (0..stages).map(stage).collect()
}

/// Four stages of one float each, the last so many of them with a choice of a thousand values.
fn choices(count: usize) -> Vec<Module> {
    let stage = |m: usize| {
        let mut params = vec![Param::float(&format!("x{m}"), 0.0, 1.0).unwrap()];
        if m + count >= 4 {
            let values = (0..1_000).map(|k| format!("v{k}"));
            params.push(Param::choice(&format!("c{m}"), values).unwrap());
        }
        Module::new(&format!("m{m}"), params).unwrap().cost(Cost::Measured).unwrap()
    };
    (0..4).map(stage).collect()
}

fn space(name: &str) -> Space {
    let modules = match name {
        "200-parameters" => floats(4, 50),
        "100-stages" => floats(100, 1),
        "one-choice-of-1000" => choices(1),
        _ => choices(4),
    };
    Space::new(modules).unwrap()
}

/// What trials cost and bring: half of them share the early values of the one before.
fn trials(space: &Space) -> (Vec<Trial>, RunHistory) {
    let params = space.params();
    let mut x = Batch::zeros(TRIALS, params.len());
    Sobol::new(params.len(), 1).fill(&mut x).unwrap();
    let mut history = RunHistory::new();
    let mut trials: Vec<Trial> = Vec::new();
    for i in 0..TRIALS {
        let mut u = x.row(i).to_vec();
        let kept = params.len() / 2;
        u[..kept].copy_from_slice(&x.row(i / 2)[..kept]);
        // The value of a choice by its number, those of floats as they are.
        let texts: Vec<String> = u.iter().map(|u| format!("v{}", (u * 1_000.0) as usize)).collect();
        let values = params.iter().zip(&u).zip(&texts).map(|((param, u), text)| {
            let value = if param.kind() == "choice" { text.as_str().into() } else { (*u).into() };
            (&**param.name(), value)
        });
        let point = space.point::<stagetune::space::Value>(values).unwrap();
        history.record(space, &point).unwrap();
        let value = u.iter().map(|u| (u - 0.4).powi(2)).sum::<f64>() + 0.1 * (20.0 * u[0]).sin();
        let costs = (0..space.modules().len()).map(|m| Some(1.0 + u[space.module_params(m).start]));
        let trial = Proposed::new(TrialId::new(i as u64), point).observe(value).unwrap();
        trials.push(Trial::Observed(trial.measured(costs.collect()).unwrap()));
    }
    (trials, history)
}

fn view<'a>(space: &'a Space, trials: &'a [Trial], history: &'a RunHistory) -> View<'a> {
    View {
        space,
        trials,
        costs: None,
        cost_model: CostModel::Cache,
        history,
        spent: 0.0,
        budget: None,
        most_trials: None,
    }
}

/// An ask that fits.
#[divan::bench(args = SPACES, sample_count = 20, sample_size = 1, max_time = 20)]
fn auto_ask(bencher: Bencher, name: &str) {
    let space = space(name);
    let (trials, history) = trials(&space);
    let view = view(&space, &trials, &history);
    let mut strategy = Auto::new(&space, AutoOptions::default(), 1).unwrap();
    let first = strategy.propose(&view).unwrap();
    strategy.accept(&view.past(), &first).unwrap();
    bencher.bench_local(|| strategy.propose(&view).unwrap());
}

/// What `stagetune status` shows, without the process.
#[divan::bench(args = SPACES, sample_count = 10, sample_size = 1, max_time = 20)]
fn status_forecast(bencher: Bencher, name: &str) {
    let space = space(name);
    let (trials, history) = trials(&space);
    let view = view(&space, &trials, &history);
    bencher.bench_local(|| forecast(&view, Horizon::FullRuns(20.0), 1).unwrap());
}
