//! `gp-ucb`: the lowest confidence bound over the whole space, every module free at every trial.
//!
//! ```text
//! x_t = argmin over the space of μ_{t−1}(x) − β_t s_{t−1}(x)          Srinivas et al. 2010
//! ```
//!
//! It is what LaMBO is without modules: same start, same model, same confidence bound.

use serde::{Deserialize, Serialize};

use super::course::{self, Course};
use super::{Design, ModelOptions, Proposal, Strategy, StrategyError, View};
use crate::acquisition::{Beta, Lcb, Maximiser, Surface};
use crate::space::Space;

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
    course: Course,
}

impl GpUcb {
    /// With these options.
    pub fn new(_: &Space, options: GpUcbOptions, seed: u64) -> Result<Self, StrategyError> {
        course::check(options.design, &options.model)?;
        Lcb::new(options.beta.at(1, 1))?;
        Ok(Self { options, course: Course::new(seed) })
    }
}

impl Strategy for GpUcb {
    fn propose(&self, view: &View<'_>) -> Result<Proposal, StrategyError> {
        let GpUcbOptions { design, model, beta, effort } = &self.options;
        let Some(model) = self.course.model(view, *design, model)? else {
            return self.course.start(view, *design);
        };
        let lcb = Lcb::at(*beta, view.space.params().len(), self.course.t())?;
        self.course.anywhere(view, &model, &Surface::new(&model.gp, lcb), effort)
    }

    fn settings(&self) -> String {
        format!("gp-ucb seed {} {:?}", self.course.seed(), self.options)
    }

    fn accept(&mut self, view: &View<'_>, proposal: &Proposal) -> Result<(), StrategyError> {
        self.course.accept(view, proposal)
    }
}
