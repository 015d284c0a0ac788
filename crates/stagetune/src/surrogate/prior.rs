//! Priors on hyper-parameters: what a lengthscale or a noise variance is before any data.

/// ln θ ~ Normal(location, spread²).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogNormal {
    /// Mean of ln θ.
    pub location: f64,
    /// Standard deviation of ln θ.
    pub spread: f64,
}

impl LogNormal {
    /// The density of θ in θ, as a logarithm up to a constant, and its derivative in ln θ.
    pub fn log_density(self, log_theta: f64) -> (f64, f64) {
        let z = (log_theta - self.location) / self.spread;
        (-log_theta - 0.5 * z * z, -1.0 - z / self.spread)
    }

    /// The θ with the highest density, exp(location − spread²).
    pub fn mode(self) -> f64 {
        (self.location - self.spread * self.spread).exp()
    }
}

/// The priors of a maximum-a-posteriori fit on inputs in the unit cube and standardised values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Priors {
    /// On every lengthscale.
    pub lengthscale: LogNormal,
    /// If there: lengthscales are relatives. The prior above is on their geometric mean, and the logarithm of each strays from its
    /// own by this standard deviation. A handful of points cannot tell a coordinate that does not matter from one that was hardly moved.
    pub lengthscale_spread: Option<f64>,
    /// On the noise variance.
    pub noise_variance: LogNormal,
}

impl Priors {
    /// Lengthscales that grow with √D (Hvarfner, Hellsten & Nardi 2024), the noise prior that goes with them.
    ///
    /// ℓ ~ LogNormal(√2 + ½ ln D, √3): distances in the cube grow with √D, and so must what counts as near.
    pub fn dimension_scaled(dim: usize) -> Self {
        Self {
            lengthscale: LogNormal {
                location: std::f64::consts::SQRT_2 + 0.5 * (dim.max(1) as f64).ln(),
                spread: 3.0_f64.sqrt(),
            },
            lengthscale_spread: None,
            noise_variance: LogNormal { location: -4.0, spread: 1.0 },
        }
    }

    /// The density of lengthscales by their logarithms, as terms whose sum is its logarithm up to a constant, each with the derivative of that sum
    /// in the logarithm. Those that `strangers` says are no relatives of anybody; beyond its end there are none.
    pub fn each_lengthscale<'a>(
        &self,
        logs: &'a [f64],
        strangers: &'a [bool],
    ) -> impl Iterator<Item = (f64, f64)> + use<'a> {
        let prior = self.lengthscale;
        let is_kin = |d: usize| !strangers.get(d).copied().unwrap_or(false);
        let kin = || logs.iter().enumerate().filter(move |(d, _)| is_kin(*d)).map(|(_, log)| log);
        let count = kin().count() as f64;
        let common = self.lengthscale_spread.filter(|_| count > 1.0).map(|spread| {
            let mean = kin().sum::<f64>() / count;
            (spread, mean, prior.log_density(mean))
        });
        logs.iter().enumerate().map(move |(d, &log)| match common.filter(|_| is_kin(d)) {
            None => prior.log_density(log),
            // The mean moves with every logarithm, too, but deviations from it sum to nothing.
            Some((spread, mean, (density, slope))) => {
                let z = (log - mean) / spread;
                (density / count - 0.5 * z * z, slope / count - z / spread)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relatives_share_a_prior_and_the_derivatives_are_right() {
        let kin = Priors { lengthscale_spread: Some(0.3), ..Priors::dimension_scaled(3) };
        let total = |priors: &Priors, logs: &[f64]| {
            priors.each_lengthscale(logs, &[]).map(|term| term.0).sum::<f64>()
        };
        let (alone, _) = kin.lengthscale.log_density(0.7);
        assert!((total(&kin, &[0.7; 3]) - alone).abs() < 1e-12);
        let (logs, h) = ([0.1, 0.9, -0.4], 1e-6);
        assert!(total(&kin, &logs) < total(&kin, &[0.2; 3]));
        for (d, (_, slope)) in kin.each_lengthscale(&logs, &[]).enumerate() {
            let (mut up, mut down) = (logs, logs);
            up[d] += h;
            down[d] -= h;
            assert!(((total(&kin, &up) - total(&kin, &down)) / (2.0 * h) - slope).abs() < 1e-6);
        }
        let strangers = Priors::dimension_scaled(3);
        let sum: f64 = logs.iter().map(|log| strangers.lengthscale.log_density(*log).0).sum();
        assert_eq!(total(&strangers, &logs), sum);
    }

    #[test]
    fn a_stranger_among_relatives_has_a_prior_of_its_own() {
        let kin = Priors { lengthscale_spread: Some(0.3), ..Priors::dimension_scaled(3) };
        let logs = [0.1, 5.0, 0.3];
        let with: Vec<(f64, f64)> = kin.each_lengthscale(&logs, &[false, true]).collect();
        assert_eq!(with[1], kin.lengthscale.log_density(5.0));
        let without: Vec<(f64, f64)> = kin.each_lengthscale(&[0.1, 0.3], &[]).collect();
        assert_eq!([with[0], with[2]], [without[0], without[1]]);
    }

    #[test]
    fn the_density_peaks_at_the_mode_and_its_derivative_is_right() {
        let prior = Priors::dimension_scaled(8).lengthscale;
        let mode = prior.mode().ln();
        // In θ the density peaks at the mode; expressed in ln θ the derivative there vanishes too.
        assert!(prior.log_density(mode).1.abs() < 1e-12);
        let h = 1e-6;
        let difference = (prior.log_density(0.3 + h).0 - prior.log_density(0.3 - h).0) / (2.0 * h);
        assert!((difference - prior.log_density(0.3).1).abs() < 1e-8);
    }
}
