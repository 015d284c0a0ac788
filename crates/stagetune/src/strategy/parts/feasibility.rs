//! The feasibility model: a Gaussian-process estimate of the probability that a trial succeeds.
//!
//! ```text
//! o_i = 1 where trial i returned a value, 0 where it failed
//! p(x) = the mean of a Gaussian process on o, between 1/50 and 1
//! ln α(x) + ln p(x)                                        an acquisition function that counts what is likely to succeed
//! ```
//!
//! A failure that is written down as a bad value bends the model of the metric: failures here and there look like noise, and what is cheapest
//! wins. With a model of its own, failures that fill a region keep trials out of it, and those that come by chance leave a dent each. Noise may explain
//! at most a tenth of the outcomes' variance: otherwise single failures would be taken for chance, and the next trial would be made beside them.

use super::model;
use super::stream::{Purpose, seed_of};
use crate::acquisition::Objective;
use crate::space::Batch;
use crate::strategy::{StrategyError, View};
use crate::surrogate::{Family, Fit, GaussianProcess, OutputScale, SurrogateError};

/// The lowest probability that is believed: a few failures are no proof.
const LEAST: f64 = 0.02;

/// The most of the outcomes' variance that noise explains; 0.5 made no difference on two pipelines with failures.
const MOST_NOISE: f64 = 0.1;

/// The latest failures, and the latest successes, that are learnt from: more cost as much as n³ at every trial.
const LATEST: usize = 100;

/// Starts of the fit: it decides which of the good places to leave out, not where they are.
const STARTS: usize = 2;

/// A Gaussian-process estimate of the probability that a trial succeeds.
pub(crate) struct Feasibility {
    gp: GaussianProcess,
    scale: OutputScale,
}

/// An acquisition function weighted by the probability of success: ln α + ln p.
pub(crate) struct TimesFeasibility<'a, O> {
    pub(crate) objective: O,
    /// Without, all trials succeed.
    pub(crate) feasibility: Option<&'a Feasibility>,
}

impl Feasibility {
    /// From the trials that ended, at iteration `t`; nothing where none has failed, none has succeeded, or nothing can be learnt.
    pub(crate) fn of(
        view: &View<'_>,
        lengthscale_spread: Option<f64>,
        seed: u64,
        t: usize,
    ) -> Result<Option<Self>, StrategyError> {
        let ended = || view.trials.iter().filter(|trial| trial.is_told());
        let count = |failed: bool| ended().filter(|trial| trial.is_failed() == failed).count();
        let (mut failures, mut successes) = (count(true), count(false));
        if failures == 0 || successes == 0 {
            return Ok(None);
        }
        let (mut x, mut outcomes) = (Batch::new(view.space.dim()), Vec::new());
        for trial in ended() {
            let left = if trial.is_failed() { &mut failures } else { &mut successes };
            *left -= 1;
            if *left >= LATEST {
                continue;
            }
            // A row of this space has its length.
            let _ = x.push(&view.space.encode(trial.point())?);
            outcomes.push(if trial.is_failed() { 0.0 } else { 1.0 });
        }
        let scale = OutputScale::of(&outcomes);
        let mut fit = Fit::with_priors(Family::Matern52, view.space.dim());
        fit.bounds.noise_variance.1 = MOST_NOISE;
        fit.strangers = model::strangers(view.space);
        fit.categories = view.space.categories();
        fit.starts = STARTS;
        fit.seed = seed_of(seed, Purpose::Feasibility, t as u64);
        if let Some(priors) = &mut fit.priors {
            priors.lengthscale_spread = lengthscale_spread;
        }
        // Trials can be chosen without.
        let fitted = fit.run(&x, &scale.standardise_all(&outcomes)).ok();
        Ok(fitted.map(|fitted| Self { gp: fitted.gp, scale }))
    }
}

