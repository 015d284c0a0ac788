//! The model that strategies share: a Gaussian process on the trials so far.
//!
//! - Values are standardised for the process. Hyper-parameters are kept in the metric's own units between fits, so that between fits the
//!   process does not change its mind because the standardisation did.
//! - A failed trial counts as the worst value seen: what is near it looks bad, and nothing pretends to be better than it was. An explanation may leave
//!   it to a model of its own instead (feasibility.rs).
//! - An open trial is a fantasy at its posterior mean: it leaves no uncertainty there, so nobody proposes it again.

use serde::{Deserialize, Serialize};

use super::stream::{Purpose, seed_of};
use super::warping::Warping;
use super::wide;
use crate::acquisition::{Acquisition, Objective, Surface};
use crate::space::{Axis, Batch, Space};
use crate::strategy::{Belief, Proposal, StrategyError, View};
use crate::surrogate::{Family, Fantasy, Fit, GaussianProcess, Hyper, OutputScale};
use crate::trial::Trial;

/// How the trials are modelled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelOptions {
    /// The kernel's family.
    pub family: Family,
    /// One lengthscale for all coordinates instead of one for each.
    pub shared_lengthscale: bool,
    /// Priors on lengthscales and noise that fit the dimension; without them the likelihood alone decides.
    pub priors: bool,
    /// What is known of the noise.
    pub noise: Noise,
    /// Iterations between fits of the hyper-parameters, at least.
    pub refit_every: usize,
    /// Iterations between fits as a share of those so far: late trials change little, and fits cost as much as n³.
    pub refit_share: f64,
}

/// What is known of the noise on an observation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Noise {
    /// Nothing: its variance is fitted.
    Learned,
    /// Its variance in the metric's units squared.
    Known(f64),
}

/// The smallest noise variance on standardised values: below it duplicates make the covariance matrix singular.
const LEAST_NOISE: f64 = 1e-6;

/// Fits between comparisons of explanations, as a share of those so far.
const COMPARE_SHARE: f64 = 0.15;

/// Best observations around which the maximiser looks.
const HINTS: usize = 5;

impl ModelOptions {
    /// The paper's: squared exponential, maximum likelihood every 25 iterations, noise of standard deviation 0.01.
    ///
    /// Its kernel is printed with one width w for all coordinates, exp(−‖x − x'‖²/w²). One for each would have six and more of them follow from 15
    /// points by likelihood alone: on Hartmann 6D `gp-ei` then ends at a regret of 0.37 instead of 0.04 (30 runs).
    pub fn paper() -> Self {
        Self {
            family: Family::SquaredExponential,
            shared_lengthscale: true,
            priors: false,
            noise: Noise::Known(1e-4),
            refit_every: 25,
            refit_share: 0.0,
        }
    }

    /// What the field takes as default now: Matérn 5/2, dimension-scaled priors, everything fitted at every iteration, and past the 40th
    /// whenever there are a twentieth more.
    pub fn modern() -> Self {
        Self {
            family: Family::Matern52,
            shared_lengthscale: false,
            priors: true,
            noise: Noise::Learned,
            refit_every: 1,
            refit_share: 0.05,
        }
    }

    pub(crate) fn check(&self) -> Result<(), StrategyError> {
        if self.refit_every == 0 {
            let problem = "it counts iterations between fits and is at least 1".to_owned();
            return Err(StrategyError::Option { option: "model.refit_every", problem });
        }
        if !(self.refit_share >= 0.0 && self.refit_share <= 1.0) {
            let problem = format!("it is {}; give a share from 0 to 1", self.refit_share);
            return Err(StrategyError::Option { option: "model.refit_share", problem });
        }
        if let Noise::Known(variance) = self.noise
            && !(variance.is_finite() && variance >= 0.0)
        {
            let problem =
                format!("the known noise variance is {variance}; give a finite number of at least 0");
            return Err(StrategyError::Option { option: "model.noise", problem });
        }
        Ok(())
    }
}

