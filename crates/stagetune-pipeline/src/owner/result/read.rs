//! Reads `result.json` as a stage left it: hostile, huge or of another encoding, it takes little
//! memory and has its own words.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{ErrorKind, Read};
use std::path::Path;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::LONGEST_SHOWN;
use crate::regular;
use crate::text::{shortened, steers};

/// A result is a handful of numbers; whatever is longer is something else.
pub(super) const MOST_BYTES: u64 = 16 * 1024 * 1024;

/// The longest name of a number that is kept, in letters.
pub(super) const LONGEST_NAME: usize = 200;

/// The most numbers of one stage that are kept, in the order of the file.
pub const MOST_NUMBERS: usize = 1_000;

/// The most keys that a message lists.
const MOST_LISTED: usize = 20;

/// What is kept of a file.
#[derive(Debug, Default)]
pub(super) struct Fields {
    /// Finite numbers by name.
    pub(super) numbers: BTreeMap<String, f64>,
    /// What stands under the key that was asked for.
    pub(super) wanted: Option<Field>,
    /// The first keys, as they are shown.
    keys: Vec<String>,
    /// How many keys there are.
    count: usize,
}

/// A value, as far as it matters.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Field {
    Number(f64),
    /// The beginning of a text.
    Text(String),
    Bool(bool),
    Null,
    List,
    Object,
}

impl Fields {
    /// The first keys in words.
    pub(super) fn listed(&self) -> String {
        let more = self.count.saturating_sub(self.keys.len());
        match (self.count, more) {
            (0, _) => "it is empty".to_owned(),
            (_, 0) => format!("it has {}", self.keys.join(", ")),
            _ => format!("it has {} and {more} more keys", self.keys.join(", ")),
        }
    }

    fn take(&mut self, name: String, field: Field, wanted: Option<&str>) {
        self.count += 1;
        if self.keys.len() < MOST_LISTED {
            self.keys.push(format!("`{}`", shortened(&name, LONGEST_SHOWN)));
        }
        if wanted == Some(name.as_str()) {
            self.wanted = Some(field.clone());
        }
        // Of a key that is given twice the last value holds.
        match field {
            Field::Number(number) if self.has_room_for(&name) => drop(self.numbers.insert(name, number)),
            Field::Number(_) => {}
            Field::Text(_) | Field::Bool(_) | Field::Null | Field::List | Field::Object => {
                self.numbers.remove(&name);
            }
        }
    }

    fn has_room_for(&self, name: &str) -> bool {
        let plain = !name.chars().any(steers) && name.chars().nth(LONGEST_NAME).is_none();
        plain && (self.numbers.len() < MOST_NUMBERS || self.numbers.contains_key(name))
    }
}

/// What is in the content of a `result.json`, and what stands under one key.
pub(super) fn read(bytes: &[u8], wanted: Option<&str>) -> Result<Fields, String> {
    let text = text(bytes)?;
    let mut reader = Reader { fields: Fields::default(), wanted, at: String::new() };
    let mut json = serde_json::Deserializer::from_str(text);
    let done = DeserializeSeed::deserialize(&mut reader, &mut json).and_then(|()| json.end());
    match done {
        Ok(()) => Ok(reader.fields),
        Err(error) if error.is_data() => Err(format!(
            "wrote a result.json that is {}, not an object such as {{\"{}\": 0.5}}",
            kind(text),
            shortened(wanted.unwrap_or("score"), LONGEST_SHOWN)
        )),
        Err(error) => Err(malformed(text, &error, &reader.at)),
    }
}

/// The content of a `result.json`; `None` if there is no such file.
pub(super) fn bytes(path: &Path) -> Result<Option<Vec<u8>>, String> {
    let reading = |error: std::io::Error| format!("wrote a result.json that cannot be read: {error}");
    match std::fs::metadata(path) {
        Ok(found) if !found.is_file() => return Err("wrote a result.json that is not a file".into()),
        Ok(found) if found.len() > MOST_BYTES => return Err(too_large(found.len())),
        Ok(_) | Err(_) => {}
    }
    let file = match regular::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(reading(error)),
    };
    let mut bytes = Vec::new();
    let read = file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(reading)? as u64;
    if read > MOST_BYTES { Err(too_large(read)) } else { Ok(Some(bytes)) }
}

