//! What one stage of a trial reports: what it cost, and the numbers that it found.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The report of one stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageReport {
    /// Whether the stage ran.
    pub how: How,
    /// What the run cost this trial, if somebody measured it. A reused stage costs nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// The numbers that the stage found, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, f64>,
    /// Whether the stage has reported for this trial before: its output was lost and made again. The costs add up.
    #[serde(default, skip_serializing_if = "is_false")]
    pub again: bool,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// How a stage came to its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// It ran for this trial, to its end.
    Ran,
    /// Its output was there.
    Reused,
    /// It ran for this trial and failed.
    Failed,
}

impl StageReport {
    /// A stage that ran.
    pub fn ran(cost: Option<f64>) -> Self {
        Self { how: How::Ran, cost, metrics: BTreeMap::new(), again: false }
    }

    /// A stage whose output was there.
    pub fn reused() -> Self {
        Self { how: How::Reused, cost: None, metrics: BTreeMap::new(), again: false }
    }

    /// A stage that ran and failed.
    pub fn failed(cost: Option<f64>) -> Self {
        Self { how: How::Failed, cost, metrics: BTreeMap::new(), again: false }
    }

    /// With a number that the stage found.
    pub fn with_metric(mut self, name: impl Into<String>, value: f64) -> Self {
        self.metrics.insert(name.into(), value);
        self
    }

    /// The first number that no event can hold, or a cost below 0, by name.
    pub(crate) fn bad_number(&self) -> Option<(&str, f64)> {
        let cost = self.cost.filter(|cost| !(cost.is_finite() && *cost >= 0.0)).map(|cost| ("cost", cost));
        let metric = || self.metrics.iter().find(|(_, value)| !value.is_finite());
        cost.or_else(|| metric().map(|(name, value)| (name.as_str(), *value)))
    }
}

impl How {
    /// The word for it in lists and files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ran => "ran",
            Self::Reused => "reused",
            Self::Failed => "failed",
        }
    }
}
