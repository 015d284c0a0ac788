//! `pbgi` and `pbgi-fixed`: the best Gittins index of Pandora's box (Xie et al. 2024, arXiv 2406.20062).
//!
//! ```text
//! g(x) solves EI(x; g) = λ Γ(x);  x_t = argmin over prefixes and the rest of g
//! decaying: λ_1 = 0.1, and λ_{t+1} = λ_t/2 whenever min g ≥ f*;  fixed: λ = 1e-4
//! ∂g/∂ln c = λc/Φ(z) = s h(z)/Φ(z),  z = (g − μ)/s                (implicit function theorem)
//! ```
//!
//! Values are standardised, and costs are in full runs, so that λ is the price of a full run in standard deviations of what was seen. A decayed λ is
//! never below `LEAST_LAMBDA`. λ cannot be worked out again from the trials, so every proposal says what the
//! next one's will be.
//!
//! Glossary: μ mean, s standard deviation, f* the lowest value observed, h(z) = φ(z) + zΦ(z), c `cost` in full runs.

use serde::{Deserialize, Serialize};

use crate::acquisition::{Acquisition, Gittins, Maximiser, Objective, Score};
use crate::numeric::normal;
use crate::space::{Batch, Space};
use crate::strategy::descriptor::{Descriptor, POSITIVE, option, read, rewrite, write};
use crate::strategy::parts::prefix;
use crate::strategy::parts::price::{LEAST_LAMBDA, Price};
use crate::strategy::parts::stage_cost::{StageCosts, need_costs};
use crate::strategy::parts::state::{self, StrategyState};
use crate::strategy::{Design, Identity, ModelOptions, Past, Proposal, Strategy, StrategyError, View};
use crate::surrogate::{GaussianProcess, SurrogateError};

/// How it is made by name.
pub(in crate::strategy) const DESCRIPTOR: Descriptor = Descriptor {
    name: "pbgi",
    about: "the best Gittins index, stages that are at hand kept; its price of a run falls",
    options: &[
        option("lambda", "price of a full run, in standard deviations of the values", POSITIVE),
        option(
            "decay",
            "what the price is multiplied by when no point is worth it",
            "a number above 0, at most 1",
        ),
    ],
    defaults: || write(&PbgiOptions::default()),
    rewrite: rewrite::<PbgiOptions>,
    build: |name, space, options, seed| {
        Ok(Box::new(Pbgi::new(space, read(name, options)?, seed)?.named(name)))
    },
};

/// How its variant is made by name.
pub(in crate::strategy) const FIXED: Descriptor = Descriptor {
    name: "pbgi-fixed",
    about: "the same at a fixed price of a run",
    defaults: || write(&PbgiOptions::fixed()),
    ..DESCRIPTOR
};

/// The settings of `pbgi`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PbgiOptions {
    /// Where to start; 15 uniform points as everybody else.
    pub design: Design,
    /// The model.
    pub model: ModelOptions,
    /// λ at the first iteration: 0.1 where it decays, as published; 1e-4 where it stays, one of several in the authors' code.
    pub lambda: f64,
    /// What λ is multiplied by when no index beats the incumbent: ½ as published; 1 keeps λ.
    pub decay: f64,
    /// How hard to look beside each prefix.
    pub effort: Maximiser,
}

impl PbgiOptions {
    /// `pbgi-fixed`: λ stays.
    pub fn fixed() -> Self {
        Self { lambda: 1e-4, decay: 1.0, ..Self::default() }
    }
}

impl Default for PbgiOptions {
    fn default() -> Self {
        Self {
            design: Design::Uniform(15),
            model: ModelOptions::modern(),
            lambda: 0.1,
            decay: 0.5,
            effort: prefix::effort(),
        }
    }
}

/// What a proposal remembers where λ changes.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PbgiMemory {
    /// λ of the next iteration.
    lambda: f64,
}

/// The best Gittins index.
#[derive(Clone, Debug)]
pub struct Pbgi {
    name: &'static str,
    options: PbgiOptions,
    state: StrategyState,
    lambda: f64,
}

impl Pbgi {
    /// With these options; refused where a cost is unknown.
    pub fn new(space: &Space, options: PbgiOptions, seed: u64) -> Result<Self, StrategyError> {
        state::check(options.design, &options.model)?;
        if !(options.lambda.is_finite() && options.lambda >= LEAST_LAMBDA) {
            let problem =
                format!("it is {}; give a finite number of at least {LEAST_LAMBDA}", options.lambda);
            return Err(StrategyError::Option { option: "lambda", problem });
        }
        if !(options.decay > 0.0 && options.decay <= 1.0) {
            let problem = format!("it is {}; give a factor above 0 and at most 1", options.decay);
            return Err(StrategyError::Option { option: "decay", problem });
        }
        need_costs(space, DESCRIPTOR.name)?;
        Ok(Self { name: DESCRIPTOR.name, lambda: options.lambda, options, state: StrategyState::new(seed) })
    }

    /// Under the name of a variant.
    fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// λ of the next iteration.
    pub fn lambda(&self) -> f64 {
        self.lambda
    }
}

