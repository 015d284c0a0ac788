//! `eipu`: expected improvement per unit of cost over the whole space, as published (Snoek et al. 2012).
//!
//! ```text
//! x_t = argmax over the space of ln EI(x) − ln Γ(x),  Γ(x) = Σ_m c_m(x_m)
//! ```
//!
//! A point of the whole space shares no prefix with the one before, so every module is charged: with given costs Γ is the same everywhere, and
//! this is `gp-ei`. Learnt costs differ from point to point. [`eipu-prefix`](super::EipuPrefix) is the version that freezes.

use serde::{Deserialize, Serialize};

use super::course::{self, Course};
use super::price::{PerPrice, Price};
use super::stage_cost::{StageCosts, need_costs};
use super::{Design, ModelOptions, Proposal, Strategy, StrategyError, View};
use crate::acquisition::{LogEi, Maximiser, Surface};
use crate::space::Space;

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
    course: Course,
}

impl Eipu {
    /// With these options; refused where a cost is unknown.
    pub fn new(space: &Space, options: EipuOptions, seed: u64) -> Result<Self, StrategyError> {
        course::check(options.design, &options.model)?;
        need_costs(space, "eipu")?;
        Ok(Self { options, course: Course::new(seed) })
    }
}

impl Strategy for Eipu {
    fn propose(&self, view: &View<'_>) -> Result<Proposal, StrategyError> {
        let EipuOptions { design, model, effort } = &self.options;
        let Some(model) = self.course.model(view, *design, model)? else {
            return self.course.start(view, *design);
        };
        let costs = StageCosts::of(view, self.course.seed(), self.course.t())?;
        let runs = vec![true; costs.len()];
        let objective = PerPrice {
            objective: Surface::new(&model.gp, LogEi::new(model.lowest)?),
            price: Price::new(&costs, &runs),
            exponent: 1.0,
        };
        self.course.anywhere(view, &model, &objective, effort)
    }

    fn settings(&self) -> String {
        format!("eipu seed {} {:?}", self.course.seed(), self.options)
    }

    fn accept(&mut self, view: &View<'_>, proposal: &Proposal) -> Result<(), StrategyError> {
        self.course.accept(view, proposal)
    }
}
