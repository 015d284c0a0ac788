//! What to try next: strategies, each a rule from what has been seen to the next point.
//!
//! A [`Strategy`] is asked with a [`View`] of the study and answers with a [`Proposal`]: a point, [`Why`] it was chosen, and the
//! hyper-parameters if they were fitted anew. Proposing changes nothing; [`Strategy::accept`] does, and takes all it needs from the
//! view and the proposal. So a study that is replayed from its events accepts every proposal again without any of the work that
//! found it, and arrives at the same state, bit for bit.
//!
//! | name | rule | file |
//! | --- | --- | --- |
//! | `auto` | what stagetune takes by itself: improvement per cost beside frozen prefixes, with a start and a model of its own | `auto/` |
//! | `random` | uniform | `random.rs` |
//! | `gp-ucb` | the lowest confidence bound anywhere | `gp_ucb.rs` |
//! | `gp-ei` | the largest expected improvement anywhere | `gp_ei.rs` |
//! | `mes` | the point that tells most about the minimum | `gp_mes.rs` |
//! | `eipu` | expected improvement per unit of cost anywhere, as published | `eipu.rs` |
//! | `eipu-prefix` | the same beside every frozen prefix | `eipu_prefix.rs` |
//! | `carbo` | the same with a cost that matters less as the budget is spent, and a design of its own | `carbo.rs` |
//! | `ca-mobo` | a compromise between value and cost with weights by chance | `ca_mobo.rs` |
//! | `eeipu` | expected improvement times expected inverse cost beside prefixes that are at hand | `eeipu.rs` |
//! | `switch-eipu`, `switch-eipu-ahead` | stay on the frozen point while it is worth its lower cost | `switch_eipu.rs` |
//! | `pbgi`, `pbgi-fixed` | the best Gittins index beside every frozen prefix | `pbgi.rs` |
//! | `ts` | the minimum of a sampled function beside every frozen prefix | `thompson.rs` |
//! | `lambo` | the slowly moving bandit and the lazy step, with the settings that measured best | `lambo/` |
//! | `lambo-paper` | the same with the paper's settings | `lambo/` |
//!
//! What going on is worth, whatever the strategy, is a [`forecast()`].

mod auto;
mod bend;
mod ca_mobo;
mod carbo;
mod catalogue;
mod course;
mod design;
mod eeipu;
mod eipu;
mod eipu_prefix;
mod error;
mod explain;
mod forecast;
mod fresh;
mod gp_ei;
mod gp_mes;
mod gp_ucb;
pub mod lambo;
mod model;
mod odds;
mod pbgi;
mod prefix;
mod price;
mod random;
mod stage_cost;
mod steps;
mod stream;
mod switch_eipu;
mod thompson;
mod view;
mod why;

pub use auto::{Auto, AutoOptions, AutoStart};
pub use ca_mobo::{CaMobo, CaMoboOptions, Scalarisation};
pub use carbo::{Carbo, CarboOptions};
pub use catalogue::{NAMES, OptionDescription, StrategyDescription, by_name, configured, describe};
pub use design::{Design, DesignError};
pub use eeipu::{Eeipu, EeipuOptions};
pub use eipu::{Eipu, EipuOptions};
pub use eipu_prefix::{EipuPrefix, EipuPrefixOptions};
pub use error::StrategyError;
pub use forecast::{Campaign, Forecast, Horizon, NoForecast, forecast};
pub use gp_ei::{GpEi, GpEiOptions};
pub use gp_mes::{GpMes, GpMesOptions};
pub use gp_ucb::{GpUcb, GpUcbOptions};
pub use lambo::{Lambo, LamboOptions};
pub use model::{ModelOptions, Noise};
pub use pbgi::{Pbgi, PbgiOptions};
pub use random::Random;
pub use switch_eipu::{SwitchEipu, SwitchEipuOptions};
pub use thompson::{Thompson, ThompsonOptions};
pub use view::View;
pub use why::{ArmChoice, Belief, Source, Why};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::space::Point;
use crate::surrogate::Hyper;

/// A rule from what has been seen to the next point.
pub trait Strategy: std::fmt::Debug + Send + Sync {
    /// What to try next, and why. The same view gives the same answer.
    fn propose(&self, view: &View<'_>) -> Result<Proposal, StrategyError>;

    /// Takes note that a proposal became a trial; `view` is as it was when the proposal was made.
    ///
    /// On an error nothing has changed.
    fn accept(&mut self, view: &View<'_>, proposal: &Proposal) -> Result<(), StrategyError>;

    /// What tells its proposals from those of others: name, seed and options. A study refuses the events of another.
    fn settings(&self) -> String {
        String::new()
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
    /// What the strategy has to remember and could not work out again from what it sees, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub memo: BTreeMap<String, f64>,
}

impl Proposal {
    /// A point and why, with nothing fitted and nothing to remember.
    pub fn new(point: Point, why: Why) -> Self {
        Self { point, why, hyper: None, memo: BTreeMap::new() }
    }

    /// With the hyper-parameters, if they were fitted for it.
    pub fn with_hyper(self, hyper: Option<Hyper>) -> Self {
        Self { hyper, ..self }
    }

    /// With a number to remember.
    pub fn with_memo(mut self, name: &str, value: f64) -> Self {
        self.memo.insert(name.to_owned(), value);
        self
    }

    /// Why this point.
    pub fn why(&self) -> &Why {
        &self.why
    }
}
