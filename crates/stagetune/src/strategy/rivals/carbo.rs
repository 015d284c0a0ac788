//! `carbo`: expected improvement per unit of a cost that matters less and less (CArBO, Lee et al. 2020).
//!
//! ```text
//! x_k = argmax of ln EI(x) − a_k ln Γ(x),  a_k = (τ − τ_k)/(τ − τ_init),  τ_init = τ/8
//! design: of 1000 Sobol' candidates drop the costliest, then the one nearest to the design, in turn until one is left; evaluate it;
//!         again until τ_init is spent
//! ```
//!
//! - A candidate of the design shares no prefix with the point before and is charged in full: with given costs all candidates cost the same, and
//!   the design only spreads out. Among candidates of one cost the nearest counts as the costliest, among equally near ones the dearest as
//!   the nearest.
//! - Without a budget, cooling never sets in (a = 1, the limit of large budgets) and the design has 15 points, as it has where nothing costs anything.
//! - Each value of Γ has its own maximisation (`prefix.rs`); the paper's baseline freezes nothing.
//!
//! Glossary: τ `budget`, τ_k `spent`, a `exponent`.

use serde::{Deserialize, Serialize};

use crate::acquisition::{Maximiser, cooling_exponent};
use crate::space::{Batch, Point, Space, StageSet};
use crate::strategy::descriptor::{COUNT, Descriptor, option, read, rewrite, write};
use crate::strategy::parts::design::quasi_random;
use crate::strategy::parts::fresh::away_from_open;
use crate::strategy::parts::improvement::improvement_per_cost;
use crate::strategy::parts::prefix;
use crate::strategy::parts::price::Price;
use crate::strategy::parts::stage_cost::{StageCosts, need_costs};
use crate::strategy::parts::state::{self, StrategyState};
use crate::strategy::parts::stream::{Purpose, seed_of, stream};
use crate::strategy::{
    Design, Identity, ModelOptions, Past, Proposal, Source, Strategy, StrategyError, View, Why,
};

/// More candidates than this would only cost time.
const MOST_CANDIDATES: usize = 1 << 16;

/// How it is made by name.
pub(in crate::strategy) const DESCRIPTOR: Descriptor = Descriptor {
    name: "carbo",
    about: "the same with a cost that matters less as the budget is spent, and a design of its \
         own",
    options: &[
        option("points", "length of the design where there is no budget", COUNT),
        option("initial_share", "share of the budget that the design spends", "a number from 0 to below 1"),
        option("candidates", "candidates for each point of the design", COUNT),
    ],
    defaults: || write(&CarboOptions::default()),
    rewrite: rewrite::<CarboOptions>,
    build: |name, space, options, seed| Ok(Box::new(Carbo::new(space, read(name, options)?, seed)?)),
};

/// The settings of `carbo`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CarboOptions {
    /// The share of the budget that the design spends: 1/8 in CArBO.
    pub initial_share: f64,
    /// The length of the design where there is no budget: as long as everybody else's.
    pub points: usize,
    /// Candidates for each point of the design: 1000 in CArBO.
    pub candidates: usize,
    /// Whether early modules may be frozen.
    pub freeze: bool,
    /// The model.
    pub model: ModelOptions,
    /// How hard to look beside each prefix.
    pub effort: Maximiser,
}

impl CarboOptions {
    /// As the paper's baseline: with its model, over the whole space.
    pub fn paper() -> Self {
        Self { model: ModelOptions::paper(), freeze: false, effort: Maximiser::default(), ..Self::default() }
    }
}

impl Default for CarboOptions {
    fn default() -> Self {
        Self {
            initial_share: 0.125,
            points: 15,
            candidates: 1_000,
            freeze: true,
            model: ModelOptions::modern(),
            effort: prefix::effort(),
        }
    }
}

/// Expected improvement per unit of cooled cost.
#[derive(Clone, Debug)]
pub struct Carbo {
    options: CarboOptions,
    state: StrategyState,
}

impl Carbo {
    /// With these options; refused where a cost is unknown.
    pub fn new(space: &Space, options: CarboOptions, seed: u64) -> Result<Self, StrategyError> {
        state::check(Design::Uniform(options.points), &options.model)?;
        let refuse = |option, problem| Err(StrategyError::Option { option, problem });
        if !(options.initial_share >= 0.0 && options.initial_share < 1.0) {
            let problem = format!("it is {}; give a share from 0 to below 1", options.initial_share);
            return refuse("initial_share", problem);
        }
        if !(1..=MOST_CANDIDATES).contains(&options.candidates) {
            let problem = format!("it is {}; give a number from 1 to {MOST_CANDIDATES}", options.candidates);
            return refuse("candidates", problem);
        }
        need_costs(space, DESCRIPTOR.name)?;
        Ok(Self { options, state: StrategyState::new(seed) })
    }

    fn design_is_over(&self, view: &View<'_>) -> bool {
        let enough = view.trials.len() >= self.options.points;
        match view.budget {
            Some(budget) => view.spent >= self.options.initial_share * budget || view.spent == 0.0 && enough,
            None => enough,
        }
    }