fn too_large(size: u64) -> String {
    format!(
        "wrote a result.json of {size} bytes; it is read up to {MOST_BYTES} bytes (16 MiB), for it \
            holds a handful of numbers: \
         write what is large into another file of {{out}}"
    )
}

/// The bytes as text. A byte-order mark of UTF-8, which some programs write, is no part of it.
fn text(bytes: &[u8]) -> Result<&str, String> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return Err("wrote a result.json in UTF-16, as its byte-order mark says; write it in UTF-8".into());
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("wrote a result.json that is not UTF-8: line {line} has a byte that is no letter")
    })?;
    if text.trim().is_empty() {
        return Err("wrote a result.json that is empty".into());
    }
    Ok(text)
}

/// What is wrong with a text that is not JSON, with what stands there; `key` is the last one that
/// was read.
fn malformed(text: &str, error: &serde_json::Error, key: &str) -> String {
    let (line, column) = (error.line(), error.column());
    let place = format!("(line {line}, column {column})");
    let said = error.to_string();
    // Its end repeats the place.
    let what = said.rsplit_once(" at line ").map_or(said.as_str(), |(what, _)| what);
    let key = shortened(key, LONGEST_SHOWN);
    if what == "number out of range" {
        return format!(
            "wrote a result.json in which `{key}` is larger than any number that can be counted \
                with (1.8e308) {place}"
        );
    }
    let there = text.split('\n').nth(line.saturating_sub(1)).unwrap_or_default();
    let word = word(there, column);
    let bare = word.trim_start_matches(['-', '+']).to_ascii_lowercase();
    // Many programs write numbers that JSON does not have.
    if ["nan", "inf", "infinity"].contains(&bare.as_str()) {
        return format!("wrote a result.json in which `{key}` is {word}, not a number {place}");
    }
    let near = shortened(word, LONGEST_SHOWN);
    let near = if near.is_empty() { String::new() } else { format!(", at `{near}`") };
    format!("wrote a result.json that is not JSON: {what} {place}{near}")
}

/// The word at a column of a line, in bytes from 1.
fn word(line: &str, column: usize) -> &str {
    let is_part = |c: char| c.is_alphanumeric() || "+-._".contains(c);
    let mut at = column.saturating_sub(1).min(line.len());
    while !line.is_char_boundary(at) {
        at -= 1;
    }
    let (before, after) = line.split_at(at);
    let start = before.trim_end_matches(is_part).len();
    let rest = after.find(|c| !is_part(c)).unwrap_or(after.len());
    let end = if rest == 0 && start == at { after.chars().next().map_or(0, char::len_utf8) } else { rest };
    line.get(start..at + end).unwrap_or_default()
}

/// What JSON that is no object is.
fn kind(text: &str) -> &'static str {
    match text.trim_start().as_bytes().first() {
        Some(b'[') => "a list",
        Some(b'"') => "a text",
        Some(b't' | b'f') => "true or false",
        Some(b'n') => "null",
        _ => "a number",
    }
}

/// Reads the object of the file; only what is kept takes memory.
struct Reader<'a> {
    fields: Fields,
    wanted: Option<&'a str>,
    /// The last key.
    at: String,
}

impl<'de> DeserializeSeed<'de> for &mut Reader<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut Reader<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            self.at = name;
            let field = map.next_value_seed(Value)?;
            self.fields.take(std::mem::take(&mut self.at), field, self.wanted);
        }
        Ok(())
    }
}

/// Reads one value, and goes over what is inside of it.
struct Value;

impl<'de> DeserializeSeed<'de> for Value {
    type Value = Field;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Field, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value {
    type Value = Field;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Field, E> {
        Ok(Field::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Field, E> {
        Ok(Field::Number(value as f64))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Field, E> {
        Ok(Field::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Field, E> {
        Ok(Field::Number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Field, E> {
        // One letter more than is shown, so that it is seen to go on.
        Ok(Field::Text(value.chars().take(LONGEST_SHOWN + 1).collect()))
    }

    fn visit_unit<E>(self) -> Result<Field, E> {
        Ok(Field::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Field, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Field::List)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Field, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Field::Object)
    }
}
