//! Whether going on is worth its cost: the rule behind a price.
//!
//! ```text
//! stop when, after the last outcome and also without it,   max over campaigns of gain/cost < price · doubt
//! doubt = max(1, c/(c − w + c₀))⁴      c: what was spent;  c₀: a full run for each value that the rule waits for
//! w     = the most cost until now that gained less than price · w
//! ```
//!
//! For campaigns of one trial that is to say that no Gittins index at this price beats the incumbent (Xie et al. 2024, arXiv 2406.20062, and the stopping
//! rule that follows from it). Campaigns of up to eight let the followers of a trial that opens a dear module pay for it; else a study whose early
//! stages are dear would stop too early.
//!
//! A model may promise for ever what never comes: where noise hides it, or where a strategy does not go there. So a promise counts for less the longer nothing came
//! of it. And a model knows nothing of a value of a choice that was never tried.
//!
//! Only trials that were told count, the first so many of them, so that the answer is the same after a restart, whatever was open.

use super::State;
use super::account::Charge;
use super::stopping::{StopReason, StopRules};
use crate::forecast::{Forecast, Horizon, NoForecast, forecast};
use crate::space::Axis;
use crate::strategy::View;

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

/// Trials between two looks as a share of those so far: a look takes several fits, and late trials change little.
const WAIT: f64 = 0.05;

/// How quickly doubt grows: whenever what was spent doubles without a gain that is worth it, sixteen times as much must be expected. Read off some thirty studies by eye; nothing else was tried.
const DOUBT: i32 = 4;

/// Values up to which a choice is small: all of them are to be tried before a study ends.
const SMALL_CHOICE: usize = 8;

/// Trials for each value of small choices after which a study may end without some of them: they may be forbidden.
const PATIENCE: usize = 10;

/// The seed of all forecasts of a study: they are the same whatever proposes.
pub(super) const SEED: u64 = 0;

impl StopRules {
    /// What stops the study if going on is not worth its cost.
    pub(super) fn not_worth_it(&self, state: &State) -> Option<StopReason> {
        if self.price.is_none() && self.price_share.is_none() {
            return None;
        }
        let n = looked_at(state.account().counted().count());
        let told = state.told_trials(n);
        let values = told.iter().filter(|trial| trial.value().is_some()).count();
        let least = LEAST_VALUES.max(2 * state.space.params().len().min(MOST_PARAMS));
        if values < least {
            return None;
        }
        let history = state.told_history(n).ok()?;
        let view = state.told_view(&told, &history);
        if lacks_values(&view)? {
            return None;
        }
        let now = match ahead(&view) {
            Ok(now) => now,
            // Nothing that was tried made any difference, over and over.
            Err(NoForecast::AllEqual) if values >= NO_DIFFERENCE => {
                return Some(StopReason::NoDifference { values });
            }
            Err(_) => return None,
        };
        let share = self.price_share.map_or(0.0, |share| share * now.spread / now.full_run);
        let price = self.price.unwrap_or(0.0).max(share);
        let (spent, gain, doubt) = drought(state, n, price, least as f64 * now.full_run)?;
        let too_little =
            |forecast: &Forecast| forecast.campaign.rate().max(forecast.best_rate) < price * doubt;
        if !too_little(&now) {
            return None;
        }
        // One outcome may mislead a fit: without it the answer must be the same.
        let (earlier, history) = (state.told_trials(n - 1), state.told_history(n - 1).ok()?);
        let before = ahead(&state.told_view(&earlier, &history)).ok()?;
        too_little(&before).then(|| {
            let campaign = now.campaign;
            if campaign.rate().max(now.best_rate) >= price {
                return StopReason::NothingCame { price, spent, gain };
            }
            let (trials, gain, cost) = (campaign.trials, campaign.gain, campaign.cost);
            StopReason::NotWorthIt { price, trials, gain, cost }
        })
    }
}

/// The campaigns need no horizon; that of one run is the quickest.
fn ahead(view: &View<'_>) -> Result<Forecast, NoForecast> {
    forecast(view, Horizon::FullRuns(1.0), SEED)
}

/// After how many of so many trials the rule was last looked at: after every one at first, later whenever there are a twentieth more.
pub(super) fn looked_at(told: usize) -> usize {
    let (mut at, mut next) = (0, 1);
    while next <= told {
        at = next;
        next = at + ((WAIT * at as f64) as usize).max(1);
    }
    at
}

/// What was spent until the first `n` trials told since gains were worth their cost, what was gained since then, and the doubt that follows.
fn drought(state: &State, n: usize, price: f64, grace: f64) -> Option<(f64, f64, f64)> {
    let charges: Vec<&Charge> = state.account().counted().take(n).collect();
    let (last, mut longest) = (charges.last()?, (0.0, 0.0));
    for charge in &charges {
        // Bests only get better, so that the distance is the gain in either direction.
        let (Some(then), Some(now)) = (charge.best, last.best) else { continue };
        let (gain, spent) = ((then - now).abs(), last.cumulative - charge.cumulative);
        if gain < price * spent {
            longest = (spent, gain);
            break;
        }
    }
    let (spent, gain) = longest;
    // No doubt before the drought is longer than the grace.
    let grown = last.cumulative / (last.cumulative - spent + grace);
    Some((spent, gain, grown.max(1.0).powi(DOUBT)))
}

/// Whether a value of a small choice was never tried, while there is still hope that it will be.
fn lacks_values(view: &View<'_>) -> Option<bool> {
    let codes = view.trials.iter().map(|trial| view.space.encode(trial.point()));
    let codes = codes.collect::<Result<Vec<_>, _>>().ok()?;
    let (mut values, mut lacks) = (0, false);
    for (d, axis) in view.space.axes().iter().enumerate() {
        let tried = |high: bool| codes.iter().any(|u| u.get(d).is_some_and(|u| (*u > 0.5) == high));
        match axis {
            Axis::OneHot { len, .. } if *len <= SMALL_CHOICE => {
                values += 1;
                lacks |= !tried(true);
            }
            Axis::Grid { len: 2 } => {
                values += 2;
                lacks |= !(tried(true) && tried(false));
            }
            _ => {}
        }
    }
    Some(lacks && view.trials.len() < PATIENCE * values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_become_rarer_as_trials_become_many() {
        let all: Vec<usize> = (0..=40).map(looked_at).collect();
        assert_eq!(all, (0..=40).collect::<Vec<_>>());
        assert_eq!((looked_at(41), looked_at(42), looked_at(43)), (40, 42, 42));
        let looks: std::collections::BTreeSet<usize> = (0..=1_000).map(looked_at).collect();
        assert!(looks.len() < 120, "{}", looks.len());
        assert!((1..=1_000).all(|told| looked_at(told) <= told && 20 * (told - looked_at(told)) <= told));
    }
}
