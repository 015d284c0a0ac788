//! `switch-eipu` and `switch-eipu-ahead`: stay on the frozen point while it is worth its lower cost (Pricopie et al., arXiv 2405.08973).
//!
//! ```text
//! take the frozen point iff EI_frozen > EI_full / (Γ_full/Γ_frozen)^α,  α = remaining share of the budget
//! look-ahead: an opened prefix is worth EI(x) + mean_j EI([prefix of x, s_j]),  s_1 … s_20 Sobol' suffixes
//! ```
//!
//! The authors have two groups of variables and Γ_full/Γ_frozen = c_sw + 1. With more modules every prefix is weighed against the full change in the same
//! way, which is to take the largest EI/Γ^α; among equals the one that keeps least. In look-ahead the suffix is the last module with variables,
//! and a prefix that keeps all before it opens nothing. Without a budget all of it remains: α = 1.
//!
//! Everything is on a log scale: ln(EI₀ + mean EI_j) is a sum of exponentials of LogEI.

use serde::{Deserialize, Serialize};

use crate::acquisition::{LogEi, Maximiser, Objective, Surface};
use crate::space::{Batch, Space};
use crate::strategy::descriptor::{COUNT_0, Descriptor, option, read, rewrite, write};
use crate::strategy::parts::design::quasi_random;
use crate::strategy::parts::prefix::{self, Prefix};
use crate::strategy::parts::price::{PerPrice, Price};
use crate::strategy::parts::stage_cost::{StageCosts, need_costs};
use crate::strategy::parts::state::{self, StrategyState};
use crate::strategy::parts::stream::{Purpose, seed_of};
use crate::strategy::{Design, Identity, ModelOptions, Past, Proposal, Strategy, StrategyError, View};
use crate::surrogate::SurrogateError;

/// More suffixes than this would only cost time.
const MOST_SUFFIXES: usize = 4_096;

/// How it is made by name.
pub(in crate::strategy) const DESCRIPTOR: Descriptor = Descriptor {
    name: "switch-eipu",
    about: "stays with dear stages while that is worth the lower cost",
    options: &[option(
        "look_ahead",
        "ends of the pipeline that are looked at behind a new dear stage",
        COUNT_0,
    )],
    defaults: || write(&SwitchEipuOptions::default()),
    rewrite: rewrite::<SwitchEipuOptions>,
    build: |name, space, options, seed| {
        Ok(Box::new(SwitchEipu::new(space, read(name, options)?, seed)?.named(name)))
    },
};

/// How its variant is made by name.
pub(in crate::strategy) const AHEAD: Descriptor = Descriptor {
    name: "switch-eipu-ahead",
    about: "the same, and looks at what a new dear stage would open",
    defaults: || write(&SwitchEipuOptions::ahead()),
    ..DESCRIPTOR
};

/// The settings of `switch-eipu`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SwitchEipuOptions {
    /// Where to start; 15 uniform points as everybody else (the authors take 2D).
    pub design: Design,
    /// The model.
    pub model: ModelOptions,
    /// Suffixes of the look-ahead, none without it; 20 as published.
    pub look_ahead: usize,
    /// How hard to look beside each prefix.
    pub effort: Maximiser,
}

impl SwitchEipuOptions {
    /// `switch-eipu-ahead`: with 20 suffixes. Each evaluation is 21 of the model, so that fewer of them are made.
    pub fn ahead() -> Self {
        let effort = Maximiser { raw: 128, near_hints: 48, starts: 4, max_evaluations: 40, seed: 0 };
        Self { look_ahead: 20, effort, ..Self::default() }
    }
}

impl Default for SwitchEipuOptions {
    fn default() -> Self {
        Self {
            design: Design::Uniform(15),
            model: ModelOptions::modern(),
            look_ahead: 0,
            effort: prefix::effort(),
        }
    }
}

/// The frozen point while it is worth its lower cost.
#[derive(Clone, Debug)]
pub struct SwitchEipu {
    name: &'static str,
    options: SwitchEipuOptions,
    state: StrategyState,
}

