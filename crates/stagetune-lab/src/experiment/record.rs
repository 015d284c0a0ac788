//! One run of one strategy: what was asked, what was answered, how long each ask took.

use super::plan::{Entry, Plan};
use super::start;
use crate::peers::replay::Replay;
use crate::peers::transcript::Games;
use crate::simulate::normal;
use anyhow::{Context, Result, bail, ensure};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use stagetune::space::Point;
use stagetune::strategy::{Identity, Source};
use stagetune::study::{Event, StopRules, Study};
use stagetune::trial::End;
use std::time::Instant;

/// The format of the files of runs: 3, since they hold the identity of the strategy as data.
pub const FORMAT: u32 = 3;

/// One run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// [`FORMAT`] of the release that wrote it.
    pub format: u32,
    /// The label of the strategy.
    pub strategy: String,
    /// The number of the run, from 1.
    pub sim: usize,
    /// What it depends on besides its number.
    pub conditions: Value,
    /// What the strategy is, options included: a run of other options is another run.
    pub identity: Identity,
    /// Seconds of each ask.
    pub ask_seconds: Vec<f64>,
    /// All that happened.
    pub events: Vec<Event>,
}

/// A trial of a run.
#[derive(Clone, Copy, Debug)]
pub struct Tried<'a> {
    /// What was tried.
    pub point: &'a Point,
    /// What chose it.
    pub source: Source,
    /// The value with noise.
    pub observed: f64,
    /// Seconds of the ask.
    pub ask_seconds: f64,
}

/// The seeds of run number `sim` for the strategy and for the noise: the same for every strategy.
///
/// They come from different draws, since equal seeds would make the noise of a trial a function of its point.
pub fn seeds(seed: u64, sim: usize) -> (u64, u64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(sim as u64);
    (rng.next_u64(), rng.next_u64())
}

impl Record {
    /// Does the run.
    pub fn make(plan: &Plan, entry: &Entry, sim: usize) -> Result<Self> {
        let pipeline = &plan.pipeline;
        let space = pipeline.space()?;
        let (strategy_seed, noise_seed) = seeds(plan.seed, sim);
        let game = match &entry.games {
            Some(folder) => {
                let games = Games::open(folder, pipeline.problem.name())?;
                games.load(&plan.game(&entry.strategy, sim))?
            }
            None => None,
        };
        let game_seconds = game.as_ref().map(|game| game.seconds.clone());
        // A game that is over ends the run.
        let trials = game.as_ref().map(|game| plan.start.len() + game.x.len());
        let trials = trials.into_iter().chain(plan.trials).min();
        let strategy = match game {
            Some(game) => start::before(plan.start, strategy_seed, Box::new(Replay::new(game))),
            None => {
                let start = plan.start_of(entry);
                start::build(&entry.strategy, &space, start, strategy_seed, plan.budget_cost())?
            }
        };
        let (conditions, identity) = (plan.conditions(entry), strategy.identity());
        let cost = plan.limits_cost.then(|| plan.budget_cost());
        let rules = StopRules { cost, trials, ..StopRules::default() };
        let options = conditions.as_object().cloned().unwrap_or_default();
        let label = Identity { name: entry.strategy.clone(), seed: strategy_seed, options };
        let study = Study::new(space, strategy).cost_model(plan.cost_model)?.stop(rules)?;
        let mut study = study.label(label)?;
        let mut ask_seconds = Vec::new();
        while study.stopped().is_none() {
            // A cache makes a point that was seen before free: without progress in cost a run would
            // never end.
            ensure!(
                ask_seconds.len() < most_trials(plan),
                "{} trials have not spent the budget; give the plan a limit of `trials` of at most as many",
                ask_seconds.len()
            );
            let started = Instant::now();
            let trial = study.ask()?;
            ask_seconds.push(started.elapsed().as_secs_f64());
            let number = trial.id().index();
            let point = trial.point().clone();
            let value = pipeline.value(&point)? + pipeline.noise * normal(noise_seed, number);
            let mut observed = trial.observe(value)?;
            if pipeline.spread.is_some() {
                let ran = study.proposal(observed.id()).map(|p| p.why.first_changed);
                let first = ran.with_context(|| format!("trial {number} has no proposal"))?;
                // Under `previous` the last module runs even where nothing changed.
                let last = pipeline.split.len() - 1;
                let first = match plan.cost_model {
                    stagetune::space::CostModel::Previous => Some(first.unwrap_or(last)),
                    stagetune::space::CostModel::Cache => first,
                };
                let stage = |m: usize| {
                    let runs = first.is_some_and(|first| m >= first);
                    runs.then(|| pipeline.stage_cost(m, &point)).transpose()
                };
                observed = observed.measured((0..=last).map(stage).collect::<Result<Vec<_>>>()?)?;
            }
            study.tell(observed)?;
            if plan.until.is_some_and(|until| pipeline.value(&point).is_ok_and(|value| value <= until)) {
                break;
            }
        }
        // What a replay takes is not what the peer took.
        for (seconds, took) in
            ask_seconds.iter_mut().skip(plan.start.len()).zip(game_seconds.iter().flatten())
        {
            *seconds = *took;
        }
        Ok(Self {
            format: FORMAT,
            strategy: entry.label.clone(),
            sim,
            conditions,
            identity,
            ask_seconds,
            events: study.events().to_vec(),
        })
    }

    /// The trials in order.
    pub fn trials(&self) -> Result<Vec<Tried<'_>>> {
        let mut trials = Vec::with_capacity(self.ask_seconds.len());
        let mut open = None;
        let mut value = None;
        for event in &self.events {
            if let Event::Asked { trial, proposal } = event {
                (open, value) = (Some((*trial, proposal)), None);
            }
            if let Event::Reported { report, .. } = event {
                value = report.metrics.values().next().copied().or(value);
            }
            let Event::Ended { trial, end, .. } = event else { continue };
            ensure!(matches!(end, End::Finished), "trial {trial} has no value, which no test problem does");
            match (open.take(), value) {
                (Some((asked, proposal)), Some(observed)) if asked == *trial => trials.push(Tried {
                    point: &proposal.point,
                    source: proposal.why.source,
                    observed,
                    ask_seconds: self.ask_seconds.get(trials.len()).copied().unwrap_or(0.0),
                }),
                _ => bail!("trial {trial} is answered but was not asked for; delete the run's file"),
            }
        }
        ensure!(
            !trials.is_empty() && trials.len() == self.ask_seconds.len(),
            "{} trials but {} times; delete the run's file to have it made again",
            trials.len(),
            self.ask_seconds.len()
        );
        Ok(trials)
    }
}

/// More trials than any budget of ours pays for with the cheapest module alone.
fn most_trials(plan: &Plan) -> usize {
    const MOST: usize = 5_000;
    plan.trials.unwrap_or(MOST).min(MOST)
}
