//! The exact Gaussian process posterior (Rasmussen & Williams 2006, algorithm 2.1).
//!
//!   K = s²ρ(X, X) + σ²I = LLᵀ,   α = K⁻¹(y − m),   v(x) = L⁻¹k(x)
//!   mean(x) = m + k(x)ᵀα,   cov(x, x') = k(x, x') − v(x)ᵀv(x')
//!
//! An observation is added in O(n²): L gains a row. So is a *fantasy*, a made-up value at a point whose trial is still
//! running, which can be taken back.

use super::cholesky::Factor;
use super::covariance::Covariance;
use super::error::SurrogateError;
use super::kernel::{Family, Hyper};
use crate::numeric::vector::dot;
use crate::space::Batch;

/// A Gaussian process conditioned on observations.
#[derive(Clone, Debug)]
pub struct GaussianProcess {
    family: Family,
    hyper: Hyper,
    /// Which coordinates are categories; beyond its end there are none.
    categories: Vec<bool>,
    x: Batch,
    y: Vec<f64>,
    pub(super) covariance: Covariance,
    pub(super) factor: Factor,
    /// z = L⁻¹(y − m), which grows with L.
    z: Vec<f64>,
    pub(super) alpha: Vec<f64>,
    /// How many of the observations are real; fantasies come after them.
    real: usize,
    /// Whether a fantasy forced a new factor with more jitter, which must not outlive it.
    strained: bool,
}

/// The value that a pending trial is assumed to return.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fantasy {
    /// The posterior mean there, which leaves the mean as it is and removes the uncertainty ("kriging believer").
    Mean,
    /// A value of the caller's choice, such as the worst so far ("constant liar").
    Value(f64),
}

impl GaussianProcess {
    /// Conditions on values `y` at the rows of `x`.
    pub fn new(family: Family, hyper: Hyper, x: Batch, y: Vec<f64>) -> Result<Self, SurrogateError> {
        Self::over(&[], family, hyper, x, y)
    }

    /// The same where some coordinates are categories: of two values there it only matters whether they are the same.
    pub fn over(
        categories: &[bool],
        family: Family,
        hyper: Hyper,
        x: Batch,
        y: Vec<f64>,
    ) -> Result<Self, SurrogateError> {
        Self::in_buffer(categories, family, hyper, x, y, false, Vec::new())
    }

    /// As [`GaussianProcess::new`], in memory that an earlier factor used, and on demand with the likeliest mean instead of the given one.
    ///
    /// That mean is 1ᵀK⁻¹y / 1ᵀK⁻¹1, kept inside the range of the values.
    pub(super) fn in_buffer(
        categories: &[bool],
        family: Family,
        mut hyper: Hyper,
        x: Batch,
        y: Vec<f64>,
        likeliest_mean: bool,
        buffer: Vec<f64>,
    ) -> Result<Self, SurrogateError> {
        check_data(&x, &y)?;
        check_hyper(&hyper, x.dim())?;
        let covariance = Covariance::new(family, &hyper, &x, categories);
        let factor = Factor::new(x.len(), buffer, |j, column| {
            covariance.column(j, column);
            column[0] += hyper.noise_variance;
        })?;
        let n = y.len();
        if likeliest_mean {
            // A first guess, so that what is left loses no digits to a large offset.
            hyper.mean = y.iter().map(|y| y / n as f64).sum();
        }
        let mut z: Vec<f64> = y.iter().map(|y| y - hyper.mean).collect();
        if likeliest_mean {
            // L⁻¹(y − m) and L⁻¹1 from one pass over L.
            z.resize(2 * n, 1.0);
            factor.solve_lower(&mut z, 2);
            let ones = z.split_off(n);
            let low = y.iter().copied().fold(f64::INFINITY, f64::min);
            let high = y.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let likeliest = hyper.mean + dot(&ones, &z) / dot(&ones, &ones);
            let shift = if likeliest.is_finite() { likeliest.max(low).min(high) - hyper.mean } else { 0.0 };
            z.iter_mut().zip(&ones).for_each(|(z, one)| *z -= shift * one);
            hyper.mean += shift;
        } else {
            factor.solve_lower(&mut z, 1);
        }
        let mut gp = Self {
            family,
            hyper,
            categories: categories.to_vec(),
            x,
            y,
            covariance,
            factor,
            z,
            alpha: Vec::new(),
            real: n,
            strained: false,
        };
        gp.update_alpha();
        Ok(gp)
    }

