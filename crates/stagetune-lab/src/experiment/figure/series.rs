//! The mean of many runs with its 95% band, at places that all runs have.

use super::super::curve::{Curve, Row};
use super::super::stats::{Resampling, mean};

/// A curve with its band.
#[derive(Clone, Debug)]
pub struct Series {
    /// From left to right.
    pub points: Vec<Point>,
}

/// A place on a curve.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// Where.
    pub x: f64,
    /// Mean of the runs.
    pub mean: f64,
    /// Lower end of the band.
    pub low: f64,
    /// Upper end of the band.
    pub high: f64,
}

impl Series {
    /// The same with x in other units.
    pub fn with_unit(mut self, unit: f64) -> Self {
        self.points.iter_mut().for_each(|point| point.x /= unit);
        self
    }
}

/// Places on the axis of costs: finer than a pixel of the printed figure shows.
const PLACES: usize = 240;

/// Regret against what was spent, from where every run has a trial to where the first one ends.
pub fn against_cost(runs: &[&Curve], budget: f64) -> Series {
    let first = runs.iter().filter_map(|run| run.rows.first()).map(|row| row.cost).fold(0.0, f64::max);
    let last = runs.iter().map(|run| run.last().cost).fold(budget, f64::min);
    let places = (0..=PLACES).map(|i| budget * i as f64 / PLACES as f64);
    let places = places.filter(|cost| (first..=last).contains(cost));
    series(runs, places, |run, cost| run.at_cost(cost).map(|row| row.regret))
}

/// A column against the number of the trial, as long as every run goes on.
pub fn against_iterations(runs: &[&Curve], column: impl Fn(&Row) -> f64) -> Series {
    let shortest = runs.iter().map(|run| run.rows.len()).min().unwrap_or(0);
    let places = (1..=shortest).map(|iteration| iteration as f64);
    series(runs, places, |run, iteration| run.rows.get(iteration as usize - 1).map(&column))
}

/// The rightmost place of all.
pub fn last_x(series: &[&Series]) -> f64 {
    series.iter().filter_map(|series| series.points.last()).map(|point| point.x).fold(0.0, f64::max)
}

/// The highest band of all.
pub fn highest(series: &[&Series]) -> f64 {
    series.iter().flat_map(|series| &series.points).map(|point| point.high).fold(0.0, f64::max)
}

fn series(
    runs: &[&Curve],
    places: impl Iterator<Item = f64>,
    value: impl Fn(&Curve, f64) -> Option<f64>,
) -> Series {
    let resampling = Resampling::new(runs.len());
    let point = |x: f64| {
        let sample: Vec<f64> = runs.iter().filter_map(|run| value(run, x)).collect();
        if sample.is_empty() || sample.len() != runs.len() {
            return None;
        }
        let [low, high] = resampling.mean(&sample);
        Some(Point { x, mean: mean(&sample), low, high })
    };
    Series { points: places.filter_map(point).collect() }
}
