//! Strategies by name: with their default options, with options from a file, and described.

mod describe;
mod kinds;
mod read;
#[cfg(test)]
mod tests;

pub use describe::{OptionDescription, StrategyDescription, describe};

use serde_json::{Map, Value};

use super::{Strategy, StrategyError};
use crate::space::Space;
use kinds::Kind;

/// The names that [`by_name`], [`configured`] and [`describe`] know.
pub const NAMES: [&str; 17] = [
    "auto",
    "random",
    "gp-ucb",
    "gp-ei",
    "mes",
    "eipu",
    "eipu-prefix",
    "carbo",
    "ca-mobo",
    "eeipu",
    "switch-eipu",
    "switch-eipu-ahead",
    "pbgi",
    "pbgi-fixed",
    "ts",
    "lambo",
    "lambo-paper",
];

/// A strategy with its default options.
pub fn by_name(name: &str, space: &Space, seed: u64) -> Result<Box<dyn Strategy>, StrategyError> {
    kind(name)?.build(space, seed)
}

/// A strategy with its default options but for those that are given, by the names that [`describe`] lists.
///
/// An option that belongs to another, such as `model.family`, is given inside a map: `{"model": {"family": "matern32"}}`. What can be
/// switched off is so by the text `"none"`.
pub fn configured(
    name: &str,
    space: &Space,
    options: &Map<String, Value>,
    seed: u64,
) -> Result<Box<dyn Strategy>, StrategyError> {
    read::overridden(name, kind(name)?, options)?.build(space, seed)
}

fn kind(name: &str) -> Result<Kind, StrategyError> {
    Kind::of(name).ok_or_else(|| StrategyError::Unknown { name: name.chars().take(64).collect() })
}
