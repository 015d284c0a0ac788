//! What happens to a study, as events: what is written down is all that is needed to go on.
//!
//! An event is one line of JSON. Values are as the user told them, in the user's direction; floats come back bit for bit if the reader's
//! JSON does (`float_roundtrip` of `serde_json`).
//!
//! ```text
//! {"event":"started","format":1,"release":"0.1.0","strategy":"random","seed":7,"options":"","direction":"minimize",…}
//! {"event":"asked","trial":0,"proposal":{"point":{"lr":0.01},"why":{"source":"random",…}}}
//! {"event":"observed","trial":0,"value":0.31}
//! {"event":"failed","trial":1,"reason":"out of memory","finished":1,"stages":[12.5,3.0]}
//! ```
//!
//! History of the format:
//! - 1: `started`, `asked`, `observed`, `failed`; a `failed` may say which module `broke`, and is read without it, too.

use serde::{Deserialize, Serialize};

use super::error::StudyError;
use crate::space::CostModel;
use crate::strategy::Proposal;
use crate::trial::TrialId;

/// The format of the events that this release writes.
pub const FORMAT: u32 = 1;

/// Something that happened to a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The study began: what the events after this one belong to.
    Started {
        /// [`FORMAT`] of the release that wrote it.
        format: u32,
        /// That release.
        release: String,
        /// The strategy's name.
        strategy: String,
        /// Its seed.
        seed: u64,
        /// Its options, as text: those of the label, or what the strategy says of itself.
        options: String,
        /// What is better.
        direction: Direction,
        /// Which earlier outputs are at hand.
        #[serde(with = "CostModelName")]
        cost_model: CostModel,
        /// Modules, parameters, ranges, cuts, costs and forbidden regions, as text.
        space: String,
    },
    /// A trial was proposed, and is open.
    Asked {
        /// Its number.
        trial: TrialId,
        /// Its point, and all that led to it.
        proposal: Box<Proposal>,
    },
    /// A trial returned a value.
    Observed {
        /// Its number.
        trial: TrialId,
        /// In the user's direction.
        value: f64,
        /// The measured cost of each module that ran; empty if nobody measured.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        stages: Vec<Option<f64>>,
    },
    /// A trial returned none.
    Failed {
        /// Its number.
        trial: TrialId,
        /// What went wrong.
        reason: String,
        /// How many modules had finished.
        finished: usize,
        /// The module that broke, counted from 0, where that was told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        broke: Option<usize>,
        /// The measured cost of each module that ran; empty if nobody measured.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        stages: Vec<Option<f64>>,
    },
}

/// What is better: the one place where values change their sign is the edge of the study.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Lower values.
    #[default]
    Minimize,
    /// Higher values.
    Maximize,
}

/// How a cost model is called in events.
#[derive(Serialize, Deserialize)]
#[serde(remote = "CostModel", rename_all = "kebab-case")]
enum CostModelName {
    Previous,
    Cache,
}

impl Direction {
    /// A value between the user's direction and the engine's, either way.
    pub(super) fn turned(self, value: f64) -> f64 {
        match self {
            Self::Minimize => value,
            Self::Maximize => -value,
        }
    }

    /// Whether `a` is strictly better than `b`.
    pub fn is_better(self, a: f64, b: f64) -> bool {
        match self {
            Self::Minimize => a < b,
            Self::Maximize => a > b,
        }
    }
}

/// JSON has no NaN and no infinity: a proposal that holds one could not be read back.
pub(super) fn check_writable(id: TrialId, proposal: &Proposal) -> Result<(), StudyError> {
    let Proposal { why, hyper, memo, .. } = proposal;
    let mut numbers: Vec<(&'static str, &[f64])> = vec![("expected_cost", why.expected_cost.as_slice())];
    let belief = why.belief.map(|belief| [belief.mean, belief.sd, belief.acquisition]);
    if let Some([mean, sd, acquisition]) = &belief {
        numbers.extend([("mean", one(mean)), ("sd", one(sd)), ("acquisition", one(acquisition))]);
    }
    if let Some(arm) = &why.arm {
        numbers.extend([("probabilities", &arm.probabilities[..]), ("losses", &arm.losses[..])]);
    }
    if let Some(hyper) = hyper {
        numbers.push(("lengthscales", &hyper.lengthscales));
        numbers.push(("signal_variance", one(&hyper.signal_variance)));
        numbers.push(("noise_variance", one(&hyper.noise_variance)));
        numbers.push(("prior mean", one(&hyper.mean)));
    }
    numbers.extend(memo.values().map(|value| ("memo", one(value))));
    for (field, values) in numbers {
        if let Some(value) = values.iter().copied().find(|value| !value.is_finite()) {
            return Err(StudyError::Unwritable { id, field, value });
        }
    }
    Ok(())
}

fn one(number: &f64) -> &[f64] {
    std::slice::from_ref(number)
}