impl<O: Objective> Objective for TimesFeasibility<'_, O> {
    fn values(&self, at: &Batch) -> Result<Vec<f64>, SurrogateError> {
        let mut values = self.objective.values(at)?;
        if let Some(Feasibility { gp, scale }) = self.feasibility {
            let outcomes = gp.predict(at)?.mean;
            values.iter_mut().zip(outcomes).for_each(|(v, o)| *v += scale.restore(o).clamp(LEAST, 1.0).ln());
        }
        Ok(values)
    }

    fn values_and_gradients(&self, at: &Batch) -> Result<(Vec<f64>, Batch), SurrogateError> {
        let (mut values, mut gradients) = self.objective.values_and_gradients(at)?;
        if let Some(Feasibility { gp, scale }) = self.feasibility {
            let outcomes = gp.predict_with_gradient(at)?;
            for (i, (value, o)) in values.iter_mut().zip(&outcomes.mean).enumerate() {
                let p = scale.restore(*o);
                *value += p.clamp(LEAST, 1.0).ln();
                if p > LEAST && p < 1.0 {
                    let slopes = outcomes.d_mean.row(i);
                    gradients.row_mut(i).iter_mut().zip(slopes).for_each(|(g, d)| *g += scale.scale * d / p);
                }
            }
        }
        Ok((values, gradients))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{Module, Param, RunHistory, Space};
    use crate::trial::{Proposed, Trial, TrialId};

    fn plane() -> Space {
        let float = |name: &str| Param::float(name, 0.0, 1.0).unwrap();
        Space::new([Module::new("only", [float("a"), float("b")]).unwrap()]).unwrap()
    }

    /// After trials on a grid of which those fail that this says.
    fn after(space: &Space, side: usize, fails: impl Fn(f64, f64) -> bool) -> Option<Feasibility> {
        let at = |i: usize| (i as f64 + 0.5) / side as f64;
        let trial = |k: usize| {
            let (a, b) = (at(k / side), at(k % side));
            let proposed = Proposed::new(TrialId::new(k as u64), space.decode(&[a, b]).unwrap());
            if fails(a, b) {
                Trial::Failed(proposed.fail("broke"))
            } else {
                Trial::Observed(proposed.observe(a + b).unwrap())
            }
        };
        let trials: Vec<Trial> = (0..side * side).map(trial).collect();
        let history = RunHistory::new();
        let view = View::of(space, &trials, &history);
        Feasibility::of(&view, Some(0.3), 1, 1).unwrap()
    }

    /// Nothing but the probability of success.
    struct Nothing;

    impl Objective for Nothing {
        fn values(&self, at: &Batch) -> Result<Vec<f64>, SurrogateError> {
            Ok(vec![0.0; at.len()])
        }

        fn values_and_gradients(&self, at: &Batch) -> Result<(Vec<f64>, Batch), SurrogateError> {
            Ok((vec![0.0; at.len()], Batch::zeros(at.len(), at.dim())))
        }
    }

    fn probability_at(feasibility: &Feasibility, a: f64, b: f64) -> f64 {
        let weighted = TimesFeasibility { objective: Nothing, feasibility: Some(feasibility) };
        weighted.values(&Batch::of(2, &[a, b])).unwrap()[0].exp()
    }

    #[test]
    fn a_region_that_fails_is_kept_out_of() {
        let feasibility = after(&plane(), 6, |a, _| a > 0.7).unwrap();
        assert!(probability_at(&feasibility, 0.9, 0.4) < 0.1);
        assert!(probability_at(&feasibility, 0.3, 0.6) > 0.9);
    }

    #[test]
    fn a_failure_by_chance_dents_its_surroundings_alone() {
        let feasibility =
            after(&plane(), 6, |a, b| (a - 0.4).abs() < 0.05 && (b - 0.4).abs() < 0.05 || a * b > 0.8)
                .unwrap();
        assert!(probability_at(&feasibility, 0.4167, 0.4167) < 0.6);
        assert!(probability_at(&feasibility, 0.1, 0.6) > 0.8);
    }

    #[test]
    fn without_failures_or_without_success_there_is_no_feasibility_model() {
        assert!(after(&plane(), 4, |_, _| false).is_none());
        assert!(after(&plane(), 4, |_, _| true).is_none());
    }

    #[test]
    fn gradients_meet_differences() {
        let feasibility = after(&plane(), 5, |a, b| a + b > 1.2).unwrap();
        let weighted = TimesFeasibility { objective: Nothing, feasibility: Some(&feasibility) };
        let h = 1e-6;
        for (a, b) in [(0.55, 0.6), (0.3, 0.8), (0.62, 0.5)] {
            let (_, gradients) = weighted.values_and_gradients(&Batch::of(2, &[a, b])).unwrap();
            let value = |a: f64, b: f64| weighted.values(&Batch::of(2, &[a, b])).unwrap()[0];
            let differences = [
                (value(a + h, b) - value(a - h, b)) / (2.0 * h),
                (value(a, b + h) - value(a, b - h)) / (2.0 * h),
            ];
            for (gradient, difference) in gradients.row(0).iter().zip(differences) {
                assert!(
                    (gradient - difference).abs() < 1e-4 * (1.0 + difference.abs()),
                    "{gradient} {difference}"
                );
            }
        }
    }
}
