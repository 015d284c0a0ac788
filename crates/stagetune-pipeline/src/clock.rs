//! The time of day as seconds since 1970, and those as a date.

use std::time::SystemTime;

/// Now; 0 on a machine whose clock stands before 1970.
pub fn now() -> f64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// Seconds since 1970 as a date and a time of day in UTC, to the minute.
pub fn minute(seconds: f64) -> Option<String> {
    let (date, milliseconds) = civil(seconds)?;
    Some(format!("{date} {:02}:{:02}", milliseconds / 3_600_000, milliseconds / 60_000 % 60))
}

/// The date, and the milliseconds of that day.
pub fn civil(seconds: f64) -> Option<(String, i64)> {
    // The first instant of the year 0 and the last of the year 9999.
    if !(-62_167_219_200.0..253_402_300_799.999).contains(&seconds) {
        return None;
    }
    let milliseconds = (seconds * 1000.0).round() as i64;
    let (days, rest) = (milliseconds.div_euclid(86_400_000), milliseconds.rem_euclid(86_400_000));
    // Hinnant's `civil_from_days`: years begin in March, so that the leap day is the last of the year; an era has 400 years.
    let z = days + 719_468;
    let (era, day_of_era) = (z.div_euclid(146_097), z.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    Some((format!("{year:04}-{month:02}-{day:02}"), rest))
}
