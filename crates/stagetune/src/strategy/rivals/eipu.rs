//! `eipu`: expected improvement per unit of cost over the whole space, as published (Snoek et al. 2012).
//!
//! ```text
//! x_t = argmax over the space of ln EI(x) − ln Γ(x),  Γ(x) = Σ_m c_m(x_m)
//! ```
//!
//! A point of the whole space shares no prefix with the one before, so every module is charged: with given costs Γ is the same everywhere, and
//! this is `gp-ei`. Learnt costs differ from point to point. [`eipu-prefix`](super::EipuPrefix) is the version that freezes.

use serde::{Deserialize, Serialize};

use crate::acquisition::{LogEi, Maximiser, Surface};
use crate::space::{Space, StageSet};
use crate::strategy::descriptor::{Descriptor, read, rewrite, write};
use crate::strategy::parts::price::{PerPrice, Price};
use crate::strategy::parts::stage_cost::{StageCosts, need_costs};
use crate::strategy::parts::state::{self, StrategyState};
use crate::strategy::{Design, Identity, ModelOptions, Past, Proposal, Strategy, StrategyError, View};

/// How it is made by name.
pub(in crate::strategy) const DESCRIPTOR: Descriptor = Descriptor {
    name: "eipu",
    about: "expected improvement per unit of cost anywhere, as published",
    options: &[],
    defaults: || write(&EipuOptions::default()),
    rewrite: rewrite::<EipuOptions>,
    build: |name, space, options, seed| Ok(Box::new(Eipu::new(space, read(name, options)?, seed)?)),
};

/// The settings of `eipu`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EipuOptions {
    /// Where to start; 15 uniform points in the paper.
    pub design: Design,
    /// The model.
    pub model: ModelOptions,
    /// How hard to look.
    pub effort: Maximiser,
}

impl EipuOptions {
    /// As the paper's baseline: with its model.
    pub fn paper() -> Self {
        Self { model: ModelOptions::paper(), ..Self::default() }
    }
}

impl Default for EipuOptions {
    fn default() -> Self {
        Self { design: Design::Uniform(15), model: ModelOptions::modern(), effort: Maximiser::default() }
    }
}

/// Expected improvement per unit of cost, nothing frozen.
#[derive(Clone, Debug)]
pub struct Eipu {
    options: EipuOptions,
    state: StrategyState,
}

impl Eipu {
    /// With these options; refused where a cost is unknown.
    pub fn new(space: &Space, options: EipuOptions, seed: u64) -> Result<Self, StrategyError> {
        state::check(options.design, &options.model)?;
        need_costs(space, DESCRIPTOR.name)?;
        Ok(Self { options, state: StrategyState::new(seed) })
    }
}

impl Strategy for Eipu {
    fn propose(&self, view: &View<'_>) -> Result<Proposal, StrategyError> {
        let EipuOptions { design, model, effort } = &self.options;
        let Some(model) = self.state.model(view, *design, model)? else {
            return self.state.start(view, *design);
        };
        let costs = StageCosts::of(view, self.state.seed(), self.state.t())?;
        let runs = StageSet::all(costs.len());
        let objective = PerPrice {
            objective: Surface::new(&model.gp, LogEi::new(model.lowest)?),
            price: Price::new(&costs, &runs),
            exponent: 1.0,
        };
        self.state.anywhere(view, &model, &objective, effort)
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
