//! The settings of LaMBO, and where each default comes from.
//!
//! [`LamboOptions::paper`] holds the values of the paper's experiments. [`LamboOptions::default`] changes those that measured better;
//! `experiments/lambo/` has the measurements.

use serde::{Deserialize, Serialize};

use super::alpha::Alpha;
use super::state::tunable;
use super::theory::Theory;
use crate::acquisition::{Beta, Maximiser};
use crate::bandit::{MAX_HEIGHT, Partition};
use crate::space::Space;
use crate::strategy::{Design, ModelOptions, StrategyError};

/// The settings of LaMBO.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LamboOptions {
    /// Where to start. Paper: 15 random points ("initialized it using 15 random samples", §5).
    pub design: Design,
    /// The model. Paper: squared exponential kernel, maximum likelihood every 25 iterations, noise of standard deviation 0.01 (§5).
    pub model: ModelOptions,
    /// α_t, whose minimum over an arm is the arm's loss. Paper: μ − β_t s with β_t = 0.2 D ln(2t) (§5).
    pub alpha: Alpha,
    /// How losses reach the bandit. The paper does not say; its proofs need [0, 1], which rescaling gives.
    pub losses: LossScale,
    /// η, the learning rate of the bandit. Paper: 1 (§5).
    pub eta: f64,
    /// The first partition of each module but the last. Paper: two halves on a random coordinate (§5).
    pub partition: FirstPartition,
    /// d_m, how deep each module sits in the tree. Paper: 1 (§5).
    pub depths: Depths,
    /// When arms are dropped. Paper: p below 0.1/|K| for 10 iterations in a row (§3; its supplement has 0.2/|K|).
    pub abandon: Option<Abandon>,
    /// How often regions are bisected after an abandonment. Paper: "typically do not go beyond two stages" (§3).
    pub refinements: usize,
    /// Iterations after which all arms are equally likely again. Paper: 25 (§3).
    pub refresh_every: Option<usize>,
    /// When the first module sinks deeper into the tree. Paper: every 20 iterations, if it changed more than 5 times (§3).
    pub growth: Option<Growth>,
    /// λ, what a unit of cost is worth in units of the metric; used by depths from costs and by theory mode. Paper: 0.1 (§5).
    pub lambda: f64,
    /// Losses added to regions where a condition holds, after `losses` has scaled them (supplement, "prior scores").
    pub scores: Vec<(String, f64)>,
    /// Settings for a known horizon, which take the place of η, β_t, partition and depths and switch off the rules for unknown ones.
    pub theory: Option<Theory>,
    /// More arms than this are never made: each is an optimisation problem per iteration. Modules that would exceed it move freely with the
    /// last one, and are not bisected further. Ours: 64.
    pub max_arms: usize,
    /// How hard to look inside one arm. Ours: enough for losses within a thousandth of those of a search twenty times as hard, in nine
    /// arms of ten. Where there are no arms, the default maximiser looks through the whole space.
    pub effort: Maximiser,
    /// Beside which values an arm is solved. Paper: the previous point's, as many as the arm allows (§3).
    pub anchors: Anchors,
}

/// Beside which values an arm is solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Anchors {
    /// The previous point's: modules before the first whose region changes stay as they are.
    Previous,
    /// Every prefix at hand that lies in the arm, the empty one included, and the best at its price is taken: early modules may move inside a region
    /// where that is worth it. At hand is the previous point, and with a cache the five best as well. An α that does not know costs, or costs that
    /// nobody knows, would never keep anything: there this is `Previous`.
    Prefixes,
}

/// How the losses of arms reach the bandit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum LossScale {
    /// As they are, in the metric's units.
    Raw,
    /// Mapped so that `low` is 0 and `high` is 1, and clipped there: for metrics of a known range and an α in their units.
    ///
    /// The engine minimises: a metric of [0, 1] that is maximised lives in [−1, 0].
    Clip {
        /// The lowest value that the metric takes, minimised.
        low: f64,
        /// The highest.
        high: f64,
    },
    /// Mapped to [0, 1] by the lowest and the highest of the arms.
    Rescale,
    /// How far above the lowest of the arms, in the units of what is maximised (standard deviations of the values for bounds and indices, a factor
    /// of e for logarithms), and at most 1: arms that are nearly as good as the best lose hardly anything.
    Gap,
}

