//! Fitting hyper-parameters: maximum likelihood, or maximum a posteriori with priors.
//!
//! θ = (ln ℓ, ln s², ln σ²) by bound-constrained quasi-Newton steps on −ln p(y | X, θ) − ln p(θ), from several starts. Where the prior
//! mean is learned, every θ has its likeliest one: it has a closed form, and a search over it would be slow, since it pulls on all lengthscales.
//!
//! One evaluation costs O(n³), so that the number of starts falls with n, and above [`COARSE`] observations the search begins on a third
//! of them (or a ninth, …) and goes on with the full data and the curvature learned so far.

use rand::RngExt;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::error::SurrogateError;
use super::gp::{GaussianProcess, check_data, check_hyper};
use super::kernel::{Family, Hyper};
use super::prior::Priors;
use crate::numeric::dense::Scratch;
use crate::numeric::quasi_newton::{Options, QuasiNewton};
use crate::space::Batch;

/// Observations above which a fit begins with a third of them: there a full evaluation costs as much as twenty of those.
const COARSE: usize = 768;

/// How many times fewer.
const THINNING: usize = 3;

/// Observations from which on the whole tolerance is used; with fewer, the last digits are cheap.
const FULL_TOLERANCE_AT: f64 = 500.0;

/// Observations up to which all starts are used; beyond, their number falls as 1/n, for each costs as much as n³.
const ALL_STARTS: usize = 128;

/// Observations up to which the best factor so far is kept beside the working one; beyond, memory counts more than one factorisation.
const KEEP_BEST: usize = 2_048;

/// Evaluations of the second of two starts between the first look at it and the decision.
const HEADSTART: usize = 2;

/// Noise variance, of standardised values, from which on it is worth asking whether the noise is a function.
const NOISE: f64 = 0.05;

/// More starts than this would only repeat each other.
const MAX_STARTS: usize = 1_000;

/// Furthest that a logarithm moves before the likelihood is looked at again: beyond, curvature says nothing.
const MAX_STEP: f64 = 1.5;

/// Ranges that the fit may not leave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HyperBounds {
    /// Of every ℓ.
    pub lengthscales: (f64, f64),
    /// Of s².
    pub signal_variance: (f64, f64),
    /// Of σ².
    pub noise_variance: (f64, f64),
}

/// How to fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The kernel's family.
    pub family: Family,
    /// One lengthscale for all coordinates instead of one for each.
    pub shared_lengthscale: bool,
    /// Fit s²; otherwise it is 1, as fits standardised values.
    pub learn_signal: bool,
    /// Fit the prior mean; otherwise it is 0.
    pub learn_mean: bool,
    /// Ranges that the fit may not leave.
    pub bounds: HyperBounds,
    /// Priors, or none for maximum likelihood.
    pub priors: Option<Priors>,
    /// Coordinates whose lengthscales are no relatives of others, where lengthscales are; beyond its end there are none.
    pub strangers: Vec<bool>,
    /// Coordinates that are categories, see [`GaussianProcess::over`]; beyond its end there are none.
    pub categories: Vec<bool>,
    /// How many starts, the default ones and the warm one included; fewer above 128 observations.
    pub starts: usize,
    /// The last fit, to start from.
    pub warm: Option<Hyper>,
    /// Stop when a step gains no more than this in log likelihood.
    pub tolerance: f64,
    /// Evaluations of the likelihood per start.
    pub max_evaluations: usize,
    /// Seed of the random starts.
    pub seed: u64,
}

/// A fitted process and how the fit went.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The process with the best hyper-parameters found.
    pub gp: GaussianProcess,
    /// ln p(y | X, θ) there.
    pub log_marginal_likelihood: f64,
    /// The same plus the log density of the priors (up to a constant): what was maximised.
    pub objective: f64,
    /// Likelihood evaluations on the full data, of the start that won.
    pub evaluations: usize,
}