impl Strategy for Pbgi {
    fn propose(&self, view: &View<'_>) -> Result<Proposal, StrategyError> {
        let PbgiOptions { design, model, decay, effort, .. } = &self.options;
        let Some(model) = self.state.model(view, *design, model)? else {
            return self.state.start(view, *design);
        };
        let costs = StageCosts::of(view, self.state.seed(), self.state.t())?;
        let unit = if costs.full() > 0.0 { costs.full() } else { 1.0 };
        let objective = |runs| Index {
            gp: &model.gp,
            price: Price::new(&costs, runs),
            ln_lambda: (self.lambda / unit).ln(),
        };
        let prefixes = prefix::prefixes(view)?;
        let (proposal, best) = prefix::propose(&self.state, view, &model, &prefixes, objective, effort)?;
        let next = decayed(self.lambda, *decay, -best, model.lowest);
        if next == self.lambda { Ok(proposal) } else { proposal.remembering(&PbgiMemory { lambda: next }) }
    }

    fn identity(&self) -> Identity {
        Identity::of(self.name, self.state.seed(), &self.options)
    }

    fn boxed(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }

    fn accept(&mut self, past: &Past<'_>, proposal: &Proposal) -> Result<(), StrategyError> {
        let memory = proposal.recall::<PbgiMemory>(past.trials())?;
        let lambda = memory.map_or(self.lambda, |memory| memory.lambda);
        if !(lambda.is_finite() && lambda >= LEAST_LAMBDA) {
            let problem = format!("it remembers a lambda of {lambda}");
            return Err(StrategyError::Foreign { trial: past.trials(), problem });
        }
        self.state.accept(past, proposal)?;
        self.lambda = lambda;
        Ok(())
    }
}

/// λ after an iteration whose best index is `g`.
fn decayed(lambda: f64, decay: f64, g: f64, lowest: f64) -> f64 {
    if g >= lowest { (lambda * decay).max(LEAST_LAMBDA) } else { lambda }
}

/// −g(x), where the price of a trial differs from point to point.
struct Index<'a> {
    gp: &'a GaussianProcess,
    price: Price<'a>,
    /// ln of λ per unit of cost.
    ln_lambda: f64,
}

impl Index<'_> {
    fn score(&self, mean: f64, sd: f64, ln_price: f64) -> Score {
        let lambda_cost = (self.ln_lambda + ln_price).exp().clamp(f64::MIN_POSITIVE, f64::MAX);
        Gittins::new(lambda_cost).map_or(Score::NEVER, |gittins| gittins.score(mean, sd))
    }
}

impl Objective for Index<'_> {
    fn values(&self, at: &Batch) -> Result<Vec<f64>, SurrogateError> {
        let (belief, prices) = (self.gp.predict(at)?, self.price.ln(at)?);
        let each = belief.mean.iter().zip(&belief.variance).zip(prices);
        Ok(each.map(|((mean, variance), price)| self.score(*mean, variance.sqrt(), price).value).collect())
    }

    fn values_and_gradients(&self, at: &Batch) -> Result<(Vec<f64>, Batch), SurrogateError> {
        let belief = self.gp.predict_with_gradient(at)?;
        let price = self.price.ln_with_gradient(at)?;
        let mut gradients = belief.d_mean;
        let mut values = Vec::with_capacity(at.len());
        for i in 0..at.len() {
            let (mean, sd) = (belief.mean[i], belief.variance[i].sqrt());
            let Score { value, d_mean, d_sd } = self.score(mean, sd, price.value[i]);
            values.push(value);
            let z = (-value - mean) / sd;
            let by_price = sd * (normal::ln_h(z).value - normal::ln_cdf(z)).exp();
            let by_price = if by_price.is_finite() { by_price } else { 0.0 };
            let slopes = belief.d_variance.row(i).iter().zip(price.gradient.row(i));
            for (g, (d_variance, d_price)) in gradients.row_mut(i).iter_mut().zip(slopes) {
                *g = d_mean * *g + d_sd / (2.0 * sd) * d_variance - by_price * d_price;
            }
        }
        Ok((values, gradients))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acquisition::LogEi;

    #[test]
    fn lambda_halves_when_no_index_beats_the_incumbent() {
        assert_eq!(decayed(0.1, 0.5, -1.2, -1.0), 0.1);
        assert_eq!(decayed(0.1, 0.5, -1.0, -1.0), 0.05);
        assert_eq!(decayed(0.1, 1.0, 3.0, -1.0), 0.1);
        assert_eq!(decayed(LEAST_LAMBDA, 0.5, 3.0, -1.0), LEAST_LAMBDA);
    }

    #[test]
    fn the_slope_of_an_index_by_its_price_is_the_improvement_over_the_probability() {
        let gittins = |c: f64| Gittins::new(c).unwrap().index(0.3, 0.7).unwrap();
        for c in [1e-6, 0.01, 0.4, 3.0] {
            let z = (gittins(c) - 0.3) / 0.7;
            let slope = 0.7 * (normal::ln_h(z).value - normal::ln_cdf(z)).exp();
            let difference = (gittins(c * 1e-5_f64.exp()) - gittins(c * (-1e-5_f64).exp())) / 2e-5;
            assert!((slope - difference).abs() < 1e-6 * slope, "{c}");
            // E[(g − f)₊] is the price.
            assert!((LogEi::new(gittins(c)).unwrap().score(0.3, 0.7).value - c.ln()).abs() < 1e-9);
        }
    }
}
