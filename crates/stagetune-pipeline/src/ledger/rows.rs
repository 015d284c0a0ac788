//! The rows of a ledger: trials, their stages, and what stages came to over all trials.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stagetune::study::Owner;
use stagetune::trial::How;

/// One trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrialRow {
    /// Its number, from 0.
    pub trial: u64,
    /// Its values by parameter: numbers, texts and truth values.
    pub point: Map<String, Value>,
    /// What became of it.
    pub state: TrialState,
    /// The value, if it has one.
    pub value: Option<f64>,
    /// Why it has none.
    pub reason: Option<String>,
    /// What it was charged.
    pub cost: Option<f64>,
    /// What had been spent when it ended; `None` while it is open.
    pub spent: Option<f64>,
    /// The best value when it ended.
    pub best: Option<f64>,
    /// When it was proposed, in seconds since 1970.
    pub asked: f64,
    /// When it ended.
    pub told: Option<f64>,
    /// Its stages in order, as far as it came.
    pub stages: Vec<StageRow>,
    /// Why it was proposed, in one line.
    pub why: String,
    /// The epoch of the owner that ran it last.
    pub epoch: u64,
}

/// What happened to one stage of one trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageRow {
    /// The stage's name.
    pub stage: String,
    /// Whether it ran.
    pub how: How,
    /// The key of its output, in hexadecimal digits.
    pub key: String,
    /// What it cost if it ran; what it had cost when it ran, if it was reused.
    pub cost: f64,
    /// The numbers that it found.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, f64>,
    /// How long its command took when it ran, all attempts together.
    pub seconds: f64,
    /// When this trial began with it, in seconds since 1970.
    pub began: f64,
    /// When this trial was done with it.
    pub ended: f64,
    /// How often it was started; 0 if it was reused.
    pub attempts: u32,
}

/// What became of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrialState {
    /// Running, or waiting to be continued.
    Open,
    /// It has a value.
    Observed,
    /// It failed.
    Failed,
    /// It was given up on purpose.
    Abandoned,
    /// It counts as if it had never been.
    Withdrawn,
}

/// The best trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Best {
    /// Its number.
    pub trial: u64,
    /// Its value.
    pub value: f64,
    /// Its parameters.
    pub point: Map<String, Value>,
    /// What had been spent when it ended.
    pub spent: f64,
}

/// What became of one stage over all trials.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StageTally {
    /// Its name.
    pub name: String,
    /// The stages that it needs directly.
    pub after: Vec<String>,
    /// How often it ran to its end.
    pub ran: u64,
    /// How often its output was there.
    pub reused: u64,
    /// How often it failed.
    pub failed: u64,
    /// What its runs cost.
    pub cost: f64,
    /// What the reused outputs had cost.
    pub saved: f64,
    /// Seconds of its runs, failed ones included.
    pub seconds: f64,
}

/// A process that owned the study for a while.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OwnerRow {
    /// Its epoch.
    pub epoch: u64,
    /// When it took the study, in seconds since 1970.
    pub since: f64,
    /// Who it was, and what its trials ran with.
    #[serde(flatten)]
    pub owner: Owner,
}

impl TrialState {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Observed => "observed",
            Self::Failed => "failed",
            Self::Abandoned => "abandoned",
            Self::Withdrawn => "withdrawn",
        }
    }
}

/// A point as JSON.
pub(crate) fn point_json(point: &stagetune::space::Point) -> Map<String, Value> {
    use stagetune::space::Value as Setting;
    let value = |value: &Setting| match value {
        Setting::Int(int) => Value::from(*int),
        Setting::Float(float) => Value::from(*float),
        Setting::Choice(text) => Value::from(text.to_string()),
        Setting::Bool(bool) => Value::from(*bool),
    };
    point.iter().map(|(name, v)| (name.to_owned(), value(v))).collect()
}
