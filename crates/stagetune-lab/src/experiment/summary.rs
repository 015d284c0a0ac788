//! An experiment in numbers: `summary.json`.

use super::plan::Plan;
use super::raw::place::{self, Place};
use super::raw::{Competitor, Results, Run};
use super::start;
use super::stats::{Resampling, Spread, quantile};
use super::table::brief;
use crate::problems::{Problem, Table};
use crate::provenance::provenance;
use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Regrets in the normalised range that runs are timed to, as the file names them.
pub const THRESHOLDS: [(&str, f64); 3] = [("0.10", 0.10), ("0.05", 0.05), ("0.02", 0.02)];

/// The threshold that tables have besides: a score within [`WITHIN_PERCENT`] of the best one, which
/// is what papers report.
pub const WITHIN: &str = "5%";

/// See [`WITHIN`].
pub const WITHIN_PERCENT: u32 = 5;

/// The costs of tables are seconds.
pub const SECONDS_PER_HOUR: f64 = 3600.0;

/// A budget of fewer hours is told in minutes.
const FEW_HOURS: f64 = 2.0;

/// The unit in which people tell the times of a budget of so many seconds: its name and its seconds.
pub fn time_unit(budget: f64) -> (&'static str, f64) {
    if budget < FEW_HOURS * SECONDS_PER_HOUR { ("minutes", 60.0) } else { ("hours", SECONDS_PER_HOUR) }
}

/// An experiment in numbers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Summary {
    /// What the figure is called.
    #[serde(default)]
    pub title: Option<String>,
    /// The problem's name.
    pub problem: String,
    /// Variables of each module.
    pub split: Vec<usize>,
    /// What each module costs.
    pub costs: Vec<f64>,
    /// `previous` or `cache`.
    pub cost_model: String,
    /// Standard deviation of the noise.
    pub noise: f64,
    /// If there: costs are measured, and vary by so much in their logarithm.
    #[serde(default)]
    pub cost_spread: Option<f64>,
    /// Choices of each variable, 0 where it is a number; left out where all are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<usize>,
    /// If there: the metric moves in so many steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<usize>,
    /// If there: a run also ends after so many trials.
    #[serde(default)]
    pub max_trials: Option<usize>,
    /// If there: a run is over at this regret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<f64>,
    /// Whether strategies were told of the budget: not where trials alone were limited.
    #[serde(default = "yes", skip_serializing_if = "Clone::clone")]
    pub limits_cost: bool,
    /// What a run may spend, in full runs of the pipeline.
    pub budget_full_runs: f64,
    /// The same in units of cost.
    pub budget: f64,
    /// The starting points.
    pub start: String,
    /// λ of the movement regret.
    pub lambda: f64,
    /// What all randomness came from.
    pub seed: u64,
    /// The command that wrote this.
    pub command: String,
    /// When.
    pub date: String,
    /// Of the machine.
    pub cores: usize,
    /// Of stagetune.
    pub version: String,
    /// Whether times were taken in an optimised build.
    pub optimised: bool,
    /// What was looked up, if the problem is a table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<TableFacts>,
    /// By label.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub strategies: BTreeMap<String, Outcome>,
}

/// Summaries of older releases do not say it.
fn yes() -> bool {
    true
}

/// A table in short.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableFacts {
    /// Of its entries and its grid.
    pub fingerprint: String,
    /// What its scores are.
    pub metric: String,
    /// How many settings.
    pub settings: usize,
    /// The highest score.
    pub best: f64,
    /// The mean score.
    pub mean: f64,
    /// The lowest score.
    pub worst: f64,
    /// The lowest score within 5% of the best.
    pub within_5_percent: f64,
    /// Its regret.
    pub regret_within_5_percent: f64,
}

