//! Durations such as `90 min` and sizes such as `20 GB`.

use std::time::Duration;

/// What durations are written in.
pub(super) const DURATION_HELP: &str =
    "write a number and a unit, such as \"30 s\", \"10 min\", \"2 h\", \"1 h 30 min\" or \"3 d\"";

/// What sizes are written in.
pub(super) const SIZE_HELP: &str = "write a number and a unit: \"500 MB\", \"20 GB\", \"1 TB\" or \"16 GiB\"";

/// What prices are written in.
pub(super) const PRICE_HELP: &str = "write what the metric must gain for its cost, such as \"0.01 \
    per hour\", \"0.01 per 10 min\" or \"0.01 per unit\", or \"auto\"";

/// The longest text that is looked at.
const MOST_BYTES: usize = 100;

/// Seconds from a text such as `1 h 30 min`; the reason if it is none.
pub(super) fn seconds(text: &str) -> Result<f64, String> {
    let mut total = 0.0;
    for (number, unit) in pairs(text)? {
        let factor = match unit {
            "ms" | "millisecond" | "milliseconds" => 1e-3,
            "s" | "sec" | "second" | "seconds" => 1.0,
            "min" | "minute" | "minutes" => 60.0,
            "h" | "hour" | "hours" => 3600.0,
            "d" | "day" | "days" => 86_400.0,
            "" => return Err(format!("{text:?} has no unit")),
            _ => return Err(format!("{unit:?} is not a unit of time")),
        };
        total += number * factor;
    }
    if f64::is_finite(total) { Ok(total) } else { Err(format!("{text:?} is too long a time")) }
}

/// What a unit of cost is worth, from a text such as `0.01 per hour`; the reason if it is none. A
/// second is a unit, as everywhere.
pub(super) fn per_cost(text: &str) -> Result<f64, String> {
    if text.len() > MOST_BYTES {
        return Err("this text is too long".to_owned());
    }
    let Some((gain, cost)) = text.split_once(" per ") else {
        return Err(format!("{text:?} does not say what the gain is for"));
    };
    let gain = gain.trim();
    let number = gain.parse::<f64>().ok().filter(|gain| gain.is_finite());
    let gain = number.ok_or_else(|| format!("{gain:?} is not a number"))?;
    let cost = cost.trim();
    if cost.starts_with('-') {
        return Err(format!("{text:?} is a gain for less than no cost"));
    }
    let cost = if cost.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        units(cost).map_or_else(|| seconds(cost), Ok)?
    } else {
        // `per hour` is per one of it.
        let one = format!("1 {cost}");
        units(&one).map_or_else(|| seconds(&one), Ok)?
    };
    let price = gain / cost;
    if cost > 0.0 && price.is_finite() { Ok(price) } else { Err(format!("{text:?} is a gain for no cost")) }
}

/// Whether a price that can be read is for a time, and not for units of the user's.
pub(super) fn is_per_time(text: &str) -> bool {
    !text.trim_end().ends_with("unit") && !text.trim_end().ends_with("units")
}

/// `5 units` as 5, where costs are in a unit of the user's.
fn units(text: &str) -> Option<f64> {
    match pairs(text).ok()?[..] {
        [(number, "unit" | "units")] => Some(number),
        _ => None,
    }
}

/// Seconds as a duration that a timer can hold.
pub(super) fn duration(seconds: f64) -> Option<Duration> {
    // A timer that is set past this would overflow clocks that count in nanoseconds.
    const LONGEST: f64 = 100.0 * 366.0 * 86_400.0;
    (seconds > 0.0 && seconds <= LONGEST).then(|| Duration::from_secs_f64(seconds))
}

