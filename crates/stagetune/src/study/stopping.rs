//! When a study ends: the first rule that holds.
//!
//! Rules are asked before every trial, never during a replay, so that a study can be continued with other rules. Open trials are
//! still told after a rule holds.

use std::fmt;

use super::account::{Account, Charge};
use super::error::StudyError;
use super::tried::Tried;
use crate::objective::Direction;
use crate::space::{Cost, Space};

/// When to stop; without rules a study goes on for ever.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StopRules {
    /// After so many trials were asked for, open and failed ones included.
    pub trials: Option<usize>,
    /// When so much has been spent.
    pub cost: Option<f64>,
    /// When a value is at least as good as this one, in the user's direction.
    pub target: Option<f64>,
    /// When the best value does not get better.
    pub no_progress: Option<NoProgress>,
    /// When no next trial is worth its cost, at this price of a unit of cost in units of the metric; 0 never stops.
    ///
    /// A study goes on while the best next trial, or the best few trials together, are expected to gain more than their cost times the price. The rule holds
    /// at the earliest after 8 values, or two for each parameter, if it also holds without the last outcome, and if all values of small choices were tried. It is looked at after every outcome at first, and past 40 whenever
    /// there are a twentieth more. What is expected counts for less the longer nothing came of it.
    pub price: Option<f64>,
    /// The same where a unit of cost has no price that anybody knows: the share of the spread of values, from their median to the best one, that a full run's worth
    /// of cost must bring; see [`PRICE_SHARE`](super::PRICE_SHARE). With a price as well, the higher one counts.
    pub price_share: Option<f64>,
    /// When every allowed point of a space of at most 10,000 was asked for, open and failed trials included.
    ///
    /// For functions that give the same value at the same point; without this a study repeats points, which is how noise is averaged.
    pub all_tried: bool,
}

/// The last trials told, failed ones included, brought too little.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoProgress {
    /// How many of them.
    pub trials: usize,
    /// What they must improve the best value by; 0 for anything at all.
    pub at_least: f64,
}

/// The rule that ended a study.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum StopReason {
    /// A value is good enough.
    Target {
        /// What was wanted.
        target: f64,
        /// What was found.
        best: f64,
    },
    /// So much has been spent.
    Cost {
        /// What may be spent.
        limit: f64,
        /// What was spent.
        spent: f64,
    },
    /// So many trials were asked for.
    Trials {
        /// How many may be.
        limit: usize,
    },
    /// There is no other point.
    AllTried {
        /// How many there are.
        points: u64,
    },
    /// The best value does not get better.
    NoProgress(NoProgress),
    /// Going on is not worth its cost.
    NotWorthIt {
        /// What a unit of cost must bring.
        price: f64,
        /// How many trials would gain most per unit of cost together.
        trials: usize,
        /// What they are expected to gain.
        gain: f64,
        /// What they would cost.
        cost: f64,
    },
    /// Going on is expected to be worth its cost, but it has been expected for long, and nothing came of it.
    NothingCame {
        /// What a unit of cost must bring.
        price: f64,
        /// What was spent since gains were worth their cost.
        spent: f64,
        /// What was gained since then.
        gain: f64,
    },
    /// A price was given, but all values are the same: there is nothing to weigh it against.
    NoDifference {
        /// How many there are.
        values: usize,
    },
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Target { target, best } => {
                write!(f, "the value {} reaches the target {}", told(*best), told(*target))
            }
            Self::Cost { limit, spent } => {
                write!(f, "{} of the budget of {} is spent", told(*spent), told(*limit))
            }
            Self::Trials { limit: 1 } => write!(f, "the one trial that was allowed was asked for"),
            Self::Trials { limit } => write!(f, "all {limit} trials were asked for"),
            Self::AllTried { points: 1 } => write!(f, "the one point of the space was tried"),
            Self::AllTried { points } => write!(f, "all {points} points of the space were tried"),
            Self::NoProgress(NoProgress { trials, at_least }) if *at_least > 0.0 => {
                write!(f, "the last {trials} trials improved the best value by less than {}", told(*at_least))
            }
            Self::NoProgress(rule) => {
                write!(f, "the last {} trials did not improve the best value", rule.trials)
            }
            Self::NotWorthIt { price, trials, gain, cost } => {
                let (needed, gain, cost) = (told(price * cost), told(*gain), told(*cost));
                if *trials <= 1 {
                    write!(f, "the best next trial is expected to gain {gain} for a cost of {cost}")?;
                } else {
                    write!(
                        f,
                        "the best {trials} next trials are expected to gain {gain} for a cost of {cost}"
                    )?;
                }
                write!(f, ", less than the {needed} that such a cost is worth")
            }
            Self::NothingCame { price, spent, gain } => {
                let (needed, spent, gain) = (told(price * spent), told(*spent), told(*gain));
                write!(
                    f,
                    "the last {spent} of cost gained {gain}, less than the {needed} that such a cost is worth, and what is expected of more has been expected for long"
                )
            }
            Self::NoDifference { values } => write!(
                f,
                "all {values} values are the same, so that nothing is expected of going on; look whether the metric moves at all"
            ),
        }
    }
}

