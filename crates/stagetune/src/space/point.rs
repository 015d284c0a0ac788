//! Typed values and points: what a stage is run with.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::name::hint;

/// The value of one parameter. Floats are equal when their bits are, so that equal points mean equal runs.
///
/// Written as a bare number, text or truth; a float always with a point or an exponent, which is how it is told from an int.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A whole number.
    Int(i64),
    /// A real number.
    Float(f64),
    /// A text of a choice.
    Choice(Arc<str>),
    /// False or true.
    Bool(bool),
}

/// A value for every parameter of a space, in the space's order.
///
/// Points come from [`Space::point`](super::Space::point) and [`Space::decode`](super::Space::decode); one that was written and
/// read again is refused by every function of a space whose parameters it does not fit.
#[derive(Clone, Debug)]
pub struct Point {
    names: Arc<[Arc<str>]>,
    values: Vec<Value>,
}

/// Why values do not make a point.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PointError {
    /// A value for a parameter that does not exist.
    #[error("there is no parameter `{name}`{}", hint(.suggestion))]
    Unknown {
        /// What was given.
        name: String,
        /// The nearest name that exists.
        suggestion: Option<String>,
    },
    /// Two values for one parameter.
    #[error("parameter `{name}` is given twice; give one value")]
    Twice {
        /// The parameter.
        name: Arc<str>,
    },
    /// No value for a parameter.
    #[error("parameter `{name}` has no value; give {values}")]
    Missing {
        /// The parameter.
        name: Arc<str>,
        /// What it can be.
        values: String,
    },
    /// A value of the wrong type.
    #[error("parameter `{name}` takes {values}, not the {kind} {value}")]
    Kind {
        /// The parameter.
        name: Arc<str>,
        /// What was given: `float`, `int`, `choice` or `bool`.
        kind: &'static str,
        /// The value given.
        value: String,
        /// What it can be.
        values: String,
    },
    /// A value that the parameter cannot take.
    #[error("parameter `{name}` cannot be {value}; give {values}")]
    Outside {
        /// The parameter.
        name: Arc<str>,
        /// What was given.
        value: String,
        /// What it can be.
        values: String,
    },
    /// A whole number between two steps.
    #[error("parameter `{name}` cannot be {value}, which lies between two steps; give {below} or {above}")]
    OffStep {
        /// The parameter.
        name: Arc<str>,
        /// What was given.
        value: i64,
        /// The value before it.
        below: i64,
        /// The value after it.
        above: i64,
    },
}

impl Value {
    /// `float`, `int`, `choice` or `bool`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Float(_) => "float",
            Self::Int(_) => "int",
            Self::Choice(_) => "choice",
            Self::Bool(_) => "bool",
        }
    }

    /// The number, if it is a float.
    pub fn as_float(&self) -> Option<f64> {
        if let Self::Float(x) = self { Some(*x) } else { None }
    }

    /// The number, if it is an int.
    pub fn as_int(&self) -> Option<i64> {
        if let Self::Int(i) = self { Some(*i) } else { None }
    }

    /// The text, if it is a choice.
    pub fn as_choice(&self) -> Option<&str> {
        if let Self::Choice(text) = self { Some(text) } else { None }
    }

    /// The truth, if it is a bool.
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(b) = self { Some(*b) } else { None }
    }
}

impl Point {
    pub(super) fn new(names: Arc<[Arc<str>]>, values: Vec<Value>) -> Self {
        Self { names, values }
    }

    /// The value of a parameter by its name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.iter().find_map(|(known, value)| (known == name).then_some(value))
    }

    /// The values in the space's order.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// Names and values in the space's order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> + Clone {
        self.names.iter().map(|name| &**name).zip(&self.values)
    }

    pub(super) fn names(&self) -> &Arc<[Arc<str>]> {
        &self.names
    }
}

impl Serialize for Point {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Point {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Point;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map from parameter names to values")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Point, A::Error> {
                let (mut names, mut values) = (Vec::new(), Vec::new());
                while let Some((name, value)) = map.next_entry::<Arc<str>, Value>()? {
                    names.push(name);
                    values.push(value);
                }
                Ok(Point::new(names.into(), values))
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        let rank = |value: &Self| match value {
            Self::Bool(_) => 0,
            Self::Int(_) => 1,
            Self::Float(_) => 2,
            Self::Choice(_) => 3,
        };
        match (self, other) {
            (Self::Float(a), Self::Float(b)) => a.total_cmp(b),
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Choice(a), Self::Choice(b)) => a.cmp(b),
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            _ => rank(self).cmp(&rank(other)),
        }
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Value {}

impl Ord for Point {
    fn cmp(&self, other: &Self) -> Ordering {
        self.values.cmp(&other.values).then_with(|| self.names.cmp(&other.names))
    }
}

impl PartialOrd for Point {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Point {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Point {}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // The debug form is the shortest that reads back as the same double, with an exponent where that is shorter.
            Self::Float(x) => write!(f, "{x:?}"),
            Self::Int(i) => write!(f, "{i}"),
            Self::Choice(text) if text.contains(|c: char| c.is_whitespace() || c == '=' || c == '"') => {
                write!(f, "{text:?}")
            }
            Self::Choice(text) => f.write_str(text),
            Self::Bool(b) => write!(f, "{b}"),
        }
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, value)) in self.iter().enumerate() {
            let gap = if i == 0 { "" } else { " " };
            write!(f, "{gap}{name}={value}")?;
        }
        Ok(())
    }
}

impl From<f64> for Value {
    fn from(x: f64) -> Self {
        Self::Float(x)
    }
}

impl From<i64> for Value {
    fn from(i: i64) -> Self {
        Self::Int(i)
    }
}

impl From<i32> for Value {
    fn from(i: i32) -> Self {
        Self::Int(i.into())
    }
}

impl From<bool> for Value {
    fn from(b: bool) -> Self {
        Self::Bool(b)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Choice(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Choice(text.into())
    }
}