    fn exponent(&self, view: &View<'_>) -> Result<f64, StrategyError> {
        let Some(budget) = view.budget else { return Ok(1.0) };
        Ok(cooling_exponent(budget, view.spent, self.options.initial_share * budget)?)
    }

    /// The next point of the cost-effective design.
    fn design(&self, view: &View<'_>) -> Result<Point, StrategyError> {
        let (seed, space, number) = (self.state.seed(), view.space, view.trials.len());
        let sequence = seed_of(seed, Purpose::Design, number as u64);
        let mut candidates = Batch::new(space.dim());
        for index in 0..self.options.candidates {
            let u = quasi_random(space, sequence, index);
            if space.allows_coded(&u) {
                let _ = candidates.push(&u);
            }
        }
        let mut design = Batch::new(space.dim());
        for trial in view.trials {
            let _ = design.push(&space.encode(trial.point())?);
        }
        let costs = StageCosts::of(view, seed, number)?;
        let prices = Price::new(&costs, &StageSet::all(costs.len())).ln(&candidates)?;
        let point = match cost_effective(&prices, &distances(&candidates, &design)) {
            Some(index) => space.decode(candidates.row(index))?,
            // Forbidden regions may leave too little for candidates to hit.
            None => Design::Uniform(self.options.points).point(space, seed, number)?,
        };
        away_from_open(view, point, &mut stream(seed, Purpose::Chance, number as u64))
    }
}

impl Strategy for Carbo {
    fn propose(&self, view: &View<'_>) -> Result<Proposal, StrategyError> {
        let CarboOptions { model, effort, freeze, .. } = &self.options;
        let over = self.design_is_over(view);
        let model = if over { self.state.model(view, Design::Uniform(1), model)? } else { None };
        let Some(model) = model else {
            let point = self.design(view)?;
            let why = Why::of(view, &point, Source::Design)?;
            return Ok(Proposal::new(point, why));
        };
        let prefixes = if *freeze { prefix::prefixes(view)? } else { vec![prefix::whole(view)] };
        improvement_per_cost(&self.state, view, &model, &prefixes, self.exponent(view)?, effort)
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

/// The distance of each candidate to the nearest point of the design; infinite if it has none.
fn distances(candidates: &Batch, design: &Batch) -> Vec<f64> {
    let between = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    candidates
        .rows()
        .map(|candidate| design.rows().map(|x| between(candidate, x)).fold(f64::INFINITY, f64::min))
        .collect()
}

/// Who is left when the costliest and the nearest are dropped in turn; `None` if there is nobody.
fn cost_effective(costs: &[f64], distances: &[f64]) -> Option<usize> {
    let count = costs.len().min(distances.len());
    // Latest first among equals, so that the first of all stays.
    let mut dearest: Vec<usize> = (0..count).rev().collect();
    let mut nearest = dearest.clone();
    dearest.sort_by(|&a, &b| costs[b].total_cmp(&costs[a]).then(distances[a].total_cmp(&distances[b])));
    nearest.sort_by(|&a, &b| distances[a].total_cmp(&distances[b]).then(costs[b].total_cmp(&costs[a])));
    let mut orders = [dearest.into_iter(), nearest.into_iter()];
    let mut dropped = vec![false; count];
    for turn in 0..count.checked_sub(1)? {
        let victim = orders[turn % 2].by_ref().find(|&i| !dropped[i])?;
        dropped[victim] = true;
    }
    dropped.iter().position(|dropped| !dropped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_costliest_and_the_nearest_are_dropped_in_turn() {
        // Costliest: 1. Nearest of the rest: 0. Costliest of 2, 3, 4: 4. Nearest of 2, 3: 3. Left: 2.
        assert_eq!(cost_effective(&[1.0, 9.0, 2.0, 3.0, 5.0], &[0.1, 0.9, 0.5, 0.4, 0.8]), Some(2));
        // The costliest would be far away, but never gets that far.
        assert_eq!(cost_effective(&[1.0, 2.0], &[0.1, 0.9]), Some(0));
        assert_eq!(cost_effective(&[], &[]), None);
    }

    #[test]
    fn among_equal_costs_the_farthest_is_left() {
        assert_eq!(cost_effective(&[2.0; 4], &[0.3, 0.1, 0.9, 0.2]), Some(2));
        assert_eq!(cost_effective(&[2.0; 3], &[f64::INFINITY; 3]), Some(0));
    }

    #[test]
    fn distances_are_to_the_nearest_point_of_the_design() {
        let candidates = Batch::from_rows(&[[0.0, 0.0], [1.0, 1.0]]);
        let design = Batch::from_rows(&[[0.3, 0.4], [1.0, 0.5]]);
        assert_eq!(distances(&candidates, &design), [0.5, 0.5]);
        assert_eq!(distances(&candidates, &Batch::new(2)), [f64::INFINITY; 2]);
    }
}
