//! Several ways to explain the same trials, compared by likelihood.
//!
//! ```text
//! argmax over explanations e of ln p(y, θ_e | X, e) − handicap(e)          handicap: 0 of the first, CLEARLY of the others
//! ```

use super::StrategyError;
use super::model::Model;

/// Trials beyond which explanations are not compared any more: by then they seldom change, and every fit costs as much as n³. With 100 Ackley 8D is never understood.
pub(super) const COMPARED: usize = 150;

/// By how much, in ln p, another explanation must be likelier than the first: few trials explain themselves in many ways. 0 to 3 were tried.
///
/// Densities count lengthscales in their own units, and the prior of an additive kernel expects them √D shorter: that gives it ½ ln D, which was there when this was tuned.
const CLEARLY: f64 = 1.0;

/// The likeliest of so many explanations, and its number; the first one unless another is clearly likelier. `None` where there is nothing to explain.
pub(super) fn likeliest(
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