impl Fit {
    /// Maximum likelihood without priors, zero mean, on values as they are.
    pub fn maximum_likelihood(family: Family) -> Self {
        Self {
            family,
            shared_lengthscale: false,
            learn_signal: true,
            learn_mean: false,
            bounds: HyperBounds {
                lengthscales: (0.05, 20.0),
                signal_variance: (0.05, 20.0),
                noise_variance: (1e-6, 1.0),
            },
            priors: None,
            strangers: Vec::new(),
            categories: Vec::new(),
            // Likelihoods without priors have several maxima. Twelve starts miss the best one of 80 by more than 0.01 in 1 of 240 random data
            // sets of 25 to 60 points, and more cost little there.
            starts: 20,
            warm: None,
            tolerance: 1e-3,
            max_evaluations: 200,
            seed: 0,
        }
    }

    /// Maximum a posteriori with dimension-scaled priors, for standardised values; the model that the field now takes as default. The summands of an
    /// additive family have one dimension.
    pub fn with_priors(family: Family, dim: usize) -> Self {
        Self {
            learn_signal: false,
            learn_mean: true,
            bounds: HyperBounds {
                // The lower bounds of BoTorch's default model; the upper ones are out of the priors' reach.
                lengthscales: (0.025, 1e4),
                signal_variance: (0.05, 20.0),
                noise_variance: (1e-4, 10.0),
            },
            priors: Some(Priors::dimension_scaled(if family.is_additive() { 1 } else { dim })),
            // The default starts and two more: the priors leave few maxima that matter.
            starts: 4,
            tolerance: 0.03,
            ..Self::maximum_likelihood(family)
        }
    }

    /// Fits to values `y` at the rows of `x`.
    pub fn run(&self, x: &Batch, y: &[f64]) -> Result<Fitted, SurrogateError> {
        check_data(x, y)?;
        self.check_options(x.dim())?;
        let problem = Problem::new(self, x, y);
        let best = match &self.warm {
            // A warm start alone is near the optimum of the full data, which fewer data could only lead away from.
            Some(warm) if self.affordable(x.len()) == 1 => {
                problem.polish_best(vec![problem.climber(&problem.encode(warm))])
            }
            _ => self.descend(&problem),
        };
        let best = best.filter(|best| best.value.is_finite()).ok_or(SurrogateError::FitFailed)?;
        let gp = match best.gp {
            Some(gp) => gp,
            None => problem.process(&best.theta, Vec::new())?,
        };
        let log_marginal_likelihood = gp.log_marginal_likelihood();
        Ok(Fitted { gp, log_marginal_likelihood, objective: -best.value, evaluations: best.evaluations })
    }

    /// The best optimum: starts on at most [`COARSE`] observations, and from there with three times as many at a time.
    fn descend(&self, problem: &Problem<'_>) -> Option<Polished> {
        let n = problem.x.len();
        if n > COARSE {
            let (x, y) = problem.thinned(n / THINNING);
            let coarse = self.descend(&Problem { x: &x, y: &y, ..*problem })?;
            let mut climber = problem.climber(&coarse.theta);
            climber.search = climber.search.with_memory_of(&coarse.search, THINNING as f64);
            return problem.polish_best(vec![climber]);
        }
        if self.affordable(n) == 1 {
            return problem.race();
        }
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let mut starts: Vec<Vec<f64>> = self.warm.iter().map(|warm| problem.encode(warm)).collect();
        starts.extend(problem.default_starts());
        while starts.len() < self.affordable(n) {
            starts.push(problem.random_start(&mut rng));
        }
        starts.truncate(self.affordable(n));
        problem.polish_best(starts.iter().map(|start| problem.climber(start)).collect())
    }

    /// How many starts to run on n observations.
    fn affordable(&self, n: usize) -> usize {
        let wanted = self.starts.clamp(1, MAX_STARTS);
        (wanted * ALL_STARTS / n.max(1)).clamp(1, wanted)
    }

