//! `result.json`: the numbers that a stage leaves for stagetune.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use serde_json::Value;

/// A result is a handful of numbers; whatever is longer is something else.
const MOST: u64 = 16 * 1024 * 1024;

/// The longest name of a number that is kept.
const LONGEST_NAME: usize = 200;

/// The most numbers of one stage that are kept, by name.
const MOST_NUMBERS: usize = 1_000;

/// The number under a key of `result.json`; what is wrong, if there is none.
pub(super) fn number(out: &Path, key: &str) -> Result<f64, String> {
    let Some(value) = read(out)? else {
        return Err(format!("wrote no result.json into {{out}}, which must hold `{key}`"));
    };
    let Some(fields) = value.as_object() else {
        return Err(format!("result.json is not an object such as {{\"{key}\": 0.5}}"));
    };
    match fields.get(key) {
        Some(Value::Number(number)) => number
            .as_f64()
            .filter(|n| n.is_finite())
            .ok_or_else(|| format!("`{key}` in result.json is too large")),
        Some(Value::Null) => Err(format!("`{key}` in result.json is null: the metric is not a number")),
        Some(other) => Err(format!("`{key}` in result.json is {}, not a number", shortened(other))),
        None => {
            let known: Vec<&str> = fields.keys().map(String::as_str).take(20).collect();
            Err(format!("result.json has no `{key}`; it has {}", known.join(", ")))
        }
    }
}

/// Every number of `result.json` by name; none if there is no such file, or it is something else.
pub(super) fn numbers(out: &Path) -> BTreeMap<String, f64> {
    let Ok(Some(Value::Object(fields))) = read(out) else { return BTreeMap::new() };
    let plain = |name: &String| name.len() <= LONGEST_NAME && !name.chars().any(char::is_control);
    let number = |(name, value): (String, Value)| Some((name, value.as_f64().filter(|n| n.is_finite())?));
    fields.into_iter().filter(|(name, _)| plain(name)).filter_map(number).take(MOST_NUMBERS).collect()
}

/// What is in `result.json`; `None` if there is none.
fn read(out: &Path) -> Result<Option<Value>, String> {
    let path = out.join("result.json");
    // A pipe of that name would be waited for without end.
    if std::fs::metadata(&path).is_ok_and(|metadata| !metadata.is_file()) {
        return Err("wrote a result.json that is not a file".into());
    }
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(format!("result.json cannot be read: {error}")),
    };
    let mut text = String::new();
    file.take(MOST)
        .read_to_string(&mut text)
        .map_err(|error| format!("result.json cannot be read: {error}"))?;
    match serde_json::from_str(&text) {
        Ok(value) => Ok(Some(value)),
        Err(_) if text.trim().is_empty() => Err("result.json is empty".into()),
        // Many programs write numbers that JSON does not have.
        Err(_) if ["NaN", "Infinity", "inf"].iter().any(|word| text.contains(word)) => {
            Err("result.json holds NaN or an infinity: the metric is not a number".into())
        }
        Err(error) => Err(format!("result.json is not JSON: {error}")),
    }
}

/// A value as text, without its end if it is long.
fn shortened(value: &Value) -> String {
    const LONGEST: usize = 60;
    let text = value.to_string();
    let mut short: String = text.chars().take(LONGEST).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anything_but_a_number_is_said_plainly() {
        let dir = tempfile::tempdir().unwrap();
        let read = |text: &str| {
            std::fs::write(dir.path().join("result.json"), text).unwrap();
            number(dir.path(), "f1")
        };
        assert!(number(dir.path(), "f1").unwrap_err().contains("wrote no result.json"));
        assert_eq!(read(r#"{"f1": 0.25, "x": "y"}"#), Ok(0.25));
        assert_eq!(read(r#"{"f1": 3}"#), Ok(3.0));
        for (text, expected) in [
            (r#"{"f1": NaN}"#, "NaN"),
            (r#"{"f1": -Infinity}"#, "infinity"),
            (r#"{"f1": null}"#, "null"),
            (r#"{"f1": "0.5"}"#, "not a number"),
            (r#"{"f1": 1e999}"#, "not JSON"),
            (r#"{"F1": 1}"#, "it has F1"),
            ("[1]", "not an object"),
            ("", "is empty"),
        ] {
            let problem = read(text).unwrap_err();
            assert!(problem.contains(expected), "{text}: {problem}");
        }
    }

    #[test]
    fn all_numbers_are_found_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        assert!(numbers(dir.path()).is_empty());
        let text = r#"{"f1": 0.25, "n": 3, "name": "x", "deep": {"a": 1}, "b\u0007ell": 1}"#;
        std::fs::write(dir.path().join("result.json"), text).unwrap();
        let found: Vec<_> = numbers(dir.path()).into_iter().collect();
        assert_eq!(found, [("f1".to_owned(), 0.25), ("n".to_owned(), 3.0)]);
        std::fs::write(dir.path().join("result.json"), "[1]").unwrap();
        assert!(numbers(dir.path()).is_empty());
    }
}
