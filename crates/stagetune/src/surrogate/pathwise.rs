//! Functions drawn from the posterior, as formulas that can be evaluated anywhere (Wilson et al. 2020; Rahimi & Recht 2007).
//!
//! ```text
//! f(x) = m + a Σ_j w_j cos(ω_jᵀu + b_j) + k(x, X) v,   u = x/ℓ,  a = √(2 s²/F)
//! v = K⁻¹ (y − m − a Σ_j w_j cos(ω_jᵀU + b_j) − ε),   ε ~ N(0, σ²)
//! w_j ~ N(0, 1),  b_j ~ U(0, 2π),  ω_j ~ N(0, I)·√(2ν/χ²_{2ν}) for Matérn ν, without the root for the squared exponential
//! ```
//!
//! The cosines are a draw from the prior, the rest moves it to the data. In an additive family every ω_j has one coordinate that is not 0, in a rough one ω_j is
//! κ_k times as long with the probability w_k. Glossary: F `features`, ω `frequencies`, b `phases`, w `weights`.

use std::f64::consts::TAU;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::error::SurrogateError;
use super::gp::GaussianProcess;
use super::kernel::{Family, SCALES};
use super::posterior::weigh;
use crate::numeric::uniform::open_unit;
use crate::numeric::vector::dot;
use crate::space::Batch;

/// A function drawn from the posterior of a Gaussian process.
#[derive(Clone, Debug)]
pub struct Path<'a> {
    gp: &'a GaussianProcess,
    /// ω, one row per feature, for scaled coordinates.
    frequencies: Batch,
    /// How much longer than normal ones the frequencies of a feature are.
    stretches: Vec<f64>,
    phases: Vec<f64>,
    /// a w.
    weights: Vec<f64>,
    v: Vec<f64>,
}

impl GaussianProcess {
    /// Draws a function from the posterior, its prior part from this many random Fourier features (at least one).
    pub fn path<R: Rng + ?Sized>(&self, features: usize, rng: &mut R) -> Path<'_> {
        let features = features.max(1);
        let degrees = match self.family() {
            Family::SquaredExponential => 0,
            Family::Matern32 => 3,
            Family::Matern52
            | Family::AdditiveMatern52
            | Family::RoughMatern52
            | Family::AdditiveRoughMatern52 => 5,
        };
        let a = (2.0 * self.hyper().signal_variance / features as f64).sqrt();
        let mut frequencies = Batch::zeros(features, self.dim());
        let (mut phases, mut weights) = (Vec::with_capacity(features), Vec::with_capacity(features));
        let mut stretches = Vec::with_capacity(features);
        for j in 0..features {
            let chi2: f64 = (0..degrees).map(|_| normal(rng).powi(2)).sum();
            let mut stretch = if degrees == 0 { 1.0 } else { (f64::from(degrees) / chi2).sqrt() };
            if self.family().is_rough() {
                stretch *= shortening(open_unit(rng));
            }
            if self.family().is_additive() {
                // A function of one coordinate; which one, chance says.
                let d = (open_unit(rng) * self.dim() as f64) as usize;
                if let Some(omega) = frequencies.row_mut(j).get_mut(d) {
                    *omega = stretch * normal(rng);
                }
            } else {
                frequencies.row_mut(j).iter_mut().for_each(|omega| *omega = stretch * normal(rng));
            }
            stretches.push(stretch);
            phases.push(TAU * open_unit(rng));
            weights.push(a * normal(rng));
        }
        let mut path = Path { gp: self, frequencies, stretches, phases, weights, v: Vec::new() };
        let noise_sd = self.hyper().noise_variance.sqrt();
        let mut v: Vec<f64> = (0..self.len())
            .map(|i| {
                let prior = path.prior(&self.covariance.scaled(i), None);
                self.y()[i] - self.hyper().mean - prior - noise_sd * normal(rng)
            })
            .collect();
        self.factor.solve_lower(&mut v, 1);
        self.factor.solve_upper(&mut v, 1);
        path.v = v;
        path
    }
}

