//! Max-value entropy search (Wang & Jegelka 2017), turned to minimisation.
//!
//! ```text
//! value = mean over samples y* of T(γ),  T(γ) = γ φ(γ)/(2Φ(γ)) − ln Φ(γ),  γ = (μ − y*)/s
//! T′(γ) = −½ r (1 + γ (γ + r)),  r = φ(γ)/Φ(γ)
//! ∂/∂μ = T′/s,  ∂/∂s = −γ T′/s
//! ```
//!
//! T is the entropy that knowing "f(x) ≥ y*" takes from f(x): it falls from about ln|γ| on the left to 0 on the right. For γ < −1 both of its
//! terms grow like γ²/2; with the Mills ratio M = Φ/φ what remains is
//!
//! ```text
//! T = γ (1 + γM)/(2M) − ln M + ½ ln 2π
//! ```
//!
//! Where s = 0 the value is 0 and flat: a point that is known teaches nothing, even where its mean lies below y*.
//!
//! Glossary: μ `mean`, s `sd`, y* `y_star` (samples of min f), γ `gamma`, M [`LeftTail::mills`].

use super::{Acquisition, AcquisitionError, Score, is_posterior, standardised};
use crate::numeric::normal::{self, LeftTail};

/// value = information that a noise-free trial gives about the minimum, in nats.
#[derive(Clone, Debug, PartialEq)]
pub struct Mes {
    y_star: Vec<f64>,
}

impl Mes {
    /// With these samples of the minimum, at least one and all finite; [`sample_minima`](super::sample_minima) draws some.
    pub fn new(y_star: Vec<f64>) -> Result<Self, AcquisitionError> {
        if y_star.is_empty() {
            return Err(AcquisitionError::NoSamples);
        }
        match y_star.iter().enumerate().find(|(_, y)| !y.is_finite()) {
            Some((index, &value)) => Err(AcquisitionError::Sample { index, value }),
            None => Ok(Self { y_star }),
        }
    }

    /// The samples of the minimum.
    pub fn y_star(&self) -> &[f64] {
        &self.y_star
    }
}

impl Acquisition for Mes {
    fn score(&self, mean: f64, sd: f64) -> Score {
        if !is_posterior(mean, sd) {
            return Score::NEVER;
        }
        let (mut value, mut d_mean, mut d_sd) = (0.0, 0.0, 0.0);
        if sd > 0.0 {
            for y in &self.y_star {
                // Past the largest double T is some 710 at most: the clamp keeps a subnormal sd from making it infinite.
                let gamma = standardised(mean, *y, sd).clamp(-f64::MAX, f64::MAX);
                let (t, slope) = entropy(gamma);
                value += t;
                d_mean += slope / sd;
                d_sd -= gamma * slope / sd;
            }
        }
        let n = self.y_star.len() as f64;
        Score { value: value / n, d_mean: d_mean / n, d_sd: d_sd / n }.tamed()
    }
}

/// T(γ) and T′(γ).
fn entropy(gamma: f64) -> (f64, f64) {
    if gamma < -1.0 {
        let tail = LeftTail::at(gamma);
        // γ·gap/(2M) is −½ in the limit, whatever underflows on the way: gap/M is about 1/|γ|.
        let half = 0.5 * gamma / tail.mills * tail.gap;
        let value = if half.is_finite() { half } else { -0.5 } - tail.mills.ln() + normal::HALF_LN_TAU;
        (value, -0.5 * tail.bend / tail.mills)
    } else {
        let r = normal::pdf_over_cdf(gamma);
        // r underflows long before γ (γ + r) overflows; their product is then 0, not NaN.
        let slope = if r == 0.0 { 0.0 } else { -0.5 * r * (1.0 + gamma * (gamma + r)) };
        (0.5 * gamma * r - normal::ln_cdf(gamma), slope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// γ, T, T′ (mpmath, 200 digits).
    const EXACT: [(f64, f64, f64); 18] = [
        (-1000000000.0, 21.142204370151084, -1.0e-9),
        (-1000000.0, 14.234449091170947, -9.99999999996e-7),
        (-12345.678, 9.839999867618506, -8.100000451623613e-5),
        (-1000.0, 7.3266958121793098, -9.999960000299997e-4),
        (-99.5, 5.019298116001703, -0.010046193724319884),
        (-38.0, 4.057906153878619, -0.02624326860379341),
        (-10.000001, 2.740819076973412, -0.09627349717753612),
        (-10.0, 2.7408189806999108, -0.09627350610953729),
        (-9.999999, 2.7408188844264, -0.09627351504154004),
        (-5.0, 2.0987384761741204, -0.17499307010570162),
        (-1.000001, 1.0784543690452145, -0.3621164124000579),
        (-1.0, 1.078454006928773, -0.362116470865665),
        (-0.999999, 1.0784536448122728, -0.36211652933125327),
        (-0.3, 0.8123779228400781, -0.3945501578197942),
        (0.0, std::f64::consts::LN_2, -0.3989422804014327),
        (0.9, 0.3501636119482507, -0.34298470361935872),
        (3.0, 0.008007568527936689, -0.022218736833674041),
        (8.0, 2.083118039157476e-14, -1.641988102149492e-13),
    ];

    #[test]
    fn the_entropy_and_its_slope_meet_two_hundred_digits_in_both_tails() {
        for (gamma, t, slope) in EXACT {
            let (got, got_slope) = entropy(gamma);
            assert!((got - t).abs() <= 1e-12 * t.abs(), "T({gamma}) = {got:e}, not {t:e}");
            assert!((got_slope - slope).abs() <= 1e-11 * slope.abs(), "T′({gamma}) = {got_slope:e}");
        }
    }

    #[test]
    fn far_tails_stay_finite() {
        for gamma in [-f64::MAX, -1e160, -1e100, 1e3, 1e160, f64::MAX] {
            let (t, slope) = entropy(gamma);
            assert!(
                t.is_finite() && t >= 0.0 && slope.is_finite() && slope <= 0.0,
                "at {gamma}: {t} {slope}"
            );
        }
    }

    #[test]
    fn the_value_is_the_mean_over_samples() {
        // γ = 0 gives ln 2.
        let one = Mes::new(vec![0.5]).unwrap().score(0.5, 0.2).value;
        assert!((one - 2f64.ln()).abs() < 1e-15);
        let far = Mes::new(vec![-1e9]).unwrap().score(0.5, 0.2).value;
        let both = Mes::new(vec![0.5, -1e9]).unwrap().score(0.5, 0.2).value;
        assert_eq!((far, both), (0.0, one / 2.0));
    }

    #[test]
    fn a_known_point_teaches_nothing() {
        let flat = Score { value: 0.0, d_mean: 0.0, d_sd: 0.0 };
        let mes = Mes::new(vec![0.5]).unwrap();
        assert_eq!([mes.score(0.0, 0.0), mes.score(0.5, 0.0), mes.score(1.0, 0.0)], [flat; 3]);
    }

    #[test]
    fn samples_are_checked() {
        assert_eq!(Mes::new(vec![]), Err(AcquisitionError::NoSamples));
        assert!(matches!(Mes::new(vec![0.0, f64::NAN]), Err(AcquisitionError::Sample { index: 1, .. })));
    }
}
