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
            noise_variance: LogNormal { location: -4.0, spread: 1.0 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
