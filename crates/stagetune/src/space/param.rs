//! One parameter: its name, the values it can take, and how many coordinates of the unit cube code it.
//!
//! | parameter | coordinates | code |
//! | --- | --- | --- |
//! | float | 1 | position on its scale |
//! | int | 1 | centre of its cell |
//! | bool, choice of two | 1 | 0 or 1, decoded at ½ |
//! | choice of one | 1 | ½ |
//! | choice of three or more | one per value | 1 for the value, 0 for the others: an order would invent neighbours |
//! | choice of more than [`LARGE_CHOICE`] | 1 | centre of its cell; kernels only ask whether two values are the same |

use std::sync::Arc;

use super::float::FloatRange;
use super::int::{IntProblem, IntRange, MAX_VALUES};
use super::name::{NameError, check_name};
use super::point::{PointError, Value};

/// The most values of a choice that take a coordinate each. With one each for a thousand values an ask at 200 trials took 1.4 s, and with four such choices 6.1 s.
/// The boundary itself was chosen, not measured (`experiments/engine/wide.md`).
pub const LARGE_CHOICE: usize = 64;

/// The most values that a choice can have.
pub const MAX_CHOICES: usize = 1_000;

/// Something that can be tuned: a checked name with a checked set of values.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    name: Arc<str>,
    domain: Domain,
}

/// The values of a parameter.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Domain {
    /// Real numbers.
    Float(FloatRange),
    /// Whole numbers.
    Int(IntRange),
    /// One of several texts without an order.
    Choice(Arc<[Arc<str>]>),
    /// False or true.
    Bool,
}

/// Why a parameter cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ParamError {
    /// The name is not one.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A bound is NaN or infinite.
    #[error("parameter `{name}`: the {bound} bound is {value}; give a finite number")]
    NotFinite {
        /// The parameter.
        name: Arc<str>,
        /// Which bound.
        bound: &'static str,
        /// What was given.
        value: f64,
    },
    /// The lower bound is above the upper one.
    #[error("parameter `{name}`: the lower bound {low} is above the upper bound {high}; swap them")]
    Reversed {
        /// The parameter.
        name: Arc<str>,
        /// The lower bound.
        low: String,
        /// The upper bound.
        high: String,
    },
    /// A float with one value only.
    #[error(
        "parameter `{name}`: both bounds are {value:?}, which leaves nothing to tune; drop the parameter or widen the range"
    )]
    Constant {
        /// The parameter.
        name: Arc<str>,
        /// The only value.
        value: f64,
    },
    /// A log scale that reaches zero or a negative number.
    #[error(
        "parameter `{name}`: a log scale needs a lower bound above zero, not {low}; raise it or use a linear scale"
    )]
    LogThroughZero {
        /// The parameter.
        name: Arc<str>,
        /// The lower bound.
        low: String,
    },
    /// A step below one.
    #[error("parameter `{name}`: the step is {step}; give a whole number of at least 1")]
    Step {
        /// The parameter.
        name: Arc<str>,
        /// What was given.
        step: i64,
    },
    /// The steps from the lower bound miss the upper one.
    #[error("parameter `{name}`: steps of {step} from {low} do not meet the upper bound {high}; use {}", meets(.below, .above))]
    OffStep {
        /// The parameter.
        name: Arc<str>,
        /// The lower bound.
        low: i64,
        /// The upper bound.
        high: i64,
        /// The step.
        step: i64,
        /// The last value before the bound.
        below: i64,
        /// The first value after it, if there is one.
        above: Option<i64>,
    },
    /// More whole numbers than doubles can tell apart.
    #[error(
        "parameter `{name}`: {len} values are more than the {MAX_VALUES} that can be told apart; narrow the range or give a larger step with `Param::stepped`"
    )]
    TooManyValues {
        /// The parameter.
        name: Arc<str>,
        /// How many values the range has.
        len: u128,
    },
    /// Whole numbers that come too close on a log scale.
    #[error(
        "parameter `{name}`: its largest values are too close on a log scale to be told apart; lower the upper bound, give a larger step or use a linear scale"
    )]
    TooFineForLog {
        /// The parameter.
        name: Arc<str>,
    },
    /// A choice without values.
    #[error("parameter `{name}`: the choice has no values; give at least one")]
    NoChoices {
        /// The parameter.
        name: Arc<str>,
    },
    /// A choice with too many values.
    #[error("parameter `{name}`: the choice has more than {MAX_CHOICES} values; give fewer, or use an int")]
    TooManyChoices {
        /// The parameter.
        name: Arc<str>,
    },
    /// A choice with the same value twice.
    #[error("parameter `{name}`: the value {value:?} is given twice; remove one")]
    DuplicateChoice {
        /// The parameter.
        name: Arc<str>,
        /// The value.
        value: String,
    },
    /// A value of a choice that is empty or invisible.
    #[error("parameter `{name}`: a value of the choice: {reason}")]
    BadChoice {
        /// The parameter.
        name: Arc<str>,
        /// What is wrong with it.
        reason: NameError,
    },
    /// A scale or a step for something without an order.
    #[error("parameter `{name}`: {what} makes no sense for a {kind}; remove it")]
    NoScale {
        /// The parameter.
        name: Arc<str>,
        /// `a log scale` or `a step`.
        what: &'static str,
        /// What the parameter is.
        kind: &'static str,
    },
}

