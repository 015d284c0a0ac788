//! One record of the log: an event of the study, and what the world adds to it.
//!
//! A record is one line of JSON.
//!
//! ```text
//! {"study":{"event":"owned","epoch":1,"by":{…}},"session":{"workers":4,"definition":{…}}}
//! {"study":{"event":"asked","trial":0,…}}
//! {"study":{"event":"reported","trial":0,"stage":"train","report":{…}},"run":{"key":"9f2c…","seconds":12.4,…}}
//! ```

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use stagetune::study::Event;

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
pub struct Record {
    /// The engine's word for it.
    #[serde(rename = "study")]
    pub event: Event,
    /// With `owned`: what the owner runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<Session>,
    /// With `reported`: how the stage ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Run>,
    /// With what an owner appends: how long it had owned the study by then, in seconds. A clock
    /// that is set and a machine that sleeps do not count, as they do in the time of the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owned_for: Option<f64>,
}

/// What an owner runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// How many trials it runs at a time.
    pub workers: usize,
    /// The pipeline.
    pub definition: Definition,
}

/// How a stage ran for a trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The key of its output, in hexadecimal digits.
    pub key: String,
    /// What its output had cost when it was made, if it was reused.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub saved: f64,
    /// How long its command took when it ran, all attempts together.
    pub seconds: f64,
    /// When the trial began with it, in seconds since 1970.
    pub began: f64,
    /// When the trial was done with it.
    pub ended: f64,
    /// How often it was started; 0 if it was reused.
    pub attempts: u32,
    /// Why it failed, if it did: the trial ends with these words, also under another owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// What a study runs: if it changes, the results before belong to something else.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// The stages in order.
    pub stages: Vec<StageDefinition>,
    /// What costs are counted in.
    pub cost_unit: CostUnit,
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
    pub inputs: BTreeMap<String, String>,
    /// Its declared variables.
    pub env: BTreeMap<String, Option<String>>,
}

impl From<Event> for Record {
    fn from(event: Event) -> Self {
        Self { event, session: None, run: None, owned_for: None }
    }
}

impl Record {
    /// Whether the record must survive a power cut, and not only a killed process.
    ///
    /// What was told, and what people did, must. What is lost of the rest is proposed or run again.
    pub fn must_survive_power_cut(&self) -> bool {
        match &self.event {
            Event::Started(_)
            | Event::Attached { .. }
            | Event::Ended { .. }
            | Event::Released { .. }
            | Event::Paused { .. }
            | Event::Resumed
            | Event::Noted { .. } => true,
            Event::Owned { .. }
            | Event::Asked { .. }
            | Event::Settled { .. }
            | Event::Launched { .. }
            | Event::Reported { .. } => false,
        }
    }
}

/// Reads one record; what is wrong with it, if it is none.
pub fn read_record(text: &str) -> Result<Record, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}
