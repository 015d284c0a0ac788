//! Trials one after the other, each the best per unit of cost after those before it, and what they are expected to gain together.
//!
//! ```text
//! u_k(x)     = cov_{k−1}(x, x_k) / √(var_{k−1}(x_k) + σ²),   cov_k(x, x') = cov_{k−1}(x, x') − u_k(x) u_k(x')
//! μ_k(x)     = μ(x) + Σ_{j ≤ k} u_j(x) ε_j,   ε_j standard normal: what will be believed after k outcomes
//! G_k        = E[(μ_k(x⁺) − m − min_{i ≤ k} μ_k(x_i))₊],   m: the margin
//! alone      = E[(μ_1(x⁺) − m − μ_1(x))₊] = s h((μ(x⁺) − m − μ(x))/s),   s = |u_1(x⁺) − u_1(x)|
//! ```
//!
//! What counts is how much better the point will be believed to be that one would take, not what a noisy outcome shows. Without noise that is the expected
//! improvement; with it, to try the incumbent x⁺ or its neighbours once more brings nothing, as it should. A fantasy at the mean is ε = 0. Values are
//! standardised; σ² is the noise variance.

use super::Campaign;
use super::places::Places;
use crate::numeric::normal;
use crate::space::{CostModel, Point, RunHistory, SpaceError, StageSet};
use crate::strategy::parts::model::Model;
use crate::strategy::parts::price::LEAST_SHARE;
use crate::strategy::parts::stage_cost::StageCosts;
use crate::strategy::parts::stream::{Purpose, stream};
use crate::strategy::{StrategyError, View};
use crate::surrogate::Joint;
use rand::RngExt;

/// Draws of the joint posterior, half of them mirrored.
const OUTCOME_DRAWS: usize = 512;

/// Places whose best is the most that any number of trials is taken to bring.
const MOST_PROMISING: usize = 64;

/// What campaigns start from.
pub(super) struct Campaigns<'a> {
    view: &'a View<'a>,
    places: &'a Places,
    joint: Joint,
    noise: f64,
    /// How far below the incumbent gains begin.
    margin: f64,
    /// Where the incumbent is among the points of `joint`: after the places.
    home: usize,
    /// What would have to run at each place now.
    runs: Vec<StageSet>,
    /// What each stage costs at each place.
    stages: Vec<Vec<f64>>,
    /// The least cost of a trial.
    floor: f64,
    /// What a trial at each place would gain alone.
    alone: Vec<f64>,
    seed: u64,
}

/// Trials in the order chosen.
pub(super) struct Course {
    pub(super) steps: Vec<Step>,
}

/// A trial of a course.
pub(super) struct Step {
    place: usize,
    /// What it costs.
    pub(super) cost: f64,
    /// What it and those before it are expected to gain.
    pub(super) gain: f64,
}

impl Course {
    /// What all trials cost.
    pub(super) fn cost(&self) -> f64 {
        self.steps.iter().map(|step| step.cost).sum()
    }
}

impl<'a> Campaigns<'a> {
    /// At these places.
    pub(super) fn new(
        view: &'a View<'a>,
        model: &Model,
        costs: &StageCosts,
        places: &'a Places,
        incumbent: &[f64],
        margin: f64,
        seed: u64,
    ) -> Result<Self, StrategyError> {
        let (mut x, home) = (places.x.clone(), places.x.len());
        let _ = x.push(incumbent);
        let joint = model.gp.joint(&x)?;
        let mut stages = Vec::with_capacity(costs.len());
        for m in 0..costs.len() {
            stages.push(match costs.logs(m, &places.x, false)? {
                Some(logs) => logs.mean.into_iter().map(f64::exp).collect(),
                None => vec![costs.fixed(m).unwrap_or(0.0); places.x.len()],
            });
        }
        let runs = places.points.iter().map(|point| Ok(view.movement(point)?.runs));
        let runs = runs.collect::<Result<Vec<StageSet>, SpaceError>>()?;
        let floor = LEAST_SHARE * costs.full();
        let noise = model.gp.hyper().noise_variance;
        let mut new =
            Self { view, places, joint, noise, margin, home, runs, stages, floor, alone: Vec::new(), seed };
        let each = |i| new.improvement(home, i, new.covariance(i, i), new.covariance(i, home));
        new.alone = (0..places.points.len()).map(each).collect();
        Ok(new)
    }