/// What a strategy achieved.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// How many runs.
    pub sims: usize,
    /// What reaching a regret cost, starting points included.
    pub cost_to: BTreeMap<String, CostTo>,
    /// The same without what the starting points cost.
    pub cost_to_without_start: BTreeMap<String, CostTo>,
    /// Of a table: hours until a score within 5% of the best one was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hours_to_within_5_percent: Option<HoursTo>,
    /// Regret at the end.
    pub final_regret: Spread,
    /// R⁺ at the end.
    pub movement_regret: Spread,
    /// Trials for which the first module had to run, starting points included.
    pub first_module_changes: Spread,
    /// Trials of a run, starting points included.
    pub trials: Spread,
    /// What the starting points cost.
    pub starting_cost: Spread,
    /// Of one proposal that was not a starting point, on one thread.
    pub ask_seconds: AskSeconds,
    /// The runs one by one, in the order of `sim`.
    pub per_sim: PerSim,
}

/// What reaching a regret cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CostTo {
    /// Over runs; one that never got there counts as the budget.
    pub median: f64,
    /// The share of runs that got there.
    pub reached: f64,
}

/// Hours until a score was found; a run that never got there counts as the budget.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HoursTo {
    /// Median over runs, starting points counted.
    pub median: f64,
    /// Its 95% bootstrap interval.
    pub ci95: [f64; 2],
    /// Median over runs of what came after the starting points.
    pub without_start: f64,
    /// Its 95% bootstrap interval.
    pub without_start_ci95: [f64; 2],
    /// The share of runs that got there.
    pub reached: f64,
}

/// How long a proposal took.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AskSeconds {
    /// The middle one.
    pub median: f64,
    /// 95 of 100 took less.
    pub p95: f64,
}

/// Runs one by one.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PerSim {
    /// Their numbers.
    pub sim: Vec<usize>,
    /// Regret at the end.
    pub final_regret: Vec<f64>,
    /// R⁺ at the end.
    pub movement_regret: Vec<f64>,
    /// What reaching a regret cost; null if it was not reached.
    pub cost_to: BTreeMap<String, Vec<Option<f64>>>,
}

impl Summary {
    /// The rules of a plan, and how its results came about; without strategies.
    pub fn about(plan: &Plan) -> Result<Self> {
        let about = provenance()?;
        Ok(Self {
            title: plan.title.clone(),
            problem: plan.pipeline.problem.name().to_owned(),
            split: plan.pipeline.split.clone(),
            costs: plan.pipeline.costs.clone(),
            cost_model: plan.cost_model_name().to_owned(),
            noise: plan.pipeline.noise,
            cost_spread: plan.pipeline.spread,
            choices: plan.pipeline.coarse.choices.clone(),
            steps: plan.pipeline.coarse.steps,
            max_trials: plan.trials,
            until: plan.until,
            limits_cost: plan.limits_cost,
            budget_full_runs: plan.budget,
            budget: plan.budget_cost(),
            start: start::describe(plan.start),
            lambda: plan.lambda,
            seed: plan.seed,
            command: about.command,
            date: about.date,
            cores: about.cores,
            version: about.version.to_owned(),
            optimised: about.optimised,
            table: plan.pipeline.problem.table().map(|table| TableFacts::of(&plan.pipeline.problem, table)),
            strategies: BTreeMap::new(),
        })
    }

    /// Of raw results.
    pub fn of(results: &Results) -> Result<Self> {
        let outcome = |competitor: &Competitor| {
            let of = Outcome::of(&results.about, competitor);
            Ok((competitor.label.clone(), of.with_context(|| format!("strategy {}", competitor.label))?))
        };
        let strategies = results.competitors.iter().map(outcome).collect::<Result<_>>()?;
        Ok(Self { strategies, ..results.about.clone() })
    }

    /// Works out the summary of what a path names; where there are no raw results, reads one.
    pub fn read(path: &Path) -> Result<Self> {
        match place::find(path)? {
            Place::Raw(file, results) => Self::of(&results).with_context(|| file.display().to_string()),
            Place::Summary(file) => Self::parse(&file),
        }
    }

