//! Samples of the minimum of f, from a Gumbel law fitted to its distribution (Wang & Jegelka 2017).
//!
//! Their recipe is for a maximum; with F = −f, μ' = −μ and m' = −m it reads
//!
//! ```text
//! Pr(max F ≤ m') = Π_i Φ((m' − μ'_i)/s_i)          points taken as independent
//! q25, q50, q75 by bisection
//! b = (q25 − q75)/(ln ln(4/3) − ln ln 4),  a = q50 + b ln ln 2
//! Y = a − b ln(−ln U),  floored at best' + 5·noise sd;  the floor itself if Pr(max F ≤ best') ≥ ¼
//! y* = −Y
//! ```
//!
//! The floor becomes a ceiling: a sample of the minimum lies at least 5 noise sds below the best value seen.
//! Points with s = 0 take part as steps; with nothing but such points b = 0 and every sample is the same.
//!
//! Glossary: μ `means`, s `sds`, best `best`, a `location`, b `scale`, y* the samples; primes are negated values.

use rand::Rng;

use super::{AcquisitionError, is_posterior};
use crate::numeric::{normal, uniform::open_unit};

/// How far below the incumbent a sampled minimum must lie, in noise standard deviations (the authors' code).
const MARGIN: f64 = 5.0;
/// How far right of all means the search for the upper quartile starts, in standard deviations (the authors' code).
const REACH: f64 = 5.0;
/// Past this z, ln Φ(z) > −1e-18: ten thousand such points together do not move a double near ln ¾.
const CERTAIN: f64 = 9.0;
/// Bisections halve the bracket to 1e-12 of its width, far below what a two-parameter fit can tell.
const BISECTIONS: usize = 40;
/// Doublings from any positive width overflow a double before this.
const MAX_DOUBLINGS: usize = 2100;

/// The fitted law of the minimum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GumbelMinimum {
    /// a and b of the negated problem; `None` if the incumbent is probably the minimum already.
    fit: Option<(f64, f64)>,
    /// No sample lies above this.
    ceiling: f64,
}

impl GumbelMinimum {
    /// Fits the minimum over points with these posterior `means` and `sds`, given the incumbent and the noise of observations.
    pub fn fit(means: &[f64], sds: &[f64], best: f64, noise_sd: f64) -> Result<Self, AcquisitionError> {
        check(means, sds, best, noise_sd)?;
        let ceiling = best - MARGIN * noise_sd;
        let left = -best;
        if reaches(means, sds, left, 0.25) {
            return finite(Self { fit: None, ceiling });
        }
        let top = means.iter().zip(sds).fold(f64::NEG_INFINITY, |top, (m, s)| top.max(REACH * s - m));
        let right = bracket(means, sds, left, top)?;
        let quantile = |q| bisect(means, sds, left, right, q);
        let (q25, q50, q75) = (quantile(0.25), quantile(0.5), quantile(0.75));
        // ln(−ln q) of the quartiles; the denominator is −1.57….
        let ln_ln = |q: f64| (-q.ln()).ln();
        let b = ((q25 - q75) / (ln_ln(0.75) - ln_ln(0.25))).max(0.0);
        let a = q50 + b * ln_ln(0.5);
        finite(Self { fit: Some((a, b)), ceiling })
    }

    /// The location and scale of −min f; `None` if the incumbent is probably the minimum already.
    pub fn location_and_scale(&self) -> Option<(f64, f64)> {
        self.fit
    }

    /// The value that no sample exceeds.
    pub fn ceiling(&self) -> f64 {
        self.ceiling
    }

    /// Draws one minimum.
    pub fn sample<R: Rng + ?Sized>(&self, rng: &mut R) -> f64 {
        // A word is drawn in any case, so that the stream does not depend on the fit.
        let u = open_unit(rng);
        match self.fit {
            None => self.ceiling,
            Some((a, b)) => (b * (-u.ln()).ln() - a).min(self.ceiling),
        }
    }
}

/// Draws `count` minima of f over points with these posterior `means` and `sds`.
pub fn sample_minima<R: Rng + ?Sized>(
    means: &[f64],
    sds: &[f64],
    best: f64,
    noise_sd: f64,
    count: usize,
    rng: &mut R,
) -> Result<Vec<f64>, AcquisitionError> {
    let law = GumbelMinimum::fit(means, sds, best, noise_sd)?;
    Ok((0..count).map(|_| law.sample(rng)).collect())
}

fn check(means: &[f64], sds: &[f64], best: f64, noise_sd: f64) -> Result<(), AcquisitionError> {
    if means.len() != sds.len() {
        return Err(AcquisitionError::Lengths { means: means.len(), sds: sds.len() });
    }
    if means.is_empty() {
        return Err(AcquisitionError::NoPoints);
    }
    if let Some((index, (&mean, &sd))) =
        means.iter().zip(sds).enumerate().find(|(_, (m, s))| !is_posterior(**m, **s))
    {
        return Err(AcquisitionError::Posterior { index, mean, sd });
    }
    if !best.is_finite() {
        return Err(AcquisitionError::Best { best });
    }
    if !(noise_sd.is_finite() && noise_sd >= 0.0) {
        return Err(AcquisitionError::Noise { noise_sd });
    }
    Ok(())
}

