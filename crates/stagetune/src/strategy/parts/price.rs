//! What a trial would cost, as a function over the unit cube, and acquisition functions per unit of it.
//!
//! ```text
//! C_s(x) = overhead + Σ over stages m that run of exp(μ_m(x) + z_{s,m} σ_m(x))        s = 1 … S, z quasi-random normal
//! ln c(x) = −ln mean_s 1/C_s(x)
//! ```
//!
//! The published rules divide by a cost or multiply by an expected inverse cost; both are 1/c(x). Without draws, S = 1 and z = 0: the predicted
//! median of a learnt cost, and exactly the cost where it is given. Costs are floored at [`LEAST_SHARE`] of a full run, so that what is free
//! can be divided by.
//!
//! Glossary: μ, σ mean and standard deviation of ln c of a stage; `runs` which stages run; `exponent` how strongly costs count.

use super::stage_cost::{LogCosts, StageCosts};
use crate::acquisition::Objective;
use crate::numeric::{normal, sobol::Sobol};
use crate::space::{Batch, StageSet};
use crate::surrogate::SurrogateError;

/// The least cost of a trial, in full runs: free modules are preferred a thousandfold, not infinitely.
pub(crate) const LEAST_SHARE: f64 = 1e-3;

/// The least price of a full run under a Gittins index: there an index is as far below its mean as if a trial
/// cost nothing.
pub(crate) const LEAST_LAMBDA: f64 = 1e-12;

/// What a trial costs where these stages run.
#[derive(Clone, Debug)]
pub(crate) struct Price<'a> {
    costs: &'a StageCosts,
    runs: &'a StageSet,
    overhead: f64,
    /// The least cost, in full runs.
    least: f64,
    /// z, one row per sample.
    draws: Option<&'a Batch>,
}

/// ln c and its gradient at each point.
pub(crate) struct LogPrice {
    pub(crate) value: Vec<f64>,
    pub(crate) gradient: Batch,
}

impl<'a> Price<'a> {
    /// The cost where these stages run.
    pub(crate) fn new(costs: &'a StageCosts, runs: &'a StageSet) -> Self {
        Self { costs, runs, overhead: 0.0, least: LEAST_SHARE, draws: None }
    }

    /// Costs that are lower count as this share of a full run.
    pub(crate) fn at_least(self, least: f64) -> Self {
        Self { least, ..self }
    }

    /// With this much beside the stages that run.
    pub(crate) fn over(self, overhead: f64) -> Self {
        Self { overhead, ..self }
    }

    /// The expected inverse cost over these draws, with an overhead on each.
    pub(crate) fn expected(self, draws: &'a Batch, overhead: f64) -> Self {
        Self { draws: Some(draws), overhead, ..self }
    }

    /// ln c at each point.
    pub(crate) fn ln(&self, at: &Batch) -> Result<Vec<f64>, SurrogateError> {
        Ok(self.evaluate(at, false)?.value)
    }

    /// ln c and its gradient at each point.
    pub(crate) fn ln_with_gradient(&self, at: &Batch) -> Result<LogPrice, SurrogateError> {
        self.evaluate(at, true)
    }

    fn evaluate(&self, at: &Batch, gradients: bool) -> Result<LogPrice, SurrogateError> {
        let mut fixed = self.overhead;
        let mut learned: Vec<(usize, LogCosts)> = Vec::new();
        for m in (0..self.costs.len()).filter(|&m| self.runs.contains(m)) {
            match self.costs.logs(m, at, gradients)? {
                Some(logs) => learned.push((m, logs)),
                None => fixed += self.costs.fixed(m).unwrap_or(0.0),
            }
        }
        let full = self.costs.full();
        let floor = if full > 0.0 { self.least * full } else { 1.0 };
        let mut gradient = Batch::zeros(if gradients { at.len() } else { 0 }, at.dim());
        if learned.is_empty() {
            return Ok(LogPrice { value: vec![fixed.max(floor).ln(); at.len()], gradient });
        }
        let none = Batch::zeros(1, self.costs.len());
        let draws = self.draws.unwrap_or(&none);
        let mut value = Vec::with_capacity(at.len());
        let mut terms = vec![0.0; learned.len()];
        for i in 0..at.len() {
            // Σ 1/C, and Σ e/C² and Σ z e/C² of each stage, all in units of the floor.
            let mut inverse = 0.0;
            let (mut by_mean, mut by_sd) = (vec![0.0; learned.len()], vec![0.0; learned.len()]);
            for z in draws.rows() {
                for (term, (m, logs)) in terms.iter_mut().zip(&learned) {
                    *term = (logs.mean[i] + z[*m] * logs.sd[i] - floor.ln()).min(700.0).exp();
                }
                let c = (fixed / floor + terms.iter().sum::<f64>()).max(1.0);
                inverse += 1.0 / c;
                if gradients && c > 1.0 {
                    for (k, (m, _)) in learned.iter().enumerate() {
                        by_mean[k] += terms[k] / c / c;
                        by_sd[k] += z[*m] * terms[k] / c / c;
                    }
                }
            }
            value.push(floor.ln() - (inverse / draws.len() as f64).max(f64::MIN_POSITIVE).ln());
            if gradients {
                let row = gradient.row_mut(i);
                for (k, (_, logs)) in learned.iter().enumerate() {
                    for (d, coordinate) in logs.own.clone().enumerate() {
                        let sum = by_mean[k] * logs.d_mean.row(i)[d] + by_sd[k] * logs.d_sd.row(i)[d];
                        row[coordinate] += sum / inverse.max(f64::MIN_POSITIVE);
                    }
                }
            }
        }
        Ok(LogPrice { value, gradient })
    }
}

/// ln α − a ln c: an acquisition function on a log scale, per unit of (cooled) cost.
pub(crate) struct PerPrice<'a, O> {
    pub(crate) objective: O,
    pub(crate) price: Price<'a>,
    pub(crate) exponent: f64,
}

impl<O: Objective> Objective for PerPrice<'_, O> {
    fn values(&self, at: &Batch) -> Result<Vec<f64>, SurrogateError> {
        let (values, prices) = (self.objective.values(at)?, self.price.ln(at)?);
        Ok(values.iter().zip(prices).map(|(value, price)| value - self.exponent * price).collect())
    }

    fn values_and_gradients(&self, at: &Batch) -> Result<(Vec<f64>, Batch), SurrogateError> {
        let (mut values, mut gradients) = self.objective.values_and_gradients(at)?;
        let price = self.price.ln_with_gradient(at)?;
        values.iter_mut().zip(&price.value).for_each(|(value, price)| *value -= self.exponent * price);
        let slopes = price.gradient.as_slice();
        gradients.as_mut_slice().iter_mut().zip(slopes).for_each(|(g, slope)| *g -= self.exponent * slope);
        Ok((values, gradients))
    }
}

/// Quasi-random normal draws, one row per sample and one column per stage.
pub(crate) fn normal_draws(samples: usize, stages: usize, seed: u64) -> Batch {
    let mut draws = Batch::zeros(samples, stages);
    // The lengths agree; were they not to, all draws would be medians.
    let _ = Sobol::new(stages, seed).fill(&mut draws);
    draws.as_mut_slice().iter_mut().for_each(|u| *u = quantile(*u));
    draws
}

/// Φ⁻¹ by bisection: two dozen thousand draws an iteration at most, and no table to trust.
fn quantile(u: f64) -> f64 {
    let (mut low, mut high) = (-9.0, 9.0);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if normal::cdf(middle) < u { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests;
