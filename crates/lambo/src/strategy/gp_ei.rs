//! `gp-ei`: the largest expected improvement over the whole space, every module free at every trial.
//!
//! ```text
//! x_t = argmax over the space of ln EI(x),  EI = s(φ(z) + zΦ(z)),  z = (f* − μ)/s          Močkus 1975; LogEI: Ament et al. 2023
//! ```
//!
//! f* is the lowest value observed.

use super::course::{self, Course};
use super::{Design, ModelOptions, Proposal, Strategy, StrategyError, View};
use crate::acquisition::{LogEi, Maximiser, Surface};
use crate::space::Space;

/// The settings of `gp-ei`.
#[derive(Clone, Debug, PartialEq)]
pub struct GpEiOptions {
    /// Where to start; 15 uniform points in the paper.
    pub design: Design,
    /// The model.
    pub model: ModelOptions,
    /// How hard to look for the largest improvement.
    pub effort: Maximiser,
}

impl GpEiOptions {
    /// As the paper's baseline: with its model.
    pub fn paper() -> Self {
        Self { model: ModelOptions::paper(), ..Self::default() }
    }
}

impl Default for GpEiOptions {
    fn default() -> Self {
        Self { design: Design::Uniform(15), model: ModelOptions::modern(), effort: Maximiser::default() }
    }
}

/// The largest expected improvement anywhere.
#[derive(Clone, Debug)]
pub struct GpEi {
    options: GpEiOptions,
    course: Course,
}

impl GpEi {
    /// With these options.
    pub fn new(_: &Space, options: GpEiOptions, seed: u64) -> Result<Self, StrategyError> {
        course::check(options.design, &options.model)?;
        Ok(Self { options, course: Course::new(seed) })
    }
}

impl Strategy for GpEi {
    fn propose(&self, view: &View<'_>) -> Result<Proposal, StrategyError> {
        let GpEiOptions { design, model, effort } = &self.options;
        let Some(model) = self.course.model(view, *design, model)? else {
            return self.course.start(view, *design);
        };
        let surface = Surface::new(&model.gp, LogEi::new(model.lowest)?);
        self.course.anywhere(view, &model, &surface, effort)
    }

    fn settings(&self) -> String {
        format!("gp-ei seed {} {:?}", self.course.seed(), self.options)
    }

    fn accept(&mut self, view: &View<'_>, proposal: &Proposal) -> Result<(), StrategyError> {
        self.course.accept(view, proposal)
    }
}
