//! User cuts: where a box partition of the unit cube should split a module.

use std::fmt;
use std::sync::Arc;

use super::expr::{Compare, Expr, Number, Truth, constant};
use super::module::ModuleError;
use super::param::{Domain, Param};

/// A plane of the unit cube that splits a module in two: `u[coordinate] < at` and the rest.
#[derive(Clone, Debug, PartialEq)]
pub struct Cut {
    /// The parameter, counted over the whole space.
    pub param: usize,
    /// The coordinate of the unit cube.
    pub coordinate: usize,
    /// The position on it, strictly between 0 and 1; between two cells for an int, a bool or a choice.
    pub at: f64,
    label: Arc<str>,
}

impl Cut {
    /// The condition that it splits on, such as `lr < 0.001`.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The same cut after `params` parameters with `coordinates` coordinates.
    pub(super) fn shifted(&self, params: usize, coordinates: usize) -> Self {
        Self { param: self.param + params, coordinate: self.coordinate + coordinates, ..self.clone() }
    }

    /// Splits a number into those below `threshold` (or at most it, if `inclusive`) and the others.
    pub(super) fn number(
        params: &[Param],
        p: usize,
        threshold: f64,
        inclusive: bool,
    ) -> Result<Self, ModuleError> {
        let param = &params[p];
        let name = param.name();
        let outside =
            || ModuleError::CutOutside { name: name.clone(), at: threshold, values: param.describe() };
        let (at, label) = match param.domain() {
            Domain::Float(range) if range.low() < threshold && threshold < range.high() => {
                (range.encode(threshold), format!("{name} < {threshold:?}"))
            }
            Domain::Int(range) => {
                let below = range.count_below(threshold, inclusive);
                if threshold.is_nan() || below == 0 || below == range.len() {
                    return Err(outside());
                }
                (range.edge(below), format!("{name} < {}", range.value(below)))
            }
            Domain::Float(_) => return Err(outside()),
            _ => return Err(ModuleError::CutKind { name: name.clone(), kind: param.kind() }),
        };
        // A threshold beside a bound can round onto it.
        if at <= 0.0 || at >= 1.0 {
            return Err(outside());
        }
        Ok(Self { param: p, coordinate: start(params, p), at, label: label.into() })
    }

    /// Splits as a condition does that compares one parameter with a constant.
    pub(super) fn condition(params: &[Param], expr: &Expr) -> Result<Self, ModuleError> {
        match plain(expr.truth()) {
            Truth::Compare(compare, Number::Param(p), c) => Self::compared(params, expr, *p, *compare, c),
            Truth::Compare(compare, c, Number::Param(p)) => {
                Self::compared(params, expr, *p, mirrored(*compare), c)
            }
            Truth::Param(p) => {
                let label = params[*p].name().clone();
                Ok(Self { param: *p, coordinate: start(params, *p), at: 0.5, label })
            }
            Truth::Choice { param, holds } => {
                let only = |wanted: bool| {
                    let mut found = (0..holds.len()).filter(|&i| holds[i] == wanted);
                    found.next().filter(|_| found.next().is_none())
                };
                let (Some(value), true) = (only(true).or_else(|| only(false)), holds.len() > 1) else {
                    return Err(expr.reject(SHAPE).into());
                };
                let offset = if params[*param].is_one_hot() { value } else { 0 };
                let label = expr.source().trim().into();
                // On the one coordinate of a large choice the code of the value stands for it.
                let is_large = !params[*param].is_one_hot() && holds.len() > 2;
                let at = if is_large { params[*param].grid_code(value as u64) } else { 0.5 };
                Ok(Self { param: *param, coordinate: start(params, *param) + offset, at, label })
            }
            _ => Err(expr.reject(SHAPE).into()),
        }
    }

    fn compared(
        params: &[Param],
        expr: &Expr,
        p: usize,
        compare: Compare,
        side: &Number,
    ) -> Result<Self, ModuleError> {
        let Some(threshold) = constant(side) else { return Err(expr.reject(SHAPE).into()) };
        match compare {
            Compare::Less | Compare::GreaterEqual => Self::number(params, p, threshold, false),
            Compare::LessEqual | Compare::Greater => Self::number(params, p, threshold, true),
            Compare::Equal | Compare::NotEqual => Err(expr.reject(SHAPE).into()),
        }
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.label)
    }
}

const SHAPE: &str = "one parameter compared with a constant, such as `lr < 1e-3` or `norm == \"batch\"`";

/// The condition without negations and comparisons with `true` and `false`: they split at the same place.
fn plain(truth: &Truth) -> &Truth {
    match truth {
        Truth::Not(inner) => plain(inner),
        Truth::Same(inner, other) | Truth::Same(other, inner) if matches!(**other, Truth::Constant(_)) => {
            plain(inner)
        }
        _ => truth,
    }
}

fn mirrored(compare: Compare) -> Compare {
    match compare {
        Compare::Less => Compare::Greater,
        Compare::LessEqual => Compare::GreaterEqual,
        Compare::Greater => Compare::Less,
        Compare::GreaterEqual => Compare::LessEqual,
        same => same,
    }
}

/// The first coordinate of a parameter among those of its module.
fn start(params: &[Param], p: usize) -> usize {
    params.iter().take(p).map(Param::width).sum()
}
