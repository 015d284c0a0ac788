//! `eipu-prefix`: expected improvement per unit of cost, maximised exactly.
//!
//! ```text
//! x_t = argmax over prefixes p and the rest u of ln EI([p, u]) − a ln Γ([p, u])          a = 1
//! ```
//!
//! The rule of Snoek et al. (2012) with the movement cost of LaMBO, and each value of Γ given its own maximisation (`prefix.rs`).

use serde::{Deserialize, Serialize};

use crate::acquisition::Maximiser;
use crate::space::Space;
use crate::strategy::descriptor::{Descriptor, read, rewrite, write};
use crate::strategy::parts::improvement::improvement_per_cost;
use crate::strategy::parts::prefix;
use crate::strategy::parts::stage_cost::need_costs;
use crate::strategy::parts::state::{self, StrategyState};
use crate::strategy::{Design, Identity, ModelOptions, Past, Proposal, Strategy, StrategyError, View};

/// How it is made by name.
pub(in crate::strategy) const DESCRIPTOR: Descriptor = Descriptor {
    name: "eipu-prefix",
    about: "expected improvement per unit of cost, stages that are at hand kept",
    options: &[],
    defaults: || write(&EipuPrefixOptions::default()),
    rewrite: rewrite::<EipuPrefixOptions>,
    build: |name, space, options, seed| Ok(Box::new(EipuPrefix::new(space, read(name, options)?, seed)?)),
};

/// The settings of `eipu-prefix`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EipuPrefixOptions {
    /// Where to start; 15 uniform points in the paper.
    pub design: Design,
    /// The model.
    pub model: ModelOptions,
    /// How hard to look beside each prefix.
    pub effort: Maximiser,
}

impl EipuPrefixOptions {
    /// With the paper's model.
    pub fn paper() -> Self {
        Self { model: ModelOptions::paper(), ..Self::default() }
    }
}

impl Default for EipuPrefixOptions {
    fn default() -> Self {
        Self { design: Design::Uniform(15), model: ModelOptions::modern(), effort: prefix::effort() }
    }
}

/// Expected improvement per unit of cost beside every prefix.
#[derive(Clone, Debug)]
pub struct EipuPrefix {
    options: EipuPrefixOptions,
    state: StrategyState,
}

impl EipuPrefix {
    /// With these options; refused where a cost is unknown.
    pub fn new(space: &Space, options: EipuPrefixOptions, seed: u64) -> Result<Self, StrategyError> {
        state::check(options.design, &options.model)?;
        need_costs(space, DESCRIPTOR.name)?;
        Ok(Self { options, state: StrategyState::new(seed) })
    }
}

impl Strategy for EipuPrefix {
    fn propose(&self, view: &View<'_>) -> Result<Proposal, StrategyError> {
        let EipuPrefixOptions { design, model, effort } = &self.options;
        let Some(model) = self.state.model(view, *design, model)? else {
            return self.state.start(view, *design);
        };
        improvement_per_cost(&self.state, view, &model, &prefix::prefixes(view)?, 1.0, effort)
    }

    fn identity(&self) -> Identity {
        Identity::of(DESCRIPTOR.name, self.state.seed(), &self.options)
    }

    fn boxed(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }

    fn accept(&mut self, past: &Past<'_>, proposal: &Proposal) -> Result<(), StrategyError> {
        self.state.accept(past, proposal)
    }
}
