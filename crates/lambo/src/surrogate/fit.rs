//! Fitting hyper-parameters: maximum likelihood, or maximum a posteriori with priors.
//!
//! θ = (ln ℓ, ln s², ln σ², m) by bound-constrained quasi-Newton steps on −ln p(y | X, θ) − ln p(θ), from several starts.
//!
//! One evaluation costs O(n³), so starts are tried where that is cheap: with more than [`COARSE`] observations all starts
//! run on an evenly spread subset of that many, and only the winner, the warm start and the default start meet the full data, where
//! the best of them goes on with the curvature learned on the subset.

use rand::RngExt;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::error::SurrogateError;
use super::gp::{GaussianProcess, check_data};
use super::kernel::{Family, Hyper};
use super::prior::Priors;
use crate::numeric::dense::Scratch;
use crate::numeric::quasi_newton::{Options, QuasiNewton};
use crate::space::Batch;

/// Observations above which starts are sorted out on a subset.
const COARSE: usize = 64;

/// Observations up to which the best factor so far is kept beside the working one; beyond, memory counts more than one factorisation.
const KEEP_BEST: usize = 2_048;

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
    /// How many starts, the default one and the warm one included.
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
    /// Likelihood evaluations on the full data.
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
            // Likelihoods without priors have several maxima: with 12 starts the reference cases are reached every time.
            starts: 12,
            warm: None,
            tolerance: 1e-4,
            max_evaluations: 200,
            seed: 0,
        }
    }

    /// Maximum a posteriori with dimension-scaled priors, for standardised values; the model that the field now takes as default.
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
            priors: Some(Priors::dimension_scaled(dim)),
            // The priors leave one maximum that matters; a second start guards against the exception.
            starts: 2,
            tolerance: 1e-2,
            ..Self::maximum_likelihood(family)
        }
    }

    /// Fits to values `y` at the rows of `x`.
    pub fn run(&self, x: &Batch, y: &[f64]) -> Result<Fitted, SurrogateError> {
        check_data(x, y)?;
        self.check_bounds()?;
        let problem = Problem::new(self, x, y);
        let starts = self.start_points(&problem);
        let best = if x.len() <= COARSE {
            starts.par_iter().map(|start| problem.polish(start, None)).reduce_with(Polished::better)
        } else {
            self.coarse_to_fine(&problem, &starts)
        };
        let best = best.filter(|best| best.value.is_finite()).ok_or(SurrogateError::FitFailed)?;
        let gp = match best.gp {
            Some(gp) => gp,
            None => problem.process(&best.theta, Vec::new())?,
        };
        let log_marginal_likelihood = gp.log_marginal_likelihood();
        Ok(Fitted { gp, log_marginal_likelihood, objective: -best.value, evaluations: best.evaluations })
    }

    fn coarse_to_fine(&self, full: &Problem<'_>, starts: &[Vec<f64>]) -> Option<Polished> {
        let n = full.x.len();
        let levels = levels(n);
        let mut best: Option<(Polished, usize)> = None;
        for &m in &levels {
            let rows: Vec<usize> = (0..m).map(|i| i * n / m).collect();
            let mut x = Batch::new(full.x.dim());
            for &i in &rows {
                let _ = x.push(full.x.row(i));
            }
            let y: Vec<f64> = rows.iter().map(|&i| full.y[i]).collect();
            let level = Problem { x: &x, y: &y, ..*full };
            let winner = match &best {
                None => {
                    starts.par_iter().map(|start| level.polish(start, None)).reduce_with(Polished::better)?
                }
                Some((coarser, fewer)) => {
                    level.polish(&coarser.theta, Some((&coarser.search, m as f64 / *fewer as f64)))
                }
            };
            best = Some((winner, m));
        }
        best.map(|(polished, _)| polished)
    }

    fn check_bounds(&self) -> Result<(), SurrogateError> {
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

    /// The warm start, the default start, then seeded random ones.
    fn start_points(&self, problem: &Problem<'_>) -> Vec<Vec<f64>> {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let mut starts: Vec<Vec<f64>> = self.warm.iter().filter_map(|warm| problem.encode(warm)).collect();
        starts.push(problem.default_start());
        while starts.len() < self.starts.max(1) {
            starts.push(problem.random_start(&mut rng));
        }
        starts
    }
}

