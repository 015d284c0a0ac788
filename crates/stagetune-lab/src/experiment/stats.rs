//! Means, quantiles and bootstrap intervals of small samples, seeded so that the same numbers give
//! the same intervals.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::Rng;
use serde::{Deserialize, Serialize};

/// Resamples of an interval: the ends of a 95% interval then stand on 50 resamples each.
pub const RESAMPLES: usize = 2_000;

/// The seed of all resampling.
const SEED: u64 = 0x1a3b0;

/// A sample in short.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Arithmetic mean.
    pub mean: f64,
    /// Middle value.
    pub median: f64,
    /// 95% bootstrap interval of the mean.
    pub ci95: [f64; 2],
}

impl Spread {
    /// Of a sample, which is not empty.
    pub fn of(sample: &[f64]) -> Self {
        Self::with(&Resampling::new(sample.len()), sample)
    }

    /// The same, where the resamples of samples of this size are there already.
    pub fn with(resampling: &Resampling, sample: &[f64]) -> Self {
        Self { mean: mean(sample), median: quantile(sample, 0.5), ci95: resampling.mean(sample) }
    }
}

/// Arithmetic mean.
pub fn mean(sample: &[f64]) -> f64 {
    sample.iter().sum::<f64>() / sample.len() as f64
}

/// The quantile q of a sample, by linear interpolation between its sorted values.
pub fn quantile(sample: &[f64], q: f64) -> f64 {
    let mut sorted = sample.to_vec();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let position = q.clamp(0.0, 1.0) * last as f64;
    let below = position.floor() as usize;
    let above = (below + 1).min(last);
    sorted[below] + (position - below as f64) * (sorted[above] - sorted[below])
}

/// Fewer runs than this decide nothing: an interval of few resampled values is far too narrow, and
/// that of one has no width.
pub const FEWEST: usize = 5;

/// Resamples of n things with replacement, the same for every statistic that asks.
#[derive(Clone, Debug)]
pub struct Resampling {
    n: usize,
    picks: Vec<u32>,
}

impl Resampling {
    /// For samples of this size.
    pub fn new(n: usize) -> Self {
        Self::seeded(n, 0)
    }

    /// Independent of those of another number.
    pub fn seeded(n: usize, number: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(SEED);
        rng.set_stream(number);
        // The product of 32 random bits and n, without its lower half, is uniform up to n/2³².
        let pick = |_| ((u64::from(rng.next_u32()) * n as u64) >> 32) as u32;
        Self { n, picks: (0..RESAMPLES * n).map(pick).collect() }
    }

    /// The members of each resample.
    pub fn each(&self) -> impl Iterator<Item = &[u32]> {
        self.picks.chunks_exact(self.n.max(1))
    }

    /// 95% interval of the mean of a sample.
    pub fn mean(&self, sample: &[f64]) -> [f64; 2] {
        let of = |picks: &[u32]| picks.iter().map(|&i| sample[i as usize]).sum::<f64>() / self.n as f64;
        interval(&self.each().map(of).collect::<Vec<f64>>())
    }

    /// 95% interval of the median of a sample.
    pub fn median(&self, sample: &[f64]) -> [f64; 2] {
        let of =
            |picks: &[u32]| quantile(&picks.iter().map(|&i| sample[i as usize]).collect::<Vec<f64>>(), 0.5);
        interval(&self.each().map(of).collect::<Vec<f64>>())
    }
}

/// The middle 95% of the values of a statistic.
pub fn interval(values: &[f64]) -> [f64; 2] {
    [quantile(values, 0.025), quantile(values, 0.975)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_interpolated() {
        assert_eq!(quantile(&[3.0, 1.0, 2.0], 0.5), 2.0);
        assert_eq!(quantile(&[1.0, 2.0], 0.25), 1.25);
        assert_eq!(quantile(&[5.0], 0.9), 5.0);
    }

    #[test]
    fn the_interval_of_a_mean_is_as_wide_as_its_standard_error_says() {
        let sample: Vec<f64> = (0..100).map(f64::from).collect();
        let [low, high] = Spread::of(&sample).ci95;
        // Standard deviation 28.87, so 2 · 1.96 · 2.887 = 11.3.
        assert!((high - low - 11.3).abs() < 1.0, "{low} {high}");
        assert!(low < 49.5 && 49.5 < high);
        assert_eq!(Spread::of(&[2.0]).ci95, [2.0, 2.0]);
        // Of the median of n uniform values: 2 · 1.96 · 100 / (2 √n) = 19.6.
        let [low, high] = Resampling::new(sample.len()).median(&sample);
        assert!((high - low - 19.6).abs() < 3.0 && low < 49.5 && 49.5 < high, "{low} {high}");
    }
}
