//! `ca-mobo`: a Chebyshev compromise between a low value and a low cost, with weights by chance (after Abdolshah et al. 2019).
//!
//! ```text
//! x_t = argmax over prefixes and the rest of S(u_1, u_2) + 0.05 (u_1 + u_2),   θ ~ Dirichlet(1, 1) at every iteration
//! smallest utility   S = min(θ_1 u_1, θ_2 u_2)
//! largest loss       S = −max(θ_1 (1 − u_1), θ_2 (1 − u_2))
//! u_1 = 1 − (LCB − LCB_min)/(LCB_max − LCB_min),  LCB = μ − √β_t s,  β_t = 0.125 ln(2t + 1)
//! u_2 = 1 − Γ/Σ_m c_m
//! ```
//!
//! The authors scalarise several objectives and order variables by how costly they are to change; the paper on LaMBO compares with an adaptation to Γ whose
//! formula it does not give. This adaptation is ours: value and cost are the two objectives. LCB_min is the lowest bound over the whole space,
//! LCB_max the highest over the data and quasi-random points. The second term breaks ties, as θ_2 u_2 is the same for all points beside a prefix.
//!
//! A full run has u_2 = 0, so the smallest utility of opening a new first module is 0 whatever it promises: beside frozen prefixes that form never leaves
//! the first module of the design (510 trials on Hartmann 6D at costs 10 : 1 did not). The default is the distance to the ideal point, the form that
//! Chebyshev scalarisation has in the literature (Knowles 2006), under which a new first module wins whenever θ_2 is below what is lost by staying.
//!
//! Glossary: θ `theta`, u_1 and u_2 utilities of value and cost, Γ movement cost, β_t `beta_t`.

use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::acquisition::{Lcb, Maximiser, Objective, Region, Surface};
use crate::numeric::sobol::Sobol;
use crate::space::{Batch, Space};
use crate::strategy::descriptor::{AT_LEAST_0, Descriptor, option, read, rewrite, write};
use crate::strategy::parts::prefix;
use crate::strategy::parts::price::Price;
use crate::strategy::parts::stage_cost::{StageCosts, need_costs};
use crate::strategy::parts::state::{self, StrategyState};
use crate::strategy::parts::stream::{Purpose, seed_of, stream};
use crate::strategy::{Design, Identity, ModelOptions, Past, Proposal, Strategy, StrategyError, View};
use crate::surrogate::SurrogateError;

/// Weight of the sum of utilities, which breaks ties of the smaller one: the usual augmentation of a Chebyshev scalarisation (Knowles 2006).
const TIES: f64 = 0.05;

/// Quasi-random points beside the data that say how high the bound gets.
const BOUND_POINTS: usize = 512;

/// How it is made by name.
pub(in crate::strategy) const DESCRIPTOR: Descriptor = Descriptor {
    name: "ca-mobo",
    about: "a compromise between value and cost with weights by chance",
    options: &[
        option("beta", "factor of the weight of the variance", AT_LEAST_0),
        option(
            "scalarisation",
            "how value and cost become one number",
            "\"smallest-utility\" or \"largest-loss\"",
        ),
    ],
    defaults: || write(&CaMoboOptions::default()),
    rewrite: rewrite::<CaMoboOptions>,
    build: |name, space, options, seed| Ok(Box::new(CaMobo::new(space, read(name, options)?, seed)?)),
};

/// The settings of `ca-mobo`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CaMoboOptions {
    /// Where to start; 15 uniform points in the paper.
    pub design: Design,
    /// The model.
    pub model: ModelOptions,
    /// β_t = `beta` · ln(2t + 1), with the 0.125 of the formula above.
    pub beta: f64,
    /// How value and cost become one number.
    pub scalarisation: Scalarisation,
    /// Whether early modules may be frozen.
    pub freeze: bool,
    /// How hard to look beside each prefix.
    pub effort: Maximiser,
}

/// How two utilities become one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scalarisation {
    /// The smaller weighted utility.
    SmallestUtility,
    /// Minus the larger weighted distance to the ideal, where both utilities are 1.
    LargestLoss,
}

