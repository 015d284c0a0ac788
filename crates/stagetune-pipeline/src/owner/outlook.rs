//! What going on with a study is expected to bring, without running anything: for `status`.

use serde::Serialize;
use stagetune::forecast::{Forecast, Horizon};

use super::replay::replayed;
use crate::file::{Pipeline, StageCost};
use crate::ledger::CostUnit;
use crate::log::Stamped;

/// An hour of stages, where costs are their seconds.
const HOUR: f64 = 3600.0;

/// Full runs, where costs are in a unit of the user's.
const FULL_RUNS: f64 = 10.0;

/// Trials past which nobody waits for a replay and a model.
const MOST_TRIALS: u64 = 2_000;

/// What going on is expected to bring.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Outlook {
    /// Whether it is what is left of the budget of cost, which is less than an hour or ten full runs.
    pub rest_of_budget: bool,
    /// Seconds of stages that are looked at; `None` where costs are in another unit.
    pub horizon_seconds: Option<f64>,
    /// The same in typical runs of every stage.
    pub horizon_full_runs: f64,
    /// What it is, and what it brings.
    #[serde(flatten)]
    pub forecast: Forecast,
}

/// The outlook of a study with these records, or why there is none.
pub fn outlook(pipeline: &Pipeline, records: &[Stamped]) -> Result<Outlook, String> {
    // A file that was changed may not fit the journal any more; `run` says all about it, here a line will do.
    let line = |text: String| text.lines().next().unwrap_or_default().to_owned();
    let study = replayed(pipeline, records, true).map_err(|error| line(error.to_string()))?;
    let seconds = unit(pipeline) == CostUnit::Seconds;
    let horizon = if seconds { Horizon::Cost(HOUR) } else { Horizon::FullRuns(FULL_RUNS) };
    let mut forecast = study.forecast(horizon).map_err(|why| why.to_string())?;
    // A study that has spent its budget is told what more would bring.
    let left = pipeline.study.budget.cost.map(|budget| budget - study.account().spent());
    let rest = left.filter(|left| *left > 0.0 && *left < forecast.horizon);
    if let Some(rest) = rest {
        forecast = study.forecast(Horizon::Cost(rest)).map_err(|why| why.to_string())?;
    }
    Ok(Outlook {
        rest_of_budget: rest.is_some(),
        horizon_seconds: seconds.then_some(forecast.horizon),
        horizon_full_runs: forecast.horizon / forecast.full_run,
        forecast,
    })
}

/// Whether a study is too long for an outlook, and then why.
pub fn too_long(trials: u64) -> Option<String> {
    let told = || format!("there are {trials} trials, and no more than {MOST_TRIALS} are looked at");
    (trials > MOST_TRIALS).then(told)
}

/// What costs are counted in.
pub fn unit(pipeline: &Pipeline) -> CostUnit {
    let measured = pipeline.stages.iter().all(|stage| stage.cost == StageCost::Measured);
    if measured { CostUnit::Seconds } else { CostUnit::Units }
}