    fn check_options(&self, dim: usize) -> Result<(), SurrogateError> {
        if let Some(warm) = &self.warm {
            check_hyper(warm, dim)?;
        }
        if let Some(spread) = self.priors.and_then(|priors| priors.lengthscale_spread)
            && !(spread.is_finite() && spread > 0.0)
        {
            let (name, must) = ("lengthscale spread of the priors", "finite and positive");
            return Err(SurrogateError::BadHyper { name, value: spread, must });
        }
        for prior in self.priors.iter().flat_map(|priors| [priors.lengthscale, priors.noise_variance]) {
            for (name, value, fits) in [
                ("location of a prior", prior.location, prior.location.is_finite()),
                ("spread of a prior", prior.spread, prior.spread.is_finite() && prior.spread > 0.0),
            ] {
                if !fits {
                    return Err(SurrogateError::BadHyper {
                        name,
                        value,
                        must: "finite, and a spread positive",
                    });
                }
            }
        }
        let named = [
            ("lengthscales", self.bounds.lengthscales),
            ("signal_variance", self.bounds.signal_variance),
            ("noise_variance", self.bounds.noise_variance),
        ];
        for (name, (low, high)) in named {
            // The same margins that a Gaussian process asks of its hyper-parameters.
            if !(low >= 1e-100 && low <= high && high <= 1e100) {
                return Err(SurrogateError::BadBounds { name, low, high });
            }
        }
        Ok(())
    }
}

/// The function of θ that is minimised.
#[derive(Clone, Copy)]
struct Problem<'a> {
    fit: &'a Fit,
    x: &'a Batch,
    y: &'a [f64],
    lengthscales: usize,
}

/// Where one start led.
struct Polished {
    theta: Vec<f64>,
    value: f64,
    evaluations: usize,
    search: QuasiNewton,
    gp: Option<GaussianProcess>,
}

impl Polished {
    fn better(self, other: Self) -> Self {
        if other.value < self.value { other } else { self }
    }
}

/// A search and the memory it works in.
struct Climber {
    search: QuasiNewton,
    work: Workspace,
}

impl Climber {
    fn finish(self) -> Polished {
        let (theta, value) = self.search.best();
        let gp = self.work.best.filter(|best| best.0 == value).map(|best| best.1);
        Polished {
            theta: theta.to_vec(),
            value,
            evaluations: self.search.evaluations(),
            gp,
            search: self.search,
        }
    }
}

impl<'a> Problem<'a> {
    fn new(fit: &'a Fit, x: &'a Batch, y: &'a [f64]) -> Self {
        Self { fit, x, y, lengthscales: if fit.shared_lengthscale { 1 } else { x.dim() } }
    }

    /// Lower and upper bounds of θ.
    fn bounds(&self) -> (Vec<f64>, Vec<f64>) {
        let bounds = &self.fit.bounds;
        let mut pairs = vec![bounds.lengthscales; self.lengthscales];
        if self.fit.learn_signal {
            pairs.push(bounds.signal_variance);
        }
        pairs.push(bounds.noise_variance);
        pairs.iter().map(|(low, high)| (low.ln(), high.ln())).unzip()
    }

    fn decode(&self, theta: &[f64]) -> Hyper {
        let (lengthscales, rest) = theta.split_at(self.lengthscales);
        let mut rest = rest.iter().copied();
        let mut next =
            |wanted: bool, otherwise: f64| if wanted { rest.next().unwrap_or(otherwise) } else { otherwise };
        Hyper {
            lengthscales: lengthscales.iter().map(|l| l.exp()).collect(),
            signal_variance: next(self.fit.learn_signal, 0.0).exp(),
            noise_variance: next(true, 0.0).exp(),
            mean: 0.0,
        }
    }

