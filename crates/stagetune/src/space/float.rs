//! A range of real numbers and its code in the unit interval, linear or logarithmic.
//!
//! ```text
//! linear   x = a + u·w            for u ≤ ½,    x = b − (1−u)·w          for u > ½,    w = b − a
//! log      x = a·exp(u·L)         for u ≤ ½,    x = b·exp(−(1−u)·L)      for u > ½,    L = ln(b/a)
//! ```
//!
//! Both start from the nearer end, so that 0 and 1 give the bounds exactly and the rounding error near an end is
//! relative to the distance from it (1 − u is exact for u ≥ ½). Encoding inverts the formula from the nearer end and
//! then looks at the neighbouring doubles for the one that decodes to x exactly.
//!
//! - `a`, `b`: lower and upper bound (`low`, `high`)
//! - `u`: code in [0, 1];  `v`: its distance from the nearer end, in [0, ½]
//! - `w`, `L`: the width of the range, or of its logarithm (`span`)

use libm::{exp, expm1, log, log1p};

/// Below this, a·exp(t) is computed as a + a·expm1(t), which alone reaches every double next to `a`.
const NEAR: f64 = 0.5;

/// Above this, exp(t) nears the largest double (exp(709.8)) and is applied in two halves.
const FAR: f64 = 700.0;

/// Doubles searched on each side of a code. Over ten million random ranges and codes the exact one was never more than
/// three away; sixteen leaves room.
const NEIGHBOURS: u64 = 16;

/// Units in the last place by which the value at a box's end may be passed inside the box on a log scale, since libm's
/// functions are accurate to one unit but not proven monotone. The linear scale is monotone as it stands.
const SLACK: usize = 4;

/// Real numbers from a lower to an upper bound, on a linear or a logarithmic scale.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FloatRange {
    low: f64,
    high: f64,
    log: bool,
    span: f64,
    /// 2 if the width itself is past the largest double, so that halves are used; 1 otherwise.
    fold: f64,
}

impl FloatRange {
    /// The caller has checked that both are finite and `low < high`.
    pub(super) fn linear(low: f64, high: f64) -> Self {
        // Adding zero turns −0 into 0, so that equal values have equal bits.
        let (low, high) = (low + 0.0, high + 0.0);
        let fold = if (high - low).is_finite() { 1.0 } else { 2.0 };
        Self { low, high, log: false, span: high / fold - low / fold, fold }
    }

    /// The caller has checked that both are finite and `0 < low < high`.
    pub(super) fn logarithmic(low: f64, high: f64) -> Self {
        let excess = (high - low) / low;
        let span = if excess.is_finite() { log1p(excess) } else { log(high) - log(low) };
        Self { low, high, log: true, span, fold: 1.0 }
    }

    /// The lower bound.
    pub fn low(&self) -> f64 {
        self.low
    }

    /// The upper bound.
    pub fn high(&self) -> f64 {
        self.high
    }

    /// Whether the scale is logarithmic.
    pub fn is_log(&self) -> bool {
        self.log
    }

    /// Whether `x` is in the range; NaN is not.
    pub fn contains(&self, x: f64) -> bool {
        self.low <= x && x <= self.high
    }

    /// The value at `u`, which the caller keeps in [0, 1].
    pub(super) fn decode(&self, u: f64) -> f64 {
        let x = match (self.log, u <= 0.5) {
            (false, true) => self.low + (self.fold * u) * self.span,
            (false, false) => {
                // The two halves may round differently where they meet; the maximum keeps the whole monotone.
                let middle = self.low + (self.fold * 0.5) * self.span;
                (self.high - (self.fold * (1.0 - u)) * self.span).max(middle)
            }
            (true, true) => grow(self.low, u * self.span),
            (true, false) => grow(self.high, -((1.0 - u) * self.span)),
        };
        x.clamp(self.low, self.high) + 0.0
    }

    /// The code whose value is `x`, or nearest to it if no code gives `x` itself.
    pub(super) fn encode(&self, x: f64) -> f64 {
        if x <= self.low {
            return 0.0;
        }
        if x >= self.high {
            return 1.0;
        }
        let below = x <= self.decode(0.5);
        let v = match (self.log, below) {
            (false, true) => (x / self.fold - self.low / self.fold) / self.span,
            (false, false) => (self.high / self.fold - x / self.fold) / self.span,
            (true, true) => log_ratio(x, self.low) / self.span,
            (true, false) => -log_ratio(x, self.high) / self.span,
        };
        let guess = if below { v } else { 1.0 - v };
        self.nearest_code(guess.clamp(0.0, 1.0), x)
    }

