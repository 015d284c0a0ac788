//! `gp-ucb`: the lowest confidence bound over the whole space, every module free at every trial.
//!
//! ```text
//! x_t = argmin over the space of μ_{t−1}(x) − β_t s_{t−1}(x)          Srinivas et al. 2010
//! ```
//!
//! It is what LaMBO is without modules: same start, same model, same confidence bound.

use serde::{Deserialize, Serialize};

use crate::acquisition::{Beta, Lcb, Maximiser, Surface};
use crate::space::Space;
use crate::strategy::descriptor::{Descriptor, option, read, rewrite, write};
use crate::strategy::parts::state::{self, StrategyState};
use crate::strategy::{Design, Identity, ModelOptions, Past, Proposal, Strategy, StrategyError, View};

/// How it is made by name.
pub(in crate::strategy) const DESCRIPTOR: Descriptor = Descriptor {
    name: "gp-ucb",
    about: "the lowest confidence bound anywhere; ignores costs",
    options: &[option(
        "beta",
        "weight of the standard deviation",
        "\"printed\", \"sqrt\" or { fixed = 2.0 }",
    )],
    defaults: || write(&GpUcbOptions::default()),
    rewrite: rewrite::<GpUcbOptions>,
    build: |name, space, options, seed| Ok(Box::new(GpUcb::new(space, read(name, options)?, seed)?)),
};

/// The settings of `gp-ucb`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GpUcbOptions {
    /// Where to start; 15 uniform points in the paper.
    pub design: Design,
    /// The model.
    pub model: ModelOptions,
    /// The weight of the standard deviation; 0.2 D ln(2t) as the paper prints it.
    pub beta: Beta,
    /// How hard to look for the lowest bound.
    pub effort: Maximiser,
}

impl Default for GpUcbOptions {
    fn default() -> Self {
        Self {
            design: Design::Uniform(15),
            model: ModelOptions::paper(),
            beta: Beta::Printed,
            effort: Maximiser::default(),
        }
    }
}

/// The lowest confidence bound anywhere.
#[derive(Clone, Debug)]
pub struct GpUcb {
    options: GpUcbOptions,
    state: StrategyState,
}

impl GpUcb {
    /// With these options.
    pub fn new(_: &Space, options: GpUcbOptions, seed: u64) -> Result<Self, StrategyError> {
        state::check(options.design, &options.model)?;
        Lcb::new(options.beta.at(1, 1))?;
        Ok(Self { options, state: StrategyState::new(seed) })
    }
}

impl Strategy for GpUcb {
    fn propose(&self, view: &View<'_>) -> Result<Proposal, StrategyError> {
        let GpUcbOptions { design, model, beta, effort } = &self.options;
        let Some(model) = self.state.model(view, *design, model)? else {
            return self.state.start(view, *design);
        };
        let lcb = Lcb::at(*beta, view.space.params().len(), self.state.t())?;
        self.state.anywhere(view, &model, &Surface::new(&model.gp, lcb), effort)
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
