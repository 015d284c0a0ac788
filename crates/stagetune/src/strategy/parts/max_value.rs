//! Max-value entropy search on a model: samples of the minimum, and the acquisition function that they give.

use super::model::Model;
use super::stream::{Purpose, seed_of, stream};
use crate::acquisition::{Mes, sample_minima};
use crate::numeric::sobol::Sobol;
use crate::strategy::StrategyError;

/// Max-value entropy search at iteration `t`.
pub(crate) fn max_value(
    model: &Model,
    points: usize,
    samples: usize,
    seed: u64,
    t: usize,
) -> Result<Mes, StrategyError> {
    let (gp, step) = (&model.gp, t as u64);
    let mut sobol = Sobol::new(gp.dim(), seed_of(seed, Purpose::Acquisition, step));
    let mut at = gp.x().clone();
    let mut x = vec![0.5; gp.dim()];
    for _ in 0..points {
        // The lengths agree, and the sequence is far from its end.
        let _ = sobol.next_into(&mut x);
        let _ = at.push(&x);
    }
    let belief = gp.predict(&at)?;
    let sds: Vec<f64> = belief.variance.iter().map(|v| v.sqrt()).collect();
    let noise_sd = gp.hyper().noise_variance.sqrt();
    let mut rng = stream(seed, Purpose::Acquisition, step);
    let minima = sample_minima(&belief.mean, &sds, model.lowest, noise_sd, samples, &mut rng)?;
    Ok(Mes::new(minima)?)
}