    /// Bounds on the values of all codes in [lower, upper]; exact where the two are equal.
    pub(super) fn reach(&self, lower: f64, upper: f64) -> (f64, f64) {
        let (mut a, mut b) = (self.decode(lower), self.decode(upper));
        if self.log && lower != upper {
            for _ in 0..SLACK {
                (a, b) = (a.next_down(), b.next_up());
            }
        }
        (a.max(self.low), b.min(self.high))
    }

    /// Of the doubles around `guess`, the one that decodes nearest to `x`; the first exact one ends the search.
    fn nearest_code(&self, guess: f64, x: f64) -> f64 {
        let (middle, top) = (guess.to_bits(), 1.0_f64.to_bits());
        let error = |bits: u64| (self.decode(f64::from_bits(bits)) - x).abs();
        let mut best = (error(middle), middle);
        for k in 1..=NEIGHBOURS {
            if best.0 == 0.0 {
                break;
            }
            for bits in [middle.saturating_sub(k), middle.saturating_add(k).min(top)] {
                let e = error(bits);
                if e < best.0 {
                    best = (e, bits);
                }
            }
        }
        f64::from_bits(best.1)
    }
}

/// x·exp(t), accurate for small t and safe for large t.
fn grow(x: f64, t: f64) -> f64 {
    if t.abs() < NEAR {
        x + x * expm1(t)
    } else if t.abs() < FAR {
        x * exp(t)
    } else {
        x * exp(0.5 * t) * exp(0.5 * t)
    }
}

/// ln(x/end), accurate when x is next to `end` and safe when the ratio overflows.
fn log_ratio(x: f64, end: f64) -> f64 {
    let excess = (x - end) / end;
    if excess.abs() < NEAR {
        log1p(excess)
    } else if (x / end).is_normal() {
        log(x / end)
    } else {
        log(x) - log(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_are_exact() {
        for range in [
            FloatRange::linear(0.1, 0.7),
            FloatRange::linear(-f64::MAX, f64::MAX),
            FloatRange::linear(-0.0, 5e-324),
            FloatRange::logarithmic(1e-5, 8.192e-2),
            FloatRange::logarithmic(5e-324, f64::MAX),
            FloatRange::logarithmic(1.0, 1.0_f64.next_up()),
        ] {
            assert_eq!(range.decode(0.0).to_bits(), range.low().to_bits());
            assert_eq!(range.decode(1.0).to_bits(), range.high().to_bits());
            assert_eq!(range.encode(range.low()), 0.0);
            assert_eq!(range.encode(range.high()), 1.0);
        }
    }

    #[test]
    fn decades_of_a_log_range_have_equal_codes() {
        let range = FloatRange::logarithmic(1e-4, 1.0);
        for (k, x) in [1e-4, 1e-3, 1e-2, 1e-1, 1.0].into_iter().enumerate() {
            assert!((range.encode(x) - 0.25 * k as f64).abs() < 1e-15);
            // Codes above ½ are ε/2 apart and ln of the values 9.2 times that: not every double has a code.
            assert!(
                (range.decode(range.encode(x)) / x - 1.0).abs() <= 9.3 * 0.25 * f64::EPSILON + f64::EPSILON
            );
        }
    }

    #[test]
    fn the_widest_range_is_passed_through_evenly() {
        let range = FloatRange::linear(-f64::MAX, f64::MAX);
        assert_eq!(range.decode(0.5), 0.0);
        assert_eq!(range.decode(0.25), -0.5 * f64::MAX);
        let log = FloatRange::logarithmic(5e-324, f64::MAX);
        let middle = log.decode(0.5);
        assert!(middle > 1e-9 && middle < 1e-7, "{middle:e}");
    }

    #[test]
    fn every_double_beside_a_bound_round_trips_on_a_log_scale() {
        let range = FloatRange::logarithmic(1.9, 19.0);
        let mut x = range.low();
        for _ in 0..1000 {
            x = x.next_up();
            assert_eq!(range.decode(range.encode(x)), x);
        }
    }
}