    /// Up to `most` trials until their cost reaches the horizon, with this place first, or the best one.
    pub(super) fn course(
        &self,
        first: Option<usize>,
        most: usize,
        horizon: f64,
    ) -> Result<Course, StrategyError> {
        let count = self.places.points.len();
        let mut runs = self.runs.clone();
        // The best of what would be known then: the incumbent, or a trial whose fantasy is lower.
        let mut home = self.home;
        let mut updates: Vec<Vec<f64>> = Vec::new();
        let left = |updates: &[Vec<f64>], i: usize, j: usize| -> f64 {
            let known: f64 = updates.iter().filter_map(|u| Some(u.get(i)? * u.get(j)?)).sum();
            self.covariance(i, j) - known
        };
        let (mut course, mut spent) = (Course { steps: Vec::new() }, 0.0);
        while course.steps.len() < most && spent < horizon {
            let mut best: Option<(usize, f64, f64)> = None;
            for i in 0..count {
                if course.steps.iter().any(|step| step.place == i)
                    || first.is_some_and(|f| course.steps.is_empty() && f != i)
                {
                    continue;
                }
                let cost = self.cost(&runs, i);
                let rate = self.improvement(home, i, left(&updates, i, i), left(&updates, i, home)) / cost;
                if best.is_none_or(|(_, highest, _)| rate > highest) {
                    best = Some((i, rate, cost));
                }
            }
            let Some((place, _, cost)) = best else { break };
            let Some(point) = self.places.points.get(place) else { break };
            self.take_along(point, &mut runs)?;
            if self.mean(place) < self.bar(home) {
                home = place;
            }
            let scale = self.outcome_sd(left(&updates, place, place));
            updates.push((0..=count).map(|i| left(&updates, i, place) / scale).collect());
            spent += cost;
            course.steps.push(Step { place, cost, gain: 0.0 });
        }
        let chosen: Vec<usize> = course.steps.iter().map(|step| step.place).collect();
        let gains = self.gains(&chosen);
        course.steps.iter_mut().zip(gains).for_each(|(step, gain)| step.gain = gain);
        Ok(course)
    }

    /// The campaign of at most so many trials that gains most per unit of cost: greedy, or with a first trial that frees what it may.
    pub(super) fn best(&self, most: usize) -> Result<Campaign, StrategyError> {
        let mut firsts: Vec<(&StageSet, usize, f64)> = Vec::new();
        for (i, free) in self.places.free.iter().enumerate() {
            let rate = self.alone.get(i).copied().unwrap_or(0.0) / self.cost(&self.runs, i);
            match firsts.iter_mut().find(|(known, ..)| *known == free) {
                Some((_, first, highest)) if rate > *highest => (*first, *highest) = (i, rate),
                Some(_) => {}
                None => firsts.push((free, i, rate)),
            }
        }
        let starts = std::iter::once(None).chain(firsts.iter().map(|(_, first, _)| Some(*first)));
        let mut best = Campaign { trials: 0, gain: 0.0, cost: 1.0 };
        for start in starts {
            let (mut cost, course) = (0.0, self.course(start, most, f64::INFINITY)?);
            for (k, step) in course.steps.iter().enumerate() {
                cost += step.cost;
                let campaign = Campaign { trials: k + 1, gain: step.gain, cost };
                if best.trials == 0 || campaign.rate() > best.rate() {
                    best = campaign;
                }
            }
        }
        Ok(best)
    }

    /// What a course gains until its cost reaches the horizon, and past its end.
    pub(super) fn gained(&self, course: &Course, horizon: f64) -> f64 {
        let (mut spent, mut gain) = (0.0, 0.0);
        let (mut middle, half) = ((0.0, 0.0), course.steps.len() / 2);
        for (k, step) in course.steps.iter().enumerate() {
            if k == half {
                middle = (spent, gain);
            }
            if spent + step.cost >= horizon {
                return gain + (step.gain - gain) * (horizon - spent) / step.cost;
            }
            (spent, gain) = (spent + step.cost, step.gain);
        }
        if course.steps.len() < super::MOST_TRIALS {
            // There are no more places.
            return gain;
        }
        let rate = (gain - middle.1) / (spent - middle.0);
        let more = if rate.is_finite() { rate * (horizon - spent) } else { 0.0 };
        (gain + more).min(self.most(course)).max(gain)
    }

    /// What the most promising places would bring if all of them were tried.
    fn most(&self, course: &Course) -> f64 {
        let mut order: Vec<usize> = (0..self.alone.len()).collect();
        let height = |i: usize| self.alone.get(i).copied().unwrap_or(0.0);
        order.sort_by(|&a, &b| height(b).total_cmp(&height(a)));
        let mut chosen: Vec<usize> = course.steps.iter().map(|step| step.place).collect();
        order.retain(|i| !chosen.contains(i));
        chosen.extend(order.into_iter().take(MOST_PROMISING));
        self.gains(&chosen).last().copied().unwrap_or(0.0)
    }