/// Sizes of the subsets on the way to n observations, n last: each at most three times the one before.
fn levels(n: usize) -> Vec<usize> {
    let mut levels = vec![n];
    while let Some(&m) = levels.last()
        && m > 2 * COARSE
    {
        levels.push((m / 3).max(COARSE));
    }
    levels.reverse();
    levels
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
        // On equal values the earlier start wins, so that the outcome does not depend on the order of threads.
        if other.value < self.value { other } else { self }
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
        let (mut lower, mut upper): (Vec<f64>, Vec<f64>) =
            pairs.iter().map(|(l, u)| (l.ln(), u.ln())).unzip();
        if self.fit.learn_mean {
            // A mean outside the data would explain nothing.
            lower.push(self.y.iter().copied().fold(f64::INFINITY, f64::min));
            upper.push(self.y.iter().copied().fold(f64::NEG_INFINITY, f64::max));
        }
        (lower, upper)
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
            mean: next(self.fit.learn_mean, 0.0),
        }
    }

    /// θ of hyper-parameters, if they have the right shape and sense.
    fn encode(&self, hyper: &Hyper) -> Option<Vec<f64>> {
        let fits = hyper.lengthscales.len() == 1 || hyper.lengthscales.len() == self.lengthscales;
        let mut theta: Vec<f64> = if fits {
            (0..self.lengthscales).map(|d| hyper.lengthscale(d).ln()).collect()
        } else {
            return None;
        };
        if self.fit.learn_signal {
            theta.push(hyper.signal_variance.ln());
        }
        theta.push(hyper.noise_variance.ln());
        if self.fit.learn_mean {
            theta.push(hyper.mean);
        }
        theta.iter().all(|t| t.is_finite()).then_some(theta)
    }

    /// Prior modes where there are priors; else a lengthscale of √D/4 for points of the unit cube, and little noise.
    fn default_start(&self) -> Vec<f64> {
        let typical = match &self.fit.priors {
            Some(priors) => (priors.lengthscale.mode(), priors.noise_variance.mode()),
            None => (0.25 * (self.x.dim() as f64).sqrt(), 1e-2),
        };
        self.start(|_| typical.0, typical.1)
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
        let n = self.y.len() as f64;
        let mean = if self.fit.learn_mean { self.y.iter().map(|y| y / n).sum() } else { 0.0 };
        let second_moment = self.y.iter().map(|y| (y - mean).powi(2) / n).sum::<f64>().max(1e-12);
        let mut theta: Vec<f64> = (0..self.lengthscales).map(|d| lengthscale(d).ln()).collect();
        if self.fit.learn_signal {
            theta.push(second_moment.ln());
        }
        theta.push(noise_variance.ln());
        if self.fit.learn_mean {
            theta.push(mean);
        }
        theta
    }

    fn process(&self, theta: &[f64], buffer: Vec<f64>) -> Result<GaussianProcess, SurrogateError> {
        GaussianProcess::with_buffer(
            self.fit.family,
            self.decode(theta),
            self.x.clone(),
            self.y.to_vec(),
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
        if self.fit.learn_mean {
            out.push(-gradient.mean);
        }
        if let Some(priors) = &self.fit.priors {
            let mut add = |i: usize, (density, slope): (f64, f64)| {
                value -= density;
                out[i] -= slope;
            };
            (0..self.lengthscales).for_each(|d| add(d, priors.lengthscale.log_density(theta[d])));
            add(noise, priors.noise_variance.log_density(theta[noise]));
        }
        (value, out)
    }

    /// Quasi-Newton steps from one start, with the curvature that a search on fewer data learned if there is one.
    fn polish(&self, start: &[f64], coarser: Option<(&QuasiNewton, f64)>) -> Polished {
        let (lower, upper) = self.bounds();
        let options = Options {
            value_tolerance: self.fit.tolerance,
            gradient_tolerance: 1e-3 * self.fit.tolerance,
            max_evaluations: self.fit.max_evaluations.max(1),
            memory: 20,
            first_step: 0.1,
        };
        let mut search = QuasiNewton::new(start, &lower, &upper, options);
        if let Some((other, scale)) = coarser {
            search = search.with_memory_of(other, scale);
        }
        let mut work = Workspace::default();
        while let Some(theta) = search.ask() {
            let (value, gradient) = self.evaluate(theta, &mut work);
            search.tell(value, &gradient);
        }
        let (theta, value) = search.best();
        let gp = work.best.filter(|best| best.0 == value).map(|best| best.1);
        Polished { theta: theta.to_vec(), value, evaluations: search.evaluations(), gp, search }
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
