//! One record of the journal: what the engine's study says, and what the world adds to it.
//!
//! A record is one line of JSON.
//!
//! ```text
//! {"record":"opened","release":"0.1.0","process":4711,"host":"lab","workers":1,"definition":{…}}
//! {"record":"study","event":{"event":"asked","trial":0,…}}
//! {"record":"told","event":{"event":"observed","trial":0,"value":0.31,…},"charged":12.5,"stages":[…]}
//! {"record":"closed","finished":true,"reason":"200 trials were asked"}
//! ```

use serde::{Deserialize, Serialize};
use stagetune::study::{Direction, Event};

use crate::record::{CostUnit, ParamFacts, StageRecord};

/// A record and when it was made, in seconds since 1970.
#[derive(Clone, Debug, PartialEq)]
pub struct Stamped {
    /// When.
    pub at: f64,
    /// What.
    pub record: Record,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
pub enum Record {
    /// A process began to work on the study.
    Opened {
        /// Its release.
        release: String,
        /// Its number.
        process: u32,
        /// The machine it ran on.
        host: String,
        /// How many trials it runs at a time.
        workers: usize,
        /// What it runs.
        definition: Definition,
    },
    /// The study began or proposed a trial.
    Study {
        /// The engine's word for it.
        event: Event,
    },
    /// A trial has its outcome.
    Told {
        /// The engine's word for it.
        event: Event,
        /// What the trial was charged.
        charged: Option<f64>,
        /// What happened to its stages.
        stages: Vec<StageRecord>,
    },
    /// The process ended its work in peace.
    Closed {
        /// Whether the budget was reached.
        finished: bool,
        /// Why.
        reason: String,
    },
}

/// What a study runs: if it changes, the results before belong to something else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// The metric's name.
    pub metric: String,
    /// What is better.
    pub direction: Direction,
    /// The stages in order.
    pub stages: Vec<StageDefinition>,
    /// What can be tuned.
    pub params: Vec<ParamFacts>,
    /// What costs are counted in.
    pub cost_unit: CostUnit,
}

/// A stage without the values of its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageDefinition {
    /// Its name.
    pub name: String,
    /// Its command with placeholders.
    pub run: Vec<String>,
    /// The stages that it needs directly.
    pub after: Vec<String>,
    /// Hashes of its inputs, by path.
    pub inputs: std::collections::BTreeMap<String, String>,
    /// Its declared variables.
    pub env: std::collections::BTreeMap<String, Option<String>>,
}

impl Record {
    /// The engine's event, if it is one.
    pub fn event(&self) -> Option<&Event> {
        match self {
            Self::Study { event } | Self::Told { event, .. } => Some(event),
            Self::Opened { .. } | Self::Closed { .. } => None,
        }
    }
}

/// Reads one record; what is wrong with it, if it is none.
pub fn read_record(text: &str) -> Result<Record, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}
