//! Trials: a point to run, the reports of its stages, and how it ended. The state is in the type.
//!
//! A [`Proposed`] trial is open. Its stages report ([`StageReport`]) what they cost and the numbers that they found. It ends ([`End`]) as an
//! [`Observed`] trial with a value, a [`Failed`] one with a reason, or [set aside](SetAside) without anything to learn from. No value
//! stands for a failure.

mod end;
mod report;

pub use end::End;
pub use report::{How, StageReport};

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::space::Point;

/// The number of a trial in its study, from 0 in the order asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TrialId(u64);

/// An open trial.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposed {
    id: TrialId,
    point: Point,
}

/// A trial that returned a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    id: TrialId,
    point: Point,
    value: f64,
    stages: Vec<Option<f64>>,
    reports: Vec<Option<StageReport>>,
}

/// A trial that returned none.
#[derive(Clone, Debug, PartialEq)]
pub struct Failed {
    id: TrialId,
    point: Point,
    reason: String,
    finished: usize,
    broke: Option<usize>,
    stages: Vec<Option<f64>>,
    reports: Vec<Option<StageReport>>,
}

/// A trial that nothing is learned from: it was abandoned or withdrawn.
#[derive(Clone, Debug, PartialEq)]
pub struct SetAside {
    id: TrialId,
    point: Point,
    reason: String,
    withdrawn: bool,
    /// How many stages, from the first on, had finished.
    finished: usize,
    reports: Vec<Option<StageReport>>,
}

/// A trial in any state.
#[derive(Clone, Debug, PartialEq)]
pub enum Trial {
    /// Still running.
    Proposed(Proposed),
    /// It has a value.
    Observed(Observed),
    /// It has none.
    Failed(Failed),
    /// It was abandoned or withdrawn: no result, and nothing to learn from.
    SetAside(SetAside),
}

/// What a trial became.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// A value.
    Observed(Observed),
    /// No value.
    Failed(Failed),
}

/// Why a trial cannot take an outcome.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TrialError {
    /// NaN, infinite or beyond 1e100.
    #[error(
        "trial {id}: the value {value} is not a usable number; tell a failure instead, or rescale the metric below 1e100"
    )]
    Value {
        /// The trial.
        id: TrialId,
        /// What it returned.
        value: f64,
    },
    /// A measured cost that is negative, infinite or NaN.
    #[error(
        "trial {id}: module {module} (from 0) is said to have cost {cost}; a cost is a finite number of at least 0"
    )]
    Cost {
        /// The trial.
        id: TrialId,
        /// The module.
        module: usize,
        /// What was measured.
        cost: f64,
    },
}

/// The largest size of a value: squares of it must be finite.
const MAX_VALUE: f64 = 1e100;

impl TrialId {
    /// Trial number `index`, counted from 0.
    pub fn new(index: u64) -> Self {
        Self(index)
    }

    /// The number, counted from 0.
    pub fn index(self) -> u64 {
        self.0
    }
}

impl fmt::Display for TrialId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Proposed {
    /// An open trial of this point.
    pub fn new(id: TrialId, point: Point) -> Self {
        Self { id, point }
    }

    /// Its number.
    pub fn id(&self) -> TrialId {
        self.id
    }

    /// What to run.
    pub fn point(&self) -> &Point {
        &self.point
    }

    /// The pipeline returned this value.
    pub fn observe(self, value: f64) -> Result<Observed, TrialError> {
        if value.abs() <= MAX_VALUE {
            Ok(Observed { id: self.id, point: self.point, value, stages: Vec::new(), reports: Vec::new() })
        } else {
            Err(TrialError::Value { id: self.id, value })
        }
    }

    /// The pipeline broke before any module had finished; see [`Failed::after`].
    pub fn fail(self, reason: impl Into<String>) -> Failed {
        Failed {
            id: self.id,
            point: self.point,
            reason: reason.into(),
            finished: 0,
            broke: None,
            stages: Vec::new(),
            reports: Vec::new(),
        }
    }
}

impl Observed {
    /// Its number.
    pub fn id(&self) -> TrialId {
        self.id
    }

    /// What was run.
    pub fn point(&self) -> &Point {
        &self.point
    }

    /// What it returned.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// The measured cost of each module that ran; empty if nobody measured.
    pub fn stages(&self) -> &[Option<f64>] {
        &self.stages
    }

    /// With what each module was measured to cost; `None` for those that did not run.
    pub fn measured(mut self, stages: Vec<Option<f64>>) -> Result<Self, TrialError> {
        check_stages(self.id, &stages)?;
        self.stages = stages;
        Ok(self)
    }

    /// What each stage reported; empty for a trial that no study has ended.
    pub fn reports(&self) -> &[Option<StageReport>] {
        &self.reports
    }

    /// With the reports of its stages, and what they cost.
    pub(crate) fn reported(mut self, reports: Vec<Option<StageReport>>) -> Self {
        self.stages = reported_costs(&reports);
        self.reports = reports;
        self
    }

    /// The same trial with the sign of its value turned, for a study that maximises.
    pub(crate) fn negated(self) -> Self {
        Self { value: -self.value, ..self }
    }
}

impl Failed {
    /// Its number.
    pub fn id(&self) -> TrialId {
        self.id
    }

    /// What was run.
    pub fn point(&self) -> &Point {
        &self.point
    }

    /// What went wrong.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// How many modules had finished: their outputs are at hand.
    pub fn finished(&self) -> usize {
        self.finished
    }

