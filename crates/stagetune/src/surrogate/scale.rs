//! The affine map between the values of a user's metric and the standardised values that a surrogate sees.

/// y = offset + scale · standardised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutputScale {
    /// Mean of the values.
    pub offset: f64,
    /// Their sample standard deviation, or 1 where they have none.
    pub scale: f64,
}

impl OutputScale {
    /// From values; constant or single ones get scale 1, values that are not finite are left out.
    pub fn of(y: &[f64]) -> Self {
        let count = y.iter().filter(|v| v.is_finite()).count() as f64;
        let finite = || y.iter().copied().filter(|v| v.is_finite());
        if count == 0.0 {
            return Self { offset: 0.0, scale: 1.0 };
        }
        // Divided before summing, so that values near the largest double do not overflow.
        let offset: f64 = finite().map(|v| v / count).sum();
        let largest = finite().fold(0.0_f64, |m, v| m.max((v - offset).abs()));
        // Deviations of the size of rounding are a constant, too.
        if count < 2.0 || !(largest.is_finite() && largest > 1e-14 * offset.abs()) {
            return Self { offset, scale: 1.0 };
        }
        let squares: f64 = finite().map(|v| ((v - offset) / largest).powi(2)).sum();
        let scale = largest * (squares / (count - 1.0)).sqrt();
        Self { offset, scale: if scale.is_normal() { scale } else { 1.0 } }
    }

    /// (y − offset) / scale.
    pub fn standardise(self, y: f64) -> f64 {
        (y - self.offset) / self.scale
    }

    /// Standardises many values.
    pub fn standardise_all(self, y: &[f64]) -> Vec<f64> {
        y.iter().map(|&y| self.standardise(y)).collect()
    }

    /// offset + scale · z.
    pub fn restore(self, z: f64) -> f64 {
        self.offset + self.scale * z
    }

    /// A variance in the values' own units.
    pub fn restore_variance(self, variance: f64) -> f64 {
        self.scale * self.scale * variance
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standardised_values_have_mean_zero_and_unit_sample_variance() {
        let y = [3.0, 5.0, 9.0, 1.0];
        let scale = OutputScale::of(&y);
        let z = scale.standardise_all(&y);
        assert!(z.iter().sum::<f64>().abs() < 1e-12);
        assert!((z.iter().map(|z| z * z).sum::<f64>() - 3.0).abs() < 1e-12);
        assert!((scale.restore(z[2]) - 9.0).abs() < 1e-12);
    }

    #[test]
    fn constant_single_empty_and_odd_values_keep_scale_one() {
        for y in [&[][..], &[7.0], &[0.1; 9], &[f64::NAN], &[1e308, 1e308]] {
            assert_eq!(OutputScale::of(y).scale, 1.0, "{y:?}");
        }
        assert!(OutputScale::of(&[-1e308, 1e308]).standardise(1e308).is_finite());
    }
}
