//! Any bytes are the numbers of a stage, as another reader of JSON has them, or short words that steer no terminal.
#![no_main]

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde_json::Value;
use stagetune_pipeline::owner::{MOST_NUMBERS, number_in, numbers_in};
use stagetune_pipeline::text::steers;

/// The key that the seeds hold.
const PLAIN: &str = "f1";

/// A key that a pipeline file can name and no terminal should see: long, and with letters that steer.
const HOSTILE: &str =
    "\u{1b}[2J\u{202e}a key that goes on and on, with \u{feff} in the middle of it, until nobody reads it\n";

/// Twenty keys of sixty letters, each of which may be escaped as `\u{e0041}`, and the words around them.
const LONGEST_REASON: usize = 20 * 60 * 9 + 500;

/// The longest name of a number that is kept, in letters.
const LONGEST_NAME: usize = 200;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let key = if data.len() % 4 == 3 { HOSTILE } else { PLAIN };
    let numbers = numbers_in(data, Some(key));
    check_numbers(&numbers, key);
    let number = number_in(data, key);
    match &number {
        Ok(number) => assert_eq!(numbers.get(key), Some(number), "a metric that is read is kept"),
        Err(reason) => {
            assert!(!numbers.contains_key(key), "a metric without a number is none: {reason}");
            assert!(!reason.is_empty() && reason.chars().count() <= LONGEST_REASON, "{reason}");
            assert!(!reason.chars().any(steers), "{reason:?}");
        }
    }
    compare(data, key, &number, &numbers);
});

fn check_numbers(numbers: &BTreeMap<String, f64>, metric: &str) {
    assert!(numbers.len() <= MOST_NUMBERS + 1);
    for (name, number) in numbers {
        assert!(number.is_finite(), "{name:?} is {number}");
        let plain = !name.chars().any(steers) && name.chars().count() <= LONGEST_NAME;
        assert!(plain || name == metric, "{name:?}");
    }
}

/// What a reader that builds the whole value finds in the same bytes.
fn compare(data: &[u8], key: &str, number: &Result<f64, String>, numbers: &BTreeMap<String, f64>) {
    let data = data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data);
    match serde_json::from_slice::<Value>(data) {
        Ok(Value::Object(fields)) => {
            assert_eq!(number.as_ref().ok().copied(), fields.get(key).and_then(Value::as_f64), "{number:?}");
            for (name, number) in numbers {
                assert_eq!(fields.get(name).and_then(Value::as_f64), Some(*number), "{name:?}");
            }
            let kept = fields.iter().filter(|(name, value)| value.is_number() && numbers.contains_key(*name));
            assert_eq!(kept.count(), numbers.len());
        }
        Ok(_) => assert!(number.is_err() && numbers.is_empty(), "only an object has numbers"),
        // What is skipped only has to look like JSON: it may be deeper, or hold numbers and letters that are none.
        Err(_) if serde_json::from_slice::<IgnoredAny>(data).is_ok() => {}
        Err(error) => assert!(number.is_err() && numbers.is_empty(), "{error}"),
    }
}
