//! The stages of the microCT pipeline.

pub mod denoise;
pub mod measure;
pub mod parts;
pub mod phantom;
pub mod picture;
pub mod reconstruct;
pub mod table;
pub mod unet;
pub mod volume;

/// A day such as 2026-11-16, or none; for what is written into tables and measurements.
pub fn parse_day(text: &str) -> Result<String, String> {
    let parts: Vec<Option<u32>> = text
        .split('-')
        .map(|part| part.parse().ok().filter(|_| part.bytes().all(|byte| byte.is_ascii_digit())))
        .collect();
    match parts.as_slice() {
        _ if text.is_empty() => Ok(String::new()),
        [Some(_), Some(1..=12), Some(1..=31)] if text.len() == 10 => Ok(text.to_owned()),
        _ => Err("a day is a year, a month and a day, such as 2026-11-16".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_day_is_a_day_or_nothing() {
        for day in ["", "2026-11-16"] {
            assert_eq!(super::parse_day(day).as_deref(), Ok(day));
        }
        for no_day in ["today", "2026-13-01", "2026-1-1", "2026-11-16-1", "+026-11-16", "16-11-2026"] {
            assert!(super::parse_day(no_day).is_err(), "{no_day}");
        }
    }
}