impl ModelOptions {
    /// Whether iteration `t` (from 1) fits: the first does, and each fit says how long until the next.
    pub(crate) fn is_due(&self, t: usize) -> bool {
        self.fit_number(t).is_some()
    }

    /// Whether iteration `t` fits and compares explanations: every fit does at first, later ones when there were a seventh more. Explanations that are not kept are fitted
    /// without a warm start, each.
    pub(crate) fn compares(&self, t: usize) -> bool {
        self.fit_number(t).is_some_and(|fit| turn(fit, 1, COMPARE_SHARE).is_some())
    }

    /// The number of the fit of iteration `t`, if it fits.
    fn fit_number(&self, t: usize) -> Option<usize> {
        turn(t.max(1), self.refit_every, self.refit_share)
    }
}

/// If turn number `k` happens at iteration `t` (both from 1), returns `k`. The first iteration is a turn;
/// after each the next one waits for `every` iterations or for a share of those so far, whichever is more.
fn turn(t: usize, every: usize, share: f64) -> Option<usize> {
    let (mut turn, mut number) = (1_usize, 1);
    while turn < t {
        let wait = (share * turn as f64) as usize;
        turn = turn.saturating_add(wait.max(every).max(1));
        number += 1;
    }
    (turn == t).then_some(number)
}

/// One way to explain the same trials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Explanation {
    /// The kernel's family.
    pub(crate) family: Family,
    /// Whether outputs are warped (warping.rs).
    pub(crate) warped: bool,
    /// The standard deviation of log lengthscales around their common mean, see
    /// [`crate::surrogate::Priors::lengthscale_spread`].
    pub(crate) lengthscale_spread: Option<f64>,
    /// Starts of its fit; without, as many as fits have.
    pub(crate) starts: Option<usize>,
    /// Whether failed trials are left out instead of counting as the worst value.
    pub(crate) leaves_failures: bool,
}

/// The process on the trials of a view.
pub(crate) struct Model {
    pub(crate) gp: GaussianProcess,
    pub(crate) scale: OutputScale,
    /// The output warping that was applied before standardisation, if any.
    warping: Option<Warping>,
    /// The lowest value observed, standardised.
    pub(crate) lowest: f64,
    /// The hyper-parameters in the metric's units, if they were fitted just now.
    pub(crate) refitted: Option<Hyper>,
    /// The log posterior density of the values in their own units that the fit reached, up to a constant, if it was just now.
    pub(crate) density: Option<f64>,
}

impl Model {
    /// The model at iteration `t` (from 1) of a strategy; `None` if no trial has returned a value yet.
    pub(crate) fn build(
        options: &ModelOptions,
        view: &View<'_>,
        t: usize,
        last: Option<&Hyper>,
        seed: u64,
    ) -> Result<Option<Self>, StrategyError> {
        let plain = Explanation {
            family: options.family,
            warped: false,
            lengthscale_spread: None,
            starts: None,
            leaves_failures: false,
        };
        Self::explain(options, plain, view, t, last, seed)
    }