impl Param {
    /// A real number from `low` to `high`.
    pub fn float(name: &str, low: f64, high: f64) -> Result<Self, ParamError> {
        let name = check_name(name)?;
        for (bound, value) in [("lower", low), ("upper", high)] {
            if !value.is_finite() {
                return Err(ParamError::NotFinite { name, bound, value });
            }
        }
        if low > high {
            return Err(ParamError::Reversed { name, low: format!("{low:?}"), high: format!("{high:?}") });
        }
        if low == high {
            return Err(ParamError::Constant { name, value: low });
        }
        Ok(Self { name, domain: Domain::Float(FloatRange::linear(low, high)) })
    }

    /// A whole number from `low` to `high`, both included.
    pub fn int(name: &str, low: i64, high: i64) -> Result<Self, ParamError> {
        Self::stepped(name, low, high, 1)
    }

    /// A whole number `low`, `low + step`, … up to `high`, which the steps must meet.
    pub fn stepped(name: &str, low: i64, high: i64, step: i64) -> Result<Self, ParamError> {
        Self::make_int(check_name(name)?, low, high, step, false)
    }

    /// One of several texts without an order.
    pub fn choice<T: AsRef<str>>(
        name: &str,
        values: impl IntoIterator<Item = T>,
    ) -> Result<Self, ParamError> {
        let name = check_name(name)?;
        let mut checked: Vec<Arc<str>> = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        for value in values {
            if checked.len() == MAX_CHOICES {
                return Err(ParamError::TooManyChoices { name });
            }
            let value = match check_name(value.as_ref()) {
                Ok(value) => value,
                Err(reason) => return Err(ParamError::BadChoice { name, reason }),
            };
            if !seen.insert(value.clone()) {
                return Err(ParamError::DuplicateChoice { name, value: value.to_string() });
            }
            checked.push(value);
        }
        if checked.is_empty() {
            return Err(ParamError::NoChoices { name });
        }
        Ok(Self { name, domain: Domain::Choice(checked.into()) })
    }

    /// False or true.
    pub fn bool(name: &str) -> Result<Self, ParamError> {
        Ok(Self { name: check_name(name)?, domain: Domain::Bool })
    }

    /// The same float or int on a logarithmic scale.
    pub fn log(self) -> Result<Self, ParamError> {
        match self.domain {
            Domain::Float(range) if range.low() > 0.0 => {
                let domain = Domain::Float(FloatRange::logarithmic(range.low(), range.high()));
                Ok(Self { domain, ..self })
            }
            Domain::Float(range) => {
                Err(ParamError::LogThroughZero { name: self.name, low: format!("{:?}", range.low()) })
            }
            Domain::Int(range) => Self::make_int(self.name, range.low(), range.high(), range.step(), true),
            _ => Err(ParamError::NoScale { what: "a log scale", kind: self.kind(), name: self.name }),
        }
    }

    /// The same int in steps from its lower bound, which must meet its upper bound.
    pub fn step(self, step: i64) -> Result<Self, ParamError> {
        match self.domain {
            Domain::Int(range) => Self::make_int(self.name, range.low(), range.high(), step, range.is_log()),
            _ => Err(ParamError::NoScale { what: "a step", kind: self.kind(), name: self.name }),
        }
    }

