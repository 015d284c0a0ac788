//! What each strategy does and what can be set about it, as data.

use serde::Serialize;
use serde_json::Value;

use super::descriptor;
use super::read::Reader;
use crate::strategy::StrategyError;
use crate::strategy::descriptor::Descriptor;

/// A strategy as a user meets it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StrategyDescription {
    /// Its name.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// What can be set.
    pub options: Vec<OptionDescription>,
}

/// One option.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OptionDescription {
    /// Its name; that of an option inside another has a dot.
    pub name: String,
    /// What it is where nothing is given; null where it is switched off.
    pub default: Value,
    /// What it does.
    pub about: &'static str,
    /// What can be given, as in a TOML file.
    pub takes: &'static str,
}

/// What a strategy does and what can be set about it.
pub fn describe(name: &str) -> Result<StrategyDescription, StrategyError> {
    let descriptor = descriptor(name)?;
    let reader = Reader::new(descriptor)?;
    let mut options = Vec::new();
    for (name, default) in reader.values() {
        match default {
            // Rules that can be switched off are shown as one.
            Value::Object(parts) if descriptor.is_group(name) && !reader.can_be_switched_off(name) => {
                for (part, default) in parts {
                    options.push(entry(descriptor, format!("{name}.{part}"), default));
                }
            }
            default => options.push(entry(descriptor, name.clone(), default)),
        }
    }
    Ok(StrategyDescription { name: descriptor.name, about: descriptor.about, options })
}

fn entry(descriptor: &Descriptor, name: String, default: &Value) -> OptionDescription {
    let text = descriptor.text(&name);
    let (about, takes) = text.map_or(("", "another value"), |text| (text.about, text.takes));
    OptionDescription { name, default: default.clone(), about, takes }
}
