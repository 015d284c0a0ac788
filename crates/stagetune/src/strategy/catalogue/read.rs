//! Options that a user gives, put over those that a strategy starts from, one at a time so that an error names the one.

use serde_json::{Map, Value};

use crate::strategy::StrategyError;
use crate::strategy::descriptor::Descriptor;
use crate::strategy::identity::sorted;

/// What switches an option off; TOML has no null.
const OFF: &str = "none";

/// All options of a strategy with those that are given in their place, keys sorted.
pub(super) fn completed(
    descriptor: &Descriptor,
    given: &Map<String, Value>,
) -> Result<Map<String, Value>, StrategyError> {
    let mut reader = Reader::new(descriptor)?;
    for (given_name, value) in given {
        let name = &reader.present_name(&[given_name]);
        if name != given_name && given.contains_key(name) {
            let problem = format!("it is given twice, also as `{given_name}`; give it once");
            return Err(reader.refused(name.clone(), problem));
        }
        match value {
            Value::Object(inner) if reader.is_open_group(name) => {
                for (part, value) in inner {
                    let part = reader.present_name(&[name, part]);
                    reader.set(&[name, &part], value.clone())?;
                }
            }
            value if *value == OFF && reader.can_be_switched_off(name) => reader.set(&[name], Value::Null)?,
            value => reader.set(&[name], value.clone())?,
        }
    }
    match reader.options {
        Value::Object(options) => Ok(sorted(options)),
        _ => Ok(Map::new()),
    }
}

/// Options as they are read.
pub(super) struct Reader<'a> {
    descriptor: &'a Descriptor,
    /// All of them, as they are so far.
    options: Value,
}

impl<'a> Reader<'a> {
    /// At the defaults of a strategy.
    pub(super) fn new(descriptor: &'a Descriptor) -> Result<Self, StrategyError> {
        let refused = |error: serde_json::Error| StrategyError::Given {
            strategy: descriptor.name.to_owned(),
            option: "options".to_owned(),
            problem: error.to_string(),
        };
        Ok(Self { descriptor, options: (descriptor.defaults)().map_err(refused)? })
    }

    /// Options and their values so far.
    pub(super) fn values(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.options.as_object().into_iter().flatten()
    }

    /// Whether an option is a table of options that is not switched off.
    pub(super) fn is_open_group(&self, name: &str) -> bool {
        self.descriptor.is_group(name) && self.options.get(name).is_some_and(Value::is_object)
    }

    /// Whether an option is one that need not have a value.
    pub(super) fn can_be_switched_off(&self, name: &str) -> bool {
        let mut options = self.options.clone();
        let Some(place) = find(&mut options, &[name]) else { return false };
        *place = Value::Null;
        (self.descriptor.rewrite)(options).is_ok()
    }

    /// Gives one option its value, if it exists and the value fits.
    fn set(&mut self, path: &[&str], value: Value) -> Result<(), StrategyError> {
        let mut options = self.options.clone();
        let Some(place) = find(&mut options, path) else { return Err(self.unknown(path)) };
        *place = value.clone();
        match (self.descriptor.rewrite)(options) {
            Ok(options) => self.options = options,
            Err(error) => {
                let name = path.join(".");
                let takes = self.descriptor.text(&name).map_or("another value", |text| text.takes);
                let problem = format!("{value} does not fit ({error}); give {takes}");
                return Err(self.refused(name, problem));
            }
        }
        Ok(())
    }

    /// The present name of an option that may be given under an earlier one (`#[serde(alias)]`).
    ///
    /// A field and its alias are refused together as duplicates, so the field that an alias stands for is the
    /// only one that can be taken out for it.
    fn present_name(&self, path: &[&str]) -> String {
        let Some((given, groups)) = path.split_last() else { return String::new() };
        let mut options = self.options.clone();
        let group = find(&mut options, groups).and_then(|group| group.as_object());
        let names: Vec<String> = group.into_iter().flat_map(|group| group.keys().cloned()).collect();
        if names.iter().any(|name| name == given) {
            return (*given).to_owned();
        }
        let stands_for = |name: &String| {
            let mut options = self.options.clone();
            if let Some(group) = find(&mut options, groups).and_then(Value::as_object_mut)
                && let Some(value) = group.remove(name)
            {
                group.insert((*given).to_owned(), value);
            }
            (self.descriptor.rewrite)(options).is_ok()
        };
        names.into_iter().find(stands_for).unwrap_or_else(|| (*given).to_owned())
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
        StrategyError::Given { strategy: self.descriptor.name.to_owned(), option, problem }
    }
}

/// The place of an option that exists.
fn find<'v>(options: &'v mut Value, path: &[&str]) -> Option<&'v mut Value> {
    path.iter().try_fold(options, |place, name| place.as_object_mut()?.get_mut(*name))
}
