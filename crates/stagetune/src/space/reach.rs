//! How one parameter sits in the unit cube: its code, its value at a code, and the values that a box leaves it.

use std::sync::Arc;

use super::expr::{Assignment, Interval, Reaches};
use super::param::{Domain, Param};
use super::point::Value;

impl Param {
    /// Whether it takes a coordinate per value.
    pub(super) fn is_one_hot(&self) -> bool {
        self.width() > 1
    }

    /// How many values it has, if they are finitely many.
    pub fn count(&self) -> Option<u64> {
        match self.domain() {
            Domain::Float(_) => None,
            Domain::Int(range) => Some(range.len()),
            Domain::Choice(values) => Some(values.len() as u64),
            Domain::Bool => Some(2),
        }
    }

    /// The canonical code of value number `index`; for parameters with one coordinate and finitely many values.
    pub(super) fn grid_code(&self, index: u64) -> f64 {
        match (self.domain(), self.count()) {
            (Domain::Int(range), _) => range.code(index),
            (Domain::Choice(values), _) if values.len() > 2 => (index as f64 + 0.5) / values.len() as f64,
            (_, Some(1)) => 0.5,
            _ => index.min(1) as f64,
        }
    }

    /// The number of the value at `u`; for parameters with one coordinate and finitely many values.
    pub(super) fn grid_index(&self, u: f64) -> u64 {
        match (self.domain(), self.count()) {
            (Domain::Int(range), _) => range.decode(u),
            (Domain::Choice(values), _) if values.len() > 2 => {
                ((u * values.len() as f64) as u64).min(values.len() as u64 - 1)
            }
            (_, Some(1)) => 0,
            _ => u64::from(u >= 0.5),
        }
    }

    /// The number of the value at these coordinates; 0 for a float.
    pub(super) fn index_at(&self, u: &[f64]) -> u64 {
        if !self.is_one_hot() {
            return u.first().map_or(0, |&u| self.grid_index(u));
        }
        let mut best = 0;
        for (i, x) in u.iter().enumerate() {
            if *x > u[best] {
                best = i;
            }
        }
        best as u64
    }

    /// The number of a value; `None` for a float, and for what is not a value of this parameter.
    pub(super) fn index_of(&self, value: &Value) -> Option<u64> {
        match (self.domain(), value) {
            (Domain::Int(range), Value::Int(i)) => range.index_of(*i),
            (Domain::Choice(values), Value::Choice(text)) => {
                values.iter().position(|v| Arc::ptr_eq(v, text) || v == text).map(|i| i as u64)
            }
            (Domain::Bool, Value::Bool(b)) => Some(u64::from(*b)),
            _ => None,
        }
    }

    /// The value at these coordinates, each in [0, 1].
    pub(super) fn value_at(&self, u: &[f64]) -> Value {
        let index = self.index_at(u);
        match self.domain() {
            Domain::Float(range) => Value::Float(range.decode(u.first().copied().unwrap_or(0.0))),
            Domain::Int(range) => Value::Int(range.value(index)),
            Domain::Choice(values) => {
                let last = values.len().saturating_sub(1);
                values.get((index as usize).min(last)).map_or_else(|| "".into(), |v| Value::Choice(v.clone()))
            }
            Domain::Bool => Value::Bool(index == 1),
        }
    }

    /// Writes the canonical code of value number `index` of a parameter with finitely many values.
    pub(super) fn write_index(&self, index: u64, u: &mut [f64]) {
        if self.is_one_hot() {
            for (i, x) in u.iter_mut().enumerate() {
                *x = f64::from(i as u64 == index);
            }
        } else if let Some(x) = u.first_mut() {
            *x = self.grid_code(index);
        }
    }

    /// Writes the canonical code of a value; `false` if it is not one of this parameter.
    pub(super) fn write_code(&self, value: &Value, u: &mut [f64]) -> bool {
        match (self.domain(), value, u.first_mut()) {
            (Domain::Float(range), Value::Float(x), Some(first)) if range.contains(*x) => {
                *first = range.encode(*x);
                true
            }
            _ => match self.index_of(value) {
                Some(index) => {
                    self.write_index(index, u);
                    true
                }
                None => false,
            },
        }
    }
}

/// A point of the unit cube, read by parameter.
pub(super) struct Coded<'a> {
    pub params: &'a [Param],
    pub starts: &'a [usize],
    pub u: &'a [f64],
}

impl Coded<'_> {
    fn of(&self, param: usize) -> Option<(&Param, &[f64])> {
        let (p, start) = (self.params.get(param)?, *self.starts.get(param)?);
        Some((p, self.u.get(start..start + p.width())?))
    }
}

impl Assignment for Coded<'_> {
    fn number(&self, param: usize) -> f64 {
        match self.of(param).map(|(p, u)| p.value_at(u)) {
            Some(Value::Float(x)) => x,
            Some(Value::Int(i)) => i as f64,
            _ => f64::NAN,
        }
    }

    fn index(&self, param: usize) -> usize {
        self.of(param).map_or(0, |(p, u)| p.index_at(u) as usize)
    }
}

/// The values of a point, read by parameter.
pub(super) struct Typed<'a> {
    pub params: &'a [Param],
    pub values: &'a [Value],
}

impl Assignment for Typed<'_> {
    fn number(&self, param: usize) -> f64 {
        match self.values.get(param) {
            Some(Value::Float(x)) => *x,
            Some(Value::Int(i)) => *i as f64,
            _ => f64::NAN,
        }
    }

    fn index(&self, param: usize) -> usize {
        let pair = self.params.get(param).zip(self.values.get(param));
        pair.and_then(|(p, value)| p.index_of(value)).map_or(0, |i| i as usize)
    }
}

/// A closed box of the unit cube, read by parameter: every code in it counts, canonical or not.
pub(super) struct CubeBox<'a> {
    pub params: &'a [Param],
    pub starts: &'a [usize],
    pub lower: &'a [f64],
    pub upper: &'a [f64],
}

impl CubeBox<'_> {
    pub(super) fn of(&self, param: usize) -> Option<(&Param, &[f64], &[f64])> {
        let (p, start) = (self.params.get(param)?, *self.starts.get(param)?);
        let range = start..start + p.width();
        Some((p, self.lower.get(range.clone())?, self.upper.get(range)?))
    }
}

impl Reaches for CubeBox<'_> {
    fn number(&self, param: usize) -> Interval {
        match self.of(param) {
            Some((p, &[lower], &[upper])) => match p.domain() {
                Domain::Float(range) => {
                    let (low, high) = range.reach(lower, upper);
                    Interval::new(low, high)
                }
                Domain::Int(range) => {
                    let (first, last) = range.reach(lower, upper);
                    Interval::new(range.value(first) as f64, range.value(last) as f64)
                }
                _ => Interval::LINE,
            },
            _ => Interval::LINE,
        }
    }

    fn can_be(&self, param: usize, index: usize) -> bool {
        let Some((p, lower, upper)) = self.of(param) else { return true };
        if !p.is_one_hot() {
            let (first, last) = (p.index_at(lower), p.index_at(upper));
            return first <= index as u64 && index as u64 <= last;
        }
        // Value j is decoded somewhere iff it is with u_j as large and all others as small as the box allows; the
        // first of equals is decoded, so it must pass those before it.
        upper.get(index).is_some_and(|&top| {
            lower.iter().enumerate().all(|(i, &l)| i == index || top > l || (i > index && top == l))
        })
    }
}