impl Path<'_> {
    /// f at each point.
    pub fn values(&self, at: &Batch) -> Result<Vec<f64>, SurrogateError> {
        self.gp.check(at)?;
        let mut k = vec![0.0; self.gp.len()];
        let value = |x| {
            let u = self.gp.covariance.scale(x);
            self.gp.covariance.against(&u, &mut k);
            self.gp.hyper().mean + self.prior(&u, None) + dot(&k, &self.v)
        };
        Ok(at.rows().map(value).collect())
    }

    /// f and its gradient at each point.
    pub fn values_and_gradients(&self, at: &Batch) -> Result<(Vec<f64>, Batch), SurrogateError> {
        self.gp.check(at)?;
        let (n, dim) = (self.gp.len(), self.gp.dim());
        let slopes_each = n * self.gp.covariance.parts();
        let (mut k, mut slopes, mut weights) = (vec![0.0; n], vec![0.0; slopes_each], vec![0.0; slopes_each]);
        let (mut values, mut gradients) = (Vec::with_capacity(at.len()), Batch::zeros(at.len(), dim));
        let mut by_scaled = vec![0.0; dim];
        for (i, x) in at.rows().enumerate() {
            let u = self.gp.covariance.scale(x);
            self.gp.covariance.against_with_slope(&u, 0, &mut k, &mut slopes);
            by_scaled.fill(0.0);
            let prior = self.prior(&u, Some(&mut by_scaled));
            values.push(self.gp.hyper().mean + prior + dot(&k, &self.v));
            weigh(&slopes, &self.v, -1.0, &mut weights);
            let row = gradients.row_mut(i);
            self.gp.gradient_from(&u, &weights, row);
            self.gp.covariance.categories().iter().for_each(|&d| by_scaled[d] = 0.0);
            let scales = self.gp.covariance.inverse_lengthscales();
            for ((g, by_scaled), inverse) in row.iter_mut().zip(&by_scaled).zip(scales) {
                *g += by_scaled * inverse;
            }
        }
        Ok((values, gradients))
    }

    /// What a category adds to the angle of a feature: as with a coordinate for each value every value has a frequency of its own, which is drawn from the feature's
    /// and the value's bits. Two values are 1/ℓ apart, √½/ℓ in each of their coordinates.
    fn of_category(&self, omega: f64, stretch: f64, d: usize, code: f64) -> f64 {
        if omega == 0.0 {
            return 0.0;
        }
        let mut dice = ChaCha8Rng::seed_from_u64(omega.to_bits() ^ code.to_bits().rotate_left(32));
        let scale = self.gp.covariance.inverse_lengthscales()[d] * std::f64::consts::FRAC_1_SQRT_2;
        stretch * normal(&mut dice) * scale
    }

    /// The draw from the prior at a scaled point; its gradient there is added on demand.
    fn prior(&self, u: &[f64], mut gradient: Option<&mut [f64]>) -> f64 {
        let mut value = 0.0;
        let features = self.frequencies.rows().zip(&self.stretches).zip(&self.phases).zip(&self.weights);
        for (((omega, stretch), phase), weight) in features {
            let mut angle = omega.iter().zip(u).map(|(omega, u)| omega * u).sum::<f64>() + phase;
            for &d in self.gp.covariance.categories() {
                angle += self.of_category(omega[d], *stretch, d, u[d]) - omega[d] * u[d];
            }
            value += weight * angle.cos();
            if let Some(gradient) = gradient.as_deref_mut() {
                let factor = -weight * angle.sin();
                gradient.iter_mut().zip(omega).for_each(|(g, omega)| *g += factor * omega);
            }
        }
        value
    }
}

/// How many times shorter than the lengthscale the function is that a share of the variance belongs to.
fn shortening(share: f64) -> f64 {
    let mut below = 0.0;
    for (w, kappa) in SCALES {
        below += w;
        if share < below {
            return kappa;
        }
    }
    SCALES[0].1
}

/// A standard normal number (Box & Muller 1958).
fn normal<R: Rng + ?Sized>(rng: &mut R) -> f64 {
    (-2.0 * open_unit(rng).ln()).sqrt() * (TAU * open_unit(rng)).cos()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surrogate::Hyper;

    const ALL: [Family; 6] = [
        Family::SquaredExponential,
        Family::Matern32,
        Family::Matern52,
        Family::AdditiveMatern52,
        Family::RoughMatern52,
        Family::AdditiveRoughMatern52,
    ];

    fn gp(family: Family) -> GaussianProcess {
        let hyper =
            Hyper { lengthscales: vec![0.3, 0.6], signal_variance: 1.4, noise_variance: 0.01, mean: 0.2 };
        let x = Batch::from_rows(&[[0.1, 0.2], [0.8, 0.3], [0.4, 0.9], [0.5, 0.5]]);
        GaussianProcess::new(family, hyper, x, vec![0.3, -0.5, 1.0, 0.1]).unwrap()
    }

    #[test]
    fn many_functions_have_the_mean_and_covariance_of_the_posterior() {
        let at = Batch::from_rows(&[[0.45, 0.55], [0.6, 0.5], [0.95, 0.95]]);
        for family in ALL {
            let (gp, draws) = (gp(family), 4_000);
            let joint = gp.joint(&at).unwrap();
            let mut rng = ChaCha8Rng::seed_from_u64(7);
            let samples: Vec<Vec<f64>> =
                (0..draws).map(|_| gp.path(64, &mut rng).values(&at).unwrap()).collect();
            let mean = |i: usize| samples.iter().map(|s| s[i]).sum::<f64>() / f64::from(draws);
            for i in 0..3 {
                assert!((mean(i) - joint.mean[i]).abs() < 0.08, "{family:?}: mean {i}");
                for j in 0..3 {
                    let product = |s: &Vec<f64>| (s[i] - mean(i)) * (s[j] - mean(j));
                    let covariance = samples.iter().map(product).sum::<f64>() / f64::from(draws);
                    assert!((covariance - joint.covariance[i * 3 + j]).abs() < 0.12, "{family:?}: {i} {j}");
                }
            }
        }
    }

    #[test]
    fn gradients_meet_finite_differences() {
        for family in ALL {
            let gp = gp(family);
            let path = gp.path(128, &mut ChaCha8Rng::seed_from_u64(3));
            let at = [0.37, 0.61];
            let (values, gradients) = path.values_and_gradients(&Batch::from_rows(&[at])).unwrap();
            let value = |x: [f64; 2]| path.values(&Batch::from_rows(&[x])).unwrap()[0];
            assert!((values[0] - value(at)).abs() < 1e-12);
            for d in 0..2 {
                let (mut low, mut high) = (at, at);
                (low[d], high[d]) = (at[d] - 1e-6, at[d] + 1e-6);
                let difference = (value(high) - value(low)) / 2e-6;
                assert!((difference - gradients.row(0)[d]).abs() < 1e-5, "{family:?}");
            }
        }
    }
}
