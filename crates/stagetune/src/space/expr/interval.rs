//! The truth of a condition over a box, by interval arithmetic (Moore, 1966).
//!
//! The bounds enclose every value that [`super::eval`] computes in floating point at a point of the box: sums, products,
//! quotients and square roots are rounded correctly and hence monotone, so their ends need no outward rounding; the
//! functions of `libm` are accurate to a unit in the last place and get four. What cannot be bounded well is the whole
//! line, and the verdict [`Verdict::Sometimes`].

use super::Verdict;
use super::check::{Binary, Compare, Number, Truth, Unary};
use super::eval;

/// What the parameters can be in a box, by their index.
pub(crate) trait Reaches {
    /// Bounds on a float or int.
    fn number(&self, param: usize) -> Interval;
    /// Whether a choice can have this value; 0 and 1 for a bool.
    fn can_be(&self, param: usize, index: usize) -> bool;
}

/// Numbers from `low` to `high`, and NaN if `undefined`. None at all if `low > high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    pub low: f64,
    pub high: f64,
    pub undefined: bool,
}

impl Interval {
    /// Anything, NaN included.
    pub(crate) const LINE: Self = Self { low: f64::NEG_INFINITY, high: f64::INFINITY, undefined: true };
    const NOTHING: Self = Self { low: f64::INFINITY, high: f64::NEG_INFINITY, undefined: true };

    pub(crate) fn new(low: f64, high: f64) -> Self {
        Self { low, high, undefined: false }
    }

    fn is_nothing(self) -> bool {
        self.low > self.high
    }

    /// One number and never NaN.
    fn point(self) -> Option<f64> {
        (self.low == self.high && !self.undefined).then_some(self.low)
    }

    fn contains(self, x: f64) -> bool {
        self.low <= x && x <= self.high
    }

    /// Whether ±∞ is in it.
    fn is_unbounded(self) -> bool {
        self.low == f64::NEG_INFINITY || self.high == f64::INFINITY
    }

    fn negate(self) -> Self {
        Self { low: -self.high, high: -self.low, ..self }
    }

    /// Rounds outward by the error of a library function.
    fn widen(self) -> Self {
        let (mut low, mut high) = (self.low, self.high);
        for _ in 0..4 {
            (low, high) = (low.next_down(), high.next_up());
        }
        Self { low, high, ..self }
    }

    /// From the least to the greatest of some numbers; NaN among them means that nothing is known.
    fn hull(numbers: &[f64], undefined: bool) -> Self {
        if numbers.iter().any(|x| x.is_nan()) {
            return Self::LINE;
        }
        let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self { low, high, undefined }
    }
}

pub(super) fn verdict(expr: &Truth, over: &impl Reaches) -> Verdict {
    match expr {
        Truth::Constant(b) => certain(*b),
        Truth::Param(p) => from_cases(over.can_be(*p, 1), over.can_be(*p, 0)),
        Truth::Not(inner) => !verdict(inner, over),
        Truth::And(parts) => all(parts.iter().map(|part| verdict(part, over))),
        Truth::Or(parts) => !all(parts.iter().map(|part| !verdict(part, over))),
        Truth::Same(a, b) => same(verdict(a, over), verdict(b, over)),
        Truth::Compare(compare, a, b) => compared(*compare, number(a, over), number(b, over)),
        Truth::In { value, list, negated } => {
            let value = number(value, over);
            let elements = list.iter().map(|element| number(element, over));
            if *negated {
                // An undefined value is in no list and outside none.
                let differs = elements.map(|element| compared(Compare::NotEqual, value, element));
                all(std::iter::once(defined(value)).chain(differs))
            } else {
                !all(elements.map(|element| !compared(Compare::Equal, value, element)))
            }
        }
        Truth::Choice { param, holds } => {
            let can = |wanted: bool| (0..holds.len()).any(|i| holds[i] == wanted && over.can_be(*param, i));
            from_cases(can(true), can(false))
        }
        Truth::SameChoice { a, b, pairs } => {
            if pairs.iter().any(|&(i, j)| over.can_be(*a, i) && over.can_be(*b, j)) {
                Verdict::Sometimes
            } else {
                Verdict::Never
            }
        }
    }
}