    /// Reads a summary as it was written.
    fn parse(file: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(file).with_context(|| {
            format!("cannot read {}; `stagetune-lab run` on its plan writes it", file.display())
        })?;
        let summary: Self = serde_json::from_str(&text).with_context(|| {
            format!("{} is not a summary of this release; run its plan again", file.display())
        })?;
        for (label, outcome) in &summary.strategies {
            outcome.check().with_context(|| format!("{}, strategy {label}", file.display()))?;
        }
        ensure!(!summary.strategies.is_empty(), "{} names no strategies", file.display());
        let sound = summary.budget.is_finite() && summary.budget > 0.0 && !summary.costs.is_empty();
        ensure!(sound, "{} has no budget or no costs; run its plan again", file.display());
        Ok(summary)
    }

    /// The runs of some numbers alone; what was worked out from all runs stays as it is.
    pub fn runs(&self, keep: impl Fn(usize) -> bool) -> Self {
        let mut part = self.clone();
        for outcome in part.strategies.values_mut() {
            outcome.per_sim.retain(&keep);
        }
        part
    }

    /// All that decides what run k of a strategy does and what it is charged.
    pub fn rules(&self) -> impl PartialEq + use<> {
        (
            (self.problem.clone(), self.split.clone(), self.costs.clone(), self.cost_model.clone()),
            (self.noise, self.cost_spread, self.choices.clone(), self.steps),
            (self.budget, self.limits_cost, self.max_trials, self.until),
            (self.start.clone(), self.seed, self.lambda, self.table.as_ref().map(|t| t.fingerprint.clone())),
        )
    }

    /// The regrets whose cost it has, by name.
    pub fn thresholds(&self) -> Vec<(&'static str, f64)> {
        let within = self.table.as_ref().map(|table| (WITHIN, table.regret_within_5_percent));
        THRESHOLDS.into_iter().chain(within).collect()
    }

    /// Problem, split and costs in one line.
    pub fn name(&self) -> String {
        let join = |list: Vec<String>| list.join(",");
        let split = join(self.split.iter().map(usize::to_string).collect());
        let costs = join(self.costs.iter().map(|cost| brief(*cost)).collect());
        let title = self.title.as_ref().map_or_else(String::new, |title| format!("{title}: "));
        let model = if self.cost_model == "previous" { "" } else { ", with a cache" };
        format!("{title}{} {split} cost {costs}{model}", self.problem)
    }
}

impl TableFacts {
    fn of(problem: &Problem, table: &Table) -> Self {
        let within_5_percent = table.within(WITHIN_PERCENT);
        Self {
            fingerprint: table.fingerprint().to_owned(),
            metric: table.metric().to_owned(),
            settings: table.settings(),
            best: table.best(),
            mean: table.mean(),
            worst: table.worst(),
            within_5_percent,
            regret_within_5_percent: problem.normalise(-within_5_percent),
        }
    }
}

impl PerSim {
    fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        fn filter<T: Clone>(list: &mut Vec<T>, kept: &[bool]) {
            *list = list.iter().zip(kept).filter(|(_, kept)| **kept).map(|(item, _)| item.clone()).collect();
        }
        let kept: Vec<bool> = self.sim.iter().map(|&sim| keep(sim)).collect();
        filter(&mut self.sim, &kept);
        filter(&mut self.final_regret, &kept);
        filter(&mut self.movement_regret, &kept);
        self.cost_to.values_mut().for_each(|costs| filter(costs, &kept));
    }
}

impl HoursTo {
    /// Of what runs spent in seconds, and what of it came after the starting points.
    fn of(spent: &[f64], later: &[f64], resampling: &Resampling, reached: f64) -> Self {
        let hours = |seconds: &[f64]| -> Vec<f64> { seconds.iter().map(|s| s / SECONDS_PER_HOUR).collect() };
        let (with, without) = (hours(spent), hours(later));
        Self {
            median: quantile(&with, 0.5),
            ci95: resampling.median(&with),
            without_start: quantile(&without, 0.5),
            without_start_ci95: resampling.median(&without),
            reached,
        }
    }
}

