//! The engine's part of a suggestion: standardise, fit the default model, maximise log EI.

use super::{Hyper, Suggestion};
use anyhow::Result;
use lambo::acquisition::{LogEi, maximise};
use lambo::space::Batch;
use lambo::surrogate::Fit;
use std::time::Instant;

/// One suggestion from raw arrays, on the threads of the calling pool.
pub fn suggest_once(x: &Batch, y: &[f64], seed: u64) -> Result<Suggestion> {
    let y = standardised(y);
    let fitted = Fit::default().run(x, &y)?;
    let fitted_at = Instant::now();
    let best = y.iter().copied().fold(f64::INFINITY, f64::min);
    let point = maximise(&fitted.gp, &LogEi::new(best)?, seed)?;
    let hyper = fitted.gp.hyper();
    let hyper = Hyper {
        lengthscales: hyper.lengthscales.clone(),
        signal_variance: hyper.signal_variance,
        noise_variance: hyper.noise_variance,
        mean: hyper.mean,
    };
    Ok(Suggestion { x: point, hyper, fitted_at })
}

/// Zero mean and unit sample standard deviation; equal values become 0.
fn standardised(y: &[f64]) -> Vec<f64> {
    let n = y.len() as f64;
    let mean = y.iter().sum::<f64>() / n;
    let sd = (y.iter().map(|y| (y - mean) * (y - mean)).sum::<f64>() / (n - 1.0).max(1.0)).sqrt();
    y.iter().map(|y| if sd > 0.0 { (y - mean) / sd } else { 0.0 }).collect()
}