    /// The same under an explanation, which takes the place of the options' family.
    pub(crate) fn explain(
        options: &ModelOptions,
        explanation: Explanation,
        view: &View<'_>,
        t: usize,
        last: Option<&Hyper>,
        seed: u64,
    ) -> Result<Option<Self>, StrategyError> {
        let Explanation { family, warped, lengthscale_spread, starts, leaves_failures } = explanation;
        let Some((x, mut values)) = observations(view, leaves_failures)? else { return Ok(None) };
        let mut observed: Vec<f64> = view.trials.iter().filter_map(Trial::value).collect();
        let warping = if warped { Warping::of(&observed) } else { None };
        let slopes: f64 = warping.map_or(0.0, |warping| values.iter().map(|&y| warping.ln_slope(y)).sum());
        if let Some(warping) = warping {
            values.iter_mut().chain(&mut observed).for_each(|y| *y = warping.warp(*y));
        }
        let scale = OutputScale::of(&observed);
        let y = scale.standardise_all(&values);
        let lowest = scale.standardise(observed.iter().copied().fold(f64::INFINITY, f64::min));
        let due = options.is_due(t);
        let warm = last.map(|hyper| standardised(hyper, scale));
        let (mut gp, refitted, density) = match warm {
            Some(hyper) if !due => {
                (GaussianProcess::over(&view.space.categories(), family, hyper, x, y)?, None, None)
            }
            warm => {
                let seed = seed_of(seed, Purpose::Fit, t as u64);
                let mut fit = fit(options, family, view.space, scale, warm.clone(), seed);
                if let Some(priors) = &mut fit.priors {
                    priors.lengthscale_spread = lengthscale_spread;
                }
                fit.starts = starts.unwrap_or(fit.starts);
                if wide::is_wide(view.space) {
                    let most = if warm.is_some() { wide::WARM_EVALUATIONS } else { wide::EVALUATIONS };
                    (fit.starts, fit.max_evaluations) = (1, most);
                }
                // Densities of standardised values become those of the values themselves.
                let units = slopes - y.len() as f64 * scale.scale.ln();
                let (gp, density) = match (fit.run(&x, &y), warm) {
                    (Ok(fitted), _) => (fitted.gp, Some(fitted.objective + units)),
                    // The old explanation is better than none.
                    (Err(_), Some(hyper)) => {
                        (GaussianProcess::over(&view.space.categories(), family, hyper, x, y)?, None)
                    }
                    (Err(error), None) => return Err(error.into()),
                };
                let kept = restored(gp.hyper(), scale);
                (gp, Some(kept), density)
            }
        };
        for point in view.open() {
            gp.fantasise(&view.space.encode(point)?, Fantasy::Mean)?;
        }
        Ok(Some(Self { gp, scale, warping, lowest, refitted, density }))
    }

    /// What is expected at a point of the unit cube, in the metric's units.
    pub(crate) fn belief(&self, x: &[f64], acquisition: &dyn Acquisition) -> Result<Belief, StrategyError> {
        self.belief_under(x, &Surface::new(&self.gp, acquisition))
    }

    /// The same where what was maximised depends on more than mean and standard deviation.
    pub(crate) fn belief_under(&self, x: &[f64], objective: &dyn Objective) -> Result<Belief, StrategyError> {
        let at = Batch::of(self.gp.dim(), x);
        let posterior = self.gp.predict(&at)?;
        let value = objective.values(&at)?[0];
        let (mut mean, mut sd) =
            (self.scale.restore(posterior.mean[0]), posterior.variance[0].sqrt() * self.scale.scale);
        if let Some(warping) = self.warping {
            // Finite for whatever a process believes.
            (mean, sd) =
                (warping.unwarp(mean).min(f64::MAX), (sd * warping.unwarped_slope(mean)).min(f64::MAX));
        }
        Ok(Belief {
            mean,
            sd,
            // A value that is no number could not be written down.
            acquisition: if value.is_nan() { -f64::MAX } else { value.clamp(-f64::MAX, f64::MAX) },
        })
    }

    /// Mean and standard deviation of what is expected at a point of the unit cube, standardised.
    pub(crate) fn expects(&self, x: &[f64]) -> Result<(f64, f64), StrategyError> {
        let posterior = self.gp.predict(&Batch::of(self.gp.dim(), x))?;
        Ok((posterior.mean[0], posterior.variance[0].sqrt()))
    }

    /// A standardised value in the metric's units.
    pub(crate) fn in_metric(&self, standardised: f64) -> f64 {
        let value = self.scale.restore(standardised);
        self.warping.map_or(value, |warping| warping.unwarp(value).min(f64::MAX))
    }

    /// The best observations, around which it pays to look.
    pub(crate) fn hints(&self) -> Batch {
        self.gp.lowest(HINTS)
    }
}

