//! Uniform numbers from random words, with the interval's ends spelt out.

use rand::Rng;

/// 2⁻⁵², the spacing of the numbers below.
const SPACING: f64 = 1.0 / (1u64 << 52) as f64;

/// A uniform number of the open interval (0, 1): its logarithm, and that of its complement, are finite.
pub fn open_unit<R: Rng + ?Sized>(rng: &mut R) -> f64 {
    // 52 random bits at the middle of their cell: the half needs the 53rd bit, so nothing rounds to 0 or 1.
    ((rng.next_u64() >> 12) as f64 + 0.5) * SPACING
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn numbers_stay_inside_the_open_interval_and_average_one_half() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let draws: Vec<f64> = (0..10_000).map(|_| open_unit(&mut rng)).collect();
        assert!(draws.iter().all(|u| 0.0 < *u && *u < 1.0));
        let mean = draws.iter().sum::<f64>() / 10_000.0;
        assert!((mean - 0.5).abs() < 0.012, "four standard errors, yet {mean}");
        assert!((((1u64 << 52) - 1) as f64 + 0.5) * SPACING < 1.0);
    }
}