impl SwitchEipu {
    /// With these options; refused where a cost is unknown.
    pub fn new(space: &Space, options: SwitchEipuOptions, seed: u64) -> Result<Self, StrategyError> {
        state::check(options.design, &options.model)?;
        if options.look_ahead > MOST_SUFFIXES {
            let problem = format!("it is {}; give at most {MOST_SUFFIXES} suffixes", options.look_ahead);
            return Err(StrategyError::Option { option: "look_ahead", problem });
        }
        need_costs(space, DESCRIPTOR.name)?;
        Ok(Self { name: DESCRIPTOR.name, options, state: StrategyState::new(seed) })
    }

    /// Under the name of a variant.
    fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// Whole points whose coordinates from `first` on are the suffixes.
    fn suffixes(&self, space: &Space) -> Batch {
        let sequence = seed_of(self.state.seed(), Purpose::Acquisition, self.state.t() as u64);
        let mut suffixes = Batch::new(space.dim());
        for index in 0..self.options.look_ahead {
            let _ = suffixes.push(&quasi_random(space, sequence, index));
        }
        suffixes
    }
}

impl Strategy for SwitchEipu {
    fn propose(&self, view: &View<'_>) -> Result<Proposal, StrategyError> {
        let SwitchEipuOptions { design, model, effort, .. } = &self.options;
        let Some(model) = self.state.model(view, *design, model)? else {
            return self.state.start(view, *design);
        };
        let costs = StageCosts::of(view, self.state.seed(), self.state.t())?;
        let surface = Surface::new(&model.gp, LogEi::new(model.lowest)?);
        let exponent = remaining(view.spent, view.budget);
        let last = last_tunable(view.space);
        let first = view.space.module_coordinates(last).start;
        let (suffixes, none) = (self.suffixes(view.space), Batch::new(view.space.dim()));
        let prefixes = prefix::prefixes(view)?;
        let objective = |opens: bool, runs| PerPrice {
            objective: Ahead { surface, first, suffixes: if opens { &suffixes } else { &none } },
            price: Price::new(&costs, runs),
            exponent,
        };
        let candidates = prefix::solve(
            view,
            &prefixes,
            |prefix: &Prefix<'_>| objective(prefix.opens(view.space, last), &prefix.runs),
            &model.hints(),
            &self.state.effort(effort),
        )?;
        let best = prefix::best(&candidates, |candidate| candidate.value)?;
        let objective = objective(best.prefix.opens(view.space, last), &best.prefix.runs);
        self.state.propose(view, &model, &objective, &best.place)
    }

    fn identity(&self) -> Identity {
        Identity::of(self.name, self.state.seed(), &self.options)
    }

    fn boxed(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }

    fn accept(&mut self, past: &Past<'_>, proposal: &Proposal) -> Result<(), StrategyError> {
        self.state.accept(past, proposal)
    }
}

/// ln( EI(x) + mean_j EI([x before `first`, s_j]) ).
struct Ahead<'a> {
    surface: Surface<'a, LogEi>,
    first: usize,
    suffixes: &'a Batch,
}

impl Ahead<'_> {
    /// Every point, followed by its prefix with each suffix.
    fn spread(&self, at: &Batch) -> Batch {
        let mut all = Batch::new(at.dim());
        for x in at.rows() {
            let _ = all.push(x);
            for suffix in self.suffixes.rows() {
                let joined: Vec<f64> = x[..self.first].iter().chain(&suffix[self.first..]).copied().collect();
                let _ = all.push(&joined);
            }
        }
        all
    }
}

impl Objective for Ahead<'_> {
    fn values(&self, at: &Batch) -> Result<Vec<f64>, SurrogateError> {
        if self.suffixes.is_empty() {
            return self.surface.values(at);
        }
        let values = self.surface.values(&self.spread(at))?;
        Ok(values.chunks(1 + self.suffixes.len()).map(|group| joint(group).0).collect())
    }

    fn values_and_gradients(&self, at: &Batch) -> Result<(Vec<f64>, Batch), SurrogateError> {
        if self.suffixes.is_empty() {
            return self.surface.values_and_gradients(at);
        }
        let (each, slopes) = self.surface.values_and_gradients(&self.spread(at))?;
        let size = 1 + self.suffixes.len();
        let (mut values, mut gradients) = (Vec::with_capacity(at.len()), Batch::zeros(at.len(), at.dim()));
        for (i, group) in each.chunks(size).enumerate() {
            let (value, weights) = joint(group);
            values.push(value);
            for (k, weight) in weights.iter().enumerate() {
                // The suffixes do not move with x.
                let moving = if k == 0 { at.dim() } else { self.first };
                let slope = &slopes.row(i * size + k)[..moving];
                gradients.row_mut(i).iter_mut().zip(slope).for_each(|(g, slope)| *g += weight * slope);
            }
        }
        Ok((values, gradients))
    }
}

