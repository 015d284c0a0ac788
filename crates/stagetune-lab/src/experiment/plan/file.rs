//! A plan as typed: what the TOML file may say, with the place of everything that a message may point at.

use super::Start;
use serde::Deserialize;
use stagetune::strategy::Design;
use std::path::PathBuf;
use toml::Spanned;

/// The file as typed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PlanFile {
    /// Of a plan in a list.
    pub(super) name: Option<Spanned<String>>,
    pub(super) title: Option<String>,
    pub(super) problem: Option<Spanned<String>>,
    pub(super) table: Option<Spanned<PathBuf>>,
    pub(super) split: Option<Spanned<Vec<usize>>>,
    pub(super) costs: Option<Spanned<Vec<f64>>>,
    pub(super) cost_spread: Option<Spanned<f64>>,
    pub(super) choices: Option<Spanned<Vec<usize>>>,
    pub(super) steps: Option<Spanned<usize>>,
    pub(super) noise: Option<Spanned<f64>>,
    pub(super) cost_model: Option<CostModelName>,
    pub(super) budget: Option<Spanned<f64>>,
    pub(super) trials: Option<Spanned<usize>>,
    pub(super) until: Option<Spanned<f64>>,
    pub(super) start: Option<Spanned<StartFile>>,
    pub(super) lambda: Option<Spanned<f64>>,
    pub(super) sims: Option<Spanned<usize>>,
    pub(super) seed: Option<u64>,
    pub(super) movement: Option<bool>,
    pub(super) strategies: Spanned<Vec<Spanned<String>>>,
    #[serde(default)]
    pub(super) variant: Vec<Variant>,
    pub(super) peers: Option<PeersFile>,
    #[serde(default)]
    pub(super) row: Vec<RowFile>,
}

/// A file with several plans.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListFile {
    pub(super) plan: Vec<PlanFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Variant {
    pub(super) suffix: String,
    pub(super) start: Spanned<StartFile>,
    pub(super) strategies: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PeersFile {
    pub(super) games: PathBuf,
    pub(super) names: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RowFile {
    pub(super) title: String,
    pub(super) show: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum CostModelName {
    Previous,
    Cache,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum StartFile {
    Own,
    Uniform(usize),
    Sobol(usize),
    Nested { points: usize, every: usize },
}

impl StartFile {
    /// What it means.
    pub(super) fn start(&self) -> Start {
        match *self {
            Self::Own => Start::Own,
            Self::Uniform(points) => Start::Design(Design::Uniform(points)),
            Self::Sobol(points) => Start::Design(Design::Sobol(points)),
            Self::Nested { points, every } => Start::Design(Design::Nested { points, every }),
        }
    }
}
