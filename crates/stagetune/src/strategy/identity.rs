//! What tells the proposals of one strategy from those of another.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A strategy's name, seed and options: what its proposals depend on beside what it sees.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    /// The name that [`by_name`](super::by_name) knows it by.
    pub name: String,
    /// The seed of all its dice.
    pub seed: u64,
    /// All options by name, keys sorted. One that is missing has its default: see
    /// [`complete_options`](super::complete_options).
    pub options: Map<String, Value>,
}

impl Identity {
    /// Of options as they are written; those that are no map of options count as none.
    pub fn of<O: Serialize>(name: &str, seed: u64, options: &O) -> Self {
        let options = match serde_json::to_value(options) {
            Ok(Value::Object(options)) => sorted(options),
            Ok(_) | Err(_) => Map::new(),
        };
        Self { name: name.to_owned(), seed, options }
    }
}

/// The same map with its keys in order, and those of the maps in it.
pub(super) fn sorted(map: Map<String, Value>) -> Map<String, Value> {
    let mut entries: Vec<(String, Value)> = map.into_iter().collect();
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    let nested = |(key, value): (String, Value)| match value {
        Value::Object(inner) => (key, Value::Object(sorted(inner))),
        value @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
            (key, value)
        }
    };
    entries.into_iter().map(nested).collect()
}

/// The first option that differs, as each side has it: (`` `least_share: 0.05` ``, `` nothing of
/// `least_share` ``), say; nothing where they are the same. That of an option inside another has a dot.
pub fn differing_option(one: &Map<String, Value>, other: &Map<String, Value>) -> Option<(String, String)> {
    difference("", one, other)
}

fn difference(group: &str, one: &Map<String, Value>, other: &Map<String, Value>) -> Option<(String, String)> {
    let mut names: Vec<&String> = one.keys().chain(other.keys()).collect();
    names.sort();
    names.dedup();
    for name in names {
        let path = format!("{group}{name}");
        match (one.get(name), other.get(name)) {
            (Some(a), Some(b)) if a == b => {}
            (Some(Value::Object(a)), Some(Value::Object(b))) => {
                if let Some(found) = difference(&format!("{path}."), a, b) {
                    return Some(found);
                }
            }
            (a, b) => return Some((shown(&path, a), shown(&path, b))),
        }
    }
    None
}

/// An option in plain words.
fn shown(path: &str, value: Option<&Value>) -> String {
    match value {
        Some(Value::Null) => format!("`{path}: none`"),
        Some(value) => format!("`{path}: {value}`"),
        None => format!("nothing of `{path}`"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn map(value: Value) -> Map<String, Value> {
        let Value::Object(map) = value else { panic!("{value} is a map") };
        map
    }

    #[test]
    fn the_option_that_differs_is_named_and_nothing_else() {
        let differ = |one: &Value, other: &Value| {
            differing_option(&map(one.clone()), &map(other.clone()))
                .map(|(a, b)| format!("{a} / {b}"))
                .unwrap_or_default()
        };
        let old = json!({"start": "nested", "share": 0.01, "model": {"a": 1, "b": ["A", "B"]}});
        let with = |path: &str, value: Value| {
            let mut new = old.clone();
            *new.pointer_mut(path).unwrap() = value;
            new
        };
        assert_eq!(differ(&old, &old), "");
        assert_eq!(differ(&old, &with("/share", json!(0.05))), "`share: 0.01` / `share: 0.05`");
        assert_eq!(
            differ(&old, &with("/model/b", json!(["A"]))),
            "`model.b: [\"A\",\"B\"]` / `model.b: [\"A\"]`"
        );
        assert_eq!(differ(&old, &with("/share", Value::Null)), "`share: 0.01` / `share: none`");
        assert_eq!(differ(&old, &with("/model", json!("none"))).split(" / ").count(), 2);
        let mut new = old.clone();
        new["overhead"] = json!(true);
        assert_eq!(differ(&old, &new), "nothing of `overhead` / `overhead: true`");
        assert_eq!(differ(&new, &old), "`overhead: true` / nothing of `overhead`");
    }

    #[test]
    fn keys_are_sorted_however_deep_they_are() {
        let text = serde_json::to_string(&sorted(map(json!({"b": {"d": 1, "c": 2}, "a": 3})))).unwrap();
        assert_eq!(text, "{\"a\":3,\"b\":{\"c\":2,\"d\":1}}");
    }
}
