//! The losses of the arms: for each arm the lowest α over its box, with the modules before the first difference frozen.
//!
//! ```text
//! m(i) = first module whose region in arm i differs from the one that holds x^{t−1}; the last module if none differs
//! ℓ̄_0(i) = min over u of α_t([x^{t−1}_{1:m(i)−1}, u]),  u ∈ Z_{m(i)} × … × Z_{N−1} × X_N
//! ```
//!
//! That is one anchor: x^{t−1}, kept as far as the arm allows. With [`Anchors::Prefixes`] an arm is solved beside every prefix at hand whose values lie in its
//! box, also those that keep less, and the best place at its price is the arm's.
//!
//! All arms share one factorisation of the covariance matrix, and are solved side by side.

use std::sync::Arc;

use rayon::prelude::*;

use super::options::LossScale;
use super::priced::Priced;
use super::state::ROUNDING;
use crate::acquisition::{Best, MaximiseError, Maximiser, Region, Surface, Told};
use crate::bandit::Regions;
use crate::space::{Batch, Point, Space, StageSet};
use crate::strategy::StrategyError;
use crate::strategy::parts::prefix::Prefix;
use crate::surrogate::GaussianProcess;

/// The problems of all arms.
pub(super) struct Problems<'a> {
    pub(super) space: &'a Space,
    pub(super) gp: &'a GaussianProcess,
    pub(super) alpha: &'a Priced<'a>,
    pub(super) hints: &'a Batch,
    pub(super) effort: &'a Maximiser,
    /// Points that were tried.
    pub(super) told: &'a Arc<Told>,
    pub(super) anchors: From<'a>,
}

/// What the problems of arms start from.
pub(super) enum From<'a> {
    /// The previous point.
    Previous(Anchor<'a>),
    /// Every prefix at hand; the first keeps nothing.
    Prefixes(&'a [Prefix<'a>]),
}

/// The previous point as an anchor.
pub(super) struct Anchor<'a> {
    /// x^{t−1}.
    pub(super) point: &'a Point,
    /// The same in the unit cube.
    pub(super) u: &'a [f64],
    /// The modules that would run if it were tried again.
    pub(super) runs: StageSet,
    /// The region of each module that holds it.
    pub(super) held: &'a [Option<usize>],
    /// The first module that is always free.
    pub(super) free: usize,
}

/// The minimiser of one arm.
pub(super) struct Solved<'a> {
    /// The point, and minus α there.
    pub(super) best: Best,
    /// Where it was looked for.
    pub(super) region: Region<'a>,
    /// The point that early modules are kept from, if there is one.
    pub(super) from: Option<&'a Point>,
    /// The modules that are kept.
    pub(super) keeps: StageSet,
    /// The modules that run.
    pub(super) runs: StageSet,
}

impl<'a> Problems<'a> {
    /// Solves the problems of all live arms; dead ones, and those that turn out to hold no allowed point, have none.
    pub(super) fn solve(&self, regions: &Regions) -> Result<Vec<Option<Solved<'a>>>, StrategyError> {
        (0..regions.arms())
            .into_par_iter()
            .map(|arm| {
                if !regions.alive().get(arm).is_some_and(|alive| *alive) {
                    return Ok(None);
                }
                let Some((lower, upper)) = regions.corners(self.space, arm) else { return Ok(None) };
                match &self.anchors {
                    From::Previous(anchor) => {
                        let lazy = regions.first_difference(anchor.held, arm).min(anchor.free);
                        self.beside_previous(anchor, lazy, &lower, &upper)
                    }
                    From::Prefixes(prefixes) => self.beside_prefixes(prefixes, &lower, &upper),
                }
            })
            .collect()
    }

    fn beside_previous(
        &self,
        anchor: &Anchor<'a>,
        lazy: usize,
        lower: &[f64],
        upper: &[f64],
    ) -> Result<Option<Solved<'a>>, StrategyError> {
        // Forbidden regions and earlier trials may leave nothing beside the frozen values; then fewer modules are frozen.
        for first_free in (0..=lazy).rev() {
            let frozen = &anchor.u[..self.space.module_coordinates(first_free).start];
            let region = Region::of(self.space).beside(self.told).within(lower, upper)?.freeze(0, frozen)?;
            let keeps = StageSet::first(first_free);
            let free = StageSet::all(self.space.modules().len()).without(&keeps);
            let runs = anchor.runs.union(&free);
            if let Some(best) = self.maximise(&region, &runs)? {
                return Ok(Some(Solved { best, region, from: Some(anchor.point), keeps, runs }));
            }
        }
        Ok(None)
    }

    /// The best place at its price, among equals that which keeps least.
    fn beside_prefixes(
        &self,
        prefixes: &'a [Prefix<'a>],
        lower: &[f64],
        upper: &[f64],
    ) -> Result<Option<Solved<'a>>, StrategyError> {
        let mut found: Option<Solved<'a>> = None;
        for prefix in prefixes.iter().filter(|prefix| prefix.fits(self.space, lower, upper, ROUNDING)) {
            let region = prefix.region(self.space, self.told)?.within(lower, upper)?;
            let Some(best) = self.maximise(&region, &prefix.runs)? else { continue };
            if found.as_ref().is_none_or(|found| best.value > found.best.value || found.best.value.is_nan()) {
                let (from, keeps) = prefix.kept();
                found = Some(Solved { best, region, from, keeps, runs: prefix.runs.clone() });
            }
        }
        Ok(found)
    }

    /// The best place of a region, if it holds any that is allowed and new.
    fn maximise(&self, region: &Region<'a>, runs: &StageSet) -> Result<Option<Best>, StrategyError> {
        let alpha = self.alpha.at(runs)?;
        match self.effort.maximise(&Surface::new(self.gp, &alpha), region, self.hints) {
            Ok(best) => Ok(Some(best)),
            Err(MaximiseError::Forbidden(_) | MaximiseError::NothingAllowed) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
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
        LossScale::Gap => (loss - low).min(1.0),
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