/// ln(e^{v_0} + mean_j e^{v_j}), and its slope by each v.
fn joint(v: &[f64]) -> (f64, Vec<f64>) {
    let most = v.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !most.is_finite() {
        return (most, vec![0.0; v.len()]);
    }
    let share = 1.0 / (v.len().saturating_sub(1)).max(1) as f64;
    let mut terms: Vec<f64> = v.iter().map(|v| (v - most).exp()).collect();
    terms.iter_mut().skip(1).for_each(|term| *term *= share);
    let sum: f64 = terms.iter().sum();
    terms.iter_mut().for_each(|term| *term /= sum);
    (most + sum.ln(), terms)
}

/// α: how much of the budget remains; all of it where there is none.
fn remaining(spent: f64, budget: Option<f64>) -> f64 {
    match budget {
        Some(budget) if budget > 0.0 => ((budget - spent) / budget).clamp(0.0, 1.0),
        _ => 1.0,
    }
}

/// The last module with parameters.
fn last_tunable(space: &Space) -> usize {
    (0..space.modules().len()).rev().find(|&m| !space.module_params(m).is_empty()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surrogate::{Family, GaussianProcess, Hyper};

    #[test]
    fn the_exponent_is_what_remains_of_the_budget() {
        assert_eq!(remaining(0.0, Some(80.0)), 1.0);
        assert_eq!(remaining(60.0, Some(80.0)), 0.25);
        assert_eq!(remaining(99.0, Some(80.0)), 0.0);
        assert_eq!(remaining(99.0, None), 1.0);
    }

    #[test]
    fn looking_ahead_adds_the_mean_improvement_of_the_suffixes() {
        // e⁰ + (e^{ln 2} + e^{ln 4})/2 = 4.
        let (value, weights) = joint(&[0.0, 2f64.ln(), 4f64.ln()]);
        assert!((value - 4f64.ln()).abs() < 1e-15);
        for (weight, expected) in weights.iter().zip([0.25, 0.25, 0.5]) {
            assert!((weight - expected).abs() < 1e-15);
        }
        assert_eq!(joint(&[f64::NEG_INFINITY; 2]).0, f64::NEG_INFINITY);
    }

    #[test]
    fn the_gradient_of_the_look_ahead_meets_finite_differences() {
        let hyper = Hyper { lengthscales: vec![0.4], signal_variance: 1.0, noise_variance: 1e-3, mean: 0.0 };
        let x = Batch::from_rows(&[[0.1, 0.2], [0.8, 0.3], [0.4, 0.9]]);
        let gp = GaussianProcess::new(Family::Matern52, hyper, x, vec![0.3, -0.5, 1.0]).unwrap();
        let suffixes = Batch::from_rows(&[[0.0, 0.1], [0.0, 0.6], [0.0, 0.8]]);
        let surface = Surface::new(&gp, LogEi::new(-0.5).unwrap());
        let ahead = Ahead { surface, first: 1, suffixes: &suffixes };
        let at = [0.55, 0.35];
        let (values, gradients) = ahead.values_and_gradients(&Batch::from_rows(&[at])).unwrap();
        assert_eq!(values, ahead.values(&Batch::from_rows(&[at])).unwrap());
        for d in 0..2 {
            let value = |step: f64| {
                let mut x = at;
                x[d] += step;
                ahead.values(&Batch::from_rows(&[x])).unwrap()[0]
            };
            let difference = (value(1e-6) - value(-1e-6)) / 2e-6;
            assert!((difference - gradients.row(0)[d]).abs() < 1e-6, "{d}");
        }
    }
}