impl Outcome {
    /// Of the runs of a strategy under these rules.
    fn of(about: &Summary, competitor: &Competitor) -> Result<Self> {
        let Competitor { ask_seconds, together, runs, .. } = competitor;
        ensure!(!runs.is_empty(), "there are no runs");
        let (thresholds, resampling) = (about.thresholds(), Resampling::new(runs.len()));
        let spread = |sample: &[f64]| Spread::with(&resampling, sample);
        let all = |of: fn(&Run) -> f64| -> Vec<f64> { runs.iter().map(of).collect() };
        let counted = |of: fn(&Run) -> Option<f64>, together: &Option<Spread>, name: &str| {
            let sample: Option<Vec<f64>> = runs.iter().map(of).collect();
            let found = sample.map(|sample| spread(&sample)).or_else(|| together.clone());
            found.with_context(|| format!("neither its runs nor all of them together have `{name}`"))
        };
        let costs = |name: &str| -> Result<Vec<Option<f64>>> {
            let of = |run: &Run| run.cost_to.get(name).copied();
            runs.iter()
                .map(of)
                .collect::<Option<_>>()
                .with_context(|| format!("a run lacks `cost_to` {name}"))
        };
        let starts: Option<Vec<f64>> = runs.iter().map(|run| run.starting_cost).collect();
        let (mut cost_to, mut per_sim, mut cost_to_without_start) =
            (BTreeMap::new(), BTreeMap::new(), together.cost_to_without_start.clone());
        let mut hours_to_within_5_percent = None;
        for (name, _) in thresholds {
            let costs = costs(name)?;
            let reached = costs.iter().flatten().count() as f64 / runs.len() as f64;
            let spent: Vec<f64> = costs.iter().map(|cost| cost.unwrap_or(about.budget).max(0.0)).collect();
            cost_to.insert(name.to_owned(), CostTo { median: quantile(&spent, 0.5), reached });
            if let Some(starts) = &starts {
                // A regret that a starting point reaches costs nothing beyond the start.
                let later: Vec<f64> =
                    spent.iter().zip(starts).map(|(all, start)| (all - start).max(0.0)).collect();
                let after = CostTo { median: quantile(&later, 0.5), reached };
                cost_to_without_start.insert(name.to_owned(), after);
                if name == WITHIN {
                    hours_to_within_5_percent = Some(HoursTo::of(&spent, &later, &resampling, reached));
                }
            } else if name == WITHIN {
                hours_to_within_5_percent.clone_from(&together.hours_to_within_5_percent);
            }
            per_sim.insert(name.to_owned(), costs);
        }
        Ok(Self {
            sims: runs.len(),
            cost_to,
            cost_to_without_start,
            hours_to_within_5_percent,
            final_regret: spread(&all(|run| run.final_regret)),
            movement_regret: spread(&all(|run| run.movement_regret)),
            first_module_changes: counted(
                |run| run.first_module_changes.map(|count| count as f64),
                &together.first_module_changes,
                "first_module_changes",
            )?,
            trials: counted(|run| run.trials.map(|count| count as f64), &together.trials, "trials")?,
            starting_cost: counted(|run| run.starting_cost, &together.starting_cost, "starting_cost")?,
            ask_seconds: ask_seconds.clone(),
            per_sim: PerSim {
                sim: runs.iter().map(|run| run.sim).collect(),
                final_regret: all(|run| run.final_regret),
                movement_regret: all(|run| run.movement_regret),
                cost_to: per_sim,
            },
        })
    }

    /// Whether the runs one by one are all there.
    fn check(&self) -> Result<()> {
        let n = self.per_sim.sim.len();
        let different: BTreeSet<usize> = self.per_sim.sim.iter().copied().collect();
        let complete = n > 0
            && different.len() == n
            && self.per_sim.final_regret.len() == n
            && self.per_sim.movement_regret.len() == n
            && THRESHOLDS.iter().all(|(name, _)| self.per_sim.cost_to.contains_key(*name))
            && self.per_sim.cost_to.values().all(|costs| costs.len() == n);
        ensure!(complete, "`per_sim` does not have the same runs in each list; run the plan again");
        Ok(())
    }
}
