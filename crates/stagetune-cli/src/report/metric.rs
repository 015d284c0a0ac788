//! The axis of the metric, chosen so that the best trials can be told apart however bad the worst ones are.

use stagetune::objective::Direction;

use super::svg::Axis;

/// Above this ratio of largest to smallest, positive values get a logarithmic axis.
const MANY_TIMES: f64 = 100.0;

/// The axis is cut where the worst value lies more than so many times farther from the best than four of five values do;
/// values with an exponential tail stay whole.
const FAR_OUT: f64 = 8.0;

/// The range of the metric's axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Whether the axis is logarithmic.
    pub log: bool,
    /// How many values lie beyond the worse end.
    pub beyond: usize,
}

/// The range that shows these values.
pub fn range(values: impl IntoIterator<Item = f64>, direction: Direction) -> Range {
    // Plain doubles near the largest one would overflow on their way to a coordinate.
    let mut sorted: Vec<f64> = values.into_iter().map(|value| value.clamp(-1e300, 1e300)).collect();
    sorted.sort_by(f64::total_cmp);
    if direction == Direction::Maximize {
        sorted.reverse();
    }
    let (Some(&best), Some(&worst)) = (sorted.first(), sorted.last()) else {
        return Range { low: 0.0, high: 1.0, log: false, beyond: 0 };
    };
    let (smallest, largest) = (best.min(worst), best.max(worst));
    if smallest > 0.0 && largest / smallest > MANY_TIMES {
        let room = (largest / smallest).powf(0.03);
        return Range { low: smallest / room, high: (largest * room).min(1e300), log: true, beyond: 0 };
    }
    // Four of five values decide where the axis ends: room for as much again.
    let most = sorted.get(sorted.len() * 4 / 5).copied().unwrap_or(worst);
    let usual = (most - best).abs();
    let cut = sorted.len() >= 10 && usual > 0.0 && (worst - best).abs() > FAR_OUT * usual;
    let end = if cut { best + (most - best) * 2.0 } else { worst };
    let beyond = if cut {
        sorted.iter().filter(|value| (**value - best).abs() > (end - best).abs()).count()
    } else {
        0
    };
    let (low, high) = (best.min(end), best.max(end));
    let room = (high - low) * 0.04;
    Range { low: low - room, high: high + room, log: false, beyond }
}

impl Range {
    /// The axis of this range, from the coordinate of the lower end to that of the upper.
    pub fn axis(&self, span: [f64; 2], wanted: usize) -> Axis {
        Axis::new(self.low, self.high, self.log, span, wanted)
    }

    /// Whether the value lies beyond the end where the axis was cut.
    pub fn leaves_out(&self, value: f64) -> bool {
        self.beyond > 0 && !(self.low..=self.high).contains(&value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_outliers_do_not_flatten_the_rest() {
        let mut values: Vec<f64> = (0..40).map(|k| f64::from(k) * -0.01).collect();
        values.push(-1e9);
        let range = range(values, Direction::Maximize);
        assert!(range.low > -1.0 && range.beyond >= 1 && range.leaves_out(-1e9));
    }

    #[test]
    fn orders_of_magnitude_get_a_logarithmic_axis() {
        let range = range([1e-9, 1.0, 1e9], Direction::Minimize);
        assert!(range.log && range.low > 0.0 && range.beyond == 0);
    }

    #[test]
    fn every_set_of_values_has_a_range_that_an_axis_can_show() {
        let sets: [&[f64]; 7] = [
            &[],
            &[0.0],
            &[5.0; 9],
            &[f64::MAX, f64::MIN],
            &[5e-324, 1e-320],
            &[-1e-9, 0.0, 1e-9],
            &[1e300, 1e-300],
        ];
        for values in sets {
            for direction in [Direction::Maximize, Direction::Minimize] {
                let axis = range(values.iter().copied(), direction).axis([100.0, 0.0], 5);
                for value in values {
                    assert!((0.0..=100.0).contains(&axis.at(*value)), "{values:?}");
                }
            }
        }
    }
}
