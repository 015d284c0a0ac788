//! `mes`: the point that tells most about the minimum, every module free at every trial (Wang & Jegelka 2017).
//!
//! ```text
//! x_t = argmax over the space of mean over y* of γφ(γ)/(2Φ(γ)) − ln Φ(γ),  γ = (μ − y*)/s
//! y* ~ the Gumbel law fitted to the distribution of the minimum over quasi-random points and the data
//! ```
//!
//! The authors' code draws 10 sets of hyper-parameters with one y* each; here the hyper-parameters are fitted, and 10 y* are drawn.

use serde::{Deserialize, Serialize};

use crate::acquisition::{Maximiser, Surface};
use crate::space::Space;
use crate::strategy::descriptor::{COUNT, Descriptor, option, read, rewrite, write};
use crate::strategy::parts::max_value::max_value;
use crate::strategy::parts::state::{self, StrategyState};
use crate::strategy::{Design, Identity, ModelOptions, Past, Proposal, Strategy, StrategyError, View};

/// Quasi-random points at which the distribution of the minimum is looked up, as in the authors' code. The law depends on their number: taken as
/// independent, ten times as many points have a lower minimum.
const MINIMUM_POINTS: usize = 10_000;

/// More points or samples than this would take all memory.
const MOST: usize = 1 << 20;

/// How it is made by name.
pub(in crate::strategy) const DESCRIPTOR: Descriptor = Descriptor {
    name: "mes",
    about: "the point that tells most about the minimum; ignores costs",
    options: &[
        option("samples", "samples of the minimum", COUNT),
        option("points", "quasi-random points over which the minimum is taken", COUNT),
    ],
    defaults: || write(&GpMesOptions::default()),
    rewrite: rewrite::<GpMesOptions>,
    build: |name, space, options, seed| Ok(Box::new(GpMes::new(space, read(name, options)?, seed)?)),
};

/// The settings of `mes`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GpMesOptions {
    /// Where to start; 15 uniform points in the paper.
    pub design: Design,
    /// The model.
    pub model: ModelOptions,
    /// Samples of the minimum: 10 in the authors' code.
    pub samples: usize,
    /// Quasi-random points beside the data over which the minimum is taken.
    pub points: usize,
    /// How hard to look for the most informative point.
    pub effort: Maximiser,
}

impl GpMesOptions {
    /// As the paper's baseline: with its model.
    pub fn paper() -> Self {
        Self { model: ModelOptions::paper(), ..Self::default() }
    }
}

impl Default for GpMesOptions {
    fn default() -> Self {
        Self {
            design: Design::Uniform(15),
            model: ModelOptions::modern(),
            samples: 10,
            points: MINIMUM_POINTS,
            effort: Maximiser::default(),
        }
    }
}

/// The most informative point anywhere.
#[derive(Clone, Debug)]
pub struct GpMes {
    options: GpMesOptions,
    state: StrategyState,
}

impl GpMes {
    /// With these options.
    pub fn new(_: &Space, options: GpMesOptions, seed: u64) -> Result<Self, StrategyError> {
        state::check(options.design, &options.model)?;
        for (option, count) in [("samples", options.samples), ("points", options.points)] {
            if !(1..=MOST).contains(&count) {
                let problem = format!("it is {count}; give a number from 1 to {MOST}");
                return Err(StrategyError::Option { option, problem });
            }
        }
        Ok(Self { options, state: StrategyState::new(seed) })
    }
}

impl Strategy for GpMes {
    fn propose(&self, view: &View<'_>) -> Result<Proposal, StrategyError> {
        let GpMesOptions { design, model, samples, points, effort } = &self.options;
        let Some(model) = self.state.model(view, *design, model)? else {
            return self.state.start(view, *design);
        };
        let mes = max_value(&model, *points, *samples, self.state.seed(), self.state.t())?;
        self.state.anywhere(view, &model, &Surface::new(&model.gp, mes), effort)
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
