//! What a forecast believes of the metric: the same explanations as `auto` has, of the trials that say something about it.
//!
//! ```text
//! explanation   the likeliest of those of `auto`, of the first COMPARED trials where there are more     (explain.rs)
//! warped        where that is likelier still by LIKELIER: a metric that explodes away from its optimum would make any gain look large
//! margin        half a step, and a fifth of the noise: what is less is not seen
//! failures      count as the worst value where most of the trials nearest to them failed, too; the others are left out
//! ```
//!
//! A failure among successes is chance: entered as the worst value it looks like noise, and noise is worth going on for ever. A failure among failures is a
//! region that does not work, where nothing is to be gained.

use crate::strategy::parts::explain::{COMPARED, KERNELS, LENGTHSCALE_SPREAD, Ways, likeliest};
use crate::strategy::parts::model::{Explanation, Model};
use crate::strategy::parts::quantisation;
use crate::strategy::parts::wide;
use crate::strategy::{ModelOptions, StrategyError, View};
use crate::surrogate::Family;
use crate::trial::Trial;

/// By how much more likely, as a logarithm, values must be when they are warped: they are only where that is
/// beyond doubt.
const LIKELIER: f64 = 5.0;

/// Trials nearest to a failed one that say whether it is one of many: three of five are so by chance once in a hundred times where a tenth of trials fail.
const NEAREST: usize = 5;

/// The share of the noise's standard deviation below which a gain is not seen: it would take fifty trials of either point to tell them apart. Of 0, 0.1, 0.2 and 0.3, looked at on a few studies of
/// Hartmann 6D with noise of 0.2: with 0 none of three ended within 350 trials, with 0.2 five of six do, after 111 to 292. It was chosen on these studies.
const HIDDEN: f64 = 0.2;

/// Noise variance, of standardised values, up to which there is none: fits never find less than a tenth of it.
const NO_NOISE: f64 = 1e-3;

/// In a wide space only sums are compared with Matérn 5/2: ripples have three exponentials for one, and a forecast needs to know how much there is to gain, not where.
const WIDE_KERNELS: [Family; 1] = [Family::AdditiveMatern52];

/// The first trials by which they are compared there.
const COMPARED_WIDE: usize = 50;

/// How far below the incumbent's mean gains begin, standardised: half a step below the lowest value of a metric in steps, and beyond what noise hides.
pub(super) fn margin(view: &View<'_>, model: &Model, incumbent: f64) -> f64 {
    // Below the lowest value nothing is warped.
    let step = quantisation::margin(view) / model.scale.scale;
    let rounded = if step > 0.0 { step + (incumbent - model.lowest).max(0.0) } else { 0.0 };
    rounded + HIDDEN * (model.gp.hyper().noise_variance - NO_NOISE).max(0.0).sqrt()
}

/// The model of a forecast; `None` if no trial has returned a value.
pub(super) fn believed(view: &View<'_>, seed: u64) -> Result<Option<Model>, StrategyError> {
    let telling = telling(view)?;
    let view = View { trials: telling.as_deref().unwrap_or(view.trials), ..*view };
    let options = ModelOptions::modern();
    let (kernels, compared): (&[Family], usize) = match wide::is_wide(view.space) {
        true => (&WIDE_KERNELS, COMPARED_WIDE),
        false => (&KERNELS, COMPARED),
    };
    let ways = Ways {
        family: options.family,
        kernels,
        warping: false,
        lengthscale_spread: Some(LENGTHSCALE_SPREAD),
        // Those that are left say that a region does not work.
        leaves_failures: false,
    };
    let explanations = ways.over(view.space);
    let explain = |view: &View<'_>, explanation: Explanation| {
        Model::explain(&options, explanation, view, 1, None, seed)
    };
    let first = View { trials: view.trials.get(..compared).unwrap_or(view.trials), ..view };
    let with = |number: usize| match explanations.get(number) {
        Some(explanation) => explain(&first, *explanation),
        None => Ok(None),
    };
    let Some((model, number)) = likeliest(explanations.len(), with)? else { return Ok(None) };
    let Some(&explanation) = explanations.get(number) else { return Ok(None) };
    let all = if first.trials.len() < view.trials.len() { explain(&view, explanation)? } else { None };
    let plain = all.unwrap_or(model);
    let likelier = |warped: &Model| warped.density > plain.density.map(|density| density + LIKELIER);
    Ok(Some(match explain(&view, Explanation { warped: true, ..explanation }) {
        Ok(Some(warped)) if likelier(&warped) => warped,
        Ok(_) | Err(_) => plain,
    }))
}

