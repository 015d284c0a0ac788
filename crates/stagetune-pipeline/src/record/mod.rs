//! What a study has been through, as facts to show: trials with their stages, costs, and what reuse saved.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stagetune::study::Direction;

/// What happened to one stage of one trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageRecord {
    /// The stage's name.
    pub stage: String,
    /// Whether it ran.
    pub how: How,
    /// The cache key, in hexadecimal digits.
    pub key: String,
    /// What it cost if it ran; what it had cost when it ran, if it was reused.
    pub cost: f64,
    /// How long its process took when it ran, all attempts together.
    pub seconds: f64,
    /// When this trial began with it, in seconds since 1970.
    pub began: f64,
    /// When this trial was done with it.
    pub ended: f64,
    /// How often it was started; 0 if it was reused.
    pub attempts: u32,
}

/// Whether a stage ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// Its command ran for this trial, and its output was kept.
    Ran,
    /// Its output was there.
    Reused,
    /// Its command ran and failed.
    Failed,
}

/// One trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialRecord {
    /// Its number, from 0.
    pub trial: u64,
    /// Its values by parameter: numbers, texts and truth values.
    pub point: Map<String, Value>,
    /// What became of it.
    pub state: TrialState,
    /// The value, if it has one.
    pub value: Option<f64>,
    /// Why it failed.
    pub reason: Option<String>,
    /// What it was charged.
    pub cost: Option<f64>,
    /// What had been spent when it was told; `None` while it is open.
    pub spent: Option<f64>,
    /// The best value when it was told.
    pub best: Option<f64>,
    /// When it was proposed, in seconds since 1970.
    pub asked: f64,
    /// When it was told.
    pub told: Option<f64>,
    /// Its stages in order, as far as it came.
    pub stages: Vec<StageRecord>,
    /// Why it was proposed, in one line.
    pub why: String,
}

/// What became of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrialState {
    /// Running, or waiting to be continued.
    Open,
    /// It has a value.
    Observed,
    /// It has none.
    Failed,
}

/// A whole study: everything that `trials`, `export` and `report` show.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyRecord {
    /// Its name.
    pub study: String,
    /// The metric's name.
    pub metric: String,
    /// What is better.
    pub direction: Direction,
    /// The strategy that proposes.
    pub strategy: String,
    /// Its seed.
    pub seed: u64,
    /// The stagetune that began it.
    pub release: String,
    /// Names of the stages in order.
    pub stages: Vec<StageFacts>,
    /// What can be tuned, in order.
    pub params: Vec<ParamFacts>,
    /// What the whole pipeline costs in seconds, or in a unit of the user's.
    pub cost_unit: CostUnit,
    /// The trials in the order asked.
    pub trials: Vec<TrialRecord>,
    /// The number of the best one.
    pub best: Option<u64>,
    /// Why the study stopped, if it did.
    pub stopped: Option<String>,
}

/// A stage as far as pictures need it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageFacts {
    /// Its name.
    pub name: String,
    /// The stages that it needs directly.
    pub after: Vec<String>,
}

/// A parameter as far as pictures need it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParamFacts {
    /// Its name.
    pub name: String,
    /// The stage that it belongs to.
    pub stage: String,
    /// What it can be.
    pub domain: DomainFacts,
}

/// What a parameter can be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum DomainFacts {
    /// A number between two others.
    Float {
        /// The least.
        low: f64,
        /// The greatest.
        high: f64,
        /// Whether it is spread over orders of magnitude.
        log: bool,
    },
    /// A whole number.
    Int {
        /// The least.
        low: i64,
        /// The greatest.
        high: i64,
        /// Between neighbours.
        step: i64,
        /// Whether it is spread over orders of magnitude.
        log: bool,
    },
    /// One of several texts.
    Choice {
        /// The texts.
        values: Vec<String>,
    },
    /// True or false.
    Bool,
}

/// What costs are counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CostUnit {
    /// Every stage is measured.
    Seconds,
    /// Some cost is given or reported: the user knows its unit.
    Units,
}