fn certain(holds: bool) -> Verdict {
    if holds { Verdict::Always } else { Verdict::Never }
}

/// From whether it can be true and whether it can be false.
fn from_cases(can_hold: bool, can_fail: bool) -> Verdict {
    match (can_hold, can_fail) {
        (true, false) => Verdict::Always,
        (false, true) => Verdict::Never,
        _ => Verdict::Sometimes,
    }
}

fn all(parts: impl IntoIterator<Item = Verdict>) -> Verdict {
    let mut result = Verdict::Always;
    for part in parts {
        match part {
            Verdict::Never => return Verdict::Never,
            Verdict::Sometimes => result = Verdict::Sometimes,
            Verdict::Always => {}
        }
    }
    result
}

fn same(a: Verdict, b: Verdict) -> Verdict {
    match (a, b) {
        (Verdict::Sometimes, _) | (_, Verdict::Sometimes) => Verdict::Sometimes,
        _ => certain(a == b),
    }
}

fn defined(x: Interval) -> Verdict {
    from_cases(!x.is_nothing(), x.undefined)
}

fn compared(compare: Compare, a: Interval, b: Interval) -> Verdict {
    if a.is_nothing() || b.is_nothing() {
        return Verdict::Never;
    }
    let (holds, fails) = match compare {
        Compare::Less => (a.high < b.low, a.low >= b.high),
        Compare::LessEqual => (a.high <= b.low, a.low > b.high),
        Compare::Greater => (a.low > b.high, a.high <= b.low),
        Compare::GreaterEqual => (a.low >= b.high, a.high < b.low),
        Compare::Equal => (a.low == b.high && a.high == b.low, a.high < b.low || a.low > b.high),
        Compare::NotEqual => (a.high < b.low || a.low > b.high, a.low == b.high && a.high == b.low),
    };
    if fails {
        Verdict::Never
    } else if holds && !a.undefined && !b.undefined {
        Verdict::Always
    } else {
        Verdict::Sometimes
    }
}

fn number(expr: &Number, over: &impl Reaches) -> Interval {
    match expr {
        Number::Constant(x) => Interval::new(*x, *x),
        Number::Param(p) => over.number(*p),
        Number::Negate(inner) => number(inner, over).negate(),
        Number::Binary(op, a, b) => {
            let (a, b) = (number(a, over), number(b, over));
            if a.is_nothing() || b.is_nothing() { Interval::NOTHING } else { binary(*op, a, b) }
        }
        Number::Unary(op, inner) => {
            let x = number(inner, over);
            if x.is_nothing() { Interval::NOTHING } else { unary(*op, x) }
        }
        Number::Min(parts) => extreme(parts, over, f64::INFINITY, f64::min),
        Number::Max(parts) => extreme(parts, over, f64::NEG_INFINITY, f64::max),
    }
}

fn extreme(parts: &[Number], over: &impl Reaches, start: f64, pick: fn(f64, f64) -> f64) -> Interval {
    let mut result = Interval::new(start, start);
    for part in parts {
        let x = number(part, over);
        if x.is_nothing() {
            return Interval::NOTHING;
        }
        let undefined = result.undefined || x.undefined;
        result = Interval { low: pick(result.low, x.low), high: pick(result.high, x.high), undefined };
    }
    result
}

