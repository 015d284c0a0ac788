//! Axes: from numbers to places, and where the ticks are.

use super::series::Series;

/// How numbers are spaced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By their logarithm.
    Log,
}

/// An axis from low to high.
#[derive(Clone, Copy, Debug)]
pub struct Axis {
    scale: Scale,
    low: f64,
    high: f64,
}

/// A range of this factor is easier to read on a logarithmic axis.
const LOG_FROM: f64 = 5.0;

/// A logarithmic axis shows no more powers of ten than this: below lie regrets that nobody can tell from 0.
const DECADES: f64 = 6.0;

impl Axis {
    /// From low to high, which differ at least a little.
    pub fn new(scale: Scale, low: f64, high: f64) -> Self {
        let high = if high > low { high } else { low + 1.0 };
        Self { scale, low, high }
    }

    /// For regrets: logarithmic if they are positive and of different size.
    pub fn fitting(series: &[&Series]) -> Self {
        let points = || series.iter().flat_map(|series| &series.points);
        let highest = points().map(|point| point.high).fold(0.0, f64::max);
        let lowest =
            points().map(|point| point.mean).filter(|&mean| mean > 0.0).fold(f64::INFINITY, f64::min);
        if lowest.is_finite() && highest > LOG_FROM * lowest {
            let low = lowest.max(highest * 10f64.powf(-DECADES)) / 1.3;
            Self::new(Scale::Log, low, highest * 1.1)
        } else {
            Self::new(Scale::Linear, 0.0, highest * 1.05)
        }
    }

    /// The place of a number as a share of the axis; numbers beyond the ends are at the ends.
    pub fn share(&self, value: f64) -> f64 {
        let share = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Log if value > 0.0 => (value / self.low).ln() / (self.high / self.low).ln(),
            Scale::Log => 0.0,
        };
        share.clamp(0.0, 1.0)
    }

    /// Numbers with a tick; those with a label have one.
    pub fn ticks(&self) -> Vec<(f64, Option<String>)> {
        match self.scale {
            Scale::Linear => {
                let step = round_step((self.high - self.low) / 6.0);
                let first = (self.low / step).ceil() as i64;
                let last = (self.high / step * (1.0 + 1e-12)).floor() as i64;
                (first..=last).map(|i| (i as f64 * step, Some(plain(i as f64 * step)))).collect()
            }
            Scale::Log => {
                let decades = (self.high / self.low).log10();
                let mut ticks = Vec::new();
                let first = self.low.log10().floor() as i32;
                let last = self.high.log10().ceil() as i32;
                for power in first..=last {
                    for digit in 1..10 {
                        let value = f64::from(digit) * 10f64.powi(power);
                        if value < self.low || value > self.high {
                            continue;
                        }
                        // Where few powers of ten are in sight, 2 and 5 help to read.
                        let labelled = digit == 1 || (decades < 2.5 && (digit == 2 || digit == 5));
                        ticks.push((value, labelled.then(|| plain(value))));
                    }
                }
                ticks
            }
        }
    }
}

/// 1, 2 or 5 times a power of ten, at least as large.
fn round_step(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|digit| digit * power).find(|&s| s >= step * 0.999).unwrap_or(step)
}

/// A number without needless digits.
fn plain(value: f64) -> String {
    if value != 0.0 && !(1e-4..1e6).contains(&value.abs()) {
        return format!("{value:.0e}");
    }
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_numbers_inside_the_axis() {
        let labels = |axis: Axis| axis.ticks().into_iter().filter_map(|tick| tick.1).collect::<Vec<_>>();
        assert_eq!(labels(Axis::new(Scale::Linear, 0.0, 660.0)), ["0", "200", "400", "600"]);
        assert_eq!(labels(Axis::new(Scale::Linear, 0.0, 0.5)), ["0", "0.1", "0.2", "0.3", "0.4", "0.5"]);
        assert_eq!(
            labels(Axis::new(Scale::Log, 0.004, 0.6)),
            ["0.005", "0.01", "0.02", "0.05", "0.1", "0.2", "0.5"]
        );
        assert_eq!(labels(Axis::new(Scale::Log, 1e-5, 1.0)), ["1e-5", "0.0001", "0.001", "0.01", "0.1", "1"]);
    }

    #[test]
    fn places_run_from_0_to_1_and_no_further() {
        let axis = Axis::new(Scale::Log, 0.01, 1.0);
        assert!((axis.share(0.1) - 0.5).abs() < 1e-12);
        assert_eq!((axis.share(0.0), axis.share(-1.0), axis.share(5.0)), (0.0, 0.0, 1.0));
    }
}
