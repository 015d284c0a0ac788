//! `eipu-prefix`: expected improvement per unit of cost, maximised exactly.
//!
//! ```text
//! x_t = argmax over prefixes p and the rest u of ln EI([p, u]) − a ln Γ([p, u])          a = 1
//! ```
//!
//! The rule of Snoek et al. (2012) with the movement cost of LaMBO, and each value of Γ given its own maximisation (`prefix.rs`).

use serde::{Deserialize, Serialize};

use super::course::{self, Course};
use super::model::Model;
use super::prefix::{self, Prefix};
use super::price::{PerPrice, Price};
use super::stage_cost::{StageCosts, need_costs};
use super::{Design, ModelOptions, Proposal, Strategy, StrategyError, View};
use crate::acquisition::{LogEi, Maximiser, Surface};
use crate::space::Space;

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
    course: Course,
}

impl EipuPrefix {
    /// With these options; refused where a cost is unknown.
    pub fn new(space: &Space, options: EipuPrefixOptions, seed: u64) -> Result<Self, StrategyError> {
        course::check(options.design, &options.model)?;
        need_costs(space, "eipu-prefix")?;
        Ok(Self { options, course: Course::new(seed) })
    }
}

impl Strategy for EipuPrefix {
    fn propose(&self, view: &View<'_>) -> Result<Proposal, StrategyError> {
        let EipuPrefixOptions { design, model, effort } = &self.options;
        let Some(model) = self.course.model(view, *design, model)? else {
            return self.course.start(view, *design);
        };
        improvement_per_cost(&self.course, view, &model, &prefix::prefixes(view)?, 1.0, effort)
    }

    fn settings(&self) -> String {
        format!("eipu-prefix seed {} {:?}", self.course.seed(), self.options)
    }

    fn accept(&mut self, view: &View<'_>, proposal: &Proposal) -> Result<(), StrategyError> {
        self.course.accept(view, proposal)
    }
}

/// The largest EI/Γ^a beside any of these prefixes.
pub(super) fn improvement_per_cost(
    course: &Course,
    view: &View<'_>,
    model: &Model,
    prefixes: &[Prefix<'_>],
    exponent: f64,
    effort: &Maximiser,
) -> Result<Proposal, StrategyError> {
    let costs = StageCosts::of(view, course.seed(), course.t())?;
    let log_ei = LogEi::new(model.lowest)?;
    let objective = |runs| PerPrice {
        objective: Surface::new(&model.gp, log_ei),
        price: Price::new(&costs, runs),
        exponent,
    };
    Ok(prefix::propose(course, view, model, prefixes, objective, effort)?.0)
}
