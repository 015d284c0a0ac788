//! A space as data: what is written into a log, and what two studies are compared by.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Cost, Domain, Param, Space, Wiring};

/// A space as data. Equal descriptions mean that the trials of one study are trials of the other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SpaceDescription {
    /// The stages in order.
    pub stages: Vec<StageDescription>,
    /// Conditions that no point may meet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forbid: Vec<String>,
}

/// A stage as data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StageDescription {
    /// Its name.
    pub name: String,
    /// What a run of it costs.
    pub cost: CostDescription,
    /// The stages that it needs directly; nothing is said in a chain, where it is the one before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Vec<String>>,
    /// What can be tuned.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub params: Vec<ParamDescription>,
    /// Where its parameters are cut into regions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cuts: Vec<String>,
}

/// What a run of a stage costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CostDescription {
    /// Always the same.
    Given(f64),
    /// Measured at every run.
    Measured,
    /// Nobody knows.
    Unknown,
}

/// A parameter as data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ParamDescription {
    /// Its name.
    pub name: String,
    /// What it can be.
    #[serde(flatten)]
    pub domain: DomainDescription,
}

/// What a parameter can be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum DomainDescription {
    /// A number between two others.
    Float {
        /// The least.
        low: f64,
        /// The greatest.
        high: f64,
        /// Whether it is spread over orders of magnitude.
        #[serde(default, skip_serializing_if = "is_false")]
        log: bool,
    },
    /// A whole number.
    Int {
        /// The least.
        low: i64,
        /// The greatest.
        high: i64,
        /// Between neighbours.
        step: i64,
        /// Whether it is spread over orders of magnitude.
        #[serde(default, skip_serializing_if = "is_false")]
        log: bool,
    },
    /// One of several texts.
    Choice {
        /// The texts.
        values: Vec<String>,
    },
    /// True or false.
    Bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

impl Space {
    /// The space as data.
    pub fn describe(&self) -> SpaceDescription {
        let modules = self.modules().iter().enumerate();
        let stages = modules.map(|(m, module)| StageDescription {
            name: module.name().to_string(),
            cost: match module.cost_kind() {
                Cost::Given(cost) => CostDescription::Given(cost),
                Cost::Measured => CostDescription::Measured,
                Cost::Unknown => CostDescription::Unknown,
            },
            after: self.named_needs(m),
            params: module.params().iter().map(param).collect(),
            cuts: self.cuts(m).iter().map(|cut| cut.to_string()).collect(),
        });
        let forbid = self.forbidden().iter().map(|condition| condition.source().trim().to_owned());
        SpaceDescription { stages: stages.collect(), forbid: forbid.collect() }
    }

    /// The names of what a stage of a graph needs.
    fn named_needs(&self, m: usize) -> Option<Vec<String>> {
        if *self.wiring() == Wiring::Chain {
            return None;
        }
        let name = |k: usize| self.modules().get(k).map(|module| module.name().to_string());
        Some(self.wiring().needs(m).into_iter().filter_map(name).collect())
    }
}

impl SpaceDescription {
    /// The first thing that differs, as each side has it; `None` where they are the same.
    pub fn first_difference(&self, other: &Self) -> Option<(String, String)> {
        if self == other {
            return None;
        }
        let (ours, theirs) = (self.lines(), other.lines());
        let at = ours.iter().zip(&theirs).position(|(a, b)| a != b).unwrap_or(ours.len().min(theirs.len()));
        let show = |lines: &[String]| lines.get(at).map_or("at its end".into(), |line| format!("`{line}`"));
        Some((show(&ours), show(&theirs)))
    }

    /// One line for each stage, parameter, cut and condition.
    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for stage in &self.stages {
            lines.push(format!("stage {}, cost {}", stage.name, stage.cost));
            if let Some(after) = &stage.after {
                let needs = if after.is_empty() { "nothing".to_owned() } else { after.join(" ") };
                lines.push(format!("after {needs}"));
            }
            lines.extend(stage.params.iter().map(ToString::to_string));
            lines.extend(stage.cuts.iter().map(|cut| format!("cut {cut}")));
        }
        lines.extend(self.forbid.iter().map(|condition| format!("forbid {condition}")));
        lines
    }
}

