//! Runs of a strategy on a test problem that is split into modules: what it tried, what that was worth and what it cost.

use crate::coarse::Coarse;
use crate::problems::{Problem, TableParam};
use anyhow::{Result, ensure};
use rand::SeedableRng;
use rand::distr::{Distribution, Open01};
use rand_chacha::ChaCha8Rng;
use stagetune::space::{Cost, Module, Movement, Param, Point, Space, Value};
use stagetune::strategy::{Strategy, Why};
use stagetune::study::Study;
use std::time::Instant;

/// A test problem whose variables belong to modules.
#[derive(Debug)]
pub struct Pipeline {
    /// The function.
    pub problem: Problem,
    /// Variables of each module, in order.
    pub split: Vec<usize>,
    /// What each module costs.
    pub costs: Vec<f64>,
    /// Standard deviation of the noise on normalised values.
    pub noise: f64,
    /// If there is one, costs are measured and not given, and vary by this in their logarithm; see [`Pipeline::stage_cost`].
    pub spread: Option<f64>,
    /// Variables that are choices, and steps of the metric.
    pub coarse: Coarse,
}

/// One trial of a run.
#[derive(Clone, Debug)]
pub struct Step {
    /// What was tried.
    pub point: Point,
    /// The value without noise, mapped so that the minimum is 0 and the maximum 1: the simple regret.
    pub value: f64,
    /// What had to run, with only the outputs of the trial before at hand.
    pub movement: Movement,
    /// Why.
    pub why: Why,
    /// How long the proposal took.
    pub ask_seconds: f64,
}

impl Pipeline {
    /// `hartmann6` with variables `3,3` and costs `10,1`, say.
    pub fn new(problem: &str, split: &[usize], costs: &[f64], noise: f64) -> Result<Self> {
        let problem: Problem = problem.parse()?;
        let variables: usize = split.iter().sum();
        ensure!(
            variables == problem.dim(),
            "{} has {} variables, but the modules have {variables}",
            problem.name(),
            problem.dim()
        );
        ensure!(split.len() == costs.len(), "{} modules but {} costs", split.len(), costs.len());
        ensure!(
            noise >= 0.0 && noise.is_finite(),
            "the noise is {noise}; give a finite number of at least 0"
        );
        let (split, costs, coarse) = (split.to_vec(), costs.to_vec(), Coarse::default());
        Ok(Self { problem, split, costs, noise, spread: None, coarse })
    }

    /// What can be tuned: x1, x2, … in modules m1, m2, …; of a table, the indices of its grid under its own names.
    pub fn space(&self) -> Result<Space> {
        let cost = |cost: f64| if self.spread.is_some() { Cost::Measured } else { Cost::Given(cost) };
        if let Some(table) = self.problem.table() {
            let index = |param: &TableParam| Param::int(&param.name, 0, param.values.len() as i64 - 1);
            let modules = table.modules().iter().zip(&self.costs).map(|(module, &c)| {
                let params = module.params.iter().map(index).collect::<Result<Vec<_>, _>>()?;
                Ok(Module::new(&module.name, params)?.cost(cost(c))?)
            });
            return Ok(Space::new(modules.collect::<Result<Vec<_>>>()?)?);
        }
        let mut first = 0;
        let modules = self.split.iter().zip(&self.costs).enumerate().map(|(m, (&count, &c))| {
            let variable = |i: usize| self.coarse.param(&self.problem, i);
            let params = (first..first + count).map(variable).collect::<Result<Vec<_>, _>>()?;
            first += count;
            Ok(Module::new(&format!("m{}", m + 1), params)?.cost(cost(c))?)
        });
        Ok(Space::new(modules.collect::<Result<Vec<_>>>()?)?)
    }

    /// The problem's own coordinates of a point: numbers, those that choices stand for, or indices of a table.
    pub fn coordinates(&self, point: &Point) -> Vec<f64> {
        let coordinate = |(i, value): (usize, &Value)| self.coarse.coordinate(&self.problem, i, value);
        point.values().iter().enumerate().filter_map(coordinate).collect()
    }

