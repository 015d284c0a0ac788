//! `mes`: the point that tells most about the minimum, every module free at every trial (Wang & Jegelka 2017).
//!
//! ```text
//! x_t = argmax over the space of mean over y* of γφ(γ)/(2Φ(γ)) − ln Φ(γ),  γ = (μ − y*)/s
//! y* ~ the Gumbel law fitted to the distribution of the minimum over quasi-random points and the data
//! ```
//!
//! The authors' code draws 10 sets of hyper-parameters with one y* each; here the hyper-parameters are fitted, and 10 y* are drawn.

use serde::{Deserialize, Serialize};

use super::course::{self, Course};
use super::model::Model;
use super::stream::{Purpose, seed_of, stream};
use super::{Design, ModelOptions, Proposal, Strategy, StrategyError, View};
use crate::acquisition::{Maximiser, Mes, Surface, sample_minima};
use crate::numeric::sobol::Sobol;
use crate::space::Space;

/// Quasi-random points at which the distribution of the minimum is looked up, as in the authors' code. The law depends on their number: taken as
/// independent, ten times as many points have a lower minimum.
const POINTS: usize = 10_000;

/// More points or samples than this would take all memory.
const MOST: usize = 1 << 20;

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
            points: POINTS,
            effort: Maximiser::default(),
        }
    }
}

/// The most informative point anywhere.
#[derive(Clone, Debug)]
pub struct GpMes {
    options: GpMesOptions,
    course: Course,
}

impl GpMes {
    /// With these options.
    pub fn new(_: &Space, options: GpMesOptions, seed: u64) -> Result<Self, StrategyError> {
        course::check(options.design, &options.model)?;
        for (option, count) in [("samples", options.samples), ("points", options.points)] {
            if !(1..=MOST).contains(&count) {
                let problem = format!("it is {count}; give a number from 1 to {MOST}");
                return Err(StrategyError::Option { option, problem });
            }
        }
        Ok(Self { options, course: Course::new(seed) })
    }
}

impl Strategy for GpMes {
    fn propose(&self, view: &View<'_>) -> Result<Proposal, StrategyError> {
        let GpMesOptions { design, model, samples, points, effort } = &self.options;
        let Some(model) = self.course.model(view, *design, model)? else {
            return self.course.start(view, *design);
        };
        let mes = max_value(&model, *points, *samples, self.course.seed(), self.course.t())?;
        self.course.anywhere(view, &model, &Surface::new(&model.gp, mes), effort)
    }

    fn settings(&self) -> String {
        format!("mes seed {} {:?}", self.course.seed(), self.options)
    }

    fn accept(&mut self, view: &View<'_>, proposal: &Proposal) -> Result<(), StrategyError> {
        self.course.accept(view, proposal)
    }
}

/// Max-value entropy search at iteration `t`.
pub(super) fn max_value(
    model: &Model,
    points: usize,
    samples: usize,
    seed: u64,
    t: usize,
) -> Result<Mes, StrategyError> {
    let (gp, step) = (&model.gp, t as u64);
    let mut sobol = Sobol::new(gp.dim(), seed_of(seed, Purpose::Acquisition, step));
    let mut at = gp.x().clone();
    let mut x = vec![0.5; gp.dim()];
    for _ in 0..points {
        // The lengths agree, and the sequence is far from its end.
        let _ = sobol.next_into(&mut x);
        let _ = at.push(&x);
    }
    let belief = gp.predict(&at)?;
    let sds: Vec<f64> = belief.variance.iter().map(|v| v.sqrt()).collect();
    let noise_sd = gp.hyper().noise_variance.sqrt();
    let mut rng = stream(seed, Purpose::Acquisition, step);
    let minima = sample_minima(&belief.mean, &sds, model.lowest, noise_sd, samples, &mut rng)?;
    Ok(Mes::new(minima)?)
}
