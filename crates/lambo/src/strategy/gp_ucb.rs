//! `gp-ucb`: the lowest confidence bound over the whole space, every module free at every trial.
//!
//! ```text
//! x_t = argmin over the space of μ_{t−1}(x) − β_t s_{t−1}(x)          Srinivas et al. 2010
//! ```
//!
//! It is what LaMBO is without modules: same start, same model, same confidence bound.

use super::fresh::away_from_open;
use super::model::{Model, check_hyper};
use super::stream::{Purpose, seed_of, stream};
use super::{Design, ModelOptions, Proposal, Source, Strategy, StrategyError, View, Why};
use crate::acquisition::{Beta, Lcb, Maximiser, Region, Surface};
use crate::space::Space;
use crate::surrogate::Hyper;

/// The settings of `gp-ucb`.
#[derive(Clone, Debug, PartialEq)]
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
    seed: u64,
    hyper: Option<Hyper>,
    /// Proposals of the model so far.
    iterations: usize,
}

impl GpUcb {
    /// With these options.
    pub fn new(_: &Space, options: GpUcbOptions, seed: u64) -> Result<Self, StrategyError> {
        options
            .design
            .check()
            .map_err(|e| StrategyError::Option { option: "design", problem: e.to_string() })?;
        options.model.check()?;
        Lcb::new(options.beta.at(1, 1))?;
        Ok(Self { options, seed, hyper: None, iterations: 0 })
    }
}

impl Strategy for GpUcb {
    fn propose(&self, view: &View<'_>) -> Result<Proposal, StrategyError> {
        let t = self.iterations + 1;
        let model = if view.trials.len() < self.options.design.len() {
            None
        } else {
            Model::build(&self.options.model, view, t, self.hyper.as_ref(), self.seed)?
        };
        let Some(model) = model else {
            let point = self.options.design.next(view, self.seed)?;
            return Ok(Proposal { why: Why::of(view, &point, Source::Design)?, point, hyper: None });
        };
        let acquisition = Lcb::at(self.options.beta, view.space.params().len(), t)?;
        let seed = seed_of(self.seed, Purpose::Maximise, t as u64);
        let best = Maximiser { seed, ..self.options.effort.clone() }.maximise(
            &Surface::new(&model.gp, acquisition),
            &Region::of(view.space),
            &model.gp.lowest(5),
        )?;
        let wanted = view.space.decode(&best.x)?;
        let mut rng = stream(self.seed, Purpose::Chance, view.trials.len() as u64);
        let point = away_from_open(view, wanted.clone(), &mut rng)?;
        let source = if point == wanted { Source::Model } else { Source::Elsewhere };
        let mut why = Why::of(view, &point, source)?;
        why.belief = Some(model.belief(&view.space.encode(&point)?, &acquisition)?);
        Ok(Proposal { point, why, hyper: model.refitted })
    }

    fn settings(&self) -> String {
        format!("gp-ucb seed {} {:?}", self.seed, self.options)
    }

    fn accept(&mut self, view: &View<'_>, proposal: &Proposal) -> Result<(), StrategyError> {
        check_hyper(view.trials.len(), proposal, view.space.dim())?;
        if proposal.why.source.is_model() {
            self.iterations += 1;
        }
        if let Some(hyper) = &proposal.hyper {
            self.hyper = Some(hyper.clone());
        }
        Ok(())
    }
}
