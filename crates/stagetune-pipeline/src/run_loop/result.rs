//! `result.json`: the numbers that a stage leaves for stagetune.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use serde_json::Value;

/// A result is a handful of numbers; whatever is longer is something else.
const MOST: u64 = 16 * 1024 * 1024;

/// The number under a key of `result.json`; what is wrong, if there is none.
pub(super) fn number(out: &Path, key: &str) -> Result<f64, String> {
    let mut text = String::new();
    // A pipe of that name would be waited for without end.
    if std::fs::metadata(out.join("result.json")).is_ok_and(|metadata| !metadata.is_file()) {
        return Err("wrote a result.json that is not a file".into());
    }
    let file = File::open(out.join("result.json")).map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!("wrote no result.json into {{out}}, which must hold `{key}`"),
        _ => format!("result.json cannot be read: {error}"),
    })?;
    file.take(MOST)
        .read_to_string(&mut text)
        .map_err(|error| format!("result.json cannot be read: {error}"))?;
    let value: Value = match serde_json::from_str(&text) {
        Ok(value) => value,
        // Many programs write numbers that JSON does not have.
        Err(_) if ["NaN", "Infinity", "inf"].iter().any(|word| text.contains(word)) => {
            return Err("result.json holds NaN or an infinity: the metric is not a number".into());
        }
        Err(error) => return Err(format!("result.json is not JSON: {error}")),
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
        Some(other) => Err(format!("`{key}` in result.json is {other}, not a number")),
        None => {
            let known: Vec<&str> = fields.keys().map(String::as_str).take(20).collect();
            Err(format!("result.json has no `{key}`; it has {}", known.join(", ")))
        }
    }
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
            ("", "not JSON"),
        ] {
            let problem = read(text).unwrap_err();
            assert!(problem.contains(expected), "{text}: {problem}");
        }
    }
}