fn binary(op: Binary, a: Interval, b: Interval) -> Interval {
    let undefined = a.undefined || b.undefined;
    let corners =
        |f: fn(f64, f64) -> f64| [f(a.low, b.low), f(a.low, b.high), f(a.high, b.low), f(a.high, b.high)];
    match op {
        Binary::Add => {
            // ∞ − ∞ is undefined.
            let clash = (a.high == f64::INFINITY && b.low == f64::NEG_INFINITY)
                || (a.low == f64::NEG_INFINITY && b.high == f64::INFINITY);
            Interval::hull(&[a.low + b.low, a.high + b.high], undefined || clash)
        }
        Binary::Subtract => binary(Binary::Add, a, b.negate()),
        Binary::Multiply => {
            // 0·∞ is undefined, also where the zero is inside the interval.
            let clash = (a.contains(0.0) && b.is_unbounded()) || (b.contains(0.0) && a.is_unbounded());
            Interval::hull(&corners(|x, y| x * y), undefined || clash)
        }
        Binary::Divide if b.contains(0.0) => Interval::LINE,
        Binary::Divide => {
            let clash = a.is_unbounded() && b.is_unbounded();
            Interval::hull(&corners(|x, y| x / y), undefined || clash)
        }
        Binary::Remainder => match (a.point(), b.point()) {
            (Some(x), Some(y)) => match eval::binary(op, x, y) {
                r if r.is_nan() => Interval::NOTHING,
                r => Interval::new(r, r),
            },
            // The result lies between zero and the right side, whichever sign that has.
            _ => Interval {
                low: b.low.min(0.0),
                high: b.high.max(0.0),
                undefined: undefined || b.contains(0.0) || a.is_unbounded(),
            },
        },
        Binary::Power => power(a, b, undefined),
    }
}

/// aᵇ = exp(b·ln a) is greatest and least at the corners if a > 0; whole exponents allow any a.
fn power(a: Interval, b: Interval, undefined: bool) -> Interval {
    let pow = |x: f64, y: f64| eval::binary(Binary::Power, x, y);
    // A zero may be −0, whose negative powers have the other sign.
    if a.low > 0.0 || (a.low == 0.0 && b.low >= 0.0) {
        let corners = [pow(a.low, b.low), pow(a.low, b.high), pow(a.high, b.low), pow(a.high, b.high)];
        let hull = Interval::hull(&corners, undefined).widen();
        return Interval { low: hull.low.max(0.0), ..hull };
    }
    match b.point() {
        Some(n) if n >= 0.0 && n % 2.0 == 0.0 => {
            let ends = [pow(a.low, n), pow(a.high, n)];
            let least = if a.contains(0.0) { pow(0.0, n) } else { ends[0].min(ends[1]) };
            let hull = Interval::hull(&[least, ends[0], ends[1]], undefined).widen();
            Interval { low: hull.low.max(0.0), ..hull }
        }
        Some(n) if n >= 0.0 && n % 2.0 == 1.0 => {
            Interval::hull(&[pow(a.low, n), pow(a.high, n)], undefined).widen()
        }
        _ => Interval::LINE,
    }
}

fn unary(op: Unary, x: Interval) -> Interval {
    let f = |x: f64| eval::unary(op, x);
    match op {
        Unary::Abs if x.low >= 0.0 => x,
        Unary::Abs if x.high <= 0.0 => x.negate(),
        Unary::Abs => Interval { low: 0.0, high: x.high.max(-x.low), ..x },
        Unary::Exp => {
            let range = Interval { low: f(x.low), high: f(x.high), ..x }.widen();
            Interval { low: range.low.max(0.0), ..range }
        }
        // Logarithms and roots of negative numbers are undefined.
        _ if x.high < 0.0 => Interval::NOTHING,
        Unary::Log | Unary::Log10 | Unary::Log2 => {
            let undefined = x.undefined || x.low < 0.0;
            let (low, high) = (f(x.low.max(0.0)), f(x.high));
            Interval { low, high, undefined }.widen()
        }
        Unary::Sqrt => {
            let undefined = x.undefined || x.low < 0.0;
            Interval { low: f(x.low.max(0.0)), high: f(x.high), undefined }
        }
    }
}