    /// G after the first, the first two, … of these places; never below what any of them gains alone.
    fn gains(&self, chosen: &[usize]) -> Vec<f64> {
        // The incumbent comes last, and is not tried again.
        let all: Vec<usize> = chosen.iter().copied().chain([self.home]).collect();
        let updates = self.updates(&all, chosen.len());
        let mut rng = stream(self.seed, Purpose::Acquisition, 0);
        let mut sums = vec![0.0; chosen.len()];
        let means: Vec<f64> = all.iter().map(|&place| self.mean(place)).collect();
        // As many dice for every course: its first trials have the same ones in a longer course.
        let width = super::MOST_TRIALS + MOST_PROMISING;
        for _ in 0..OUTCOME_DRAWS / 2 {
            let dice: Vec<f64> = (0..width).map(|_| standard_normal(rng.random(), rng.random())).collect();
            for sign in [1.0, -1.0] {
                let mut believed = means.clone();
                for (k, ((update, die), sum)) in updates.iter().zip(&dice).zip(&mut sums).enumerate() {
                    believed.iter_mut().zip(update).for_each(|(mean, u)| *mean += sign * die * u);
                    let home = believed.last().copied().unwrap_or(0.0) - self.margin;
                    let lowest = believed.iter().take(k + 1).copied().fold(home, f64::min);
                    *sum += (home - lowest) / OUTCOME_DRAWS as f64;
                }
            }
        }
        let mut highest = 0.0_f64;
        for (k, (sum, &place)) in sums.iter_mut().zip(chosen).enumerate() {
            let alone = self.alone.get(place).copied().unwrap_or(0.0);
            // The first needs no dice.
            highest = if k == 0 { alone } else { highest.max(alone).max(*sum) };
            *sum = highest;
        }
        sums
    }

    /// u_k at each of these points, for one of the first `tried` after the other.
    fn updates(&self, points: &[usize], tried: usize) -> Vec<Vec<f64>> {
        let mut updates: Vec<Vec<f64>> = Vec::with_capacity(tried);
        for (k, &b) in points.iter().enumerate().take(tried) {
            let left = |(i, &a): (usize, &usize)| {
                let known: f64 = updates.iter().filter_map(|u| Some(u.get(i)? * u.get(k)?)).sum();
                self.covariance(a, b) - known
            };
            let column: Vec<f64> = points.iter().enumerate().map(left).collect();
            let scale = self.outcome_sd(column.get(k).copied().unwrap_or(0.0));
            updates.push(column.into_iter().map(|c| c / scale).collect());
        }
        updates
    }

    /// The standard deviation of an outcome where f has this variance.
    fn outcome_sd(&self, variance: f64) -> f64 {
        (variance.max(0.0) + self.noise).max(f64::MIN_POSITIVE).sqrt()
    }

    /// What has to be improved on: a trial that would be lower than the incumbent by its margin has no margin of its own.
    fn bar(&self, home: usize) -> f64 {
        self.mean(home) - if home == self.home { self.margin } else { 0.0 }
    }

    /// What a trial at a place gains over `home`, given the variance of f there and its covariance with f at home.
    fn improvement(&self, home: usize, place: usize, variance: f64, with_home: f64) -> f64 {
        let drop = self.bar(home) - self.mean(place);
        let sd = (variance.max(0.0) - with_home).abs() / self.outcome_sd(variance);
        if sd > 0.0 { sd * normal::h(drop / sd) } else { drop.max(0.0) }
    }

    /// What has to run at every place once a trial at this point has ended as well.
    fn take_along(&self, point: &Point, runs: &mut [StageSet]) -> Result<(), SpaceError> {
        let space = self.view.space;
        let mut after = RunHistory::new();
        if self.view.cost_model == CostModel::Previous {
            after.record(space, point)?;
        }
        for (runs, next) in runs.iter_mut().zip(&self.places.points) {
            *runs = match self.view.cost_model {
                CostModel::Previous => after.movement(space, CostModel::Previous, next)?.runs,
                CostModel::Cache => RunHistory::left_after(space, runs, point, next),
            };
        }
        Ok(())
    }

    /// What a trial at a place costs where this has to run at every place.
    fn cost(&self, runs: &[StageSet], place: usize) -> f64 {
        let (Some(runs), Some(free)) = (runs.get(place), self.places.free.get(place)) else {
            return f64::INFINITY;
        };
        let charged = runs.union(free);
        let sum: f64 = charged.iter().filter_map(|m| self.stages.get(m)?.get(place)).sum();
        sum.max(self.floor)
    }

    fn mean(&self, i: usize) -> f64 {
        self.joint.mean.get(i).copied().unwrap_or(f64::INFINITY)
    }

    fn covariance(&self, i: usize, j: usize) -> f64 {
        self.joint.covariance.get(i * self.joint.mean.len() + j).copied().unwrap_or(0.0)
    }
}

/// A standard normal number from two uniform ones (Box & Muller 1958).
fn standard_normal(a: f64, b: f64) -> f64 {
    (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}