/// The first partition of the modules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FirstPartition {
    /// The user's cuts where a module has any, else two halves on a random coordinate.
    Bisect,
    /// The user's cuts where a module has any, else halves until no box has a larger Euclidean diameter in the unit cube.
    Diameter(f64),
}

/// How deep modules sit in the tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Depths {
    /// The same for every module.
    All(usize),
    /// One for each module but the last.
    Each(Vec<usize>),
    /// ln(λ c_m), rounded and kept in 1..=5, the range in which the paper found its results robust; 1 for a module whose cost nobody has
    /// measured by the end of the starting design.
    FromCosts,
}

/// When arms are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Abandon {
    /// Below this probability times the number of arms an arm is weak.
    pub below: f64,
    /// Iterations in a row that an arm may be weak.
    pub after: usize,
}

/// When the first module sinks deeper into the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Growth {
    /// Iterations between looks.
    pub every: usize,
    /// Changes of the first module in between that are still fine.
    pub more_than: usize,
}

impl LamboOptions {
    /// The paper's experiments.
    pub fn paper() -> Self {
        Self {
            design: Design::Uniform(15),
            model: ModelOptions::paper(),
            alpha: Alpha::Lcb(Beta::Printed),
            losses: LossScale::Rescale,
            eta: 1.0,
            partition: FirstPartition::Bisect,
            depths: Depths::All(1),
            abandon: Some(Abandon { below: 0.1, after: 10 }),
            refinements: 2,
            refresh_every: Some(25),
            growth: Some(Growth { every: 20, more_than: 5 }),
            lambda: 0.1,
            scores: Vec::new(),
            theory: None,
            max_arms: 64,
            effort: Maximiser { raw: 128, near_hints: 48, starts: 4, max_evaluations: 60, seed: 0 },
            anchors: Anchors::Previous,
        }
    }

    pub(super) fn check(&self, space: &Space) -> Result<(), StrategyError> {
        let last = space.modules().len().saturating_sub(1);
        let refuse = |option, problem: String| Err(StrategyError::Option { option, problem });
        if let Err(error) = self.design.check() {
            return refuse("design", error.to_string());
        }
        self.model.check()?;
        self.alpha.check()?;
        for (option, value) in [("eta", self.eta), ("lambda", self.lambda)] {
            if !(value.is_finite() && value > 0.0) {
                return refuse(option, format!("it is {value}; give a finite number above 0"));
            }
        }
        for (option, period) in [
            ("refresh_every", self.refresh_every),
            ("growth.every", self.growth.map(|growth| growth.every)),
            ("abandon.after", self.abandon.map(|abandon| abandon.after)),
        ] {
            if period == Some(0) {
                return refuse(
                    option,
                    "it counts iterations and is at least 1; use none to switch it off".into(),
                );
            }
        }
        if let Some(abandon) = self.abandon
            && !(0.0..1.0).contains(&abandon.below)
        {
            return refuse(
                "abandon.below",
                format!("it is {}; give a share from 0 to below 1", abandon.below),
            );
        }
        if let FirstPartition::Diameter(diameter) = self.partition
            && !(diameter > 0.0)
        {
            return refuse("partition", format!("the diameter is {diameter}; give a number above 0"));
        }
        if let LossScale::Clip { low, high } = self.losses {
            if !(low.is_finite() && high.is_finite() && low < high) {
                return refuse(
                    "losses",
                    format!("clipping between {low} and {high}; give a range of finite numbers"),
                );
            }
            if !self.alpha.has_units() {
                let problem = format!(
                    "{:?} has no range to clip to; use Rescale, or a confidence bound as alpha",
                    self.alpha
                );
                return refuse("losses", problem);
            }
        }
        if let Some((condition, score)) = self.scores.iter().find(|(_, score)| !score.is_finite()) {
            return refuse("scores", format!("`{condition}` has the score {score}; give a finite number"));
        }
        match &self.depths {
            Depths::All(0) => return refuse("depths", "depths start at 1".into()),
            Depths::Each(depths) if depths.len() != last || depths.contains(&0) => {
                let problem = format!(
                    "{depths:?} for {last} modules before the last; give a number of at least 1 for each"
                );
                return refuse("depths", problem);
            }
            Depths::All(_) | Depths::Each(_) | Depths::FromCosts => {}
        }
        if self.max_arms == 0 {
            return refuse("max_arms", "there is at least one arm".into());
        }
        if self.height(space) > MAX_HEIGHT {
            let problem =
                format!("{:?} make a tree of more than {MAX_HEIGHT} levels; make them smaller", self.depths);
            return refuse("depths", problem);
        }
        if self.arms_of_cuts(space)? > self.max_arms {
            let problem =
                format!("the cuts make more than {} arms; cut fewer modules or raise it", self.max_arms);
            return refuse("max_arms", problem);
        }
        match self.theory {
            Some(theory) => theory.check(),
            None => Ok(()),
        }
    }
}

