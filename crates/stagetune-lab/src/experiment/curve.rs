//! What a run found for what it spent, trial by trial, worked out from the points that were tried.
//!
//! ```text
//! cost             Σ_{s≤t} Γˢ, starting points included
//! value            f(xᵗ) without noise, mapped to [0, 1]
//! best             the lowest value so far;  regret  best − f*, with f* = 0 in the normalised range
//! movement_regret  R⁺(t, λ) = Σ_{s≤t} ( f(xˢ) − f* + λ Γˢ )
//! ```

use super::plan::Plan;
use super::record::{Record, Tried};
use anyhow::{Result, ensure};
use stagetune::space::RunHistory;
use stagetune::strategy::Source;
use stagetune::study::MovementRegret;

/// The minimum of every problem in its normalised range.
pub const OPTIMUM: f64 = 0.0;

/// A run as numbers.
#[derive(Clone, Debug)]
pub struct Curve {
    /// The label of the strategy.
    pub strategy: String,
    /// The number of the run, from 1.
    pub sim: usize,
    /// The trials.
    pub rows: Vec<Row>,
    /// How many trials the starting design had.
    pub starting: usize,
    /// What the run could spend.
    pub budget: f64,
}

/// A trial as numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Cumulative.
    pub cost: f64,
    /// Without noise.
    pub value: f64,
    /// The lowest value so far.
    pub best: f64,
    /// How far that is from the optimum.
    pub regret: f64,
    /// R⁺ so far.
    pub movement_regret: f64,
    /// The first module that had to run, from 1; 0 if none had to.
    pub first_changed_module: usize,
    /// How long the proposal took.
    pub ask_seconds: f64,
}

/// Sums of costs are rounded.
const ROUNDING: f64 = 1e-9;

impl Curve {
    /// The curve of a run.
    pub fn of(plan: &Plan, record: &Record) -> Result<Self> {
        let trials = record.trials()?;
        let pipeline = &plan.pipeline;
        let space = pipeline.space()?;
        let mut history = RunHistory::new();
        let mut regret = MovementRegret::new(plan.lambda, OPTIMUM)?;
        let mut rows: Vec<Row> = Vec::with_capacity(trials.len());
        for trial in &trials {
            let movement = history.movement(&space, plan.cost_model, trial.point)?;
            history.record(&space, trial.point)?;
            let stage = |m: usize| pipeline.stage_cost(m, trial.point);
            let costs = (0..pipeline.split.len()).map(stage).collect::<Result<Vec<f64>>>()?;
            let gamma = movement.cost(&costs)?;
            let value = pipeline.value(trial.point)?;
            regret.record(value, gamma)?;
            let (cost, best) = rows.last().map_or((0.0, f64::INFINITY), |row| (row.cost, row.best));
            rows.push(Row {
                cost: cost + gamma,
                value,
                best: best.min(value),
                regret: best.min(value) - OPTIMUM,
                movement_regret: regret.total(),
                first_changed_module: movement.runs.lowest().map_or(0, |m| m + 1),
                ask_seconds: trial.ask_seconds,
            });
        }
        ensure!(!rows.is_empty(), "run {} of {} has no trials", record.sim, record.strategy);
        // Where trials alone are limited, all of them are paid for.
        let budget = if plan.limits_cost { plan.budget_cost() } else { f64::INFINITY };
        let strategy = record.strategy.clone();
        Ok(Self { strategy, sim: record.sim, starting: starting(&trials), budget, rows })
    }

    /// The rows that the budget paid for in full: not the trial that went past it, which nobody
    /// could have afforded. The first counts in any case.
    pub fn paid(&self) -> &[Row] {
        let paid = self.rows.partition_point(|row| row.cost <= self.budget * (1.0 + ROUNDING));
        &self.rows[..paid.max(1)]
    }

    /// The last row that was paid for.
    pub fn last(&self) -> &Row {
        // A curve has at least one row by construction.
        let paid = self.paid();
        &paid[paid.len() - 1]
    }

    /// What the starting points cost.
    pub fn starting_cost(&self) -> f64 {
        self.starting.checked_sub(1).and_then(|last| self.rows.get(last)).map_or(0.0, |row| row.cost)
    }

    /// What had been spent when the regret was first this low.
    pub fn cost_to(&self, regret: f64) -> Option<f64> {
        self.paid().iter().find(|row| row.regret <= regret).map(|row| row.cost)
    }

    /// The last row that had cost no more than this.
    pub fn at_cost(&self, cost: f64) -> Option<&Row> {
        let paid = self.rows.partition_point(|row| row.cost <= cost);
        paid.checked_sub(1).and_then(|last| self.rows.get(last))
    }
}

/// The trials of the starting design: those before the first that a strategy chose for a reason.
fn starting(trials: &[Tried<'_>]) -> usize {
    trials.iter().take_while(|trial| trial.source == Source::Design).count()
}