/// Refuses hyper-parameters that no fit gives, such as those of a proposal that was changed on its way through a file.
pub(crate) fn check_hyper(trial: usize, proposal: &Proposal, space: &Space) -> Result<(), StrategyError> {
    let (Some(hyper), dim) = (&proposal.hyper, space.dim()) else { return Ok(()) };
    let hyper = hyper_over(space, hyper);
    let count = hyper.lengthscales.len();
    // In the metric's units, whose squares may be anything that a double holds.
    let fits = (count == 1 || count == dim)
        && hyper.lengthscales.iter().all(|l| (1e-100..=1e100).contains(l))
        && [hyper.signal_variance, hyper.noise_variance].iter().all(|v| v.is_finite() && *v >= 0.0)
        && hyper.mean.is_finite();
    if fits {
        return Ok(());
    }
    let problem =
        format!("its hyper-parameters are not those of a process over {dim} coordinates: {hyper:?}");
    Err(StrategyError::Foreign { trial, problem })
}

/// The hyper-parameters of a proposal. Where it was made when every choice had a coordinate for each value, a large choice has the geometric mean of its lengthscales.
pub(crate) fn hyper_over(space: &Space, hyper: &Hyper) -> Hyper {
    let count = |p: usize| match space.axes().get(space.param_coordinates(p).start) {
        Some(Axis::Category { len }) => *len as usize,
        Some(Axis::Continuous | Axis::Grid { .. } | Axis::OneHot { .. }) | None => {
            space.param_coordinates(p).len()
        }
    };
    let counts: Vec<usize> = (0..space.params().len()).map(count).collect();
    let total: usize = counts.iter().sum();
    if total == space.dim() || hyper.lengthscales.len() != total {
        return hyper.clone();
    }
    let (mut lengthscales, mut rest) = (Vec::with_capacity(space.dim()), hyper.lengthscales.as_slice());
    for (p, count) in counts.into_iter().enumerate() {
        let (own, others) = rest.split_at(count);
        rest = others;
        if count == space.param_coordinates(p).len() {
            lengthscales.extend_from_slice(own);
        } else {
            lengthscales.push((own.iter().map(|l| l.ln()).sum::<f64>() / count as f64).exp());
        }
    }
    Hyper { lengthscales, ..hyper.clone() }
}

/// Coded points and values of all trials that have ended, without the failed ones if they are left out; `None` if none has a value.
fn observations(view: &View<'_>, without_failures: bool) -> Result<Option<(Batch, Vec<f64>)>, StrategyError> {
    let worst = view.trials.iter().filter_map(Trial::value).fold(f64::NEG_INFINITY, f64::max);
    if worst == f64::NEG_INFINITY {
        return Ok(None);
    }
    let (mut x, mut y) = (Batch::new(view.space.dim()), Vec::with_capacity(view.trials.len()));
    let left_out = |trial: &Trial| !trial.is_told() || without_failures && trial.is_failed();
    for trial in view.trials.iter().filter(|trial| !left_out(trial)) {
        // A row of this space has its length.
        let _ = x.push(&view.space.encode(trial.point())?);
        y.push(trial.value().unwrap_or(worst));
    }
    Ok(Some((x, y)))
}

fn fit(
    options: &ModelOptions,
    family: Family,
    space: &Space,
    scale: OutputScale,
    warm: Option<Hyper>,
    seed: u64,
) -> Fit {
    let mut fit = if options.priors {
        Fit::with_priors(family, space.dim())
    } else {
        // The paper does not say what its prior mean is; a fitted one does not depend on where the metric has its zero.
        Fit { learn_mean: true, ..Fit::maximum_likelihood(family) }
    };
    fit.shared_lengthscale = options.shared_lengthscale;
    if let Noise::Known(variance) = options.noise {
        let variance = (variance / (scale.scale * scale.scale)).clamp(LEAST_NOISE, 1e6);
        fit.bounds.noise_variance = (variance, variance);
    }
    fit.strangers = strangers(space);
    fit.categories = space.categories();
    fit.warm = warm;
    fit.seed = seed;
    fit
}

/// Coordinates excluded from the shared lengthscale prior, which are those of choices: how alike two of their
/// values are says nothing about how quickly a number matters.
pub(crate) fn strangers(space: &Space) -> Vec<bool> {
    space.axes().iter().map(|axis| is_choice(*axis)).collect()
}