impl LamboOptions {
    /// The highest that the tree can be at first.
    fn height(&self, space: &Space) -> usize {
        // Modules that are divided have two regions at least, and depths from costs and theory stay small.
        let modules = tunable(space).len().saturating_sub(1).min(self.max_arms.max(2).ilog2() as usize);
        match &self.depths {
            Depths::All(depth) => depth.saturating_mul(modules),
            Depths::Each(depths) => depths.iter().fold(0, |sum: usize, d| sum.saturating_add(*d)),
            Depths::FromCosts => 0,
        }
    }

    /// Arms up to the last module that the user has cut, if the others before it are halved.
    fn arms_of_cuts(&self, space: &Space) -> Result<usize, StrategyError> {
        let tunable = tunable(space);
        let divided = tunable.split_last().map_or(&[][..], |(_, divided)| divided);
        let Some(last_cut) = divided.iter().rposition(|m| !space.cuts(*m).is_empty()) else { return Ok(1) };
        let mut arms = 1usize;
        for &m in &divided[..=last_cut] {
            let cells = if space.cuts(m).is_empty() { 2 } else { Partition::by_cuts(space, m)?.len() };
            arms = arms.saturating_mul(cells);
        }
        Ok(arms)
    }
}

impl Default for LamboOptions {
    /// The settings that measured best. `experiments/lambo/improved.md` has the figures of the last two, `settings.json` beside it those of the others:
    ///
    /// - a nested start, which buys 15 points for the price of 6 or fewer: the largest single gain;
    /// - the modern model instead of maximum likelihood every 25 iterations: the second largest;
    /// - the Gittins index at the price of what runs, beside every prefix at hand, instead of √β_t beside the previous point: over eight problems the geometric
    ///   mean of the cost to a regret of 0.05 fell from 14.3 to 12.1 full runs and that of the final regret from 0.0126 to 0.0056, with 159 trials instead of
    ///   208; expected improvement per cost does about as well (12.9 and 0.0053), but not with a cache (24.5 full runs; the index 12.9, before 32.0);
    /// - losses as gaps and no abandonment: a region that was dropped too early never came back, and the final regret of five problems was 0.0209
    ///   with abandonment and rescaled losses, 0.0157 with neither.
    fn default() -> Self {
        Self {
            design: Design::Nested { points: 15, every: 3 },
            model: ModelOptions::modern(),
            alpha: Alpha::GittinsPerCost { lambda: 0.1, decay: 0.5 },
            losses: LossScale::Gap,
            abandon: None,
            anchors: Anchors::Prefixes,
            ..Self::paper()
        }
    }
}