    /// Its name.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The values it can take.
    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// `float`, `int`, `choice` or `bool`.
    pub fn kind(&self) -> &'static str {
        match self.domain {
            Domain::Float(_) => "float",
            Domain::Int(_) => "int",
            Domain::Choice(_) => "choice",
            Domain::Bool => "bool",
        }
    }

    /// How many coordinates of the unit cube code it.
    pub fn width(&self) -> usize {
        match &self.domain {
            Domain::Choice(values) if (3..=LARGE_CHOICE).contains(&values.len()) => values.len(),
            _ => 1,
        }
    }

    /// Checks a value given by a user: its type, its range and its step. A whole number is taken for a float.
    pub fn check(&self, value: Value) -> Result<Value, PointError> {
        let name = || self.name.clone();
        match (&self.domain, value) {
            (Domain::Float(range), Value::Float(x)) if range.contains(x) => Ok(Value::Float(x + 0.0)),
            (Domain::Float(range), Value::Int(i)) if i as f64 as i128 == i128::from(i) => match i as f64 {
                x if range.contains(x) => Ok(Value::Float(x)),
                _ => Err(self.outside(i.to_string())),
            },
            (Domain::Float(_), Value::Float(x)) => Err(self.outside(format!("{x:?}"))),
            (Domain::Int(range), Value::Int(i)) => match range.index_of(i) {
                Some(_) => Ok(Value::Int(i)),
                None if range.low() <= i && i <= range.high() => {
                    let (below, above) = range.neighbours(i);
                    Err(PointError::OffStep { name: name(), value: i, below, above })
                }
                None => Err(self.outside(i.to_string())),
            },
            (Domain::Choice(values), Value::Choice(text)) => match values.iter().find(|v| **v == text) {
                Some(value) => Ok(Value::Choice(value.clone())),
                None => Err(self.outside(format!("{:?}", &*text))),
            },
            (Domain::Bool, Value::Bool(b)) => Ok(Value::Bool(b)),
            (_, value) => {
                let (kind, shown) = (value.kind(), value.to_string());
                Err(PointError::Kind { name: name(), kind, value: shown, values: self.describe() })
            }
        }
    }

    /// What it can be, for an error message.
    pub(super) fn describe(&self) -> String {
        match &self.domain {
            Domain::Float(range) => format!("a number from {:?} to {:?}", range.low(), range.high()),
            Domain::Int(range) if range.step() == 1 => {
                format!("a whole number from {} to {}", range.low(), range.high())
            }
            Domain::Int(range) => {
                format!(
                    "a whole number from {} to {} in steps of {}",
                    range.low(),
                    range.high(),
                    range.step()
                )
            }
            Domain::Choice(values) => {
                // An error message with a thousand values helps nobody.
                let shown: Vec<String> = values.iter().take(20).map(|v| format!("{:?}", &**v)).collect();
                let rest = if values.len() > shown.len() { ", …" } else { "" };
                format!("one of {}{rest}", shown.join(", "))
            }
            Domain::Bool => "true or false".to_owned(),
        }
    }

    fn outside(&self, value: String) -> PointError {
        PointError::Outside { name: self.name.clone(), value, values: self.describe() }
    }

    fn make_int(name: Arc<str>, low: i64, high: i64, step: i64, log: bool) -> Result<Self, ParamError> {
        match IntRange::new(low, high, step, log) {
            Ok(range) => Ok(Self { name, domain: Domain::Int(range) }),
            Err(problem) => Err(match problem {
                IntProblem::Reversed => {
                    ParamError::Reversed { name, low: low.to_string(), high: high.to_string() }
                }
                IntProblem::Step => ParamError::Step { name, step },
                IntProblem::OffStep { below, above } => {
                    ParamError::OffStep { name, low, high, step, below, above }
                }
                IntProblem::TooMany(len) => ParamError::TooManyValues { name, len },
                IntProblem::LogThroughZero => ParamError::LogThroughZero { name, low: low.to_string() },
                IntProblem::TooFineForLog => ParamError::TooFineForLog { name },
            }),
        }
    }
}

fn meets(below: &i64, above: &Option<i64>) -> String {
    above.map_or_else(|| below.to_string(), |above| format!("{below} or {above}"))
}