    /// Number of observations, fantasies included.
    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// Whether there is nothing to condition on; never true of a process that was built.
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }

    /// Number of coordinates of a point.
    pub fn dim(&self) -> usize {
        self.x.dim()
    }

    /// The kernel's family.
    pub fn family(&self) -> Family {
        self.family
    }

    /// The hyper-parameters.
    pub fn hyper(&self) -> &Hyper {
        &self.hyper
    }

    /// The observed points, fantasies last.
    pub fn x(&self) -> &Batch {
        &self.x
    }

    /// The observed values, fantasies last.
    pub fn y(&self) -> &[f64] {
        &self.y
    }

    /// The `count` observed points with the lowest values, lowest first; fantasies do not count.
    pub fn lowest(&self, count: usize) -> Batch {
        let mut order: Vec<usize> = (0..self.real).collect();
        order.sort_by(|&a, &b| self.y[a].total_cmp(&self.y[b]));
        let mut lowest = Batch::new(self.dim());
        for &i in order.iter().take(count) {
            let _ = lowest.push(self.x.row(i));
        }
        lowest
    }

    /// What the jitter ladder added to the diagonal; 0 for well-conditioned data.
    pub fn jitter(&self) -> f64 {
        self.factor.jitter()
    }

    /// ln p(y | X) = −½ (y − m)ᵀα − ½ ln det K − (n/2) ln 2π.
    pub fn log_marginal_likelihood(&self) -> f64 {
        -0.5 * (dot(&self.z, &self.z)
            + self.factor.log_det()
            + self.len() as f64 * std::f64::consts::TAU.ln())
    }

    /// γ = ½ ln det(I + σ⁻²s²ρ(X, X)): what the observations, fantasies included, say about f, in nats. Infinite without noise.
    pub fn information_gain(&self) -> f64 {
        0.5 * (self.factor.log_det() - self.len() as f64 * self.hyper.noise_variance.ln())
    }

    /// Adds an observation in O(n²); open fantasies are taken back first, for they stand after every observation.
    pub fn append(&mut self, x: &[f64], y: f64) -> Result<(), SurrogateError> {
        self.check_observation(x, y)?;
        self.take_back_all();
        self.grow(x, y)?;
        (self.real, self.strained) = (self.len(), false);
        Ok(())
    }

    /// Adds a pending point with an assumed value in O(n²).
    pub fn fantasise(&mut self, x: &[f64], fantasy: Fantasy) -> Result<(), SurrogateError> {
        let y = match fantasy {
            Fantasy::Value(y) => y,
            Fantasy::Mean => {
                check_point(x, self.dim(), "point", self.len())?;
                let mut k = vec![0.0; self.len()];
                self.covariance.against(&self.covariance.scale(x), &mut k);
                self.hyper.mean + dot(&k, &self.alpha)
            }
        };
        self.grow(x, y)
    }

    /// How many fantasies there are.
    pub fn fantasies(&self) -> usize {
        self.len() - self.real
    }

    /// Removes the fantasy that was added last.
    pub fn take_back(&mut self) -> Result<(), SurrogateError> {
        if self.fantasies() == 0 {
            return Err(SurrogateError::NoFantasy);
        }
        self.truncate(self.len() - 1);
        Ok(())
    }

    /// Removes every fantasy.
    pub fn take_back_all(&mut self) {
        if self.fantasies() > 0 {
            self.truncate(self.real);
        }
    }

    fn grow(&mut self, x: &[f64], y: f64) -> Result<(), SurrogateError> {
        self.check_observation(x, y)?;
        let n = self.len();
        let mut k = vec![0.0; n];
        self.covariance.against(&self.covariance.scale(x), &mut k);
        if self.factor.append(&k, self.hyper.signal_variance + self.hyper.noise_variance).is_none() {
            return self.rebuild_with(x, y);
        }
        let row = self.factor.last_row();
        let (left, pivot) = (&row[..n], row[n]);
        self.z.push((y - self.hyper.mean - dot(left, &self.z)) / pivot);
        self.covariance.push(x);
        // The length was checked above.
        let _ = self.x.push(x);
        self.y.push(y);
        self.update_alpha();
        Ok(())
    }

    fn check_observation(&self, x: &[f64], y: f64) -> Result<(), SurrogateError> {
        check_point(x, self.dim(), "point", self.len())?;
        if !is_usable(y) {
            return Err(SurrogateError::NotFinite { what: "value", index: self.len(), value: y });
        }
        Ok(())
    }

    /// A row that makes K singular needs a higher rung of the jitter ladder, and so a new factor; on failure nothing changes.
    fn rebuild_with(&mut self, x: &[f64], y: f64) -> Result<(), SurrogateError> {
        let (mut points, mut values) = (self.x.clone(), self.y.clone());
        let _ = points.push(x);
        values.push(y);
        let real = self.real;
        *self = Self::over(&self.categories, self.family, self.hyper.clone(), points, values)?;
        (self.real, self.strained) = (real, true);
        Ok(())
    }

    fn truncate(&mut self, n: usize) {
        self.x.truncate(n);
        self.y.truncate(n);
        self.z.truncate(n);
        self.covariance.truncate(n);
        self.factor.truncate(n);
        self.update_alpha();
        if self.strained && n == self.real {
            // The observations alone had a factor before, so they have one again.
            if let Ok(fresh) =
                Self::over(&self.categories, self.family, self.hyper.clone(), self.x.clone(), self.y.clone())
            {
                *self = fresh;
            }
        }
    }

    fn update_alpha(&mut self) {
        self.alpha.clone_from(&self.z);
        self.factor.solve_upper(&mut self.alpha, 1);
    }

    /// Frees the factor for another fit.
    pub(super) fn into_buffer(self) -> Vec<f64> {
        self.factor.into_buffer()
    }
}

