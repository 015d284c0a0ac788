//! The read model: what the records of a study come to, folded once, and shown by every command.
//!
//! A [`Ledger`] takes in one record after the other ([`Ledger::apply`]). `status`, `best`,
//! `trials`, `export`, `report` and the progress of a run all show a ledger, so that they cannot disagree.

mod fold;
mod rows;

pub use crate::log::CostUnit;
pub use fold::in_words;
pub(crate) use rows::point_json;
pub use rows::{Best, OwnerRow, StageRow, StageTally, TrialRow, TrialState};

use serde::{Deserialize, Serialize};
use stagetune::objective::{Direction, Metric};
use stagetune::space::ParamDescription;

use crate::log::Stamped;

/// Everything that a study came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    /// The study's name.
    pub study: String,
    /// The metric that is optimised.
    pub metric: Metric,
    /// What is better.
    pub direction: Direction,
    /// The strategy that proposes.
    pub strategy: String,
    /// Its seed.
    pub seed: u64,
    /// The release that began the study.
    pub release: String,
    /// The stages in order, with what became of them over all trials.
    pub stages: Vec<StageTally>,
    /// What can be tuned, in order.
    pub params: Vec<ParamRow>,
    /// What costs are counted in.
    pub cost_unit: CostUnit,
    /// The trials in the order asked.
    pub trials: Vec<TrialRow>,
    /// Trials with a value.
    pub observed: u64,
    /// Trials that failed.
    pub failed: u64,
    /// The best trial.
    pub best: Option<Best>,
    /// What was charged.
    pub spent: f64,
    /// What reused stages of trials that have ended had cost when they ran.
    pub saved: f64,
    /// When the first record was made, in seconds since 1970.
    pub began: f64,
    /// When the last one was.
    pub last: f64,
    /// How long owners worked on it, in seconds.
    pub wall: f64,
    /// How long earlier owners had, when the last one that tells its own time began.
    pub wall_of_earlier: Option<f64>,
    /// The owners, in order; rows of trials refer to them by epoch.
    pub owners: Vec<OwnerRow>,
    /// Why the last owner stopped its work, if it did so in peace.
    pub closed: Option<String>,
    /// Whether the study was complete then.
    pub finished: bool,
    /// Why no new trials begin, if somebody paused the study.
    pub paused: Option<String>,
    /// What people noted, with the trial that it is about.
    pub notes: Vec<(Option<u64>, String)>,
}

/// A parameter, and the stage that it belongs to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParamRow {
    /// The stage.
    pub stage: String,
    /// The parameter.
    #[serde(flatten)]
    pub param: ParamDescription,
}

impl Ledger {
    /// Of a study without records.
    pub fn new(study: &str) -> Self {
        Self {
            study: study.to_owned(),
            metric: Metric::of_last(""),
            direction: Direction::default(),
            strategy: String::new(),
            seed: 0,
            release: String::new(),
            stages: Vec::new(),
            params: Vec::new(),
            cost_unit: CostUnit::Units,
            trials: Vec::new(),
            observed: 0,
            failed: 0,
            best: None,
            spent: 0.0,
            saved: 0.0,
            began: 0.0,
            last: 0.0,
            wall: 0.0,
            wall_of_earlier: None,
            owners: Vec::new(),
            closed: None,
            finished: false,
            paused: None,
            notes: Vec::new(),
        }
    }

    /// What these records come to.
    pub fn of(study: &str, records: &[Stamped]) -> Self {
        let mut ledger = Self::new(study);
        records.iter().for_each(|record| ledger.apply(record));
        ledger
    }

    /// The numbers of the trials that are running or wait to be continued.
    pub fn open(&self) -> Vec<u64> {
        self.trials.iter().filter(|trial| trial.state == TrialState::Open).map(|trial| trial.trial).collect()
    }

    /// How many trials are in that state.
    pub fn count(&self, state: TrialState) -> usize {
        self.trials.iter().filter(|trial| trial.state == state).count()
    }

    /// The number of the best trial.
    pub fn best_trial(&self) -> Option<u64> {
        self.best.as_ref().map(|best| best.trial)
    }

    /// Why the study is complete, if it is.
    pub fn stopped(&self) -> Option<&str> {
        self.closed.as_deref().filter(|_| self.finished)
    }

    /// The owner of that epoch.
    pub fn owner(&self, epoch: u64) -> Option<&OwnerRow> {
        self.owners.iter().rfind(|owner| owner.epoch == epoch)
    }

    /// How long a stage took so far, on average, in seconds.
    pub fn expected_seconds(&self, stage: &str) -> Option<f64> {
        let tally = self.stages.iter().find(|tally| tally.name == stage)?;
        let runs = tally.ran + tally.failed;
        (runs > 0).then(|| tally.seconds / runs as f64)
    }

    /// Every metric that a stage reported in any trial, as `stage.name`, in the order of the stages.
    pub fn metrics(&self) -> Vec<Metric> {
        let mut found = std::collections::BTreeSet::new();
        for trial in &self.trials {
            for stage in &trial.stages {
                let at = self.stages.iter().position(|tally| tally.name == stage.stage);
                let at = at.unwrap_or(usize::MAX);
                found.extend(stage.metrics.keys().map(|name| (at, stage.stage.as_str(), name.as_str())));
            }
        }
        found.into_iter().map(|(_, stage, name)| Metric::of(stage, name)).collect()
    }
}
