//! Why a point was proposed, in numbers and in words.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{StrategyError, View};
use crate::space::Point;

/// Why a point was proposed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Why {
    /// What chose it.
    pub source: Source,
    /// The first module whose output is not at hand, counted from 0; `None` if all are.
    pub first_changed: Option<usize>,
    /// Its name.
    pub first_changed_module: Option<String>,
    /// The name of the first module that runs: the same one, or the last module where its result is wanted anew.
    pub first_to_run: Option<String>,
    /// What the run is expected to cost, if costs are known.
    pub expected_cost: Option<f64>,
    /// What the model expects there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub belief: Option<Belief>,
    /// Where the bandit went, for strategies that have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<ArmChoice>,
}

/// What chose a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Source {
    /// The starting design, or chance where there is nothing to learn from yet.
    Design,
    /// Chance, by the strategy's rule.
    Random,
    /// The model.
    Model,
    /// Chance near what the model wanted, which is being tried already: for a strategy with arms, inside the arm.
    Spread,
    /// Chance anywhere, for the same reason.
    Elsewhere,
    /// The model, outside the arm that was drawn: nothing in it is allowed and new.
    Beyond,
}

impl Source {
    /// Whether the point need not lie in the arm that was drawn.
    pub(super) fn is_outside(self) -> bool {
        matches!(self, Self::Elsewhere | Self::Beyond)
    }

    /// Whether the model had a say.
    pub fn is_model(self) -> bool {
        matches!(self, Self::Model | Self::Spread | Self::Elsewhere | Self::Beyond)
    }
}

/// The posterior at the point in the metric's units, and the acquisition value.
///
/// A strategy says it of the minimised metric; a study turns it to the user's direction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Belief {
    /// Posterior mean.
    pub mean: f64,
    /// Posterior standard deviation.
    pub sd: f64,
    /// The acquisition value that was maximised, in the model's units.
    pub acquisition: f64,
}

/// Where the slowly moving bandit stands in the module tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArmChoice {
    /// Iterations of the bandit so far, this one included.
    pub iteration: usize,
    /// The arm drawn: a joint region of all modules but the last.
    pub arm: usize,
    /// The modules that are divided into regions, counted from 0; the lists below have an entry for each.
    pub modules: Vec<usize>,
    /// The arm's region of each.
    pub regions: Vec<usize>,
    /// What those regions are, in the parameters' own values.
    pub boxes: Vec<String>,
    /// The level of the subtree that the arm was drawn from; 0 keeps the arm, the tree's height allows any.
    pub level: usize,
    /// The tree's height.
    pub height: usize,
    /// The depth of each in the tree.
    pub depths: Vec<usize>,
    /// Regions of each.
    pub regions_per_module: Vec<usize>,
    /// How often regions were dropped or bisected; arms of different partitions have nothing in common.
    pub partition: usize,
    /// The first module that was free to move: earlier ones kept the values of the previous point, or of a cached one, bit for bit. Where chance
    /// left the arm, the first that did move.
    pub first_free: usize,
    /// p_t of every arm, from which this one was drawn.
    pub probabilities: Vec<f64>,
    /// The loss of every arm, as the bandit takes it.
    pub losses: Vec<f64>,
}

impl Why {
    /// What can be said of any point.
    pub fn of(view: &View<'_>, point: &Point, source: Source) -> Result<Self, StrategyError> {
        let movement = view.movement(point)?;
        let name = |m: usize| view.space.modules().get(m).map(|module| module.name().to_string());
        Ok(Self {
            source,
            first_changed: movement.first_changed,
            first_changed_module: movement.first_changed.and_then(name),
            first_to_run: movement.runs.lowest().and_then(name),
            expected_cost: view.expected_cost(&movement),
            belief: None,
            arm: None,
        })
    }
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.first_to_run, &self.first_changed) {
            (Some(name), Some(_)) => write!(f, "first to run: {name}")?,
            (Some(name), None) => write!(f, "the same point again: only {name} runs")?,
            (None, _) => write!(f, "nothing to run")?,
        }
        if let Some(cost) = self.expected_cost {
            write!(f, ", expected cost {}", (cost * 1e4).round() / 1e4)?;
        }
        match self.source {
            Source::Design => write!(f, "; starting design")?,
            Source::Random => write!(f, "; by chance")?,
            Source::Model => {}
            Source::Spread => write!(f, "; by chance near the model's choice, which is being tried already")?,
            Source::Elsewhere => write!(f, "; by chance, since the model's choice is being tried already")?,
            Source::Beyond => write!(f, "; outside the arm, which holds nothing new that is allowed")?,
        }
        if let Some(belief) = &self.belief {
            write!(f, "; expects {:.4} ± {:.4}", belief.mean, belief.sd)?;
        }
        if let Some(arm) = &self.arm {
            write!(f, "; {arm}")?;
        }
        Ok(())
    }
}

/// Probabilities of more arms than this say nothing on a line.
const SHOWN: usize = 16;

impl fmt::Display for ArmChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let p = |arm: usize| self.probabilities.get(arm).copied().unwrap_or(0.0);
        write!(f, "arm {} of 0 to {} (", self.arm, self.probabilities.len().saturating_sub(1))?;
        for (i, region) in self.boxes.iter().enumerate() {
            write!(f, "{}{region}", if i == 0 { "" } else { "; " })?;
        }
        write!(f, ") with p = {:.3}, drawn at level {} of {}", p(self.arm), self.level, self.height)?;
        if self.probabilities.len() > SHOWN {
            return Ok(());
        }
        write!(f, "; p = [")?;
        for arm in 0..self.probabilities.len() {
            write!(f, "{}{:.3}", if arm == 0 { "" } else { ", " }, p(arm))?;
        }
        write!(f, "]")
    }
}
