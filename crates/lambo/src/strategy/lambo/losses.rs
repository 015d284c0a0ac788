//! The losses of the arms: for each arm the lowest α over its box, with the modules before the first difference frozen.
//!
//! ```text
//! m(i) = first module whose region in arm i differs from the one that holds x^{t−1}; the last module if none differs
//! ℓ̄_0(i) = min over u of α_t([x^{t−1}_{1:m(i)−1}, u]),  u ∈ Z_{m(i)} × … × Z_{N−1} × X_N
//! ```
//!
//! All arms share one factorisation of the covariance matrix, and are solved side by side.

use std::sync::Arc;

use rayon::prelude::*;

use super::options::LossScale;
use crate::acquisition::{Best, MaximiseError, Maximiser, Objective, Region, Told};
use crate::bandit::Regions;
use crate::space::{Batch, Space};

/// Where a problem of an arm starts from.
pub(super) struct Anchor<'a> {
    /// x^{t−1} in the unit cube.
    pub(super) u: &'a [f64],
    /// The region of each module that holds it.
    pub(super) held: &'a [Option<usize>],
    /// The first module that is always free.
    pub(super) free: usize,
    /// Points that were tried.
    pub(super) told: Arc<Told>,
}

/// The minimiser of one arm.
pub(super) struct Solved {
    /// The point, and minus α there.
    pub(super) best: Best,
    /// The first module that was free.
    pub(super) first_free: usize,
}

/// Solves the problems of all live arms; dead ones, and those that turn out to hold no allowed point, have none.
pub(super) fn solve(
    space: &Space,
    regions: &Regions,
    anchor: &Anchor<'_>,
    objective: &dyn Objective,
    hints: &Batch,
    effort: &Maximiser,
) -> Result<Vec<Option<Solved>>, MaximiseError> {
    (0..regions.arms())
        .into_par_iter()
        .map(|arm| {
            if !regions.alive().get(arm).is_some_and(|alive| *alive) {
                return Ok(None);
            }
            solve_arm(space, regions, anchor, objective, hints, effort, arm)
        })
        .collect()
}

fn solve_arm(
    space: &Space,
    regions: &Regions,
    anchor: &Anchor<'_>,
    objective: &dyn Objective,
    hints: &Batch,
    effort: &Maximiser,
    arm: usize,
) -> Result<Option<Solved>, MaximiseError> {
    let Some((lower, upper)) = regions.corners(space, arm) else { return Ok(None) };
    let lazy = regions.first_difference(anchor.held, arm).min(anchor.free);
    // Forbidden regions and earlier trials may leave nothing beside the frozen values; then fewer modules are frozen.
    for first_free in (0..=lazy).rev() {
        let frozen = &anchor.u[..space.module_coordinates(first_free).start];
        let region = Region::of(space).beside(&anchor.told).within(&lower, &upper)?.freeze(0, frozen)?;
        match effort.maximise(objective, &region, hints) {
            Ok(best) => return Ok(Some(Solved { best, first_free })),
            Err(MaximiseError::Forbidden(_) | MaximiseError::NothingAllowed) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// What the bandit is told: losses in the wanted scale, scores added. An arm without a solution is as bad as the worst.
pub(super) fn scaled(losses: &[Option<f64>], scores: &[f64], scale: LossScale) -> Vec<f64> {
    let known = || losses.iter().flatten().copied();
    let low = known().fold(f64::INFINITY, f64::min);
    let high = known().fold(f64::NEG_INFINITY, f64::max);
    if !(low.is_finite() && high.is_finite()) {
        return vec![0.0; losses.len()];
    }
    let score = |arm: usize| scores.get(arm).copied().unwrap_or(0.0);
    let in_scale = |loss: f64| match scale {
        LossScale::Raw => loss,
        LossScale::Clip { low, high } => ((loss - low) / (high - low)).clamp(0.0, 1.0),
        LossScale::Rescale if high > low => (loss - low) / (high - low),
        LossScale::Rescale => 0.0,
    };
    losses.iter().enumerate().map(|(arm, loss)| in_scale(loss.unwrap_or(high)) + score(arm)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: LossScale = LossScale::Clip { low: 0.0, high: 1.0 };

    #[test]
    fn losses_reach_the_bandit_in_the_wanted_scale() {
        let losses = [Some(-2.0), Some(0.5), None, Some(2.0)];
        let none = [0.0; 4];
        assert_eq!(scaled(&losses, &none, LossScale::Raw), [-2.0, 0.5, 2.0, 2.0]);
        assert_eq!(scaled(&losses, &none, UNIT), [0.0, 0.5, 1.0, 1.0]);
        assert_eq!(scaled(&losses, &none, LossScale::Rescale), [0.0, 0.625, 1.0, 1.0]);
        assert_eq!(scaled(&[Some(3.0); 2], &none, LossScale::Rescale), [0.0, 0.0]);
        assert_eq!(scaled(&[None; 2], &none, LossScale::Raw), [0.0, 0.0]);
    }

    #[test]
    fn losses_of_a_metric_that_is_maximised_are_clipped_where_it_lives() {
        let losses = [Some(-1.2), Some(-0.75), Some(0.1)];
        assert_eq!(scaled(&losses, &[0.0; 3], LossScale::Clip { low: -1.0, high: 0.0 }), [0.0, 0.25, 1.0]);
    }

    #[test]
    fn scores_are_added_to_losses_of_any_scale() {
        let losses = [Some(0.0), Some(4.0)];
        assert_eq!(scaled(&losses, &[0.25, 0.5], LossScale::Rescale), [0.25, 1.5]);
        assert_eq!(scaled(&losses, &[-0.5, -0.5], UNIT), [-0.5, 0.5]);
        assert_eq!(scaled(&losses, &[2.0, -3.0], LossScale::Raw), [2.0, 1.0]);
    }
}
