//! The spread of the values seen so far: the scale on which a gain is large or small.

/// The number of values from which on a median says anything; a forecast needs as many.
pub(crate) const LEAST_VALUES: usize = 5;

/// The largest distance so far from the median to the lowest value, as the values came; the range where there
/// is none.
///
/// A strategy that has found the best values tries more like them, so that the distance shrinks again; what
/// was there to be gained does not.
pub(crate) fn spread(values: &[f64]) -> f64 {
    let mut sorted: Vec<f64> = Vec::with_capacity(values.len());
    let mut largest = 0.0_f64;
    for value in values {
        sorted.insert(sorted.partition_point(|other| other < value), *value);
        if sorted.len() >= LEAST_VALUES
            && let (Some(lowest), Some(median)) = (sorted.first(), sorted.get(sorted.len() / 2))
        {
            largest = largest.max(median - lowest);
        }
    }
    let range = sorted.last().zip(sorted.first()).map_or(0.0, |(highest, lowest)| highest - lowest);
    if largest > 0.0 { largest } else { range }
}
