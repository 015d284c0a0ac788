//! Strategies by name.

use super::{
    GpEi, GpEiOptions, GpMes, GpMesOptions, GpUcb, GpUcbOptions, Lambo, LamboOptions, Random, Strategy,
    StrategyError,
};
use crate::space::Space;

/// The names that [`by_name`] knows.
pub const NAMES: [&str; 6] = ["random", "gp-ucb", "gp-ei", "mes", "lambo", "lambo-paper"];

/// A strategy with its default options.
pub fn by_name(name: &str, space: &Space, seed: u64) -> Result<Box<dyn Strategy>, StrategyError> {
    Ok(match name {
        "random" => Box::new(Random::new(seed)),
        "gp-ucb" => Box::new(GpUcb::new(space, GpUcbOptions::default(), seed)?),
        "gp-ei" => Box::new(GpEi::new(space, GpEiOptions::default(), seed)?),
        "mes" => Box::new(GpMes::new(space, GpMesOptions::default(), seed)?),
        "lambo" => Box::new(Lambo::new(space, LamboOptions::default(), seed)?),
        "lambo-paper" => Box::new(Lambo::new(space, LamboOptions::paper(), seed)?),
        _ => return Err(StrategyError::Unknown { name: name.chars().take(64).collect() }),
    })
}