    /// θ of hyper-parameters that were checked; the search moves what lies outside its bounds.
    fn encode(&self, hyper: &Hyper) -> Vec<f64> {
        let mut theta: Vec<f64> = (0..self.lengthscales).map(|d| hyper.lengthscale(d).ln()).collect();
        if self.fit.learn_signal {
            theta.push(hyper.signal_variance.ln());
        }
        theta.push(hyper.noise_variance.ln());
        theta
    }

    /// Two explanations of any data: mostly noise around a slow function, and a quicker function with little noise.
    ///
    /// From the first the likelihood falls smoothly into most optima (6 to 14 evaluations in the comparison with peers); the second
    /// finds functions that the first takes for noise. Lengthscales are the prior's mode and half of it, or √D/4 for points of the unit cube.
    fn default_starts(&self) -> [Vec<f64>; 2] {
        let lengthscale = match &self.fit.priors {
            Some(priors) => priors.lengthscale.mode(),
            None => 0.25 * (self.x.dim() as f64).sqrt(),
        };
        let spread = if self.fit.learn_signal { self.second_moment() } else { 1.0 };
        [self.start(|_| lengthscale, 0.5 * spread), self.start(|_| 0.5 * lengthscale, 0.01 * spread)]
    }

    /// A lengthscale drawn for all coordinates together and a factor up to e for each; noise from its whole range.
    fn random_start(&self, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let log_uniform = |(low, high): (f64, f64), rng: &mut ChaCha8Rng| {
            (low.ln() + rng.random::<f64>() * (high.ln() - low.ln())).exp()
        };
        // Beyond some 4√D a lengthscale in the unit cube makes no difference to the data.
        let (low, high) = self.fit.bounds.lengthscales;
        let common = log_uniform((low, high.min(4.0 * (self.x.dim() as f64).sqrt()).max(low)), rng);
        let noise = log_uniform(self.fit.bounds.noise_variance, rng);
        let factors: Vec<f64> =
            (0..self.lengthscales).map(|_| (2.0 * rng.random::<f64>() - 1.0).exp()).collect();
        self.start(|d| common * factors[d], noise)
    }

    fn start(&self, lengthscale: impl Fn(usize) -> f64, noise_variance: f64) -> Vec<f64> {
        let mut theta: Vec<f64> = (0..self.lengthscales).map(|d| lengthscale(d).ln()).collect();
        if self.fit.learn_signal {
            theta.push(self.second_moment().ln());
        }
        theta.push(noise_variance.ln());
        theta
    }

    /// The mean square of the values around the mean that the fit will use, roughly.
    fn second_moment(&self) -> f64 {
        let n = self.y.len() as f64;
        let mean = if self.fit.learn_mean { self.y.iter().map(|y| y / n).sum() } else { 0.0 };
        self.y.iter().map(|y| (y - mean).powi(2) / n).sum::<f64>().max(1e-12)
    }

    fn process(&self, theta: &[f64], buffer: Vec<f64>) -> Result<GaussianProcess, SurrogateError> {
        let (hyper, learn_mean) = (self.decode(theta), self.fit.learn_mean);
        GaussianProcess::in_buffer(
            &self.fit.categories,
            self.fit.family,
            hyper,
            self.x.clone(),
            self.y.to_vec(),
            learn_mean,
            buffer,
        )
    }

    /// −(ln p(y | θ) + ln p(θ)) and its gradient.
    fn value_and_gradient(
        &self,
        gp: &GaussianProcess,
        theta: &[f64],
        scratch: &mut Scratch,
    ) -> (f64, Vec<f64>) {
        let gradient = gp.likelihood_gradient_in(scratch);
        let mut value = -gp.log_marginal_likelihood();
        let mut out: Vec<f64> = gradient.lengthscales.iter().map(|g| -g).collect();
        if self.fit.learn_signal {
            out.push(-gradient.signal_variance);
        }
        let noise = out.len();
        out.push(-gradient.noise_variance);
        if let Some(priors) = &self.fit.priors {
            let mut add = |i: usize, (density, slope): (f64, f64)| {
                value -= density;
                out[i] -= slope;
            };
            priors
                .each_lengthscale(&theta[..self.lengthscales], &self.fit.strangers)
                .enumerate()
                .for_each(|(d, term)| add(d, term));
            add(noise, priors.noise_variance.log_density(theta[noise]));
        }
        (value, out)
    }