/// Bytes from a text such as `20 GB`; the reason if it is none.
pub fn bytes(text: &str) -> Result<u64, String> {
    let pairs = pairs(text)?;
    let [(number, unit)] = pairs[..] else { return Err(format!("{text:?} is not one number with one unit")) };
    let factor = match unit.to_ascii_lowercase().as_str() {
        "b" | "byte" | "bytes" => 1.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1024.0_f64.powi(2),
        "gib" => 1024.0_f64.powi(3),
        "tib" => 1024.0_f64.powi(4),
        "" => return Err(format!("{text:?} has no unit")),
        _ => return Err(format!("{unit:?} is not a unit of size")),
    };
    let size = (number * factor).round();
    // 2⁵³, past which doubles skip whole numbers; nine petabytes are no limit of anybody's cache.
    if size <= 9_007_199_254_740_992.0 { Ok(size as u64) } else { Err(format!("{text:?} is too large")) }
}

/// `1 h 30 min` as (1, h), (30, min).
fn pairs(text: &str) -> Result<Vec<(f64, &str)>, String> {
    if text.len() > MOST_BYTES {
        return Err("this text is too long".to_owned());
    }
    let mut rest = text.trim();
    let mut found = Vec::new();
    if rest.is_empty() {
        return Err("the text is empty".to_owned());
    }
    while !rest.is_empty() {
        if found.is_empty() && rest.starts_with('-') {
            return Err(format!("{text:?} is negative"));
        }
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (digits, after) = rest.split_at(end);
        let number: f64 =
            digits.parse().map_err(|_| format!("{text:?} does not read as a number with a unit"))?;
        let after = after.trim_start();
        let end = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        let has_exponent =
            matches!(unit, "e" | "E") && after.starts_with(|c: char| "+-0123456789".contains(c));
        if has_exponent {
            return Err(format!("{text:?} has an exponent; write it out"));
        }
        found.push((number, unit));
        rest = after.trim_start();
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_with_their_units() {
        for (text, expected) in [
            ("90 min", 5400.0),
            ("2h", 7200.0),
            ("1 h 30 min", 5400.0),
            ("1h30min", 5400.0),
            ("0.5 s", 0.5),
            ("250 ms", 0.25),
            ("3 days", 259_200.0),
            (" 10 seconds ", 10.0),
        ] {
            assert_eq!(seconds(text), Ok(expected), "{text}");
        }
        for text in
            ["", "10", "min", "10 parsecs", "-3 s", "1..2 s", "10 min,", "1e3 s", "1e-3 h", "٣ s", "s 10"]
        {
            assert!(seconds(text).is_err(), "{text}");
        }
        assert!(seconds(&format!("{} s", "9".repeat(99))).is_err());
        assert!(seconds(&"1 s ".repeat(1000)).is_err());
    }

    #[test]
    fn prices_are_gains_for_a_cost() {
        for (text, expected) in [
            ("0.01 per hour", 0.01 / 3600.0),
            ("0.01 per min", 0.01 / 60.0),
            ("0.01 per 10 min", 0.01 / 600.0),
            ("1e-3 per 1 h 30 min", 1e-3 / 5400.0),
            ("2 per unit", 2.0),
            ("2 per 5 units", 0.4),
            (" 3  per  s ", 3.0),
        ] {
            assert_eq!(per_cost(text), Ok(expected), "{text}");
        }
        for text in [
            "",
            "0.01",
            "0.01 per",
            "per hour",
            "x per hour",
            "0.01 per parsec",
            "1 per 0 s",
            "inf per s",
            "1 per -1 s",
        ] {
            assert!(per_cost(text).is_err(), "{text}");
        }
        assert!(per_cost(&"1 per s".repeat(100)).is_err());
    }

    #[test]
    fn sizes_are_read_with_their_units() {
        for (text, expected) in [
            ("20 GB", 20_000_000_000),
            ("1kB", 1000),
            ("16 GiB", 17_179_869_184),
            ("1.5 MB", 1_500_000),
            ("3 TB", 3_000_000_000_000),
            ("12 bytes", 12),
        ] {
            assert_eq!(bytes(text), Ok(expected), "{text}");
        }
        for text in ["", "20", "GB", "20 G", "1 GB 2 MB", "-1 GB", "99999999 TB"] {
            assert!(bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_duration_is_positive_and_fits_a_timer() {
        assert_eq!(duration(1.5), Some(Duration::from_millis(1500)));
        for none in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300] {
            assert_eq!(duration(none), None);
        }
    }
}