/// Refuses a fit that overflowed.
fn finite(law: GumbelMinimum) -> Result<GumbelMinimum, AcquisitionError> {
    let (a, b) = law.fit.unwrap_or_default();
    // ln(−ln U) lies between −37 and 4, so a sample is finite where 50 scales are.
    let whole = law.ceiling.is_finite() && (a.abs() + 50.0 * b).is_finite();
    if whole { Ok(law) } else { Err(AcquisitionError::Range) }
}

/// Whether Pr(max F ≤ m') has reached q, summed as logarithms; every term is ≤ 0, so the first shortfall decides.
fn reaches(means: &[f64], sds: &[f64], m: f64, q: f64) -> bool {
    let (mut sum, target) = (0.0, q.ln());
    for (mean, sd) in means.iter().zip(sds) {
        let distance = m + mean;
        let z = if *sd > 0.0 { distance / sd } else { f64::INFINITY.copysign(distance) };
        if z < CERTAIN {
            sum += normal::ln_cdf(z);
            if sum < target {
                return false;
            }
        }
    }
    true
}

/// A value with Pr(max F ≤ value) ≥ ¾, found by doubling from `top`.
fn bracket(means: &[f64], sds: &[f64], left: f64, top: f64) -> Result<f64, AcquisitionError> {
    let mut right = if top > left { top } else { left + left.abs().max(1.0) };
    for _ in 0..MAX_DOUBLINGS {
        if !right.is_finite() {
            break;
        }
        if reaches(means, sds, right, 0.75) {
            return Ok(right);
        }
        right += right - left;
    }
    Err(AcquisitionError::Range)
}

/// The q-quantile of max F between `lo`, which is below it, and `hi`, which is not.
fn bisect(means: &[f64], sds: &[f64], mut lo: f64, mut hi: f64, q: f64) -> f64 {
    for _ in 0..BISECTIONS {
        let mid = 0.5 * lo + 0.5 * hi;
        if reaches(means, sds, mid, q) {
            hi = mid;
        } else {
            lo = mid;
        }
    }
    hi
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn the_fit_meets_the_quartiles_of_one_normal() {
        // One point N(0, 1): quartiles ∓0.6744897501960817, median 0.
        let law = GumbelMinimum::fit(&[0.0], &[1.0], 5.0, 0.0).unwrap();
        let (a, b) = law.location_and_scale().unwrap();
        assert!((b - 0.857_838_277_279_003_5).abs() < 1e-9, "{b}");
        assert!((a + b * 0.366_512_920_581_664_3).abs() < 1e-9, "{a}");
    }

    #[test]
    fn samples_follow_the_minimum_of_many_normals() {
        // 100 standard normals: the median of their minimum is −2.462, where (1 − Φ(m))^100 = ½.
        let (means, sds) = ([0.0; 100], [1.0; 100]);
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut samples = sample_minima(&means, &sds, 0.0, 0.0, 2001, &mut rng).unwrap();
        samples.sort_by(f64::total_cmp);
        assert!((samples[1000] + 2.462).abs() < 0.05, "{}", samples[1000]);
        assert!(samples.iter().all(|y| *y <= 0.0));
    }

    #[test]
    fn an_incumbent_that_is_probably_the_minimum_is_undercut_by_the_noise_alone() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let samples = sample_minima(&[1.0, 2.0], &[0.1, 0.1], 0.0, 0.01, 3, &mut rng).unwrap();
        assert_eq!(samples, [-0.05; 3]);
    }

    #[test]
    fn points_without_spread_have_their_least_mean_as_minimum() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        for means in [vec![-1.0], vec![-1.0; 4], vec![3.0, -1.0, 2.0]] {
            let samples = sample_minima(&means, &vec![0.0; means.len()], 0.5, 0.0, 5, &mut rng).unwrap();
            assert!(samples.iter().all(|y| (y + 1.0).abs() < 1e-9), "{samples:?}");
        }
    }

    #[test]
    fn what_has_no_distribution_is_refused() {
        let fit = GumbelMinimum::fit;
        assert_eq!(fit(&[], &[], 0.0, 0.0), Err(AcquisitionError::NoPoints));
        assert!(matches!(fit(&[0.0], &[], 0.0, 0.0), Err(AcquisitionError::Lengths { .. })));
        assert!(matches!(fit(&[f64::NAN], &[1.0], 0.0, 0.0), Err(AcquisitionError::Posterior { .. })));
        assert!(matches!(fit(&[0.0], &[-1.0], 0.0, 0.0), Err(AcquisitionError::Posterior { .. })));
        assert!(matches!(fit(&[0.0], &[1.0], f64::NAN, 0.0), Err(AcquisitionError::Best { .. })));
        assert!(matches!(fit(&[0.0], &[1.0], 0.0, -1.0), Err(AcquisitionError::Noise { .. })));
        assert_eq!(fit(&[-1e308], &[1e308], 1e308, 0.0), Err(AcquisitionError::Range));
    }
}
