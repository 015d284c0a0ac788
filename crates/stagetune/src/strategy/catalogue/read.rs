//! Options that a user gives, put over those that a strategy starts from, one at a time so that an error names the one.

use serde_json::{Map, Value};

use super::describe::takes;
use super::kinds::Kind;
use crate::strategy::StrategyError;

/// Options that are maps of options: what is given of them replaces theirs and leaves the others.
pub(super) const GROUPS: [&str; 4] = ["model", "effort", "abandon", "growth"];

/// Options that can be switched off.
const SWITCHES: [&str; 6] = ["refresh_every", "growth", "abandon", "theory", "rival", "stray"];

/// What switches them off; TOML has no null.
const OFF: &str = "none";

/// The options of `kind` with those that are given in their place.
pub(super) fn overridden(
    strategy: &str,
    kind: Kind,
    given: &Map<String, Value>,
) -> Result<Kind, StrategyError> {
    let mut reader = Reader { strategy, options: kind.write().unwrap_or_default(), kind };
    for (name, value) in given {
        match value {
            Value::Object(inner) if reader.is_group(name) => {
                for (part, value) in inner {
                    reader.set(&[name, part], value.clone())?;
                }
            }
            value if SWITCHES.contains(&name.as_str()) && *value == OFF => {
                reader.set(&[name], Value::Null)?
            }
            value => reader.set(&[name], value.clone())?,
        }
    }
    Ok(reader.kind)
}

/// Options as they are read.
struct Reader<'a> {
    strategy: &'a str,
    options: Value,
    kind: Kind,
}

impl Reader<'_> {
    /// Whether an option is a map of options that is not switched off.
    fn is_group(&self, name: &str) -> bool {
        GROUPS.contains(&name) && self.options.get(name).is_some_and(Value::is_object)
    }

    /// Gives one option its value, if it exists and the value fits.
    fn set(&mut self, path: &[&str], value: Value) -> Result<(), StrategyError> {
        let mut options = self.options.clone();
        let Some(place) = find(&mut options, path) else { return Err(self.unknown(path)) };
        *place = value.clone();
        match self.kind.read(options.clone()) {
            Ok(kind) => (self.kind, self.options) = (kind, options),
            Err(error) => {
                let name = path.join(".");
                let problem = format!("{value} does not fit ({error}); give {}", takes(self.strategy, &name));
                return Err(self.refused(name, problem));
            }
        }
        Ok(())
    }

    fn unknown(&self, path: &[&str]) -> StrategyError {
        let (last, before) = path.split_last().map_or(("", &[][..]), |(last, before)| (*last, before));
        let mut group = &self.options;
        for name in before {
            group = group.get(name).unwrap_or(&Value::Null);
        }
        let known: Vec<&str> =
            group.as_object().into_iter().flat_map(Map::keys).map(String::as_str).collect();
        let problem = if known.is_empty() {
            "there is no such option, nor any other; take it out".to_owned()
        } else {
            format!("there is no such option; use one of {}", known.join(", "))
        };
        let shown: Vec<String> =
            before.iter().chain([&last]).map(|name| name.chars().take(64).collect()).collect();
        self.refused(shown.join("."), problem)
    }

    fn refused(&self, option: String, problem: String) -> StrategyError {
        StrategyError::Given { strategy: self.strategy.to_owned(), option, problem }
    }
}

/// The place of an option that exists.
fn find<'v>(options: &'v mut Value, path: &[&str]) -> Option<&'v mut Value> {
    path.iter().try_fold(options, |place, name| place.as_object_mut()?.get_mut(*name))
}
