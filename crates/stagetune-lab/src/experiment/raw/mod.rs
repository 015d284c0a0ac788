//! The raw results of an experiment, run by run: all that its summary, its steps and every
//! comparison are worked out from.
//!
//! They stand in `runs.jsonl.zst`, a line of JSON for each run, compressed ([`mod@file`]). A folder
//! with the runs of several occasions under one plan has one such file with a part for each:
//! [`place`] finds `report-x/auto` in `report-x/runs.jsonl.zst`.

pub mod file;
pub mod place;

use super::curve::Curve;
use super::plan::{Entry, Plan};
use super::stats::{Spread, quantile};
use super::summary::{AskSeconds, CostTo, HoursTo, Summary};
use anyhow::{Result, ensure};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The runs of one occasion.
#[derive(Clone, Debug)]
pub struct Results {
    /// Which part of the file this is; empty where the file has one.
    pub part: String,
    /// A summary without strategies: the rules of the runs, and how they came about.
    pub about: Summary,
    /// In the order of the plan.
    pub competitors: Vec<Competitor>,
}

/// The runs of one strategy.
#[derive(Clone, Debug)]
pub struct Competitor {
    /// Label.
    pub label: String,
    /// How long proposals took, over all runs.
    pub ask_seconds: AskSeconds,
    /// Of runs that were made before this format: what is not known run by run.
    pub together: Together,
    /// In the order of their numbers.
    pub runs: Vec<Run>,
}

/// Numbers of all runs of a strategy together, where single runs do not have them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Together {
    /// See [`Run::starting_cost`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starting_cost: Option<Spread>,
    /// See [`Run::first_module_changes`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_module_changes: Option<Spread>,
    /// See [`Run::trials`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trials: Option<Spread>,
    /// Without [`Run::starting_cost`] these do not follow from the runs, either.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub cost_to_without_start: BTreeMap<String, CostTo>,
    /// Nor do these, which tables have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hours_to_within_5_percent: Option<HoursTo>,
}

/// One run in numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Its number, from 1.
    pub sim: usize,
    /// Regret at the end.
    pub final_regret: f64,
    /// R⁺ at the end.
    pub movement_regret: f64,
    /// What reaching a regret cost; null if it was not reached.
    pub cost_to: BTreeMap<String, Option<f64>>,
    /// What the starting points cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starting_cost: Option<f64>,
    /// Trials for which the first module had to run, starting points included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_module_changes: Option<usize>,
    /// Trials that were paid for, starting points included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trials: Option<usize>,
    /// Left out where a run ends once a regret is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<Steps>,
}

/// The trials at which the best value improved, and the last one; column by column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Steps {
    /// The number of the trial, from 1.
    pub iteration: Vec<usize>,
    /// What had been spent.
    pub cost: Vec<f64>,
    /// The value without noise.
    pub value: Vec<f64>,
    /// R⁺.
    pub movement_regret: Vec<f64>,
    /// The first module that had to run, from 1; 0 where none had to.
    pub first_changed_module: Vec<usize>,
    /// How long the proposal took, to a millionth of a second.
    pub ask_seconds: Vec<f64>,
}

/// Digits after the point that are kept of the seconds of an ask.
pub const ASK_DIGITS: usize = 6;

impl Results {
    /// The runs of a plan, as the part of this name.
    pub fn of(plan: &Plan, curves: &[Curve], part: &str) -> Result<Self> {
        let competitor = |entry: &Entry| {
            let own: Vec<&Curve> = curves.iter().filter(|curve| curve.strategy == entry.label).collect();
            ensure!(!own.is_empty(), "{} has no runs", entry.label);
            let runs = own.iter().map(|curve| Run::of(plan, curve)).collect::<Result<Vec<Run>>>()?;
            let (label, together) = (entry.label.clone(), Together::default());
            Ok(Competitor { label, ask_seconds: AskSeconds::of(&asks(&own)), together, runs })
        };
        let competitors = plan.entries.iter().map(competitor).collect::<Result<Vec<Competitor>>>()?;
        Ok(Self { part: part.to_owned(), about: Summary::about(plan)?, competitors })
    }
}

/// Seconds of the proposals that were no starting points; of all where there are no others.
fn asks(curves: &[&Curve]) -> Vec<f64> {
    let seconds = |curve: &&Curve, from: usize| -> Vec<f64> {
        curve.rows.iter().skip(from).map(|row| row.ask_seconds).collect()
    };
    let chosen: Vec<f64> = curves.iter().flat_map(|curve| seconds(curve, curve.starting)).collect();
    if chosen.is_empty() { curves.iter().flat_map(|curve| seconds(curve, 0)).collect() } else { chosen }
}

impl AskSeconds {
    fn of(seconds: &[f64]) -> Self {
        Self { median: quantile(seconds, 0.5), p95: quantile(seconds, 0.95) }
    }
}

impl Run {
    fn of(plan: &Plan, curve: &Curve) -> Result<Self> {
        let costs =
            plan.thresholds().into_iter().map(|(name, regret)| (name.to_owned(), curve.cost_to(regret)));
        let first = curve.paid().iter().filter(|row| row.first_changed_module == 1).count();
        Ok(Self {
            sim: curve.sim,
            final_regret: curve.last().regret,
            movement_regret: curve.last().movement_regret,
            cost_to: costs.collect(),
            starting_cost: Some(curve.starting_cost()),
            first_module_changes: Some(first),
            trials: Some(curve.paid().len()),
            // Curves of runs that end at different costs would mislead.
            steps: if plan.until.is_none() { Some(Steps::of(curve)?) } else { None },
        })
    }
}

impl Steps {
    fn of(curve: &Curve) -> Result<Self> {
        let mut steps = Self::default();
        for (i, row) in curve.rows.iter().enumerate() {
            let better = i.checked_sub(1).is_none_or(|before| curve.rows[before].best > row.best);
            if better || i + 1 == curve.rows.len() {
                steps.iteration.push(i + 1);
                steps.cost.push(row.cost);
                steps.value.push(row.value);
                steps.movement_regret.push(row.movement_regret);
                steps.first_changed_module.push(row.first_changed_module);
                steps.ask_seconds.push(format!("{:.ASK_DIGITS$}", row.ask_seconds).parse()?);
            }
        }
        Ok(steps)
    }

    /// How many, if the columns are equally long.
    fn len(&self) -> Option<usize> {
        let n = self.iteration.len();
        let others = [&self.cost, &self.value, &self.movement_regret, &self.ask_seconds];
        let same = others.iter().all(|column| column.len() == n) && self.first_changed_module.len() == n;
        (same && n > 0).then_some(n)
    }
}
