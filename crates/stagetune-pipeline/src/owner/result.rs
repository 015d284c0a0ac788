//! `result.json`: the numbers that a stage leaves for stagetune.

mod read;

use std::collections::BTreeMap;
use std::path::Path;

pub use read::MOST_NUMBERS;
use read::{Field, Fields, bytes, read};

use crate::text::shortened;

/// The most letters of a text from outside in a message.
const LONGEST_SHOWN: usize = 60;

/// The number under a key of `result.json`; what is wrong, if there is none.
pub(super) fn number(out: &Path, key: &str) -> Result<f64, String> {
    let Some(bytes) = bytes(&out.join("result.json"))? else {
        let name = shortened(key, LONGEST_SHOWN);
        return Err(format!("wrote no result.json into {{out}}, which must hold `{name}`"));
    };
    number_in(&bytes, key)
}

/// The number under a key of the content of a `result.json`; what is wrong, if there is none.
#[doc(hidden)]
pub fn number_in(bytes: &[u8], key: &str) -> Result<f64, String> {
    let name = shortened(key, LONGEST_SHOWN);
    let fields = read(bytes, Some(key))?;
    let kind = match &fields.wanted {
        Some(Field::Number(number)) => return Ok(*number),
        Some(Field::Text(text)) => return Err(said_as_text(&name, text)),
        Some(Field::Bool(bool)) => format!("{bool}"),
        Some(Field::Null) => "null".to_owned(),
        Some(Field::List) => "a list".to_owned(),
        Some(Field::Object) => "an object".to_owned(),
        None => return Err(format!("wrote a result.json without `{name}`; {}", fields.listed())),
    };
    Err(format!("wrote a result.json in which `{name}` is {kind}, not a number"))
}

/// Every number of `result.json` by name; none if there is no such file, or it is something else.
pub(super) fn numbers(out: &Path) -> BTreeMap<String, f64> {
    numbers_with(out, None)
}

/// Every number of `result.json` by name, as far as they are kept; the metric always is.
pub(super) fn numbers_with(out: &Path, metric: Option<&str>) -> BTreeMap<String, f64> {
    match bytes(&out.join("result.json")) {
        Ok(Some(bytes)) => numbers_in(&bytes, metric),
        Ok(None) | Err(_) => BTreeMap::new(),
    }
}

/// Every number in the content of a `result.json`, as far as they are kept; the metric always is.
#[doc(hidden)]
pub fn numbers_in(bytes: &[u8], metric: Option<&str>) -> BTreeMap<String, f64> {
    let Ok(Fields { mut numbers, wanted, .. }) = read(bytes, metric) else { return BTreeMap::new() };
    if let (Some(metric), Some(Field::Number(number))) = (metric, wanted) {
        numbers.insert(metric.to_owned(), number);
    }
    numbers
}

/// A metric that is a text: most often a number in quotes, or one that JSON does not have.
fn said_as_text(name: &str, text: &str) -> String {
    let shown = shortened(text, LONGEST_SHOWN);
    let help = match text.trim().parse::<f64>() {
        Ok(number) if number.is_finite() => "; write the number without quotes",
        Ok(_) => ": the metric has no value",
        Err(_) => "",
    };
    format!("wrote a result.json in which `{name}` is the text \"{shown}\", not a number{help}")
}

#[cfg(test)]
mod tests;