/// The trials without failures that are chance; `None` where there are none of these.
fn telling(view: &View<'_>) -> Result<Option<Vec<Trial>>, StrategyError> {
    if !view.trials.iter().any(Trial::is_failed) {
        return Ok(None);
    }
    let told: Vec<&Trial> = view.trials.iter().filter(|trial| trial.is_told()).collect();
    let codes = told.iter().map(|trial| view.space.encode(trial.point())).collect::<Result<Vec<_>, _>>()?;
    let mut chance = Vec::new();
    for (i, (trial, here)) in told.iter().zip(&codes).enumerate().filter(|(_, (trial, _))| trial.is_failed())
    {
        let distance = |there: &[f64]| view.space.squared_distance(here, there);
        let others = told.iter().zip(&codes).enumerate().filter(|(j, _)| *j != i);
        let mut others: Vec<(f64, bool)> =
            others.map(|(_, (other, there))| (distance(there), other.is_failed())).collect();
        others.sort_by(|a, b| a.0.total_cmp(&b.0));
        others.truncate(NEAREST);
        let failed = others.iter().filter(|(_, failed)| *failed).count();
        if 2 * failed <= others.len() {
            chance.push(trial.id());
        }
    }
    Ok(Some(view.trials.iter().filter(|trial| !chance.contains(&trial.id())).cloned().collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{Module, Param, RunHistory, Space};
    use crate::trial::{Proposed, TrialId};

    /// The numbers of the trials that say something, of trials at these places that failed or not.
    fn kept(tried: &[(f64, bool)]) -> Vec<u64> {
        let module = Module::new("only", [Param::float("a", 0.0, 1.0).unwrap()]).unwrap();
        let space = Space::new([module]).unwrap();
        let trial = |(i, &(at, failed)): (usize, &(f64, bool))| {
            let proposed = Proposed::new(TrialId::new(i as u64), space.decode(&[at]).unwrap());
            if failed {
                Trial::Failed(proposed.fail("broke"))
            } else {
                Trial::Observed(proposed.observe(at).unwrap())
            }
        };
        let trials: Vec<Trial> = tried.iter().enumerate().map(trial).collect();
        let history = RunHistory::new();
        let view = View::of(&space, &trials, &history);
        let kept = telling(&view).unwrap().unwrap_or_else(|| trials.clone());
        kept.iter().map(|trial| trial.id().index()).collect()
    }

    #[test]
    fn a_failure_among_successes_is_left_out_and_one_among_failures_stays() {
        let line = |failed: &[usize]| -> Vec<(f64, bool)> {
            (0..12).map(|i| (i as f64 / 12.0, failed.contains(&i))).collect()
        };
        assert_eq!(kept(&line(&[])), (0..12).collect::<Vec<_>>());
        assert_eq!(kept(&line(&[3])), (0..12).filter(|i| *i != 3).collect::<Vec<_>>());
        // Half of the line does not work.
        assert!((0..4).all(|i| kept(&line(&[0, 1, 2, 3, 4, 5])).contains(&i)));
        // One failure alone, and nothing else.
        assert_eq!(kept(&[(0.5, true)]), Vec::<u64>::new());
    }
}
