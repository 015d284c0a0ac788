//! Strategies by name: with their default options, with options from a file, and described.

mod describe;
mod read;
mod table;
#[cfg(test)]
mod tests;

pub use describe::{OptionDescription, StrategyDescription, describe};

use serde_json::{Map, Value};

use super::descriptor::Descriptor;
use super::{Strategy, StrategyError};
use crate::space::Space;
use table::TABLE;

/// The names that [`by_name`], [`configured`] and [`describe`] know.
pub const NAMES: [&str; TABLE.len()] = table::names();

/// A strategy with its default options.
pub fn by_name(name: &str, space: &Space, seed: u64) -> Result<Box<dyn Strategy>, StrategyError> {
    configured(name, space, &Map::new(), seed)
}

/// A strategy with its default options but for those that are given, by the names that [`describe`] lists.
///
/// An option that belongs to another, such as `model.family`, is given inside a map: `{"model": {"family":
/// "matern32"}}`. What can be switched off is so by the text `"none"`, or by null.
pub fn configured(
    name: &str,
    space: &Space,
    options: &Map<String, Value>,
    seed: u64,
) -> Result<Box<dyn Strategy>, StrategyError> {
    let descriptor = descriptor(name)?;
    let options = read::completed(descriptor, options)?;
    (descriptor.build)(descriptor.name, space, Value::Object(options), seed)
}

/// All options of a strategy with those that are given in their place: under their present names, keys
/// sorted.
///
/// Two maps of options are of the same strategy if these are equal. Unknown options and values that do not
/// fit are refused.
pub fn complete_options(
    name: &str,
    options: &Map<String, Value>,
) -> Result<Map<String, Value>, StrategyError> {
    read::completed(descriptor(name)?, options)
}

fn descriptor(name: &str) -> Result<&'static Descriptor, StrategyError> {
    let unknown = || StrategyError::Unknown { name: name.chars().take(64).collect() };
    TABLE.iter().find(|descriptor| descriptor.name == name).ok_or_else(unknown)
}