impl CaMoboOptions {
    /// As the paper's baseline: with its model and the smallest utility, over the whole space.
    pub fn paper() -> Self {
        Self {
            model: ModelOptions::paper(),
            scalarisation: Scalarisation::SmallestUtility,
            freeze: false,
            effort: Maximiser::default(),
            ..Self::default()
        }
    }
}

impl Default for CaMoboOptions {
    fn default() -> Self {
        Self {
            design: Design::Uniform(15),
            model: ModelOptions::modern(),
            beta: 0.125,
            scalarisation: Scalarisation::LargestLoss,
            freeze: true,
            effort: prefix::effort(),
        }
    }
}

/// A compromise between value and cost.
#[derive(Clone, Debug)]
pub struct CaMobo {
    options: CaMoboOptions,
    state: StrategyState,
}

impl CaMobo {
    /// With these options; refused where a cost is unknown.
    pub fn new(space: &Space, options: CaMoboOptions, seed: u64) -> Result<Self, StrategyError> {
        state::check(options.design, &options.model)?;
        if !(options.beta.is_finite() && options.beta >= 0.0) {
            let problem = format!("it is {}; give a finite number of at least 0", options.beta);
            return Err(StrategyError::Option { option: "beta", problem });
        }
        need_costs(space, DESCRIPTOR.name)?;
        Ok(Self { options, state: StrategyState::new(seed) })
    }

    /// θ of this iteration: uniform on the segment from (1, 0) to (0, 1), which is Dirichlet(1, 1).
    fn theta(&self) -> (f64, f64) {
        let share: f64 = stream(self.state.seed(), Purpose::Draw, self.state.t() as u64).random();
        (share, 1.0 - share)
    }

    /// The highest bound over the data and quasi-random points.
    fn highest(&self, bound: &dyn Objective, data: &Batch) -> Result<f64, StrategyError> {
        let mut at = Batch::zeros(BOUND_POINTS, data.dim());
        let seed = seed_of(self.state.seed(), Purpose::Acquisition, self.state.t() as u64);
        // The lengths agree; were they not to, the data would have to do.
        let _ = Sobol::new(data.dim(), seed).fill(&mut at);
        let values = [bound.values(&at)?, bound.values(data)?].concat();
        Ok(-values.into_iter().fold(f64::INFINITY, f64::min))
    }
}

impl Strategy for CaMobo {
    fn propose(&self, view: &View<'_>) -> Result<Proposal, StrategyError> {
        let CaMoboOptions { design, model, beta, effort, freeze, scalarisation } = &self.options;
        let Some(model) = self.state.model(view, *design, model)? else {
            return self.state.start(view, *design);
        };
        let t = self.state.t();
        let beta_t = beta * (2.0 * t as f64 + 1.0).ln();
        let bound = Surface::new(&model.gp, Lcb::new(beta_t.sqrt())?);
        let whole = Region::of(view.space);
        let lowest = -self.state.effort(effort).maximise(&bound, &whole, &model.hints())?.value;
        let highest = self.highest(&bound, model.gp.x())?;
        let costs = StageCosts::of(view, self.state.seed(), t)?;
        let theta = self.theta();
        let objective = |runs| Compromise {
            bound,
            lowest,
            range: (highest - lowest).max(f64::MIN_POSITIVE),
            price: Price::new(&costs, runs),
            full: costs.full(),
            theta,
            scalarisation: *scalarisation,
        };
        let prefixes = if *freeze { prefix::prefixes(view)? } else { vec![prefix::whole(view)] };
        Ok(prefix::propose(&self.state, view, &model, &prefixes, objective, effort)?.0)
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

/// S(u_1, u_2) + 0.05 (u_1 + u_2).
struct Compromise<'a> {
    /// −LCB.
    bound: Surface<'a, Lcb>,
    lowest: f64,
    range: f64,
    price: Price<'a>,
    full: f64,
    theta: (f64, f64),
    scalarisation: Scalarisation,
}

impl Compromise<'_> {
    /// u_1 from −LCB, and u_2 from ln Γ.
    fn utilities(&self, bound: f64, ln_price: f64) -> (f64, f64) {
        let share = if self.full > 0.0 { (ln_price - self.full.ln()).exp() } else { 0.0 };
        (1.0 - (-bound - self.lowest) / self.range, 1.0 - share)
    }
}

