//! What every strategy promises: the same suite for each name in the catalogue, and for LaMBO under its less common options.

// Clippy lets tests unwrap and panic but not the helpers beside them.
#![allow(clippy::unwrap_used, clippy::panic)]

mod better_than_random;
mod chaos;
mod contestants;
mod costs;
mod graph;
mod inputs;
mod openness;
mod raw;
mod replay;
mod spaces;

use stagetune::space::{Point, Space};
use stagetune::study::Study;

/// Asks and tells `trials` times; the values come from `value`, and what it calls `None` failed.
fn drive(
    study: &mut Study,
    trials: usize,
    mut value: impl FnMut(usize, &Point) -> Option<f64>,
) -> Vec<Point> {
    (0..trials)
        .map(|number| {
            let trial = study.ask().unwrap();
            let point = trial.point().clone();
            match value(number, &point) {
                Some(value) => study.tell(trial.observe(value).unwrap()).unwrap(),
                None => study.tell(trial.fail("out of memory")).unwrap(),
            }
            point
        })
        .collect()
}

/// A smooth bowl over the unit cube whose bottom is off the centre.
fn bowl(space: &Space, point: &Point) -> f64 {
    let u = space.encode(point).unwrap();
    u.iter().enumerate().map(|(i, u)| (u - 0.3 - 0.05 * i as f64).powi(2)).sum()
}
