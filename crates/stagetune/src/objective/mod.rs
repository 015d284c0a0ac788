//! What a study is after: goals to reach and bounds to keep, over the numbers that stages report.
//!
//! A [`Metric`] names a number of a stage: `f1` is one of the last stage, `train.loss` one of the stage `train`. For now a study has exactly
//! one [`Goal`] and no [`Bound`]; the types hold several so that files and events need not change when strategies can.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What is better: the one place where values change their sign is the edge of the study.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Lower values.
    #[default]
    Minimize,
    /// Higher values.
    Maximize,
}

/// A number that a stage reports.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", from = "String")]
pub struct Metric {
    /// The stage; the last one where none is named.
    stage: Option<String>,
    name: String,
}

/// A metric to improve.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Goal {
    /// What to improve.
    pub metric: Metric,
    /// Which way.
    pub direction: Direction,
}

/// A metric that must stay on one side of a number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    /// What is bounded.
    pub metric: Metric,
    /// The least that is allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_least: Option<f64>,
    /// The most that is allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
}

/// All goals and bounds of a study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Objectives {
    /// What to improve.
    pub goals: Vec<Goal>,
    /// What to keep.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<Bound>,
}

/// Why objectives cannot be pursued.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectiveError {
    /// Not exactly one goal.
    #[error("the study has {found} goals; this release pursues exactly one")]
    Goals {
        /// How many were given.
        found: usize,
    },
    /// A bound.
    #[error(
        "the study has a constraint on `{metric}`; this release cannot keep constraints yet: leave it out"
    )]
    Constraint {
        /// What it bounds.
        metric: Metric,
    },
    /// A metric of a stage that is not there.
    #[error(
        "the metric `{metric}` belongs to the stage `{stage}`, which the study does not have; name one of: {known}"
    )]
    Stage {
        /// The metric.
        metric: Metric,
        /// Its stage.
        stage: String,
        /// The stages that there are.
        known: String,
    },
    /// A metric without a name.
    #[error("a metric has no name; name a number that a stage reports, such as `f1` or `train.loss`")]
    NoName,
}

/// The name of the metric where a program asks and tells and has no names.
const VALUE: &str = "value";

impl Direction {
    /// A value between the user's direction and the engine's, either way.
    pub(crate) fn turned(self, value: f64) -> f64 {
        match self {
            Self::Minimize => value,
            Self::Maximize => -value,
        }
    }

    /// Whether `a` is strictly better than `b`.
    pub fn is_better(self, a: f64, b: f64) -> bool {
        match self {
            Self::Minimize => a < b,
            Self::Maximize => a > b,
        }
    }

    /// The word for it in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Minimize => "minimize",
            Self::Maximize => "maximize",
        }
    }
}

impl Metric {
    /// A number of the last stage.
    pub fn of_last(name: impl Into<String>) -> Self {
        Self { stage: None, name: name.into() }
    }

    /// A number of a stage.
    pub fn of(stage: impl Into<String>, name: impl Into<String>) -> Self {
        Self { stage: Some(stage.into()), name: name.into() }
    }

    /// The stage; `None` is the last one.
    pub fn stage(&self) -> Option<&str> {
        self.stage.as_deref()
    }

    /// The number's name in the stage's report.
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// `f1`, or `train.loss`: what stands before the first dot is the stage.
impl From<String> for Metric {
    fn from(text: String) -> Self {
        match text.split_once('.') {
            Some((stage, name)) if !stage.is_empty() && !name.is_empty() => Self::of(stage, name),
            _ => Self::of_last(text),
        }
    }
}

impl From<Metric> for String {
    fn from(metric: Metric) -> Self {
        metric.to_string()
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.stage {
            Some(stage) => write!(f, "{stage}.{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

impl Default for Objectives {
    fn default() -> Self {
        Self::one(Metric::of_last(VALUE), Direction::default())
    }
}

impl Objectives {
    /// One goal and no bound.
    pub fn one(metric: Metric, direction: Direction) -> Self {
        Self { goals: vec![Goal { metric, direction }], constraints: Vec::new() }
    }

    /// The one goal, checked against the names of the stages.
    pub fn only_goal(&self, stages: &[&str]) -> Result<&Goal, ObjectiveError> {
        let [goal] = self.goals.as_slice() else {
            return Err(ObjectiveError::Goals { found: self.goals.len() });
        };
        if let Some(bound) = self.constraints.first() {
            return Err(ObjectiveError::Constraint { metric: bound.metric.clone() });
        }
        if goal.metric.name.is_empty() {
            return Err(ObjectiveError::NoName);
        }
        match goal.metric.stage() {
            Some(stage) if !stages.contains(&stage) => Err(ObjectiveError::Stage {
                metric: goal.metric.clone(),
                stage: stage.to_owned(),
                known: stages.join(", "),
            }),
            _ => Ok(goal),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_is_read_as_it_is_written() {
        for (text, stage, name) in [
            ("f1", None, "f1"),
            ("train.loss", Some("train"), "loss"),
            ("train.loss.mean", Some("train"), "loss.mean"),
            (".loss", None, ".loss"),
            ("loss.", None, "loss."),
        ] {
            let metric = Metric::from(text.to_owned());
            assert_eq!((metric.stage(), metric.name()), (stage, name));
            assert_eq!(serde_json::to_string(&metric).unwrap(), format!("{text:?}"));
        }
    }

    #[test]
    fn exactly_one_goal_of_a_known_stage_and_no_constraint_is_accepted() {
        let goal = |metric: &str| Goal { metric: metric.to_owned().into(), direction: Direction::Maximize };
        let check = |goals: Vec<Goal>, constraints: Vec<Bound>| {
            let objectives = Objectives { goals, constraints };
            objectives.only_goal(&["load", "train"]).map(|goal| goal.metric.to_string())
        };
        assert_eq!(check(vec![goal("train.loss")], vec![]), Ok("train.loss".into()));
        assert_eq!(check(vec![], vec![]), Err(ObjectiveError::Goals { found: 0 }));
        assert_eq!(check(vec![goal("a"), goal("b")], vec![]), Err(ObjectiveError::Goals { found: 2 }));
        assert_eq!(check(vec![goal("")], vec![]), Err(ObjectiveError::NoName));
        let error = check(vec![goal("tran.loss")], vec![]).unwrap_err().to_string();
        assert!(error.contains("`tran`") && error.contains("load, train"), "{error}");
        let bound = Bound { metric: Metric::of_last("ms"), at_least: None, at_most: Some(50.0) };
        let error = check(vec![goal("f1")], vec![bound]).unwrap_err().to_string();
        assert!(error.contains("`ms`"), "{error}");
    }
}
