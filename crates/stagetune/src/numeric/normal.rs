//! The standard normal distribution, exact far into the tails.
//!
//! ```text
//! φ(z) = exp(−z²/2)/√(2π)                 density
//! Φ(z) = ½ erfc(−z/√2)                    distribution function
//! M(z) = Φ(z)/φ(z) = √(π/2) erfcx(−z/√2)  Mills ratio of the left tail
//! h(z) = φ(z) + z Φ(z)                    E[(z − X)₊], expected improvement of a unit normal
//! ```
//!
//! In the left tail h is a difference of nearly equal numbers. With x = −z and t = 1/x²,
//!
//! ```text
//! h(z)/φ(z) = 1 − x M = t (1 − 3t (1 − 5t (1 − 7t (…))))
//! ```
//!
//! which loses nothing; it follows from the asymptotic series of M (Abramowitz & Stegun 26.2.12).
//! The branches are those of LogEI (Ament et al. 2023), with this series in place of a cancelling difference.
//!
//! Every function takes any double: NaN gives NaN, and a result that no double can hold overflows to ±∞.

use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

/// ½ ln 2π.
pub const HALF_LN_TAU: f64 = 0.918_938_533_204_672_8;
/// 1/√(2π), the density at 0.
pub const FRAC_1_SQRT_TAU: f64 = 0.398_942_280_401_432_7;
/// √(π/2).
const SQRT_FRAC_PI_2: f64 = 1.253_314_137_315_500_3;
/// Left of this, quantities are formed from the Mills ratio: φ + zΦ starts to cancel, and Φ to underflow.
const TAIL: f64 = -1.0;
/// From this x on the series holds: with [`LAST_FACTOR`] its remainder is below 1e-16.
const SERIES_FROM: f64 = 10.0;
/// The last odd factor of the series: the next term at x = 10, 53!!/10⁵², is 2e-17.
const LAST_FACTOR: u32 = 51;

/// φ(z).
pub fn pdf(z: f64) -> f64 {
    FRAC_1_SQRT_TAU * (-0.5 * z * z).exp()
}

/// ln φ(z).
pub fn ln_pdf(z: f64) -> f64 {
    -0.5 * z * z - HALF_LN_TAU
}

/// Φ(z).
pub fn cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z * FRAC_1_SQRT_2)
}

/// ln Φ(z).
pub fn ln_cdf(z: f64) -> f64 {
    if z < TAIL {
        // ln M underflows to −∞ only where z² has overflowed already.
        LeftTail::at(z).mills.ln() + ln_pdf(z)
    } else if z < 0.0 {
        cdf(z).ln()
    } else {
        (-cdf(-z)).ln_1p()
    }
}

/// φ(z)/Φ(z), the reciprocal Mills ratio: about −z on the far left, 0 on the far right.
pub fn pdf_over_cdf(z: f64) -> f64 {
    if z < TAIL { LeftTail::at(z).mills.recip() } else { pdf(z) / cdf(z) }
}

/// h(z) = φ(z) + z Φ(z).
pub fn h(z: f64) -> f64 {
    if z < TAIL {
        pdf(z) * LeftTail::at(z).gap
    } else if z == f64::INFINITY {
        z
    } else {
        pdf(z) + z * cdf(z)
    }
}

/// ln h(z) with its slope, and φ/h, which derivatives by a standard deviation need.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LnH {
    /// ln h(z).
    pub value: f64,
    /// d ln h/dz = Φ(z)/h(z).
    pub slope: f64,
    /// φ(z)/h(z) = 1 − z·slope, without the cancellation.
    pub pdf_over_h: f64,
}

/// ln h(z) and its derivatives.
pub fn ln_h(z: f64) -> LnH {
    if z < TAIL {
        let tail = LeftTail::at(z);
        LnH { value: ln_pdf(z) + tail.ln_gap, slope: tail.cdf_over_h, pdf_over_h: tail.gap.recip() }
    } else {
        let h = h(z);
        LnH { value: h.ln(), slope: cdf(z) / h, pdf_over_h: pdf(z) / h }
    }
}

/// The ratios of the left tail, for z ≤ −1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeftTail {
    /// M = Φ(z)/φ(z).
    pub mills: f64,
    /// h(z)/φ(z) = 1 + z M, in (0, 1).
    pub gap: f64,
    /// ln of `gap`, which outlives its underflow.
    pub ln_gap: f64,
    /// Φ(z)/h(z) = M/gap.
    pub cdf_over_h: f64,
    /// 1 + z (z + 1/M) = 1 + z·gap/M, about 2/z².
    pub bend: f64,
}

impl LeftTail {
    /// The ratios at `z`, which should be −1 or less: nearer to 0 there are plainer ways to the same numbers.
    pub fn at(z: f64) -> Self {
        let x = -z;
        if x < SERIES_FROM {
            // 1 − xM loses about x² of the last place: 1e-14 at worst here.
            let mills = SQRT_FRAC_PI_2 * puruspe::erfcx(x / SQRT_2);
            let gap = 1.0 - x * mills;
            Self {
                mills,
                gap,
                ln_gap: gap.ln(),
                cdf_over_h: gap.recip() * mills,
                bend: 1.0 - x * gap / mills,
            }
        } else {
            let t = (x * x).recip();
            let inner = (5..=LAST_FACTOR).rev().step_by(2).fold(1.0, |sum, k| 1.0 - f64::from(k) * t * sum);
            let s = 1.0 - 3.0 * t * inner;
            let gap = t * s;
            Self {
                mills: (1.0 - gap) / x,
                gap,
                ln_gap: s.ln() - 2.0 * x.ln(),
                cdf_over_h: x * (1.0 - gap) / s,
                // With M = (1 − gap)/x this is (1 − gap − x² gap)/(1 − gap), and 1 − x² gap = 1 − s = 3t·inner.
                bend: t * (3.0 * inner - s) / (1.0 - gap),
            }
        }
    }
}

#[cfg(test)]
mod tests;
