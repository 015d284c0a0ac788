//! Several ways to explain the same trials, compared by likelihood.
//!
//! ```text
//! argmax over explanations e of ln p(y, θ_e | X, e) − handicap(e)          handicap: 0 of the first, CLEARLY of the others
//! ```

use super::model::{Explanation, Model};
use crate::space::Space;
use crate::strategy::StrategyError;
use crate::surrogate::Family;

/// Trials beyond which explanations are not compared any more: by then they seldom change, and every fit costs as much as n³. With 100 Ackley 8D is never understood.
pub(crate) const COMPARED: usize = 150;

/// By how much, in ln p, another explanation must be likelier than the first: few trials explain themselves in many ways. 0 to 3 were tried.
///
/// Densities count lengthscales in their own units, and the prior of an additive kernel expects them √D shorter: that gives it ½ ln D, which was there when this was tuned.
const CLEARLY: f64 = 1.0;

/// Kernel families that are compared with Matérn 5/2 by default.
pub(crate) const KERNELS: [Family; 3] =
    [Family::AdditiveMatern52, Family::RoughMatern52, Family::AdditiveRoughMatern52];

/// The standard deviation of log lengthscales around their common mean; 0.15 to 0.7 were tried.
pub(crate) const LENGTHSCALE_SPREAD: f64 = 0.3;

/// Starts of every fit: "mostly noise" and "little noise", or where the last fit ended and "mostly noise".
/// More cost time and may gain a little: three were 2% cheaper on Ackley and Rastrigin, within the noise
/// (`experiments/auto`).
const FIT_STARTS: usize = 2;

/// Which explanations are compared.
pub(crate) struct Ways<'a> {
    /// The kernel family of the plain explanation, which comes first.
    pub(crate) family: Family,
    /// Other kernel families.
    pub(crate) kernels: &'a [Family],
    /// Whether each family is also compared with warped outputs.
    pub(crate) warping: bool,
    /// See [`Explanation::lengthscale_spread`].
    pub(crate) lengthscale_spread: Option<f64>,
    /// See [`Explanation::leaves_failures`].
    pub(crate) leaves_failures: bool,
}

impl Ways<'_> {
    /// The explanations of trials over a space; the plain one first.
    pub(crate) fn over(&self, space: &Space) -> Vec<Explanation> {
        let mut families = vec![self.family];
        for family in self.kernels {
            // Over one coordinate a sum is its only part.
            let is_other = space.dim() > 1 || !family.is_additive();
            if is_other && !families.contains(family) {
                families.push(*family);
            }
        }
        let mut explanations = Vec::new();
        for family in families {
            let plain = Explanation {
                family,
                warped: false,
                lengthscale_spread: self.lengthscale_spread,
                starts: Some(FIT_STARTS),
                leaves_failures: self.leaves_failures,
            };
            explanations.push(plain);
            if self.warping {
                explanations.push(Explanation { warped: true, ..plain });
            }
        }
        explanations
    }
}

/// The likeliest of so many explanations, and its number; the first one unless another is clearly likelier. `None` where there is nothing to explain.
pub(crate) fn likeliest(
    count: usize,
    explain: impl Fn(usize) -> Result<Option<Model>, StrategyError>,
) -> Result<Option<(Model, usize)>, StrategyError> {
    let mut best: Option<(Model, usize, Option<f64>)> = None;
    let mut failed = None;
    for number in 0..count {
        let model = match explain(number) {
            Ok(Some(model)) => model,
            Ok(None) => continue,
            // Another explanation may do.
            Err(error) => {
                failed = Some(error);
                continue;
            }
        };
        let handicap = if number == 0 { 0.0 } else { CLEARLY };
        let density = model.density.map(|density| density - handicap);
        if best.as_ref().is_none_or(|(_, _, best)| density > *best) {
            best = Some((model, number, density));
        }
    }
    match (best, failed) {
        (None, Some(error)) => Err(error),
        (best, _) => Ok(best.map(|(model, number, _)| (model, number))),
    }
}