impl fmt::Display for CostDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given(cost) => write!(f, "{cost}"),
            Self::Measured => f.write_str("measured"),
            Self::Unknown => f.write_str("unknown"),
        }
    }
}

impl fmt::Display for ParamDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "param {}, ", self.name)?;
        let log = |log: bool| if log { " log" } else { "" };
        match &self.domain {
            DomainDescription::Float { low, high, log: is_log } => {
                write!(f, "float {low} to {high}{}", log(*is_log))
            }
            DomainDescription::Int { low, high, step, log: is_log } => {
                write!(f, "int {low} to {high} step {step}{}", log(*is_log))
            }
            DomainDescription::Choice { values } => write!(f, "choice of {}", values.join(", ")),
            DomainDescription::Bool => f.write_str("bool"),
        }
    }
}

fn param(param: &Param) -> ParamDescription {
    let domain = match param.domain() {
        Domain::Float(range) => {
            DomainDescription::Float { low: range.low(), high: range.high(), log: range.is_log() }
        }
        Domain::Int(range) => DomainDescription::Int {
            low: range.low(),
            high: range.high(),
            step: range.step(),
            log: range.is_log(),
        },
        Domain::Choice(values) => {
            DomainDescription::Choice { values: values.iter().map(|value| value.to_string()).collect() }
        }
        Domain::Bool => DomainDescription::Bool,
    };
    ParamDescription { name: param.name().to_string(), domain }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Module;

    fn space(high: f64) -> Space {
        let first = Module::new("load", [Param::float("x", 0.5, high).unwrap().log().unwrap()]).unwrap();
        let second = [Param::int("n", 2, 14).unwrap().step(2).unwrap(), Param::bool("b").unwrap()];
        let second = Module::new("fit", second).unwrap().cost(Cost::Given(0.1)).unwrap();
        let third = Module::new("score", [Param::choice("c", ["a", "b c"]).unwrap()]).unwrap();
        let third = third.cost(Cost::Measured).unwrap();
        let second = second.cut("n", [8.0]).unwrap().forbid("n > 10 and b").unwrap();
        Space::new([first, second, third]).unwrap().forbid("x > 1 and n < 4").unwrap()
    }

    #[test]
    fn it_says_all_that_makes_two_spaces_different_and_survives_json() {
        let described = space(2.0).describe();
        let expected = [
            "stage load, cost unknown",
            "param x, float 0.5 to 2 log",
            "stage fit, cost 0.1",
            "param n, int 2 to 14 step 2",
            "param b, bool",
            "cut n < 8",
            "stage score, cost measured",
            "param c, choice of a, b c",
            "forbid n > 10 and b",
            "forbid x > 1 and n < 4",
        ];
        assert_eq!(described.lines(), expected);
        let text = serde_json::to_string(&described).unwrap();
        assert_eq!(serde_json::from_str::<SpaceDescription>(&text).unwrap(), described);
    }

    #[test]
    fn a_graph_says_what_each_stage_needs_and_a_chain_does_not() {
        let graph = space(2.0).wired(&[vec![], vec![], vec![0, 1]]).unwrap().describe();
        let after: Vec<_> = graph.stages.iter().map(|stage| stage.after.clone().unwrap()).collect();
        assert_eq!(after, [vec![], vec![], vec!["load".to_owned(), "fit".to_owned()]]);
        let chain = space(2.0).wired(&[vec![], vec![0], vec![1]]).unwrap();
        assert_eq!(chain.describe(), space(2.0).describe());
    }

    #[test]
    fn the_first_thing_that_differs_is_shown() {
        let (a, b) = (space(2.0).describe(), space(3.0).describe());
        let shown = ("`param x, float 0.5 to 2 log`".into(), "`param x, float 0.5 to 3 log`".into());
        assert_eq!(a.first_difference(&b), Some(shown));
        assert_eq!(a.first_difference(&a), None);
        let mut longer = a.clone();
        longer.forbid.push("b".into());
        assert_eq!(a.first_difference(&longer), Some(("at its end".into(), "`forbid b`".into())));
    }
}
