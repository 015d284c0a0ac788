//! Whether going on is worth its cost: the rule behind a price.
//!
//! ```text
//! stop when, after the last outcome and also without it,   max over campaigns of gain/cost < price
//! ```
//!
//! For campaigns of one trial that is to say that no Gittins index at this price beats the incumbent (Xie et al. 2024, arXiv 2406.20062, and the stopping
//! rule that follows from it). Campaigns of up to eight let the followers of a trial that opens a dear module pay for it; else a study whose early
//! stages are dear would stop too early.
//!
//! Only trials that were told count, so that the answer is the same after a restart, whatever was open.

use super::State;
use super::stopping::{StopReason, StopRules};
use crate::strategy::{Forecast, Horizon, NoForecast, View, forecast};
use crate::trial::Trial;

/// The share of the spread of values that a full run's worth of cost must bring, where no price is given: a thousandth.
///
/// The spread is the distance from the median of the values to the best one, the largest so far: it does not shrink when good values become many.
pub const PRICE_SHARE: f64 = 1e-3;

/// Values before which the rule never holds; twice as many as there are parameters where that is more.
const LEAST_VALUES: usize = 8;

/// Values that are all the same before nothing is expected of more of them.
const NO_DIFFERENCE: usize = 100;

/// Parameters that are counted for that.
const MOST_PARAMS: usize = 20;

/// The seed of all forecasts of a study: they are the same whatever proposes.
pub(super) const SEED: u64 = 0;

impl StopRules {
    /// What stops the study if going on is not worth its cost.
    pub(super) fn not_worth_it(&self, state: &State) -> Option<StopReason> {
        if self.price.is_none() && self.price_share.is_none() {
            return None;
        }
        let told = state.told_trials(None);
        let values = told.iter().filter(|trial| trial.value().is_some()).count();
        if values < LEAST_VALUES.max(2 * state.space.params().len().min(MOST_PARAMS)) {
            return None;
        }
        let now = match forecast(&state.told_view(&told), Horizon::FullRuns(1.0), SEED) {
            Ok(now) => now,
            // Nothing that was tried made any difference, over and over.
            Err(NoForecast::AllEqual) if values >= NO_DIFFERENCE => {
                return Some(StopReason::NoDifference { values });
            }
            Err(_) => return None,
        };
        let share = self.price_share.map_or(0.0, |share| share * now.spread / now.full_run);
        let price = self.price.unwrap_or(0.0).max(share);
        let too_little = |forecast: &Forecast| forecast.campaign.rate().max(forecast.best_rate) < price;
        if !too_little(&now) {
            return None;
        }
        // One outcome may mislead a fit: without it the answer must be the same.
        let last = state.account().charges().last()?.trial;
        let earlier: Vec<Trial> = state.told_trials(Some(last));
        let history = state.history_before_last().ok()?;
        let before = ahead(&View { history: &history, ..state.told_view(&earlier) })?;
        too_little(&before).then(|| {
            let campaign = now.campaign;
            let (trials, gain, cost) = (campaign.trials, campaign.gain, campaign.cost);
            StopReason::NotWorthIt { price, trials, gain, cost }
        })
    }
}

/// The campaigns need no horizon; that of one run is the quickest.
fn ahead(view: &View<'_>) -> Option<Forecast> {
    forecast(view, Horizon::FullRuns(1.0), SEED).ok()
}