    /// Every `n/count`-th observation, `count` of them.
    fn thinned(&self, count: usize) -> (Batch, Vec<f64>) {
        let n = self.x.len();
        let mut x = Batch::new(self.x.dim());
        let mut y = Vec::with_capacity(count);
        for i in (0..count).map(|i| i * n / count) {
            let _ = x.push(self.x.row(i));
            y.push(self.y[i]);
        }
        (x, y)
    }

    /// A search about to begin at a start.
    fn climber(&self, start: &[f64]) -> Climber {
        let (lower, upper) = self.bounds();
        let tolerance = self.fit.tolerance * (self.x.len() as f64 / FULL_TOLERANCE_AT).min(1.0);
        let options = Options {
            value_tolerance: tolerance,
            gradient_tolerance: 1e-3 * tolerance,
            max_evaluations: self.fit.max_evaluations.max(1),
            memory: 20,
            first_step: 0.1,
            max_step: MAX_STEP,
        };
        Climber { search: QuasiNewton::new(start, &lower, &upper, options), work: Workspace::default() }
    }

    /// Up to `evaluations` more steps of a search.
    fn advance(&self, climber: &mut Climber, evaluations: usize) {
        for _ in 0..evaluations {
            let Some(theta) = climber.search.ask() else { break };
            let (value, gradient) = self.evaluate(theta, &mut climber.work);
            climber.search.tell(value, &gradient);
        }
    }

    /// Where one start is all that can be afforded: "mostly noise" to its end. If noise is what remains, "little noise" too, as far as it
    /// takes to tell whether it leads further: it is ahead, or another gain like the last would put it ahead.
    fn race(&self) -> Option<Polished> {
        let [noisy, mut quiet] = self.default_starts().map(|start| self.climber(&start));
        let noisy = self.polish_best(vec![noisy])?;
        if self.decode(&noisy.theta).noise_variance <= NOISE {
            return Some(noisy);
        }
        self.advance(&mut quiet, 1);
        let begun = quiet.search.best().1;
        self.advance(&mut quiet, HEADSTART);
        let reached = quiet.search.best().1;
        let leads = reached - (begun - reached).max(0.0) < noisy.value;
        let quiet = if leads { self.polish_best(vec![quiet]) } else { None };
        Some(quiet.into_iter().fold(noisy, Polished::better))
    }

    /// Runs all searches to their ends, side by side; the earlier wins among equals, whatever the order of threads.
    fn polish_best(&self, climbers: Vec<Climber>) -> Option<Polished> {
        let run = |mut climber: Climber| {
            self.advance(&mut climber, usize::MAX);
            climber.finish()
        };
        climbers.into_par_iter().map(run).reduce_with(Polished::better)
    }

    /// The value and gradient at θ; infinite where the covariance is singular.
    fn evaluate(&self, theta: &[f64], work: &mut Workspace) -> (f64, Vec<f64>) {
        let Ok(gp) = self.process(theta, std::mem::take(&mut work.buffer)) else {
            return (f64::INFINITY, Vec::new());
        };
        let (value, gradient) = self.value_and_gradient(&gp, theta, &mut work.scratch);
        if self.x.len() <= KEEP_BEST && work.best.as_ref().is_none_or(|best| value < best.0) {
            work.buffer = work.best.replace((value, gp)).map(|old| old.1.into_buffer()).unwrap_or_default();
        } else {
            work.buffer = gp.into_buffer();
        }
        (value, gradient)
    }
}

/// Memory that evaluations of one start share, and the best of them.
#[derive(Default)]
struct Workspace {
    buffer: Vec<f64>,
    scratch: Scratch,
    best: Option<(f64, GaussianProcess)>,
}
