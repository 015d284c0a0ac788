//! What to try next: strategies, each a rule from what has been seen to the next point.
//!
//! A [`Strategy`] is asked with a [`View`] of the study and answers with a [`Proposal`]: a point, [`Why`] it was chosen, and the
//! hyper-parameters if they were fitted anew. Proposing changes nothing; [`Strategy::accept`] does, and takes all it needs from the
//! past and the proposal. So a study that is replayed from its events accepts every proposal again without
//! any of the work that found it, and arrives at the same state, bit for bit.
//!
//! | room | what is in it |
//! | --- | --- |
//! | [`lambo`] | `lambo` and `lambo-paper`: the slowly moving bandit and the lazy step |
//! | `auto/` | `auto`, what stagetune takes by itself: its options, its start, its trial overhead |
//! | `rivals/` | published and simple rules that these are compared with, a file for each |
//! | `parts/` | what they share: the model, designs, prefixes at hand, prices, random numbers |
//! | `catalogue/` | strategies by name: [`by_name`], [`configured`], [`describe`] |

mod auto;
mod catalogue;
mod descriptor;
mod error;
mod identity;
pub mod lambo;
mod memory;
pub(crate) mod parts;
mod past;
mod rivals;
mod view;
mod why;

pub use auto::{Auto, AutoOptions, AutoStart};
pub use catalogue::{
    NAMES, OptionDescription, StrategyDescription, by_name, complete_options, configured, describe,
};
pub use error::StrategyError;
pub use identity::{Identity, differing_option};
pub use lambo::{Lambo, LamboOptions};
pub use memory::Memory;
pub use parts::design::{Design, DesignError};
pub use parts::model::{ModelOptions, Noise};
pub use past::Past;
pub use rivals::*;
pub use view::View;
pub use why::{ArmChoice, Belief, Source, Why};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::space::Point;
use crate::surrogate::Hyper;

/// A rule from what has been seen to the next point.
pub trait Strategy: std::fmt::Debug + Send + Sync {
    /// What to try next, and why. The same view gives the same answer.
    fn propose(&self, view: &View<'_>) -> Result<Proposal, StrategyError>;

    /// Takes note that a proposal became a trial, the next one after those of the past.
    ///
    /// Results may have come in since the proposal was made: nothing may depend on them. On an error nothing
    /// has changed.
    fn accept(&mut self, past: &Past<'_>, proposal: &Proposal) -> Result<(), StrategyError>;

    /// A copy in the same state.
    fn boxed(&self) -> Box<dyn Strategy>;

    /// What tells its proposals from those of others. A study refuses the events of another.
    fn identity(&self) -> Identity {
        Identity::default()
    }
}

impl Clone for Box<dyn Strategy> {
    fn clone(&self) -> Self {
        self.as_ref().boxed()
    }
}

/// A point to try, and all that led to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    /// What to run.
    pub point: Point,
    /// Why this point.
    pub why: Why,
    /// The hyper-parameters, if they were fitted for this proposal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hyper: Option<Hyper>,
    /// How many stages, from the first on, have their values for good; the later ones are settled when these have
    /// reported. Missing: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<usize>,
    /// What the strategy has to remember and could not work out again from the past.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
}

impl Proposal {
    /// A point and why, with nothing fitted and nothing to remember.
    pub fn new(point: Point, why: Why) -> Self {
        Self { point, why, hyper: None, settled: None, memory: None }
    }

    /// With the hyper-parameters, if they were fitted for it.
    pub fn with_hyper(self, hyper: Option<Hyper>) -> Self {
        Self { hyper, ..self }
    }

    /// With a value to remember; see [`Memory::of`].
    pub fn remembering<T>(self, value: &T) -> Result<Self, StrategyError>
    where
        T: Serialize + DeserializeOwned + PartialEq,
    {
        Ok(Self { memory: Some(Memory::of(value)?), ..self })
    }

    /// What it remembers, if anything; foreign where that is no value of this type. `trial` is the number of
    /// its trial.
    pub fn recall<T: DeserializeOwned>(&self, trial: usize) -> Result<Option<T>, StrategyError> {
        let foreign = |problem| StrategyError::Foreign {
            trial,
            problem: format!("what it remembers cannot be read: {problem}"),
        };
        self.memory.as_ref().map(Memory::read).transpose().map_err(foreign)
    }

    /// Why this point.
    pub fn why(&self) -> &Why {
        &self.why
    }
}
