//! The quantisation margin: where a metric moves in steps, as an accuracy over few examples does, less than a
//! step cannot be gained.
//!
//! ```text
//! q = the smallest difference of two values        where different points, not the worst, have the same value; otherwise 0
//! f* − q/2                                         is what has to be improved on
//! ```
//!
//! A metric in steps shows the function below it rounded: a lower value is seen where that function is half a step lower. Without the margin the small
//! gains that a model expects all around the best point are counted, none of which ever comes, and trials are spent there. Where values
//! lie anywhere, no two are the same, and many equal values at the worst end are failures in other words: neither is a step. Of few values the smallest
//! difference may be several steps; it becomes the step as they become more.

use crate::strategy::View;
use crate::trial::Trial;

/// The share of a step that a value may be above or below the function that it shows.
const ROUNDED: f64 = 0.5;

/// Differences below this share of the range are rounding errors.
const SAME: f64 = 1e-9;

/// How far below the lowest value a trial has to come to show anything, in the metric's units.
pub(crate) fn margin(view: &View<'_>) -> f64 {
    let mut told: Vec<(f64, &Trial)> =
        view.trials.iter().filter_map(|trial| Some((trial.value()?, trial))).collect();
    told.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (Some(lowest), Some(worst)) = (told.first(), told.last()) else { return 0.0 };
    let same = SAME * (worst.0 - lowest.0);
    let (worst, mut ties, mut step) = (worst.0, false, f64::INFINITY);
    for pair in told.windows(2) {
        let difference = pair[1].0 - pair[0].0;
        if difference > same {
            step = step.min(difference);
        } else {
            ties |= worst - pair[1].0 > same && pair[0].1.point() != pair[1].1.point();
        }
    }
    if ties && step.is_finite() { ROUNDED * step } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{Module, Param, RunHistory, Space};
    use crate::trial::{Proposed, TrialId};

    /// The margin after trials at these places with these values.
    fn after(told: &[(f64, f64)]) -> f64 {
        let module = Module::new("only", [Param::float("a", 0.0, 1.0).unwrap()]).unwrap();
        let space = Space::new([module]).unwrap();
        let trial = |(i, &(at, value)): (usize, &(f64, f64))| {
            let proposed = Proposed::new(TrialId::new(i as u64), space.decode(&[at]).unwrap());
            Trial::Observed(proposed.observe(value).unwrap())
        };
        let trials: Vec<Trial> = told.iter().enumerate().map(trial).collect();
        margin(&View::of(&space, &trials, &RunHistory::new()))
    }

    #[test]
    fn half_a_step_has_to_be_gained_where_values_are_the_same() {
        assert_eq!(after(&[(0.1, 0.75), (0.2, 0.5), (0.3, 0.5), (0.4, 0.25), (0.5, 1.5)]), 0.125);
        // 0.1 + 0.2 is not quite 0.3.
        let rounded = after(&[(0.1, 0.1 + 0.2), (0.2, 0.3), (0.3, 0.4), (0.4, 0.9)]);
        assert!((rounded - 0.05).abs() < 1e-12, "{rounded}");
    }

    #[test]
    fn values_that_lie_anywhere_have_no_steps() {
        assert_eq!(after(&[]), 0.0);
        assert_eq!(after(&[(0.1, 3.0)]), 0.0);
        assert_eq!(after(&[(0.1, 3.0), (0.2, 3.0)]), 0.0);
        assert_eq!(after(&[(0.1, 0.75), (0.2, 0.5), (0.3, 0.55)]), 0.0);
    }

    #[test]
    fn neither_a_point_that_was_tried_twice_nor_many_worst_values_are_a_step() {
        assert_eq!(after(&[(0.1, 0.5), (0.1, 0.5), (0.3, 0.7), (0.4, 0.9)]), 0.0);
        assert_eq!(after(&[(0.1, 1.0), (0.2, 1.0), (0.3, 1.0), (0.4, 0.2), (0.5, 0.6)]), 0.0);
    }
}
