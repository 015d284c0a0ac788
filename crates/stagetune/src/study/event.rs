//! What happens to a study, as events: they are the only way in which a study changes, and all that is needed to go on.
//!
//! An event is one line of JSON. Values are as the user told them, in the user's direction. Floats come back bit for bit if the reader's
//! JSON does (`float_roundtrip` of `serde_json`).
//!
//! ```text
//! {"event":"started","format":2,"release":"0.1.0","strategy":{"name":"random","seed":7,"options":{}},"objectives":{…},"space":{…}}
//! {"event":"owned","epoch":1,"by":{"release":"0.1.0","host":"lab","process":4711}}
//! {"event":"asked","trial":0,"proposal":{"point":{"lr":0.01},"why":{"source":"random",…}}}
//! {"event":"launched","trial":0,"stage":"train","key":"9f2c…","token":"…"}
//! {"event":"reported","trial":0,"stage":"train","report":{"how":"ran","cost":12.5,"metrics":{"loss":0.31}}}
//! {"event":"ended","trial":0,"end":{"how":"finished"},"cost":12.5}
//! {"event":"ended","trial":1,"end":{"how":"failed","stage":"train","finished":0,"reason":"out of memory"},"cost":3.0}
//! ```
//!
//! History of the format:
//! - 1: never released, and not read.
//! - 2: the events above, and `settled`, `attached`, `released`, `paused`, `resumed`, `noted`.

use serde::{Deserialize, Serialize};

use super::error::StudyError;
use crate::objective::Objectives;
use crate::space::{CostModel, Point, SpaceDescription};
use crate::strategy::{Identity, Proposal};
use crate::trial::{End, StageReport, TrialId};

/// The format of the events that this release writes.
pub const FORMAT: u32 = 2;

/// The oldest format that this release reads.
pub const OLDEST: u32 = 2;

/// Something that happened to a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The study began: what the events after this one belong to.
    Started(Box<Started>),
    /// A process became the owner of the study. Whoever owned it before stops when it reads this.
    Owned {
        /// Larger than that of every owner before.
        epoch: u64,
        /// Who it is.
        by: Owner,
    },
    /// The owner stopped its work in peace.
    Released {
        /// Its epoch.
        epoch: u64,
        /// Whether the study is complete, and not merely interrupted.
        finished: bool,
        /// Why it stopped.
        reason: String,
    },
    /// A trial was proposed, and is open.
    Asked {
        /// Its number.
        trial: TrialId,
        /// Its point, and all that led to it.
        proposal: Box<Proposal>,
    },
    /// The values of later stages of an open trial were settled, after earlier stages had reported.
    Settled {
        /// Its number.
        trial: TrialId,
        /// Its whole point; stages that were settled before keep their values.
        point: Point,
    },
    /// A point that somebody else chose became a trial, and is open.
    Attached {
        /// Its number.
        trial: TrialId,
        /// Its point.
        point: Point,
        /// Who chose it, or where it comes from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<String>,
    },
    /// A stage of an open trial is about to be started: written before anything runs.
    Launched {
        /// The trial.
        trial: TrialId,
        /// The stage.
        stage: String,
        /// The key of its output.
        key: String,
        /// The attempt, unique for ever.
        token: String,
    },
    /// A stage of an open trial has its output, or failed for good.
    Reported {
        /// The trial.
        trial: TrialId,
        /// The stage.
        stage: String,
        /// What it cost and found.
        report: StageReport,
    },
    /// A trial ended. One that had ended before can only be withdrawn.
    Ended {
        /// The trial.
        trial: TrialId,
        /// How.
        end: End,
        /// What the trial was charged, if that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cost: Option<f64>,
    },
    /// No new trials until the study is resumed.
    Paused {
        /// Why.
        reason: String,
    },
    /// New trials again.
    Resumed,
    /// Somebody's words about the study, or about a trial.
    Noted {
        /// The trial, if it is about one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trial: Option<TrialId>,
        /// The words.
        text: String,
    },
}

/// What a study is: its events belong to no other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Started {
    /// [`FORMAT`] of the release that wrote it.
    pub format: u32,
    /// That release.
    pub release: String,
    /// Who proposes.
    pub strategy: Identity,
    /// What the study is after.
    pub objectives: Objectives,
    /// Which earlier outputs are at hand.
    #[serde(with = "CostModelName")]
    pub cost_model: CostModel,
    /// What can be tuned.
    pub space: SpaceDescription,
}

/// A process that owns a study, and what its trials run with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Owner {
    /// Its release of stagetune.
    pub release: String,
    /// Its machine.
    pub host: String,
    /// Its number there.
    pub process: u32,
    /// The interpreter of its stages, where they have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interpreter: Option<String>,
    /// The commit of the directory that it runs in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// How a cost model is called in events.
#[derive(Serialize, Deserialize)]
#[serde(remote = "CostModel", rename_all = "kebab-case")]
enum CostModelName {
    Previous,
    Cache,
}

impl Event {
    /// Whether somebody who does not own the study may append it.
    pub fn is_anybodys(&self) -> bool {
        match self {
            Self::Started(_)
            | Self::Attached { .. }
            | Self::Reported { .. }
            | Self::Ended { .. }
            | Self::Paused { .. }
            | Self::Resumed
            | Self::Noted { .. } => true,
            Self::Owned { .. }
            | Self::Released { .. }
            | Self::Asked { .. }
            | Self::Settled { .. }
            | Self::Launched { .. } => false,
        }
    }

    /// The trial that the event is about.
    pub fn trial(&self) -> Option<TrialId> {
        match self {
            Self::Asked { trial, .. }
            | Self::Settled { trial, .. }
            | Self::Attached { trial, .. }
            | Self::Launched { trial, .. }
            | Self::Reported { trial, .. }
            | Self::Ended { trial, .. } => Some(*trial),
            Self::Noted { trial, .. } => *trial,
            Self::Started(_)
            | Self::Owned { .. }
            | Self::Released { .. }
            | Self::Paused { .. }
            | Self::Resumed => None,
        }
    }
}

/// JSON has no NaN and no infinity: a proposal that holds one could not be read back.
pub(super) fn check_writable(id: TrialId, proposal: &Proposal) -> Result<(), StudyError> {
    let Proposal { why, hyper, .. } = proposal;
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
