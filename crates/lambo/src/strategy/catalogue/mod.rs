//! Strategies by name.

use super::*;
use crate::space::Space;

/// The names that [`by_name`] knows.
pub const NAMES: [&str; 16] = [
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
    Ok(match name {
        "random" => Box::new(Random::new(seed)),
        "gp-ucb" => Box::new(GpUcb::new(space, GpUcbOptions::default(), seed)?),
        "gp-ei" => Box::new(GpEi::new(space, GpEiOptions::default(), seed)?),
        "mes" => Box::new(GpMes::new(space, GpMesOptions::default(), seed)?),
        "eipu" => Box::new(Eipu::new(space, EipuOptions::default(), seed)?),
        "eipu-prefix" => Box::new(EipuPrefix::new(space, EipuPrefixOptions::default(), seed)?),
        "carbo" => Box::new(Carbo::new(space, CarboOptions::default(), seed)?),
        "ca-mobo" => Box::new(CaMobo::new(space, CaMoboOptions::default(), seed)?),
        "eeipu" => Box::new(Eeipu::new(space, EeipuOptions::default(), seed)?),
        "switch-eipu" => Box::new(SwitchEipu::new(space, SwitchEipuOptions::default(), seed)?),
        "switch-eipu-ahead" => Box::new(SwitchEipu::new(space, SwitchEipuOptions::ahead(), seed)?),
        "pbgi" => Box::new(Pbgi::new(space, PbgiOptions::default(), seed)?),
        "pbgi-fixed" => Box::new(Pbgi::new(space, PbgiOptions::fixed(), seed)?),
        "ts" => Box::new(Thompson::new(space, ThompsonOptions::default(), seed)?),
        "lambo" => Box::new(Lambo::new(space, LamboOptions::default(), seed)?),
        "lambo-paper" => Box::new(Lambo::new(space, LamboOptions::paper(), seed)?),
        _ => return Err(StrategyError::Unknown { name: name.chars().take(64).collect() }),
    })
}
