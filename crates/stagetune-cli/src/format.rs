//! Quantities as people read them: durations, numbers, sizes and dates.

use serde_json::Value;
use stagetune_pipeline::clock;
pub use stagetune_pipeline::clock::minute;
use stagetune_pipeline::ledger::CostUnit;
use stagetune_pipeline::text::shortened;

/// A span of seconds with its two largest units: `640 ms`, `4 min 10 s`, `2 d 3 h`.
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() {
        return number(seconds);
    }
    if seconds < 0.0 {
        return format!("-{}", duration(-seconds));
    }
    // The units change where the rounded text would reach the next one, so that nobody reads `60.0 s` or `1000 ms`.
    if seconds == 0.0 {
        "0 s".into()
    } else if seconds < 0.000_999_5 {
        format!("{} µs", digits(seconds * 1e6, 3))
    } else if seconds < 0.999_5 {
        format!("{} ms", digits(seconds * 1e3, 3))
    } else if seconds < 59.95 {
        format!("{} s", digits(seconds, 3))
    } else if seconds < 3_599.5 {
        two_units(seconds, 60.0, "min", 1.0, "s")
    } else if seconds < 86_370.0 {
        two_units(seconds, 3_600.0, "h", 60.0, "min")
    } else if seconds < 86_400.0 * 1e4 {
        two_units(seconds, 86_400.0, "d", 3_600.0, "h")
    } else {
        format!("{} d", number((seconds / 86_400.0).round()))
    }
}

/// A number with at most five significant digits: `0.7712`, `12,345`, `3.2e-7`.
pub fn number(value: f64) -> String {
    digits(value, 5)
}

/// Numbers for one column, with as many decimals each as the one that needs most.
pub fn aligned(values: &[f64]) -> Vec<String> {
    let texts: Vec<String> = values.iter().map(|value| number(*value)).collect();
    let decimals = |text: &String| text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    let most = texts.iter().map(decimals).max().unwrap_or(0);
    // Numbers of different magnitudes do not line up; each is then as short as it can be.
    let plain = texts.iter().all(|text| text.chars().all(|c| c.is_ascii_digit() || ".,-".contains(c)));
    if !plain || most > 6 {
        return texts;
    }
    let pad = |text: String| {
        let missing = most - decimals(&text);
        let dot = if missing == most && missing > 0 { "." } else { "" };
        format!("{text}{dot}{}", "0".repeat(missing))
    };
    texts.into_iter().map(pad).collect()
}

/// A parameter's value: texts as they are, numbers with at most six digits and without commas, ready to be typed elsewhere.
pub fn value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => {
            number.as_f64().map_or_else(|| number.to_string(), |x| digits(x, 6).replace(',', ""))
        }
        other => other.to_string(),
    }
}

/// The most letters of a text from outside that are shown.
const LONGEST_CLEAN: usize = 4_000;

/// On one line, not without end, and with control characters escaped: no text of a pipeline may steer the terminal.
pub fn clean(text: &str) -> String {
    // Before the words are split: a text may have millions of them.
    let short: String = text.chars().take(LONGEST_CLEAN + 1).collect();
    let words: Vec<&str> = short.split_whitespace().collect();
    shortened(&words.join(" "), LONGEST_CLEAN)
}

/// A size in binary units: `812 B`, `3.4 MiB`.
pub fn bytes(size: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if size < 1024 {
        return format!("{size} B");
    }
    let mut scaled = size as f64 / 1024.0;
    let mut unit = UNITS[0];
    for larger in &UNITS[1..] {
        if scaled < 999.5 {
            break;
        }
        scaled /= 1024.0;
        unit = larger;
    }
    format!("{} {unit}", digits(scaled, 3))
}

/// A cost: a duration if it is counted in seconds, else a plain number.
pub fn cost(value: f64, unit: CostUnit) -> String {
    match unit {
        CostUnit::Seconds => duration(value),
        CostUnit::Units => digits(value, 4),
    }
}

/// A number of things, with commas between thousands.
pub fn count(things: usize) -> String {
    group(&things.to_string())
}

/// A share between 0 and 1 as a percentage, with one decimal where it is small.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent != 0.0 && percent.abs() < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// Seconds since 1970 as ISO 8601 in UTC with milliseconds, or nothing where that is no date of the years 0 to 9999.
pub fn timestamp(seconds: f64) -> Option<String> {
    let (date, milliseconds) = clock::civil(seconds)?;
    let (h, min, s) =
        (milliseconds / 3_600_000, milliseconds / 60_000 % 60, milliseconds as f64 % 60_000.0 / 1000.0);
    Some(format!("{date}T{h:02}:{min:02}:{s:06.3}Z"))
}

