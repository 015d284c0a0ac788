//! `eeipu`: expected improvement times the expected inverse cost, beside the prefixes that are at hand (arXiv 2411.03731).
//!
//! ```text
//! for each prefix, of d stages, maximise over the tail   EI(x) · ( mean_s 1/(d·ε + Σ_{k>d} exp c_k^s(x)) )^η
//! η = (B − spent)/(B − B_0),   ε = 0.1,   1000 quasi-random cost samples,   10 warm-up points
//! ```
//!
//! - The prefixes are the empty one and the first 1 … K−1 stages of the 5 best points and of the previous one; where only the outputs of the iteration
//!   before are at hand, those of the previous point alone. Stages of a prefix that are not at hand after a failure are charged in full.
//! - c_k is learnt where stage k is measured (`stage_cost.rs`); a given cost has no spread, and all samples agree.
//! - ε is in the units of the costs: it is not invariant to them, so that in a large unit stages at hand count too much.
//! - Without a budget, cooling never sets in: η = 1, the limit of large budgets.
//!
//! Glossary: B `budget`, B_0 what the warm-up had cost, η `exponent`, ε `epsilon`, c_k^s sample s of ln cost of stage k.

use serde::{Deserialize, Serialize};

use crate::acquisition::{LogEi, Maximiser, Surface, cooling_exponent};
use crate::space::{Space, StageSet};
use crate::strategy::descriptor::{AT_LEAST_0, COUNT, Descriptor, option, read, rewrite, write};
use crate::strategy::parts::prefix;
use crate::strategy::parts::price::{PerPrice, Price, normal_draws};
use crate::strategy::parts::stage_cost::{StageCosts, need_costs};
use crate::strategy::parts::state::{self, StrategyState};
use crate::strategy::parts::stream::{Purpose, seed_of};
use crate::strategy::{Design, Identity, ModelOptions, Past, Proposal, Strategy, StrategyError, View};

/// More samples than this would only cost time.
const MOST_SAMPLES: usize = 1 << 16;

/// How it is made by name.
pub(in crate::strategy) const DESCRIPTOR: Descriptor = Descriptor {
    name: "eeipu",
    about: "expected improvement times expected inverse cost, stages that are at hand kept",
    options: &[
        option("samples", "samples of the costs", COUNT),
        option("epsilon", "what a stage that is at hand counts as, in the unit of costs", AT_LEAST_0),
    ],
    defaults: || write(&EeipuOptions::default()),
    rewrite: rewrite::<EeipuOptions>,
    build: |name, space, options, seed| Ok(Box::new(Eeipu::new(space, read(name, options)?, seed)?)),
};

/// The settings of `eeipu`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EeipuOptions {
    /// Where to start: 10 points in EEIPU.
    pub design: Design,
    /// The model.
    pub model: ModelOptions,
    /// ε, the cost of a stage whose output is at hand: 0.1 in EEIPU.
    pub epsilon: f64,
    /// Samples of the costs: 1000 in EEIPU.
    pub samples: usize,
    /// How hard to look beside each prefix.
    pub effort: Maximiser,
}

impl Default for EeipuOptions {
    fn default() -> Self {
        Self {
            design: Design::Uniform(10),
            model: ModelOptions::modern(),
            epsilon: 0.1,
            samples: 1_000,
            effort: prefix::effort(),
        }
    }
}

/// What the first proposal of the model remembers.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EeipuMemory {
    /// B_0, what was spent before it.
    warm_up_cost: f64,
}

/// Expected improvement times expected inverse cost.
#[derive(Clone, Debug)]
pub struct Eeipu {
    options: EeipuOptions,
    state: StrategyState,
    /// B_0, from the first iteration of the model on.
    warm_up_cost: Option<f64>,
}

impl Eeipu {
    /// With these options; refused where a cost is unknown.
    pub fn new(space: &Space, options: EeipuOptions, seed: u64) -> Result<Self, StrategyError> {
        state::check(options.design, &options.model)?;
        if !(options.epsilon.is_finite() && options.epsilon >= 0.0) {
            let problem = format!("it is {}; give a finite number of at least 0", options.epsilon);
            return Err(StrategyError::Option { option: "epsilon", problem });
        }
        if !(1..=MOST_SAMPLES).contains(&options.samples) {
            let problem = format!("it is {}; give a number from 1 to {MOST_SAMPLES}", options.samples);
            return Err(StrategyError::Option { option: "samples", problem });
        }
        need_costs(space, DESCRIPTOR.name)?;
        Ok(Self { options, state: StrategyState::new(seed), warm_up_cost: None })
    }
}

impl Strategy for Eeipu {
    fn propose(&self, view: &View<'_>) -> Result<Proposal, StrategyError> {
        let EeipuOptions { design, model, epsilon, samples, effort } = &self.options;
        let Some(model) = self.state.model(view, *design, model)? else {
            return self.state.start(view, *design);
        };
        let (seed, t) = (self.state.seed(), self.state.t());
        let costs = StageCosts::of(view, seed, t)?;
        let draws =
            normal_draws(*samples, costs.len(), seed_of(seed, Purpose::Costs, u64::MAX >> 8 ^ t as u64));
        let warm_up_cost = self.warm_up_cost.unwrap_or(view.spent);
        let exponent = match view.budget {
            Some(budget) => cooling_exponent(budget, view.spent, warm_up_cost)?,
            None => 1.0,
        };
        let log_ei = LogEi::new(model.lowest)?;
        let objective = |runs| PerPrice {
            objective: Surface::new(&model.gp, log_ei),
            price: Price::new(&costs, runs).expected(&draws, epsilon * at_hand(&costs, runs) as f64),
            exponent,
        };
        let prefixes = prefix::prefixes(view)?;
        let (proposal, _) = prefix::propose(&self.state, view, &model, &prefixes, objective, effort)?;
        match self.warm_up_cost {
            Some(_) => Ok(proposal),
            None => proposal.remembering(&EeipuMemory { warm_up_cost }),
        }
    }

    fn identity(&self) -> Identity {
        Identity::of(DESCRIPTOR.name, self.state.seed(), &self.options)
    }

    fn boxed(&self) -> Box<dyn Strategy> {
        Box::new(self.clone())
    }

    fn accept(&mut self, past: &Past<'_>, proposal: &Proposal) -> Result<(), StrategyError> {
        let memory = proposal.recall::<EeipuMemory>(past.trials())?;
        if let Some(EeipuMemory { warm_up_cost }) = memory.as_ref().filter(|memory| memory.warm_up_cost < 0.0)
        {
            let problem = format!("it remembers that its start had cost {warm_up_cost}");
            return Err(StrategyError::Foreign { trial: past.trials(), problem });
        }
        self.state.accept(past, proposal)?;
        self.warm_up_cost = memory.map(|memory| memory.warm_up_cost).or(self.warm_up_cost);
        Ok(())
    }
}

/// How many stages need not run.
fn at_hand(costs: &StageCosts, runs: &StageSet) -> usize {
    costs.len().saturating_sub(runs.len())
}