impl Objective for Compromise<'_> {
    fn values(&self, at: &Batch) -> Result<Vec<f64>, SurrogateError> {
        let (bounds, prices) = (self.bound.values(at)?, self.price.ln(at)?);
        let value = |(bound, price): (&f64, &f64)| {
            self.scalarisation.of(self.theta, self.utilities(*bound, *price)).0
        };
        Ok(bounds.iter().zip(&prices).map(value).collect())
    }

    fn values_and_gradients(&self, at: &Batch) -> Result<(Vec<f64>, Batch), SurrogateError> {
        let (bounds, mut gradients) = self.bound.values_and_gradients(at)?;
        let price = self.price.ln_with_gradient(at)?;
        let mut values = Vec::with_capacity(at.len());
        for i in 0..at.len() {
            let u = self.utilities(bounds[i], price.value[i]);
            let (value, (d_1, d_2)) = self.scalarisation.of(self.theta, u);
            values.push(value);
            // ∂u_2/∂ln Γ = u_2 − 1.
            let (by_bound, by_price) = (d_1 / self.range, d_2 * (u.1 - 1.0));
            for (g, slope) in gradients.row_mut(i).iter_mut().zip(price.gradient.row(i)) {
                *g = by_bound * *g + by_price * slope;
            }
        }
        Ok((values, gradients))
    }
}

impl Scalarisation {
    /// The number, and its slopes by u_1 and u_2.
    fn of(self, theta: (f64, f64), u: (f64, f64)) -> (f64, (f64, f64)) {
        let (first, second) = match self {
            Self::SmallestUtility => (theta.0 * u.0, theta.1 * u.1),
            Self::LargestLoss => (theta.0 * (u.0 - 1.0), theta.1 * (u.1 - 1.0)),
        };
        let slopes = if first <= second { (theta.0 + TIES, TIES) } else { (TIES, theta.1 + TIES) };
        (first.min(second) + TIES * (u.0 + u.1), slopes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smaller_weighted_utility_counts_and_ties_are_broken_by_the_sum() {
        let form = Scalarisation::SmallestUtility;
        // min(0.25 · 0.8, 0.75 · 0.2) = 0.15, and 0.05 · (0.8 + 0.2) = 0.05.
        let (value, slopes) = form.of((0.25, 0.75), (0.8, 0.2));
        assert!((value - 0.2).abs() < 1e-15);
        assert_eq!(slopes, (TIES, 0.75 + TIES));
        let (value, slopes) = form.of((0.25, 0.75), (0.8, 0.4));
        assert!((value - 0.26).abs() < 1e-15);
        assert_eq!(slopes, (0.25 + TIES, TIES));
    }

    #[test]
    fn the_larger_weighted_loss_lets_a_full_run_win_where_cost_has_little_weight() {
        let of = |theta, u| Scalarisation::LargestLoss.of(theta, u).0;
        // −max(0.25 · 0.2, 0.75 · 0.8) + 0.05 · 1 = −0.55.
        assert!((of((0.25, 0.75), (0.8, 0.2)) + 0.55).abs() < 1e-15);
        let (full, frozen) = ((1.0, 0.0), (0.5, 0.9));
        assert!(of((0.9, 0.1), full) > of((0.9, 0.1), frozen));
        assert!(of((0.1, 0.9), full) < of((0.1, 0.9), frozen));
        let smallest = |theta, u| Scalarisation::SmallestUtility.of(theta, u).0;
        assert!(smallest((0.9, 0.1), full) < smallest((0.9, 0.1), frozen));
    }

    #[test]
    fn weights_are_shares_that_change_with_the_iteration() {
        let space = Space::new([crate::space::Module::new(
            "only",
            [crate::space::Param::float("x", 0.0, 1.0).unwrap()],
        )
        .unwrap()
        .cost(crate::space::Cost::Given(1.0))
        .unwrap()])
        .unwrap();
        let mobo = CaMobo::new(&space, CaMoboOptions::default(), 3).unwrap();
        let (first, second) = mobo.theta();
        assert!((first + second - 1.0).abs() < 1e-15 && (0.0..1.0).contains(&first));
        assert_ne!(CaMobo::new(&space, CaMoboOptions::default(), 4).unwrap().theta(), mobo.theta());
    }
}
