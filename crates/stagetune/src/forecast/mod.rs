//! What going on is worth: the expected gain of the next trial, of the best short campaign, and of all that a horizon of cost buys.
//!
//! ```text
//! f⁺         the lowest posterior mean at a tried point: a lucky observation does not count; less a margin for quantisation and noise   (belief.rs)
//! next       the place with the largest EI(x; f⁺)/Γ(x), beside every prefix that is at hand or would be
//! x_1, x_2 … greedily by EI/Γ; each is a fantasy at its posterior mean for those after it, and its stages are at hand for them
//! G_k        how far the lowest mean at x_1 … x_k is expected to be below f⁺ after their outcomes;  C_k = Γ_1 + … + Γ_k
//! horizon    G at Σ Γ = horizon, between the C_k on a straight line
//! campaign   the largest G_k/C_k with k ≤ 8, also where the first trial is made to open a dear module
//! ```
//!
//! The places are fixed before the first step: the best one beside each prefix, a few that open everything, and some around and behind each of them. So one joint
//! posterior answers every question, and a step is a change of rank one.
//!
//! Trials are chosen as a batch: what the first would teach about the later ones is left out, which makes a forecast too low rather than too high as far as the model is right. Past
//! `MOST_TRIALS` trials the gain goes on at the rate of their second half, but never beyond what the most promising places would bring together. What open
//! trials will bring is not counted.

mod belief;
mod campaign;
mod places;
#[cfg(test)]
mod tests;

use serde::Serialize;

use crate::space::{Batch, Cost};
use crate::strategy::parts::model::Model;
use crate::strategy::parts::spread::{LEAST_VALUES, spread};
use crate::strategy::parts::stage_cost::StageCosts;
use crate::strategy::parts::wide;
use crate::strategy::{StrategyError, View};
use crate::trial::Trial;
use campaign::Campaigns;

/// Told trials that are modelled, the best and the latest: a forecast is no place to wait for n³.
const MOST_MODELLED: usize = 400;

/// The same in a wide space, where a pair of trials takes as long as it has coordinates.
const MOST_MODELLED_WIDE: usize = 100;

/// Trials that are chosen for a horizon.
const MOST_TRIALS: usize = 24;

/// Trials of a campaign: enough for followers to pay for what the first one opened.
const CAMPAIGN: usize = 8;

/// How far a forecast looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Horizon {
    /// So much cost, in the study's own unit.
    Cost(f64),
    /// So many typical runs of every stage.
    FullRuns(f64),
}

/// What going on is worth. Gains are improvements of the metric, above 0 in either direction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Forecast {
    /// What is improved on: the best value that the model believes in at a point that was tried.
    pub incumbent: f64,
    /// What the best next trial is expected to gain.
    pub next_gain: f64,
    /// What it costs.
    pub next_cost: f64,
    /// The gain per unit of cost of that trial.
    pub best_rate: f64,
    /// The few trials that gain most per unit of cost together.
    pub campaign: Campaign,
    /// How much cost is looked at.
    pub horizon: f64,
    /// What it is expected to gain.
    pub expected_gain: f64,
    /// Trials that were chosen for it.
    pub trials: usize,
    /// Whether the horizon buys more trials than were chosen: the rest is extrapolated.
    pub extrapolated: bool,
    /// What a typical run of every stage costs.
    pub full_run: f64,
    /// The largest distance so far from the median of the values to the best one; their range where that is 0.
    pub spread: f64,
}

/// A few trials in a row.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Campaign {
    /// How many.
    pub trials: usize,
    /// What they are expected to gain together.
    pub gain: f64,
    /// What they cost together.
    pub cost: f64,
}

impl Campaign {
    /// Gain per unit of cost.
    pub fn rate(&self) -> f64 {
        self.gain / self.cost
    }
}

/// Why there is no forecast.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NoForecast {
    /// Too few values for a model.
    #[error("{values} of the {LEAST_VALUES} values that a forecast needs are there")]
    TooFew {
        /// How many there are.
        values: usize,
    },
    /// Nothing to learn from.
    #[error("all values are the same so far")]
    AllEqual,
    /// A cost that nobody knows.
    #[error("nobody knows what module `{module}` costs")]
    UnknownCost {
        /// Whose.
        module: String,
    },
    /// Costs that are all zero.
    #[error("every stage is free, so that going on costs nothing")]
    Free,
    /// A horizon that is no cost.
    #[error("a horizon of {horizon} is no cost; look a finite number above 0 ahead")]
    Horizon {
        /// What was asked for.
        horizon: f64,
    },
    /// The model refused.
    #[error(transparent)]
    Model(Box<StrategyError>),
}