/// Whether a coordinate codes a choice, a bool or anything else of two values.
fn is_choice(axis: Axis) -> bool {
    matches!(axis, Axis::OneHot { .. } | Axis::Category { .. } | Axis::Grid { len: 2 })
}

/// From the metric's units to those of standardised values.
fn standardised(hyper: &Hyper, scale: OutputScale) -> Hyper {
    let square = scale.scale * scale.scale;
    // Values that hardly differ have a scale whose square vanishes.
    let variance = |v: f64| (v / square).clamp(1e-12, 1e12);
    Hyper {
        lengthscales: hyper.lengthscales.clone(),
        signal_variance: variance(hyper.signal_variance),
        noise_variance: variance(hyper.noise_variance),
        mean: scale.standardise(hyper.mean).clamp(-1e12, 1e12),
    }
}

fn restored(hyper: &Hyper, scale: OutputScale) -> Hyper {
    Hyper {
        lengthscales: hyper.lengthscales.clone(),
        signal_variance: scale.restore_variance(hyper.signal_variance),
        noise_variance: scale.restore_variance(hyper.noise_variance),
        mean: scale.restore(hyper.mean),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_model_has_one_lengthscale_and_todays_one_for_each_coordinate() {
        let param = |name: &str| crate::space::Param::float(name, 0.0, 1.0).unwrap();
        let module = crate::space::Module::new("only", [param("a"), param("b"), param("c")]).unwrap();
        let space = Space::new([module]).unwrap();
        let (mut x, y) = (Batch::new(3), [0.3, 0.9, 0.1, 0.5, 0.7]);
        for i in 0..5 {
            let at = i as f64 / 5.0;
            assert!(x.push(&[at, at * at, 1.0 - at]));
        }
        let lengthscales = |options: ModelOptions| {
            let fitted =
                fit(&options, options.family, &space, OutputScale::of(&y), None, 1).run(&x, &y).unwrap();
            fitted.gp.hyper().lengthscales.len()
        };
        assert_eq!(lengthscales(ModelOptions::paper()), 1);
        assert_eq!(lengthscales(ModelOptions::modern()), 3);
    }

    #[test]
    fn hyper_parameters_from_when_every_value_had_a_coordinate_are_those_of_one() {
        let choice = crate::space::Param::choice("c", (0..100).map(|k| format!("v{k}"))).unwrap();
        let float = crate::space::Param::float("a", 0.0, 1.0).unwrap();
        let space = Space::new([crate::space::Module::new("m", [float, choice]).unwrap()]).unwrap();
        let of = |lengthscales| Hyper { lengthscales, signal_variance: 1.0, noise_variance: 0.1, mean: 0.0 };
        let mut old = vec![0.5; 101];
        (1..51).for_each(|d| old[d] = 2.0);
        let new = hyper_over(&space, &of(old)).lengthscales;
        assert!(new.len() == 2 && new[0] == 0.5 && (new[1] - 1.0).abs() < 1e-12, "{new:?}");
        for kept in [vec![0.3], vec![0.3, 0.4], vec![0.3; 7]] {
            assert_eq!(hyper_over(&space, &of(kept.clone())).lengthscales, kept);
        }
    }

    #[test]
    fn fits_become_rarer_as_trials_become_many() {
        let due = |options: ModelOptions| (1..=100).filter(|&t| options.is_due(t)).collect::<Vec<_>>();
        assert_eq!(due(ModelOptions::paper()), [1, 26, 51, 76]);
        let modern = due(ModelOptions::modern());
        assert_eq!(modern[..40], (1..=40).collect::<Vec<_>>());
        assert_eq!(
            modern[40..],
            [42, 44, 46, 48, 50, 52, 54, 56, 58, 60, 63, 66, 69, 72, 75, 78, 81, 85, 89, 93, 97]
        );
        let mut compared_by_then: Vec<usize> = (1..=14).collect();
        compared_by_then.extend([16, 18, 20, 23, 26, 29, 33, 37, 44, 56, 75]);
        let compared: Vec<usize> = (1..=100).filter(|&t| ModelOptions::modern().compares(t)).collect();
        assert_eq!(compared, compared_by_then);
    }
}
