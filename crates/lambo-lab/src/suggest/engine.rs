//! One suggestion with the engine's own defaults: standardise, fit, maximise log expected improvement.

use super::{Hyper, Suggestion};
use anyhow::Result;
use lambo::acquisition::{LogEi, Maximiser, Region, Surface};
use lambo::space::Batch;
use lambo::surrogate::{Family, Fit, OutputScale};
use std::time::Instant;

/// Suggests where to evaluate next, from raw values to be minimised.
pub fn suggest_once(x: &Batch, y: &[f64], seed: u64) -> Result<Suggestion> {
    let z = OutputScale::of(y).standardise_all(y);
    let fit = Fit { seed, ..Fit::with_priors(Family::SquaredExponential, x.dim()) };
    let gp = fit.run(x, &z)?.gp;
    let fitted_at = Instant::now();
    // `total_cmp` agrees with < here: the fit has refused values that are not finite.
    let (incumbent, best) = z.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1)).unwrap_or((0, &0.0));
    let surface = Surface::new(&gp, LogEi::new(*best)?);
    let hints = Batch::of(x.dim(), x.row(incumbent));
    let found =
        Maximiser { seed, ..Maximiser::default() }.maximise(&surface, &Region::cube(x.dim()), &hints)?;
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