/// Checks observations: at least one, one value each, everything finite.
pub(super) fn check_data(x: &Batch, y: &[f64]) -> Result<(), SurrogateError> {
    if x.dim() == 0 {
        return Err(SurrogateError::WrongDimension { what: "every point", expected: 1, found: 0 });
    }
    if x.len() != y.len() {
        return Err(SurrogateError::UnequalLengths { points: x.len(), values: y.len() });
    }
    if x.is_empty() {
        return Err(SurrogateError::NoData);
    }
    let bad = |values: &[f64]| values.iter().position(|&v| !is_usable(v));
    if let Some(i) = bad(x.as_slice()) {
        return Err(SurrogateError::NotFinite { what: "point", index: i / x.dim(), value: x.as_slice()[i] });
    }
    if let Some(index) = bad(y) {
        return Err(SurrogateError::NotFinite { what: "value", index, value: y[index] });
    }
    Ok(())
}

/// Checks point number `index`: right length, everything finite.
pub(super) fn check_point(
    x: &[f64],
    dim: usize,
    what: &'static str,
    index: usize,
) -> Result<(), SurrogateError> {
    if x.len() != dim {
        return Err(SurrogateError::WrongDimension { what, expected: dim, found: x.len() });
    }
    match x.iter().find(|&&v| !is_usable(v)) {
        Some(&value) => Err(SurrogateError::NotFinite { what, index, value }),
        None => Ok(()),
    }
}

/// Finite, and small enough that squares of it are.
fn is_usable(value: f64) -> bool {
    value.abs() <= 1e100
}

/// Checks hyper-parameters against the dimension and the ends of the doubles.
pub(super) fn check_hyper(hyper: &Hyper, dim: usize) -> Result<(), SurrogateError> {
    let positive = |name, value: f64| {
        // Squares and reciprocals must stay finite, hence the margin to the ends of the doubles.
        if (1e-100..=1e100).contains(&value) {
            Ok(())
        } else {
            Err(SurrogateError::BadHyper { name, value, must: "positive, between 1e-100 and 1e100" })
        }
    };
    if hyper.lengthscales.len() != 1 && hyper.lengthscales.len() != dim {
        return Err(SurrogateError::LengthscaleCount { found: hyper.lengthscales.len(), dim });
    }
    for &lengthscale in &hyper.lengthscales {
        positive("lengthscale", lengthscale)?;
    }
    positive("signal variance", hyper.signal_variance)?;
    if !(0.0..=1e100).contains(&hyper.noise_variance) {
        let (name, value) = ("noise variance", hyper.noise_variance);
        return Err(SurrogateError::BadHyper { name, value, must: "zero or positive, at most 1e100" });
    }
    if !is_usable(hyper.mean) {
        return Err(SurrogateError::BadHyper {
            name: "mean",
            value: hyper.mean,
            must: "finite, at most 1e100 in size",
        });
    }
    Ok(())
}
