//! Stationary kernels (Rasmussen & Williams 2006, ch. 4) as functions of the scaled squared distance.
//!
//!   r² = Σ_d ((x_d − x'_d) / ℓ_d)²,   k(x, x') = s² ρ(r²)
//!
//! | family               | ρ                                | γ = −2 dρ/d(r²)           |
//! | -------------------- | -------------------------------- | ------------------------- |
//! | squared exponential  | exp(−r²/2)                       | exp(−r²/2)                |
//! | Matérn 3/2           | (1 + √3 r) exp(−√3 r)            | 3 exp(−√3 r)              |
//! | Matérn 5/2           | (1 + √5 r + 5r²/3) exp(−√5 r)    | (5/3)(1 + √5 r) exp(−√5 r)|
//!
//! γ, the *slope*, is finite at r = 0 for all of them, and every derivative that is needed follows from it:
//!   ∂ρ/∂x_d = −γ (x_d − x'_d)/ℓ_d²,    ∂ρ/∂ln ℓ_d = γ ((x_d − x'_d)/ℓ_d)².
//!
//! *Additive* Matérn 5/2 (Duvenaud, Nickisch & Rasmussen 2011, first order) is a sum of functions of one coordinate each:
//!   ρ(x, x') = (1/D) Σ_d ρ₅₂(r_d²),   r_d² = ((x_d − x'_d)/ℓ_d)²,   with one slope γ₅₂(r_d²)/D for each coordinate.
//!
//! *Rough* Matérn 5/2 has ripples on its slopes, and ripples on those:
//!   ρ = Σ_k w_k ρ₅₂(κ_k² r²),   γ = Σ_k w_k κ_k² γ₅₂(κ_k² r²),   (w, κ) in [`SCALES`].
//! What one smooth function leaves over is otherwise taken for noise: then nothing below the best trial is expected between the others, and nothing is learnt
//! from neighbours. Rough and additive go together.
//!
//! Glossary: n observations, q test points, D coordinates; `signal_variance` s², `noise_variance` σ²; never a "sigma".

use serde::{Deserialize, Serialize};

use crate::numeric::vector::{Curve, exp_nonpositive, map_in_place, map_to_pair};

/// The shape of the correlation between two points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Infinitely smooth; the paper's kernel.
    SquaredExponential,
    /// Once differentiable.
    Matern32,
    /// Twice differentiable.
    Matern52,
    /// A sum of twice differentiable functions of one coordinate each: nothing interacts.
    AdditiveMatern52,
    /// A twice differentiable function with smaller and shorter ones on top.
    RoughMatern52,
    /// A sum of such functions of one coordinate each.
    AdditiveRoughMatern52,
}

/// (w, κ) of the functions of which a rough one is made: shares of the variance, which sum to 1, and how many times shorter than the lengthscale.
/// A tenth of the variance at a tenth of the lengthscale, twice over; nearby pairs and two functions alone were tried (`experiments/auto`).
pub const SCALES: [(f64, f64); 3] = [(0.89, 1.0), (0.1, 10.0), (0.01, 100.0)];

/// The hyper-parameters of a Gaussian process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hyper {
    /// ℓ: one for all coordinates, or one per coordinate.
    pub lengthscales: Vec<f64>,
    /// s²: prior variance of f.
    pub signal_variance: f64,
    /// σ²: variance of the noise on an observation.
    pub noise_variance: f64,
    /// Prior mean of f, the same everywhere.
    pub mean: f64,
}

impl Hyper {
    /// ℓ_d, whether there is one lengthscale or one per coordinate; NaN if there is none for `d`.
    pub fn lengthscale(&self, d: usize) -> f64 {
        match self.lengthscales.as_slice() {
            [shared] => *shared,
            each => each.get(d).copied().unwrap_or(f64::NAN),
        }
    }
}

impl Family {
    /// Whether k is a sum over coordinates; if not, it is a function of the distance.
    pub fn is_additive(self) -> bool {
        matches!(self, Family::AdditiveMatern52 | Family::AdditiveRoughMatern52)
    }

    /// Whether it is a sum of functions of different lengthscales.
    pub fn is_rough(self) -> bool {
        matches!(self, Family::RoughMatern52 | Family::AdditiveRoughMatern52)
    }

    /// ρ(r²) and γ(r²) at one squared distance; that of one coordinate where the kernel is a sum.
    pub fn correlation(self, r2: f64) -> (f64, f64) {
        match self {
            Family::SquaredExponential => squared_exponential(r2),
            Family::Matern32 => matern32(r2),
            Family::Matern52 | Family::AdditiveMatern52 => matern52(r2),
            Family::RoughMatern52 | Family::AdditiveRoughMatern52 => rough_matern52(r2),
        }
    }

