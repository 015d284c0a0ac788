//! How a trial ends.

use serde::{Deserialize, Serialize};

/// How a trial ends. Its value, if it has one, is in the reports of its stages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "kebab-case")]
pub enum End {
    /// Every stage has its output; the objective's metrics are in the reports.
    Finished,
    /// A stage failed: a result, which strategies learn from.
    Failed {
        /// The stage that broke, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stage: Option<String>,
        /// How many stages, in order from the first, had finished.
        finished: usize,
        /// What went wrong.
        reason: String,
    },
    /// Given up on purpose after a stage, because going on was not worth its cost.
    Abandoned {
        /// The last stage that ran.
        after: String,
        /// Why.
        reason: String,
    },
    /// As if it had never been: nothing is learned from it. What ran stays charged and reusable; the trial's number is not used again.
    Withdrawn {
        /// Why.
        reason: String,
    },
}

impl End {
    /// The word for it in lists and files.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Failed { .. } => "failed",
            Self::Abandoned { .. } => "abandoned",
            Self::Withdrawn { .. } => "withdrawn",
        }
    }

    /// Why it ended without a value.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Finished => None,
            Self::Failed { reason, .. } | Self::Abandoned { reason, .. } | Self::Withdrawn { reason } => {
                Some(reason)
            }
        }
    }
}