    /// The module that broke, where that was told; in a chain it is the one after those that had finished.
    pub fn broke(&self) -> Option<usize> {
        self.broke
    }

    /// The measured cost of each module that ran; empty if nobody measured.
    pub fn stages(&self) -> &[Option<f64>] {
        &self.stages
    }

    /// What each stage reported; empty for a trial that no study has ended.
    pub fn reports(&self) -> &[Option<StageReport>] {
        &self.reports
    }

    /// With the reports of its stages, and what they cost.
    pub(crate) fn reported(mut self, reports: Vec<Option<StageReport>>) -> Self {
        self.stages = reported_costs(&reports);
        self.reports = reports;
        self
    }

    /// The first `finished` modules had run to their end before the failure.
    pub fn after(self, finished: usize) -> Self {
        Self { finished, ..self }
    }

    /// This module broke, counted from 0. In a graph it need not be the first that has not finished: another branch may have been waiting.
    pub fn broken_in(self, module: usize) -> Self {
        Self { broke: Some(module), ..self }
    }

    /// With what each module was measured to cost; `None` for those that did not run.
    pub fn measured(mut self, stages: Vec<Option<f64>>) -> Result<Self, TrialError> {
        check_stages(self.id, &stages)?;
        self.stages = stages;
        Ok(self)
    }
}

impl SetAside {
    pub(crate) fn new(id: TrialId, point: Point, reason: impl Into<String>, withdrawn: bool) -> Self {
        Self { id, point, reason: reason.into(), withdrawn, finished: 0, reports: Vec::new() }
    }

    /// With what its stages reported, of which the first so many had finished.
    pub(crate) fn reported(self, reports: Vec<Option<StageReport>>, finished: usize) -> Self {
        Self { reports, finished, ..self }
    }

    /// What each stage reported; nothing of a trial that was withdrawn.
    pub fn reports(&self) -> &[Option<StageReport>] {
        &self.reports
    }

    /// How many stages, from the first on, had finished.
    pub fn finished(&self) -> usize {
        self.finished
    }

    /// Its number.
    pub fn id(&self) -> TrialId {
        self.id
    }

    /// What was run, as far as it was.
    pub fn point(&self) -> &Point {
        &self.point
    }

    /// Why it was set aside.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// Whether it was withdrawn, as if it had never been, and not abandoned.
    pub fn is_withdrawn(&self) -> bool {
        self.withdrawn
    }
}

impl Trial {
    /// Its number.
    pub fn id(&self) -> TrialId {
        match self {
            Self::Proposed(trial) => trial.id,
            Self::Observed(trial) => trial.id,
            Self::Failed(trial) => trial.id,
            Self::SetAside(trial) => trial.id,
        }
    }

    /// What is or was run.
    pub fn point(&self) -> &Point {
        match self {
            Self::Proposed(trial) => &trial.point,
            Self::Observed(trial) => &trial.point,
            Self::Failed(trial) => &trial.point,
            Self::SetAside(trial) => &trial.point,
        }
    }

    /// Whether it is still running.
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Proposed(_))
    }

    /// Whether it failed.
    pub fn is_failed(&self) -> bool {
        matches!(self, Self::Failed(_))
    }

    /// Whether it was withdrawn, as if it had never been.
    pub fn is_withdrawn(&self) -> bool {
        matches!(self, Self::SetAside(trial) if trial.withdrawn)
    }

    /// Whether it has a result to learn from: a value, or a failure.
    pub fn is_told(&self) -> bool {
        matches!(self, Self::Observed(_) | Self::Failed(_))
    }

    /// Its value, if it has one.
    pub fn value(&self) -> Option<f64> {
        if let Self::Observed(trial) = self { Some(trial.value) } else { None }
    }
}

impl Outcome {
    /// The trial's number.
    pub fn id(&self) -> TrialId {
        match self {
            Self::Observed(trial) => trial.id,
            Self::Failed(trial) => trial.id,
        }
    }

    /// What was run.
    pub fn point(&self) -> &Point {
        match self {
            Self::Observed(trial) => &trial.point,
            Self::Failed(trial) => &trial.point,
        }
    }

    /// The measured cost of each module that ran; empty if nobody measured.
    pub fn stages(&self) -> &[Option<f64>] {
        match self {
            Self::Observed(trial) => &trial.stages,
            Self::Failed(trial) => &trial.stages,
        }
    }
}

impl From<Observed> for Outcome {
    fn from(trial: Observed) -> Self {
        Self::Observed(trial)
    }
}

impl From<Failed> for Outcome {
    fn from(trial: Failed) -> Self {
        Self::Failed(trial)
    }
}

impl From<Outcome> for Trial {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Observed(trial) => Self::Observed(trial),
            Outcome::Failed(trial) => Self::Failed(trial),
        }
    }
}

/// What stages said that they cost, in order; `None` for those that did not say.
fn reported_costs(reports: &[Option<StageReport>]) -> Vec<Option<f64>> {
    reports.iter().map(|report| report.as_ref().and_then(|report| report.cost)).collect()
}

fn check_stages(id: TrialId, stages: &[Option<f64>]) -> Result<(), TrialError> {
    let bad = |cost: &Option<f64>| cost.is_some_and(|c| !(c.is_finite() && c >= 0.0));
    match stages.iter().position(bad) {
        Some(module) => Err(TrialError::Cost { id, module, cost: stages[module].unwrap_or(f64::NAN) }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