    /// Turns squared distances into correlations in place.
    pub(crate) fn correlate(self, r2: &mut [f64]) {
        match self {
            Family::SquaredExponential => map_in_place::<SquaredExponential>(r2),
            Family::Matern32 => map_in_place::<Matern32>(r2),
            Family::Matern52 | Family::AdditiveMatern52 => map_in_place::<Matern52>(r2),
            Family::RoughMatern52 | Family::AdditiveRoughMatern52 => map_in_place::<RoughMatern52>(r2),
        }
    }

    /// Turns squared distances into correlations in place and writes the slopes beside them.
    pub(crate) fn correlate_with_slope(self, r2: &mut [f64], slope: &mut [f64]) {
        match self {
            Family::SquaredExponential => map_to_pair::<SquaredExponential>(r2, slope),
            Family::Matern32 => map_to_pair::<Matern32>(r2, slope),
            Family::Matern52 | Family::AdditiveMatern52 => map_to_pair::<Matern52>(r2, slope),
            Family::RoughMatern52 | Family::AdditiveRoughMatern52 => map_to_pair::<RoughMatern52>(r2, slope),
        }
    }
}

/// ρ and γ of each family, as vector loops call them.
macro_rules! curve {
    ($name:ident, $function:ident) => {
        struct $name;
        impl Curve for $name {
            #[inline(always)]
            fn at(r2: f64) -> (f64, f64) {
                $function(r2)
            }
        }
    };
}

curve!(SquaredExponential, squared_exponential);
curve!(Matern32, matern32);
curve!(Matern52, matern52);
curve!(RoughMatern52, rough_matern52);

#[inline(always)]
fn squared_exponential(r2: f64) -> (f64, f64) {
    let e = exp_nonpositive(-0.5 * r2);
    (e, e)
}

/// Beyond this the Matérn exponentials are 0; the bound keeps 0 × ∞ out of their polynomials.
const FAR: f64 = 1e7;

#[inline(always)]
fn matern32(r2: f64) -> (f64, f64) {
    let a = (3.0 * r2.min(FAR)).sqrt();
    let e = exp_nonpositive(-a);
    ((1.0 + a) * e, 3.0 * e)
}

#[inline(always)]
fn matern52(r2: f64) -> (f64, f64) {
    let r2 = r2.min(FAR);
    let a = (5.0 * r2).sqrt();
    let e = exp_nonpositive(-a);
    ((1.0 + a + (5.0 / 3.0) * r2) * e, (5.0 / 3.0) * (1.0 + a) * e)
}

#[inline(always)]
fn rough_matern52(r2: f64) -> (f64, f64) {
    // One root for all scales: √5 κ r = κ √5 r, and 5κ²r²/3 is a third of its square.
    let root = (5.0 * r2.min(FAR)).sqrt();
    let (mut rho, mut gamma) = (0.0, 0.0);
    for (w, kappa) in SCALES {
        let a = kappa * root;
        let e = w * exp_nonpositive(-a);
        rho += (1.0 + a + a * a / 3.0) * e;
        gamma += (5.0 / 3.0) * kappa * kappa * (1.0 + a) * e;
    }
    (rho, gamma)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Family; 6] = [
        Family::SquaredExponential,
        Family::Matern32,
        Family::Matern52,
        Family::AdditiveMatern52,
        Family::RoughMatern52,
        Family::AdditiveRoughMatern52,
    ];

    #[test]
    fn correlation_is_one_at_no_distance_and_falls_with_it() {
        for family in ALL {
            assert_eq!(family.correlation(0.0).0, 1.0);
            let values: Vec<f64> = (0..100).map(|i| family.correlation(f64::from(i) * 0.5).0).collect();
            assert!(values.windows(2).all(|w| w[1] < w[0] && w[1] > 0.0));
        }
    }

    #[test]
    fn slope_is_minus_twice_the_derivative_in_squared_distance() {
        for family in ALL {
            for r2 in [1e-3, 0.2, 1.0, 7.0, 40.0] {
                let h = 1e-5 * r2;
                let difference = (family.correlation(r2 + h).0 - family.correlation(r2 - h).0) / (2.0 * h);
                let slope = family.correlation(r2).1;
                assert!((slope + 2.0 * difference).abs() < 1e-8 * slope.max(1e-3), "{family:?} at {r2}");
            }
        }
    }
}
