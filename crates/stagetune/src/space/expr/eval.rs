//! The truth of a condition at a point.
//!
//! Functions come from `libm`, so that a condition means the same on every machine.

use super::check::{Binary, Compare, Number, Truth, Unary};

/// The values of the parameters that a condition speaks of, by their index.
pub(crate) trait Assignment {
    /// The value of a float or int.
    fn number(&self, param: usize) -> f64;
    /// The index of a choice's value; 0 or 1 for a bool.
    fn index(&self, param: usize) -> usize;
}

pub(super) fn truth(expr: &Truth, at: &impl Assignment) -> bool {
    match expr {
        Truth::Constant(b) => *b,
        Truth::Param(p) => at.index(*p) == 1,
        Truth::Not(inner) => !truth(inner, at),
        Truth::And(parts) => parts.iter().all(|part| truth(part, at)),
        Truth::Or(parts) => parts.iter().any(|part| truth(part, at)),
        Truth::Same(a, b) => truth(a, at) == truth(b, at),
        Truth::Compare(compare, a, b) => holds(*compare, number(a, at), number(b, at)),
        Truth::In { value, list, negated: false } => {
            let x = number(value, at);
            list.iter().any(|element| x == number(element, at))
        }
        Truth::In { value, list, negated: true } => {
            let x = number(value, at);
            !x.is_nan() && list.iter().all(|element| holds(Compare::NotEqual, x, number(element, at)))
        }
        Truth::Choice { param, holds } => holds.get(at.index(*param)).copied().unwrap_or(false),
        Truth::SameChoice { a, b, pairs } => pairs.contains(&(at.index(*a), at.index(*b))),
    }
}

pub(super) fn number(expr: &Number, at: &impl Assignment) -> f64 {
    match expr {
        Number::Constant(x) => *x,
        Number::Param(p) => at.number(*p),
        Number::Negate(inner) => -number(inner, at),
        Number::Binary(op, a, b) => binary(*op, number(a, at), number(b, at)),
        Number::Unary(op, inner) => unary(*op, number(inner, at)),
        Number::Min(parts) => parts.iter().map(|part| number(part, at)).fold(f64::INFINITY, min),
        Number::Max(parts) => parts.iter().map(|part| number(part, at)).fold(f64::NEG_INFINITY, max),
    }
}

/// The value of a number that speaks of no parameter; `None` if it does or if it is undefined.
pub(crate) fn constant(expr: &Number) -> Option<f64> {
    struct Nothing;
    impl Assignment for Nothing {
        fn number(&self, _: usize) -> f64 {
            f64::NAN
        }
        fn index(&self, _: usize) -> usize {
            0
        }
    }
    // An undefined number stays undefined through every operation, except NaN⁰ and 1 to the NaN, hence the second look.
    let x = number(expr, &Nothing);
    (!x.is_nan() && !mentions_a_parameter(expr)).then_some(x)
}

pub(super) fn holds(compare: Compare, a: f64, b: f64) -> bool {
    match compare {
        Compare::Less => a < b,
        Compare::LessEqual => a <= b,
        Compare::Greater => a > b,
        Compare::GreaterEqual => a >= b,
        Compare::Equal => a == b,
        // Plain `a != b` is true of NaN.
        Compare::NotEqual => a != b && !a.is_nan() && !b.is_nan(),
    }
}

pub(super) fn binary(op: Binary, a: f64, b: f64) -> f64 {
    match op {
        Binary::Add => a + b,
        Binary::Subtract => a - b,
        Binary::Multiply => a * b,
        Binary::Divide => a / b,
        Binary::Remainder => {
            let r = a % b;
            if r != 0.0 && (r < 0.0) != (b < 0.0) { r + b } else { r }
        }
        Binary::Power if a.is_nan() || b.is_nan() => f64::NAN,
        Binary::Power => libm::pow(a, b),
    }
}

pub(super) fn unary(op: Unary, x: f64) -> f64 {
    match op {
        Unary::Abs => x.abs(),
        Unary::Log => libm::log(x),
        Unary::Log10 => libm::log10(x),
        Unary::Log2 => libm::log2(x),
        Unary::Exp => libm::exp(x),
        Unary::Sqrt => x.sqrt(),
    }
}

/// The smaller one; undefined if either is.
fn min(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.min(b) }
}

/// The larger one; undefined if either is.
fn max(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

fn mentions_a_parameter(expr: &Number) -> bool {
    match expr {
        Number::Constant(_) => false,
        Number::Param(_) => true,
        Number::Negate(inner) | Number::Unary(_, inner) => mentions_a_parameter(inner),
        Number::Binary(_, a, b) => mentions_a_parameter(a) || mentions_a_parameter(b),
        Number::Min(parts) | Number::Max(parts) => parts.iter().any(mentions_a_parameter),
    }
}
