//! How errors are measured and added up.
//!
//! | quantity | error |
//! | --- | --- |
//! | most | &#124;got − want&#124; / max(1, &#124;want&#124;): absolute up to 1, relative beyond |
//! | expected improvement | &#124;got − want&#124; / max(1e-300, &#124;want&#124;): relative down to the end of the normal doubles |
//! | fit | how far our log likelihood stays below the stated one; being above is no error |
//!
//! A result that is not finite has an infinite error.

use serde::{Serialize, Serializer};

/// Below this a double has lost digits or is about to, so that a relative error would judge the number format.
const SMALLEST_SOUND: f64 = 1e-300;

/// The number of cases and values seen, and the largest error among them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Tally {
    /// How many cases were checked.
    pub cases: usize,
    /// How many numbers were compared.
    pub values: usize,
    /// The largest error; infinite if a result was not finite.
    #[serde(serialize_with = "number_or_text")]
    pub largest_error: f64,
    /// The key with the largest error.
    #[serde(rename = "where")]
    pub place: String,
}

impl Tally {
    /// Compares absolutely up to 1, relatively beyond.
    pub fn compare(&mut self, place: impl Into<String>, got: f64, want: f64) {
        self.record(place, (got - want).abs() / want.abs().max(1.0));
    }

    /// Compares relatively, however small the wanted value.
    pub fn compare_relatively(&mut self, place: impl Into<String>, got: f64, want: f64) {
        self.record(place, (got - want).abs() / want.abs().max(SMALLEST_SOUND));
    }

    /// Compares with a number of which only the printed digits are known: half a unit of the last one is no error.
    pub fn compare_printed(&mut self, place: impl Into<String>, got: f64, want: f64) {
        let excess = (got - want).abs() - half_unit_of_last_digit(want);
        self.record(place, if excess <= 0.0 { 0.0 } else { excess / want.abs().max(1.0) });
    }

    /// Adds lists of equal length, the place of each entry being `place[i]`.
    pub fn compare_all(&mut self, place: &str, got: &[f64], want: &[f64]) {
        if got.len() != want.len() {
            self.record(place, f64::INFINITY);
        }
        for (i, (&got, &want)) in got.iter().zip(want).enumerate() {
            self.compare(format!("{place}[{i}]"), got, want);
        }
    }

    /// Adds an error that was measured otherwise.
    pub fn record(&mut self, place: impl Into<String>, error: f64) {
        let error = if error.is_nan() { f64::INFINITY } else { error };
        self.values += 1;
        if self.values == 1 || error > self.largest_error {
            self.largest_error = error;
            self.place = place.into();
        }
    }
}

/// −3.32237 has five decimals, hence 0.000005; a whole number is taken as exact.
fn half_unit_of_last_digit(x: f64) -> f64 {
    // `Display` of a double never uses an exponent and gives the shortest digits that read back as it.
    let decimals = x.to_string().split_once('.').map_or(0, |(_, decimals)| decimals.len());
    match i32::try_from(decimals) {
        Ok(0) | Err(_) => 0.0,
        Ok(decimals) => 0.5 * 10f64.powi(-decimals),
    }
}

/// JSON has no infinity, and `null` would read as "no error".
fn number_or_text<S: Serializer>(x: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if x.is_finite() { serializer.serialize_f64(*x) } else { serializer.serialize_str("infinite") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(compare: impl Fn(&mut Tally)) -> f64 {
        let mut tally = Tally::default();
        compare(&mut tally);
        tally.largest_error
    }

    #[test]
    fn errors_are_absolute_up_to_one_and_relative_beyond() {
        assert_eq!(error(|t| t.compare("", 1e-9, 2e-9)), 1e-9);
        assert_eq!(error(|t| t.compare("", -6e17, -5e17)), 0.2);
    }

    #[test]
    fn a_tiny_improvement_is_held_to_its_own_size() {
        assert!((error(|t| t.compare_relatively("", 1.5e-91, 1e-91)) - 0.5).abs() < 1e-12);
        assert_eq!(error(|t| t.compare_relatively("", 0.0, 0.0)), 0.0);
        assert!(error(|t| t.compare_relatively("", 1e-299, 0.0)) > 1.0);
        assert!(error(|t| t.compare_relatively("", 5e-324, 0.0)) < 1e-20);
    }

    #[test]
    fn a_printed_number_is_held_to_its_digits() {
        assert_eq!(error(|t| t.compare_printed("", -3.322368011415515, -3.32237)), 0.0);
        assert!(error(|t| t.compare_printed("", -3.32236, -3.32237)) > 1e-6);
        assert_eq!(error(|t| t.compare_printed("", 1e-3, 0.0)), 1e-3);
    }

    #[test]
    fn a_result_that_is_no_number_is_an_infinite_error() {
        assert_eq!(error(|t| t.compare("", f64::NAN, 1.0)), f64::INFINITY);
        assert_eq!(error(|t| t.compare("", f64::INFINITY, 1.0)), f64::INFINITY);
        assert_eq!(error(|t| t.compare_printed("", f64::NAN, 1.0)), f64::INFINITY);
        assert_eq!(error(|t| t.compare_all("", &[1.0], &[1.0, 2.0])), f64::INFINITY);
    }

    #[test]
    fn the_place_is_that_of_the_largest_error() {
        let mut tally = Tally::default();
        tally.compare_all("p", &[1.0, 2.5, 3.0], &[1.0, 2.0, 3.0]);
        assert_eq!((tally.values, tally.place.as_str()), (3, "p[1]"));
    }
}
