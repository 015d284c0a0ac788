//! Output warping: values are compressed before they are modelled, the more the further they lie above the
//! lowest.
//!
//! ```text
//! w(y) = s ln(1 + (y − low)/s)          low: the lowest value,  s: from there to the median
//! ```
//!
//! A metric that explodes far from its optimum (losses, Rosenbrock's valley) fills a stationary process with what does not matter. The slope at
//! the lowest value is 1, so that improvements near it keep their units. Whether warped values are the better
//! explanation, the likelihood says: Σ ln w'(y) makes the two densities comparable.

/// An output warping.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Warping {
    low: f64,
    soft: f64,
}

impl Warping {
    /// From values; `None` where half of them are as low as the lowest, or where they are too far apart to be told in doubles.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (low, median) = (*sorted.first()?, *sorted.get(sorted.len() / 2)?);
        let soft = median - low;
        (soft.is_normal() && soft > 0.0).then_some(Self { low, soft })
    }

    /// w(y); below the lowest value it goes on as a straight line.
    pub(crate) fn warp(self, y: f64) -> f64 {
        let z = (y - self.low) / self.soft;
        if z > 0.0 { self.soft * z.ln_1p() } else { y - self.low }
    }

    /// ln w'(y).
    pub(crate) fn ln_slope(self, y: f64) -> f64 {
        -((y - self.low) / self.soft).max(0.0).ln_1p()
    }

    /// The y whose w(y) this is.
    pub(crate) fn unwarp(self, w: f64) -> f64 {
        if w > 0.0 { self.low + self.soft * (w / self.soft).exp_m1() } else { self.low + w }
    }

    /// What a small step from w is in the values' own units.
    pub(crate) fn unwarped_slope(self, w: f64) -> f64 {
        (w / self.soft).max(0.0).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VALUES: [f64; 7] = [3.0, 4.0, 5.0, 7.0, 90.0, 1e4, 1e6];

    #[test]
    fn order_and_units_at_the_lowest_value_are_kept_and_unwarping_undoes_it() {
        let warping = Warping::of(&VALUES).unwrap();
        let warped: Vec<f64> = VALUES.iter().map(|&y| warping.warp(y)).collect();
        assert!(warped.is_sorted() && warped[0] == 0.0);
        for y in VALUES.into_iter().chain([2.0, -40.0]) {
            assert!((warping.unwarp(warping.warp(y)) - y).abs() < 1e-9 * y.abs());
            let h = 1e-6 * (1.0 + y.abs());
            let slope = (warping.warp(y + h) - warping.warp(y - h)) / (2.0 * h);
            assert!((slope.ln() - warping.ln_slope(y)).abs() < 1e-5, "{y}: {slope}");
            assert!((warping.unwarped_slope(warping.warp(y)) * slope - 1.0).abs() < 1e-5);
        }
    }

    #[test]
    fn values_without_a_spread_are_left_alone() {
        for values in [&[][..], &[1.0], &[2.0; 5], &[1.0, 1.0, 1.0, 9.0], &[f64::MAX, -f64::MAX]] {
            assert_eq!(Warping::of(values), None, "{values:?}");
        }
    }
}
