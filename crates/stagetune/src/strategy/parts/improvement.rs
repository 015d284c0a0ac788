//! Expected improvement per unit of cost, maximised beside every prefix at hand.

use super::model::Model;
use super::prefix::{self, Prefix};
use super::price::{PerPrice, Price};
use super::stage_cost::StageCosts;
use super::state::StrategyState;
use crate::acquisition::{LogEi, Maximiser, Surface};
use crate::strategy::{Proposal, StrategyError, View};

/// The largest EI/Γ^a beside any of these prefixes.
pub(crate) fn improvement_per_cost(
    state: &StrategyState,
    view: &View<'_>,
    model: &Model,
    prefixes: &[Prefix<'_>],
    exponent: f64,
    effort: &Maximiser,
) -> Result<Proposal, StrategyError> {
    let costs = StageCosts::of(view, state.seed(), state.t())?;
    let log_ei = LogEi::new(model.lowest)?;
    let objective = |runs| PerPrice {
        objective: Surface::new(&model.gp, log_ei),
        price: Price::new(&costs, runs),
        exponent,
    };
    Ok(prefix::propose(state, view, model, prefixes, objective, effort)?.0)
}
