//! Recording: strategies are asked, and a function nobody tunes on answers.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stagetune::space::Space;
use stagetune::trial::Proposed;

use super::compare::{asked, study};
use super::log::{Log, Run, Step, instructions};
use super::scenarios::Scenario;

/// Plays a scenario with every player.
pub fn record(scenario: &Scenario) -> Log {
    let players = scenario.players.iter().enumerate();
    let runs = players.map(|(number, (strategy, options))| Run {
        strategy: (*strategy).to_owned(),
        options: options.clone(),
        steps: play(scenario, strategy, options, number as u64),
    });
    Log { instructions: instructions(), runs: runs.collect() }
}

fn play(
    scenario: &Scenario,
    strategy: &str,
    options: &serde_json::Map<String, serde_json::Value>,
    seed: u64,
) -> Vec<Step> {
    let mut study = study(scenario, strategy, options);
    let mut dice = ChaCha8Rng::seed_from_u64(seed);
    let (mut steps, mut open): (Vec<Step>, Vec<Proposed>) = (Vec::new(), Vec::new());
    while study.trials().len() < scenario.trials || !open.is_empty() {
        let room = study.trials().len() < scenario.trials && open.len() < scenario.open;
        if room && study.stopped().is_none() && (open.is_empty() || dice.random_bool(0.6)) {
            let trial = study.ask().unwrap();
            let proposal = study.proposal(trial.id()).unwrap();
            steps.push(Step::Asked(Box::new(asked(proposal))));
            open.push(trial);
            continue;
        }
        if open.is_empty() {
            break;
        }
        let trial = open.swap_remove(dice.random_range(0..open.len()));
        let number = trial.id().index();
        let u = scenario.space.encode(trial.point()).unwrap();
        let costs = costs(&scenario.space, &u, &mut dice);
        let fails =
            scenario.fail_every > 0 && number as usize % scenario.fail_every == scenario.fail_every - 1;
        if fails {
            let modules = scenario.space.modules().len();
            let finished = dice.random_range(0..modules);
            let broke = dice.random_bool(0.5).then_some(finished);
            let failed = trial.fail("no").after(finished);
            let failed = broke.map_or(failed.clone(), |module| failed.broken_in(module));
            study.tell(failed.measured(costs.clone()).unwrap()).unwrap();
            steps.push(Step::Failure { trial: number, finished, broke, costs });
        } else {
            let value = value(scenario, &u);
            study.tell(trial.observe(value).unwrap().measured(costs.clone()).unwrap()).unwrap();
            steps.push(Step::Value { trial: number, value, costs });
        }
    }
    steps
}

/// A bowl off the centre with a ripple, turned for scenarios that maximise.
fn value(scenario: &Scenario, u: &[f64]) -> f64 {
    let bowl = |(i, u): (usize, &f64)| (u - 0.3 - 0.07 * i as f64).powi(2) + 0.05 * (9.0 * u).sin();
    let mut value: f64 = u.iter().enumerate().map(bowl).sum();
    if scenario.step > 0.0 {
        value = (value / scenario.step).round() * scenario.step;
    }
    if scenario.direction == stagetune::study::Direction::Maximize { 1.0 - value } else { value }
}

/// What the modules cost, where that is measured: more with the first coordinate, with some noise, and now and then a module did not run.
fn costs(space: &Space, u: &[f64], dice: &mut ChaCha8Rng) -> Vec<Option<f64>> {
    use stagetune::space::Cost;
    if space.modules().iter().all(|module| module.cost_kind() != Cost::Measured) {
        return Vec::new();
    }
    let scale = 1.0 + u.first().copied().unwrap_or(0.0);
    let modules = space.modules().len();
    (0..modules)
        .map(|m| {
            dice.random_bool(0.8)
                .then(|| 4f64.powi((modules - m) as i32) * scale * dice.random_range(0.9..1.1))
        })
        .collect()
}
