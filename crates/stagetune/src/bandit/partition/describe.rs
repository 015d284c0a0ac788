//! A cell in the words of its user: the values that it leaves each parameter.

use super::Partition;
use super::side::{Side, open_end};
use crate::space::{Domain, Space, Value};

/// Significant digits of a bound; more only where two bounds would look the same.
const DIGITS: usize = 4;
/// Options that are named; of more only their number.
const SHOWN: usize = 12;
/// Digits that tell any two doubles apart.
const MAX_DIGITS: usize = 17;

impl Partition {
    /// The values of a cell, such as `strength in [1, 8) and norm in {batch, group}`; `anything` for the whole module.
    pub fn describe(&self, space: &Space, cell: usize) -> String {
        let Some(cell) = self.cells().get(cell) else { return "nothing: there is no such region".to_owned() };
        let parts: Vec<String> =
            cell.sides(space, self.module()).filter_map(|(p, side)| part(space, p, &side)).collect();
        if parts.is_empty() { "anything".to_owned() } else { parts.join(" and ") }
    }
}

/// What a side leaves of its parameter; `None` if that is everything.
fn part(space: &Space, p: usize, side: &Side) -> Option<String> {
    let param = space.params().get(p)?;
    let name = param.name();
    let text = |k: u64| match param.domain() {
        Domain::Int(range) => range.value(k).to_string(),
        Domain::Choice(values) => values.get(k as usize).map_or_else(String::new, |v| v.to_string()),
        _ => (k == 1).to_string(),
    };
    match side {
        Side::Codes(a, b) if *a <= 0.0 && *b >= 1.0 => None,
        Side::Codes(a, b) => {
            let (low, high) = bounds(float_at(space, p, *a)?, float_at(space, p, open_end(*b))?);
            Some(format!("{name} in [{low}, {high}{}", if *b < 1.0 { ')' } else { ']' }))
        }
        Side::Indices(first, last) if param.count() == last.checked_sub(*first).map(|n| n + 1) => None,
        Side::Indices(first, last) if first == last => Some(format!("{name} = {}", text(*first))),
        Side::Indices(first, last) => Some(format!("{name} in {}..={}", text(*first), text(*last))),
        Side::Options(options) if param.count() == Some(options.len() as u64) => None,
        Side::Options(options) => match options.as_slice() {
            [only] => Some(format!("{name} = {}", text(*only as u64))),
            _ => {
                let mut values: Vec<String> = options.iter().take(SHOWN).map(|k| text(*k as u64)).collect();
                if options.len() > SHOWN {
                    values.push(format!("… {} in all", options.len()));
                }
                Some(format!("{name} in {{{}}}", values.join(", ")))
            }
        },
        Side::Nothing => Some(format!("{name} in nothing")),
    }
}

/// The value of float `p` at a code.
fn float_at(space: &Space, p: usize, code: f64) -> Option<f64> {
    let mut u = vec![0.0; space.dim()];
    *u.get_mut(space.param_coordinates(p).start)? = code;
    match space.decode(&u).ok()?.values().get(p)? {
        Value::Float(x) => Some(*x),
        _ => None,
    }
}

/// Two bounds with as few digits as tell them apart.
fn bounds(low: f64, high: f64) -> (String, String) {
    let shown = |digits| (short(low, digits), short(high, digits));
    let differs = |(low, high): &(String, String)| low != high;
    (DIGITS..MAX_DIGITS).map(shown).find(differs).unwrap_or_else(|| shown(MAX_DIGITS))
}

/// A number rounded to some significant digits, without zeros that say nothing.
fn short(x: f64, digits: usize) -> String {
    let rounded: f64 = format!("{x:.*e}", digits.saturating_sub(1)).parse().unwrap_or(x);
    // The largest doubles round past themselves.
    let rounded = if rounded.is_finite() { rounded } else { x };
    let size = rounded.abs();
    // Outside of these, a plain number is longer than its exponent.
    if size == 0.0 || (1e-4..1e6).contains(&size) { format!("{rounded}") } else { format!("{rounded:e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_tell_bounds_apart() {
        let shown = [1.0, 0.1 + 0.2, 1e-5, 123456.0, 1.5e9, -0.0001234567].map(|x| short(x, DIGITS));
        assert_eq!(shown, ["1", "0.3", "1e-5", "123500", "1.5e9", "-0.0001235"]);
        assert_eq!(bounds(1.000001, 1.000002), ("1.000001".into(), "1.000002".into()));
        assert_eq!(bounds(8.0, 8.5), ("8".into(), "8.5".into()));
    }
}