impl From<StrategyError> for NoForecast {
    fn from(error: StrategyError) -> Self {
        Self::Model(Box::new(error))
    }
}

/// What going on is worth: the same view and seed give the same answer. Everything is minimised.
pub fn forecast(view: &View<'_>, horizon: Horizon, seed: u64) -> Result<Forecast, NoForecast> {
    let values: Vec<f64> = view.trials.iter().filter_map(Trial::value).collect();
    if values.len() < LEAST_VALUES {
        return Err(NoForecast::TooFew { values: values.len() });
    }
    let spread = spread(&values);
    if !(spread.is_finite() && spread > 0.0) {
        return Err(NoForecast::AllEqual);
    }
    if let Some(module) = view.space.modules().iter().find(|module| module.cost_kind() == Cost::Unknown) {
        return Err(NoForecast::UnknownCost { module: module.name().to_string() });
    }
    let most = if wide::is_wide(view.space) { MOST_MODELLED_WIDE } else { MOST_MODELLED };
    let thinned = thinned(view.trials, most);
    let view = View { trials: thinned.as_deref().unwrap_or(view.trials), ..*view };
    let Some(model) = belief::believed(&view, seed)? else { return Err(NoForecast::TooFew { values: 0 }) };
    let costs = StageCosts::of(&view, seed, 1)?;
    let full_run = costs.full();
    if !(full_run.is_finite() && full_run > 0.0) {
        return Err(NoForecast::Free);
    }
    let horizon = match horizon {
        Horizon::Cost(cost) => cost,
        Horizon::FullRuns(runs) => runs * full_run,
    };
    if !(horizon.is_finite() && horizon > 0.0) {
        return Err(NoForecast::Horizon { horizon });
    }
    let (home, lowest) = incumbent(&view, &model)?;
    let margin = belief::margin(&view, &model, lowest);
    let places = places::places(&view, &model, &costs, lowest - margin, seed)?;
    let campaigns = Campaigns::new(&view, &model, &costs, &places, &home, margin, seed)?;
    // Warped values have the metric's own units at the lowest one and below it, which is where gains are.
    let unit = model.scale.scale;
    let greedy = campaigns.course(None, MOST_TRIALS, horizon)?;
    let Some(next) = greedy.steps.first() else { return Err(StrategyError::Exhausted.into()) };
    let best = campaigns.best(CAMPAIGN)?;
    Ok(Forecast {
        incumbent: model.in_metric(lowest),
        next_gain: next.gain * unit,
        next_cost: next.cost,
        best_rate: next.gain * unit / next.cost,
        campaign: Campaign { gain: best.gain * unit, ..best },
        horizon,
        expected_gain: campaigns.gained(&greedy, horizon) * unit,
        trials: greedy.steps.len(),
        extrapolated: greedy.steps.len() == MOST_TRIALS && greedy.cost() < horizon,
        full_run,
        spread,
    })
}

/// The point that returned a value and has the lowest posterior mean, and that mean, standardised.
fn incumbent(view: &View<'_>, model: &Model) -> Result<(Vec<f64>, f64), StrategyError> {
    let mut tried = Batch::new(view.space.dim());
    for trial in view.trials.iter().filter(|trial| trial.value().is_some()) {
        let _ = tried.push(&view.space.encode(trial.point())?);
    }
    let means = model.gp.predict(&tried)?.mean;
    let lowest = tried.rows().zip(means).min_by(|a, b| a.1.total_cmp(&b.1));
    lowest.map(|(x, mean)| (x.to_vec(), mean)).ok_or(StrategyError::Exhausted)
}

/// The best and the latest trials, half of each, where there are too many; open ones stay.
fn thinned(trials: &[Trial], most: usize) -> Option<Vec<Trial>> {
    let mut told: Vec<(usize, f64)> = trials
        .iter()
        .enumerate()
        .filter(|(_, trial)| trial.is_told())
        .map(|(i, trial)| (i, trial.value().unwrap_or(f64::INFINITY)))
        .collect();
    if told.len() <= most {
        return None;
    }
    let latest = told.split_off(told.len() - most / 2);
    told.sort_by(|a, b| a.1.total_cmp(&b.1));
    told.truncate(most / 2);
    let mut kept: Vec<usize> = told.into_iter().chain(latest).map(|(i, _)| i).collect();
    kept.extend(trials.iter().enumerate().filter(|(_, trial)| trial.is_open()).map(|(i, _)| i));
    kept.sort_unstable();
    Some(kept.into_iter().filter_map(|i| trials.get(i).cloned()).collect())
}
