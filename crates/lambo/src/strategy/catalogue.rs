//! Strategies by name.

use super::{Random, Strategy, StrategyError};
use crate::space::Space;

/// The names that [`by_name`] knows.
pub const NAMES: [&str; 1] = ["random"];

/// A strategy with its default options.
pub fn by_name(name: &str, space: &Space, seed: u64) -> Result<Box<dyn Strategy>, StrategyError> {
    let _ = space;
    match name {
        "random" => Ok(Box::new(Random::new(seed))),
        _ => Err(StrategyError::Unknown { name: name.chars().take(64).collect() }),
    }
}