/// A number as it is, with an exponent where it would be a row of zeros.
fn told(number: f64) -> String {
    let size = number.abs();
    if size == 0.0 || (1e-5..1e15).contains(&size) { number.to_string() } else { format!("{number:e}") }
}

impl StopRules {
    /// Whether the rules make sense for a space.
    pub(super) fn check(&self, space: &Space) -> Result<(), StudyError> {
        let refuse = |rule, problem: String| Err(StudyError::Rule { rule, problem });
        if self.trials == Some(0) {
            return refuse("trials", "0 trials are no study; give at least 1".into());
        }
        if let Some(cost) = self.cost.filter(|cost| !(cost.is_finite() && *cost > 0.0)) {
            return refuse(
                "cost",
                format!("a budget of {cost} makes no sense; give a finite number above 0"),
            );
        }
        for (rule, price) in [("price", self.price), ("price_share", self.price_share)] {
            if let Some(price) = price.filter(|price| !(price.is_finite() && *price >= 0.0)) {
                return refuse(
                    rule,
                    format!("a price of {price} makes no sense; give a finite number of at least 0"),
                );
            }
        }
        let by_cost = [("cost", self.cost), ("price", self.price), ("price_share", self.price_share)];
        if let Some((rule, _)) = by_cost.iter().find(|(_, limit)| limit.is_some())
            && let Some(module) = space.modules().iter().find(|m| m.cost_kind() == Cost::Unknown)
        {
            let name = module.name();
            return refuse(
                rule,
                format!("nobody knows what module `{name}` costs; give it a cost or have it measured"),
            );
        }
        let by_price = [("price", self.price), ("price_share", self.price_share)];
        if let Some((rule, _)) = by_price.iter().find(|(_, limit)| limit.is_some())
            && space.modules().iter().all(|module| module.cost_kind() == Cost::Given(0.0))
        {
            return refuse(
                rule,
                "every stage is free, so that going on is always worth its cost; give costs, or another rule"
                    .into(),
            );
        }
        if let Some(target) = self.target.filter(|target| !target.is_finite()) {
            return refuse("target", format!("no value reaches {target}; give a finite number"));
        }
        match self.no_progress {
            Some(rule) if rule.trials == 0 => {
                refuse("no_progress", "0 trials show nothing; look at 1 at least".into())
            }
            Some(rule) if !(rule.at_least.is_finite() && rule.at_least >= 0.0) => {
                let at_least = rule.at_least;
                refuse("no_progress", format!("`at_least` is {at_least}; give a finite number of at least 0"))
            }
            _ => Ok(()),
        }
    }

    /// Whether a rule needs to know what trials cost.
    pub(super) fn needs_costs(&self) -> bool {
        self.cost.is_some() || self.price.is_some() || self.price_share.is_some()
    }

    /// The first rule that holds, but for the price, which takes a model to see.
    pub(super) fn holds(
        &self,
        direction: Direction,
        asked: usize,
        tried: Option<&Tried>,
        account: &Account,
    ) -> Option<StopReason> {
        let best = account.best();
        if let (Some(target), Some(best)) = (self.target, best)
            && !direction.is_better(target, best)
        {
            return Some(StopReason::Target { target, best });
        }
        // Before the budgets: more of them would not help.
        if let Some(points) = tried.and_then(Tried::all) {
            return Some(StopReason::AllTried { points });
        }
        if let Some(limit) = self.cost
            && account.spent() >= limit
        {
            return Some(StopReason::Cost { limit, spent: account.spent() });
        }
        if let Some(limit) = self.trials
            && asked >= limit
        {
            return Some(StopReason::Trials { limit });
        }
        self.no_progress.filter(|rule| rule.holds(account)).map(StopReason::NoProgress)
    }
}

impl NoProgress {
    fn holds(&self, account: &Account) -> bool {
        let charges: Vec<&Charge> = account.counted().collect();
        let Some(first) = charges.len().checked_sub(self.trials) else { return false };
        let before = first.checked_sub(1).and_then(|last| charges.get(last)).and_then(|charge| charge.best);
        match (before, account.best()) {
            // Bests only get better, so that the distance is the improvement in either direction.
            (Some(before), Some(now)) => before == now || (before - now).abs() < self.at_least,
            // The first value of all is progress; failures alone are none.
            (None, now) => now.is_none(),
            (Some(_), None) => false,
        }
    }
}
