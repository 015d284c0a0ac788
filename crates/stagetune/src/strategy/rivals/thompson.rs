//! `ts`: Thompson sampling through pathwise samples, beside frozen prefixes (Wilson et al. 2020 for the samples).
//!
//! ```text
//! f_t ~ the posterior, one function for the whole iteration
//! x_m = argmin over u of f_t([prefix m, u])       take the prefix with the largest ( f_t(x⁺) − f_t(x_m) ) / Γ(x_m)
//! ```
//!
//! x⁺ is the best point observed. Thompson sampling itself says nothing of costs; to take the sampled improvement per unit of cost is our choice, the same
//! trade that EI per unit of cost makes on average. If no prefix improves, the minimiser over the whole space is taken. Unknown costs
//! count as equal ones.

use serde::{Deserialize, Serialize};

use crate::acquisition::{Maximiser, Objective};
use crate::space::{Batch, Space};
use crate::strategy::descriptor::{COUNT, Descriptor, option, read, rewrite, write};
use crate::strategy::parts::prefix;
use crate::strategy::parts::price::Price;
use crate::strategy::parts::stage_cost::StageCosts;
use crate::strategy::parts::state::{self, StrategyState};
use crate::strategy::parts::stream::{Purpose, stream};
use crate::strategy::{Design, Identity, ModelOptions, Past, Proposal, Strategy, StrategyError, View};
use crate::surrogate::{Path, SurrogateError};

/// More features than this would only cost time.
const MOST_FEATURES: usize = 1 << 16;

/// How it is made by name.
pub(in crate::strategy) const DESCRIPTOR: Descriptor = Descriptor {
    name: "ts",
    about: "the minimum of a sampled function per unit of cost, stages that are at hand kept",
    options: &[option("features", "random features of the sampled function", COUNT)],
    defaults: || write(&ThompsonOptions::default()),
    rewrite: rewrite::<ThompsonOptions>,
    build: |name, space, options, seed| Ok(Box::new(Thompson::new(space, read(name, options)?, seed)?)),
};

/// The settings of `ts`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ThompsonOptions {
    /// Where to start; 15 uniform points as everybody else.
    pub design: Design,
    /// The model.
    pub model: ModelOptions,
    /// Random Fourier features of the prior sample: their error falls as one over the root of their number, and the data correct it where there are any.
    pub features: usize,
    /// How hard to look beside each prefix.
    pub effort: Maximiser,
}

impl Default for ThompsonOptions {
    fn default() -> Self {
        Self {
            design: Design::Uniform(15),
            model: ModelOptions::modern(),
            features: 512,
            effort: prefix::effort(),
        }
    }
}

/// The minimum of a sampled function, per unit of cost.
#[derive(Clone, Debug)]
pub struct Thompson {
    options: ThompsonOptions,
    state: StrategyState,
}

impl Thompson {
    /// With these options.
    pub fn new(_: &Space, options: ThompsonOptions, seed: u64) -> Result<Self, StrategyError> {
        state::check(options.design, &options.model)?;
        if !(1..=MOST_FEATURES).contains(&options.features) {
            let problem = format!("it is {}; give a number from 1 to {MOST_FEATURES}", options.features);
            return Err(StrategyError::Option { option: "features", problem });
        }
        Ok(Self { options, state: StrategyState::new(seed) })
    }
}

impl Strategy for Thompson {
    fn propose(&self, view: &View<'_>) -> Result<Proposal, StrategyError> {
        let ThompsonOptions { design, model, features, effort } = &self.options;
        let Some(model) = self.state.model(view, *design, model)? else {
            return self.state.start(view, *design);
        };
        let (seed, t) = (self.state.seed(), self.state.t());
        let mut rng = stream(seed, Purpose::Acquisition, t as u64);
        let sample = Minus(model.gp.path(*features, &mut rng));
        let incumbent = sample.values(&model.gp.lowest(1))?.first().copied().unwrap_or(f64::INFINITY);
        let costs = StageCosts::of(view, seed, t)?;
        let prefixes = prefix::prefixes(view)?;
        let candidates =
            prefix::solve(view, &prefixes, |_| &sample, &model.hints(), &self.state.effort(effort))?;
        let mut scores = Vec::with_capacity(candidates.len());
        for candidate in &candidates {
            let at = Batch::of(model.gp.dim(), &candidate.place.x);
            let price = Price::new(&costs, &candidate.prefix.runs).ln(&at)?.first().copied().unwrap_or(0.0);
            scores.push(per_cost(candidate.value - incumbent, price));
        }
        let best = first_largest(&scores).and_then(|i| candidates.get(i)).ok_or(StrategyError::Exhausted)?;
        self.state.propose(view, &model, &sample, &best.place)
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

/// Sampled improvement per unit of cost; what does not improve counts alike at any cost.
fn per_cost(improvement: f64, ln_price: f64) -> f64 {
    improvement.max(0.0) / ln_price.exp()
}

/// The first of the largest.
fn first_largest(scores: &[f64]) -> Option<usize> {
    (0..scores.len()).reduce(|best, i| if scores[i] > scores[best] { i } else { best })
}

/// −f_t, to be maximised.
struct Minus<'a>(Path<'a>);

impl Objective for &Minus<'_> {
    fn values(&self, at: &Batch) -> Result<Vec<f64>, SurrogateError> {
        (**self).values(at)
    }

    fn values_and_gradients(&self, at: &Batch) -> Result<(Vec<f64>, Batch), SurrogateError> {
        (**self).values_and_gradients(at)
    }
}

impl Objective for Minus<'_> {
    fn values(&self, at: &Batch) -> Result<Vec<f64>, SurrogateError> {
        Ok(self.0.values(at)?.into_iter().map(|f| -f).collect())
    }

    fn values_and_gradients(&self, at: &Batch) -> Result<(Vec<f64>, Batch), SurrogateError> {
        let (values, mut gradients) = self.0.values_and_gradients(at)?;
        gradients.as_mut_slice().iter_mut().for_each(|g| *g = -*g);
        Ok((values.into_iter().map(|f| -f).collect(), gradients))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn improvement_is_weighed_by_cost_and_without_any_the_whole_space_wins() {
        let scores = [per_cost(3.0, 11f64.ln()), per_cost(0.5, 0.0)];
        assert_eq!(first_largest(&scores), Some(1));
        let scores = [per_cost(6.0, 11f64.ln()), per_cost(0.5, 0.0)];
        assert_eq!(first_largest(&scores), Some(0));
        assert_eq!(first_largest(&[per_cost(-1.0, 2.0), per_cost(-0.1, 0.0)]), Some(0));
        assert_eq!(first_largest(&[]), None);
    }
}
