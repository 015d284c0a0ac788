//! A long study read back: replay has to be linear in the number of trials.

use crate::data::only;
use divan::Bencher;
use stagetune::space::{Cost, CostModel, Module, Param, Space};
use stagetune::study::{Event, Study};
use stagetune::trial::Proposed;

/// Trials that are open at a time.
const WORKERS: usize = 4;

fn space() -> Space {
    let module = |m: usize| {
        let params = [0, 1].map(|i| Param::float(&format!("x{}", 2 * m + i), 0.0, 1.0).unwrap());
        Module::new(&format!("m{m}"), params).unwrap().cost(Cost::Measured).unwrap()
    };
    Space::new((0..3).map(module)).unwrap()
}

fn fresh() -> Study {
    Study::named(space(), "random", 1).unwrap().cost_model(CostModel::Cache).unwrap()
}

/// The events of so many trials of `random`, four of them open at a time, told in any order; every tenth fails.
fn events(trials: usize) -> Vec<Event> {
    let mut study = fresh();
    let mut open: Vec<Proposed> = Vec::new();
    for i in 0..trials {
        open.push(study.ask().unwrap());
        if open.len() < WORKERS {
            continue;
        }
        let trial = open.swap_remove(i * 7 % WORKERS);
        let stages = vec![Some(1.0), Some(0.5), Some(0.1)];
        if i % 10 == 9 {
            study.tell(trial.fail("broke").after(i % 4).measured(stages).unwrap()).unwrap();
        } else {
            study.tell(trial.observe(i as f64).unwrap().measured(stages).unwrap()).unwrap();
        }
    }
    study.events().to_vec()
}

/// From events in memory to a study that can be asked.
#[divan::bench(args = only(20_000), sample_count = 3)]
fn replay_of_random_trials(bencher: Bencher, n: usize) {
    let events = events(n);
    bencher.with_inputs(|| events.clone()).bench_local_values(|events| fresh().replay(events).unwrap());
}

/// The same from lines of JSON.
#[divan::bench(args = only(20_000), sample_count = 3)]
fn replay_of_lines(bencher: Bencher, n: usize) {
    let lines: Vec<String> = events(n).iter().map(|event| serde_json::to_string(event).unwrap()).collect();
    bencher.bench_local(|| {
        fresh().replay(lines.iter().map(|line| serde_json::from_str::<Event>(line).unwrap())).unwrap()
    });
}

/// What is asked of a study while it runs: the best trial, the open ones, and all of them once.
#[divan::bench(args = only(20_000), sample_count = 3)]
fn looking_at_a_study(bencher: Bencher, n: usize) {
    let study = fresh().replay(events(n)).unwrap();
    bencher.bench_local(|| (study.best(), study.open().count(), study.trials().count(), study.stopped()));
}