fn two_units(seconds: f64, large: f64, large_name: &str, small: f64, small_name: &str) -> String {
    let smalls = (seconds / small).round() as i64;
    let each = (large / small) as i64;
    match (smalls / each, smalls % each) {
        (whole, 0) => format!("{whole} {large_name}"),
        (whole, rest) => format!("{whole} {large_name} {rest} {small_name}"),
    }
}

/// A number with at most so many significant digits; whole numbers below a million keep all of theirs.
pub fn digits(value: f64, significant: i32) -> String {
    if value.is_nan() {
        return "NaN".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "∞" } else { "-∞" }.into();
    }
    let size = value.abs();
    if size == 0.0 {
        return "0".into();
    }
    if value.fract() == 0.0 && size < 1e6 {
        return group(&format!("{value:.0}"));
    }
    if !(1e-4..1e6).contains(&size) {
        let text = format!("{value:.*e}", (significant - 1).max(0) as usize);
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", trim(mantissa));
    }
    let decimals = (significant - 1 - size.log10().floor() as i32).max(0) as usize;
    group(&trim(&format!("{value:.decimals$}")))
}

/// Without zeros at the end of the decimals.
fn trim(text: &str) -> String {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text.into() }
}

/// Commas between thousands, from five digits on.
fn group(text: &str) -> String {
    let (sign, unsigned) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, decimals) = unsigned.split_once('.').map_or((unsigned, None), |(w, d)| (w, Some(d)));
    let mut out = String::from(sign);
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at) % 3 == 0 && whole.len() > 4 {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(decimals) = decimals {
        out.push('.');
        out.push_str(decimals);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_their_two_largest_units() {
        let cases = [
            (0.0, "0 s"),
            (2.5e-5, "25 µs"),
            (0.0123, "12.3 ms"),
            (0.99949, "999 ms"),
            (0.9996, "1 s"),
            (59.94, "59.9 s"),
            (59.96, "1 min"),
            (250.0, "4 min 10 s"),
            (3599.4, "59 min 59 s"),
            (3599.6, "1 h"),
            (7380.0, "2 h 3 min"),
            (86_399.0, "1 d"),
            (183_600.0, "2 d 3 h"),
            (-90.0, "-1 min 30 s"),
            (f64::NAN, "NaN"),
            (1e300, "1.1574e295 d"),
        ];
        for (seconds, text) in cases {
            assert_eq!(duration(seconds), text, "{seconds}");
        }
    }

    #[test]
    fn numbers_have_sensible_digits() {
        let cases = [
            (0.0, "0"),
            (-0.0, "0"),
            (0.771234567, "0.77123"),
            (0.1 + 0.2, "0.3"),
            (1234.0, "1234"),
            (12345.678, "12,346"),
            (999_999.0, "999,999"),
            (1e7, "1e7"),
            (-3.25e-7, "-3.25e-7"),
            (f64::INFINITY, "∞"),
            (f64::MIN_POSITIVE, "2.2251e-308"),
            (f64::MAX, "1.7977e308"),
        ];
        for (value, text) in cases {
            assert_eq!(number(value), text, "{value}");
        }
    }

    #[test]
    fn numbers_of_a_column_have_equally_many_decimals() {
        assert_eq!(aligned(&[0.5, 0.7712, -3.0]), ["0.5000", "0.7712", "-3.0000"]);
        assert_eq!(aligned(&[0.5, 1e-9]), ["0.5", "1e-9"]);
        assert_eq!(aligned(&[1.0, 12345.0]), ["1", "12,345"]);
    }

    #[test]
    fn sizes_change_units_before_four_digits() {
        let cases =
            [(0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (1_500_000, "1.43 MiB"), (u64::MAX, "16 EiB")];
        for (size, text) in cases {
            assert_eq!(bytes(size), text);
        }
    }

    #[test]
    fn timestamps_are_civil_dates_in_utc() {
        let cases = [
            (0.0, "1970-01-01T00:00:00.000Z"),
            (951_782_400.0, "2000-02-29T00:00:00.000Z"),
            (1_700_000_000.123, "2023-11-14T22:13:20.123Z"),
            (-0.001, "1969-12-31T23:59:59.999Z"),
            (-62_167_219_200.0, "0000-01-01T00:00:00.000Z"),
            (253_402_300_799.0, "9999-12-31T23:59:59.000Z"),
        ];
        for (seconds, text) in cases {
            assert_eq!(timestamp(seconds).as_deref(), Some(text));
        }
        for no_date in [f64::NAN, f64::INFINITY, 1e300, -1e12] {
            assert_eq!(timestamp(no_date), None);
        }
        assert_eq!(minute(1_700_000_000.0).as_deref(), Some("2023-11-14 22:13"));
    }
}