    /// The normalised value at a point, without noise.
    pub fn value(&self, point: &Point) -> Result<f64> {
        let value = self.problem.evaluate(&self.coordinates(point))?;
        Ok(self.coarse.metric(self.problem.normalise(value)))
    }

    /// What module `m` costs at a point: c_m exp(s sin 2πū), with s the spread and ū the mean of the module's own coordinates in [0, 1].
    pub fn stage_cost(&self, m: usize, point: &Point) -> Result<f64> {
        let (Some(&cost), Some(&own)) = (self.costs.get(m), self.split.get(m)) else {
            anyhow::bail!("there is no module {m}");
        };
        let Some(spread) = self.spread else { return Ok(cost) };
        let first: usize = self.split.iter().take(m).sum();
        let share = |(i, x): (usize, f64)| {
            let (low, high) = self.problem.interval(i);
            // A grid of one value has no width.
            if high > low { (x - low) / (high - low) } else { 0.5 }
        };
        let x = self.coordinates(point).into_iter().enumerate().skip(first).take(own);
        let mean = x.map(share).sum::<f64>() / own as f64;
        Ok(cost * (spread * (std::f64::consts::TAU * mean).sin()).exp())
    }

    /// A run of a strategy over `trials` trials. The noise depends on the seed and the number of the trial alone.
    pub fn run(&self, strategy: Box<dyn Strategy>, trials: usize, seed: u64) -> Result<Vec<Step>> {
        self.run_until(strategy, trials, f64::INFINITY, seed)
    }

    /// As [`Pipeline::run`], but over at the trial that brings the cost to `budget`.
    pub fn run_until(
        &self,
        strategy: Box<dyn Strategy>,
        trials: usize,
        budget: f64,
        seed: u64,
    ) -> Result<Vec<Step>> {
        let space = self.space()?;
        let mut study = Study::new(space.clone(), strategy);
        let mut steps: Vec<Step> = Vec::with_capacity(trials);
        let mut spent = 0.0;
        for number in 0..trials {
            if spent >= budget {
                break;
            }
            let started = Instant::now();
            let trial = study.ask()?;
            let ask_seconds = started.elapsed().as_secs_f64();
            let point = trial.point().clone();
            let value = self.value(&point)?;
            let movement = space.movement(steps.last().map(|step| &step.point), &point)?;
            spent += movement.cost(&self.costs)?;
            let why = study.why(trial.id()).cloned();
            study.tell(trial.observe(value + self.noise * normal(seed, number as u64))?)?;
            let Some(why) = why else { anyhow::bail!("trial {number} has no explanation") };
            steps.push(Step { point, value, movement, why, ask_seconds });
        }
        Ok(steps)
    }
}

/// A standard normal number for a trial, by Box and Muller.
pub(crate) fn normal(seed: u64, number: u64) -> f64 {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(number);
    let (u, v): (f64, f64) = (Open01.sample(&mut rng), Open01.sample(&mut rng));
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}

/// A run for each seed, shared by the cores, with a line of progress for each; in the order of the seeds.
pub fn in_parallel<T: Send>(
    name: &str,
    seeds: &[u64],
    run: impl Fn(u64) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    use rayon::prelude::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    let (done, started) = (AtomicUsize::new(0), Instant::now());
    // One run at a time per core: a run's own parallel parts would only wait for each other.
    seeds
        .par_iter()
        .with_max_len(1)
        .map(|&seed| {
            let outcome = run(seed)?;
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            let elapsed = started.elapsed().as_secs_f64();
            let left = elapsed / done as f64 * (seeds.len() - done) as f64;
            eprintln!("{name}: run {done} of {}, {elapsed:.0} s, about {left:.0} s left", seeds.len());
            Ok(outcome)
        })
        .collect()
}
