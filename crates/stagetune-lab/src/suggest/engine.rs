//! The engine's part of a suggestion: standardise, fit the default model, maximise log expected improvement.

use super::{Hyper, Suggestion};
use anyhow::Result;
use stagetune::acquisition::{LogEi, Maximiser, Region, Surface};
use stagetune::space::Batch;
use stagetune::surrogate::{Family, Fit, OutputScale};
use std::time::Instant;

/// Of the best observations, this many are looked around more closely.
const HINTS: usize = 5;

/// One suggestion from raw arrays to be minimised, on the threads of the calling pool.
pub fn suggest_once(x: &Batch, y: &[f64], seed: u64) -> Result<Suggestion> {
    let z = OutputScale::of(y).standardise_all(y);
    let fit = Fit { seed, ..Fit::with_priors(Family::SquaredExponential, x.dim()) };
    let gp = fit.run(x, &z)?.gp;
    let fitted_at = Instant::now();
    let best = z.iter().copied().fold(f64::INFINITY, f64::min);
    let surface = Surface::new(&gp, LogEi::new(best)?);
    let maximiser = Maximiser { seed, ..Maximiser::default() };
    let found = maximiser.maximise(&surface, &Region::cube(x.dim()), &gp.lowest(HINTS))?;
    let hyper = gp.hyper();
    Ok(Suggestion {
        x: found.x,
        hyper: Hyper {
            lengthscales: hyper.lengthscales.clone(),
            signal_variance: hyper.signal_variance,
            noise_variance: hyper.noise_variance,
            mean: hyper.mean,
        },
        fitted_at,
    })
}
