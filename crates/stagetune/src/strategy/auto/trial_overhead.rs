//! Trial overhead: what a trial costs beside its stages, where the number of trials is limited.
//!
//! ```text
//! w = max(0, a − c̄)                       a = (budget − spent)/(trials left), at most a full run; c̄ what trials so far have cost on average
//! w = a full run · min(1, 50/(trials left))   without a budget of cost
//! ```
//!
//! A study that may ask for few trials and spend much would otherwise use them up beside the cheapest stage: improvement per cost knows no limit but that of cost.
//! As long as trials cost what they may, the money runs out first and their number is free. Where trials alone are limited, they are what is scarce, and costs
//! decide between trials that promise about as much: with 0.2 to 5 full runs, the more the better the end and the dearer the study (`experiments/auto`). Where many are left,
//! it is rather that somebody is patient than that trials are scarce.

use crate::strategy::View;

/// Trials left that are few: with 30 and 40 of them it was measured that a place is worth a full run.
const FEW: f64 = 50.0;

/// w, where a full run costs `full`; nothing where the number of trials has no limit, or where nobody knows what anything costs.
///
/// Trials that are open have their place already; what they will cost is not known, and is taken to be what others cost.
pub(super) fn overhead(view: &View<'_>, full: f64) -> f64 {
    if view.costs.is_none() {
        return 0.0;
    }
    let asked = view.trials.len();
    let Some(left) = view.most_trials.map(|most| most.saturating_sub(asked).max(1) as f64) else {
        return 0.0;
    };
    let Some(budget) = view.budget else { return full * (FEW / left).min(1.0) };
    let (spent, mean) = committed(view);
    let may_cost = ((budget - spent) / left).min(full);
    (may_cost - mean).max(0.0)
}

/// Whether what is left of the budget pays for a trial that costs this much.
pub(super) fn pays_for(view: &View<'_>, cost: f64) -> bool {
    // Sums of costs are rounded.
    view.budget.is_none_or(|budget| committed(view).0 + cost <= budget * (1.0 + 1e-9))
}

/// What is spent once the trials that are open have ended, and what a trial has cost on average.
pub(super) fn committed(view: &View<'_>) -> (f64, f64) {
    let told = view.trials.iter().filter(|trial| !trial.is_open()).count();
    let mean = view.spent / told.max(1) as f64;
    (view.spent + mean * (view.trials.len() - told) as f64, mean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{CostModel, Module, Param, RunHistory, Space};
    use crate::trial::{Proposed, Trial, TrialId};

    /// w after ten trials that cost so much together, with these limits and full runs that cost 2.
    fn after_ten(spent: f64, budget: Option<f64>, most_trials: Option<usize>) -> f64 {
        after(10, 0, Some(&[2.0]), spent, budget, most_trials)
    }

    /// The same after so many trials, and so many that are open.
    fn after(
        told: u64,
        open: u64,
        costs: Option<&[f64]>,
        spent: f64,
        budget: Option<f64>,
        most_trials: Option<usize>,
    ) -> f64 {
        let param = Param::float("x", 0.0, 1.0).unwrap();
        let space = Space::new([Module::new("only", [param]).unwrap()]).unwrap();
        let trial = |i: u64| {
            let point = space.point([("x", i as f64 / 100.0)]).unwrap();
            let trial = Proposed::new(TrialId::new(i), point);
            if i < told { Trial::Observed(trial.observe(0.0).unwrap()) } else { Trial::Proposed(trial) }
        };
        let trials: Vec<Trial> = (0..told + open).map(trial).collect();
        let view = View {
            space: &space,
            trials: &trials,
            costs,
            cost_model: CostModel::Previous,
            history: &RunHistory::new(),
            spent,
            budget,
            most_trials,
        };
        overhead(&view, 2.0)
    }

    #[test]
    fn a_place_is_worth_what_is_left_for_it_beyond_what_trials_cost() {
        // 18 are left for 20 trials, and trials have cost 0.2.
        assert!((after_ten(2.0, Some(20.0), Some(30)) - 0.7).abs() < 1e-12);
        // Trials have cost more than is left for each: money ends first.
        assert_eq!(after_ten(15.0, Some(20.0), Some(30)), 0.0);
        // Nobody can spend more than a full run on a trial.
        assert!((after_ten(2.0, Some(1e6), Some(30)) - 1.8).abs() < 1e-12);
        assert!((after_ten(2.0, Some(20.0), Some(10)) - 1.8).abs() < 1e-12);
    }

    #[test]
    fn without_a_limit_of_trials_a_place_costs_nothing_and_without_one_of_cost_a_full_run() {
        assert_eq!(after_ten(2.0, Some(20.0), None), 0.0);
        assert_eq!(after_ten(2.0, None, None), 0.0);
        assert_eq!(after_ten(2.0, None, Some(30)), 2.0);
        assert_eq!(after_ten(8.0, None, Some(30)), 2.0);
        // A place among many is worth less.
        assert_eq!(after_ten(8.0, None, Some(210)), 0.5);
    }

    #[test]
    fn open_trials_have_their_place_and_count_as_dear_as_others() {
        // Of 30 trials 15 are left, and 18 less what the five open ones will cost: 5 · 0.2.
        let open = after(10, 5, Some(&[2.0]), 2.0, Some(20.0), Some(30));
        assert!((open - (17.0 / 15.0 - 0.2)).abs() < 1e-12, "{open}");
        assert_eq!(after(10, 5, None, 0.0, None, Some(30)), 0.0);
    }
}
