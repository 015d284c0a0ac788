//! What the catalogue has to know of a strategy: its name, its options, how it is made.
//!
//! Every strategy has a [`Descriptor`] in its own file, and `catalogue/table.rs` lists them. Nothing else
//! names them all.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Strategy, StrategyError};
use crate::space::Space;

/// A strategy that can be made by name.
pub(super) struct Descriptor {
    /// Its name.
    pub(super) name: &'static str,
    /// What it does, in one line.
    pub(super) about: &'static str,
    /// Its own options in words; [`SHARED`] has those of many.
    pub(super) options: &'static [OptionText],
    /// All options with their defaults, by name.
    pub(super) defaults: fn() -> serde_json::Result<Value>,
    /// Options read and written again; refused where one does not fit.
    pub(super) rewrite: fn(Value) -> serde_json::Result<Value>,
    /// The strategy of this name with all of these options.
    pub(super) build: Build,
}

/// Makes a strategy of its name, a space, all of its options and a seed.
type Build = fn(&'static str, &Space, Value, u64) -> Result<Box<dyn Strategy>, StrategyError>;

/// An option in words.
pub(super) struct OptionText {
    /// Its name; that of an option inside another has a dot.
    pub(super) name: &'static str,
    /// What it does.
    pub(super) about: &'static str,
    /// What can be given, as in a TOML file.
    pub(super) takes: &'static str,
}

impl Descriptor {
    /// An option in words.
    pub(super) fn text(&self, option: &str) -> Option<&'static OptionText> {
        self.options.iter().chain(SHARED).find(|text| text.name == option)
    }

    /// Whether an option is a table of options, each of which can be given alone.
    pub(super) fn is_group(&self, option: &str) -> bool {
        let is_part = |text: &OptionText| text.name.split_once('.').is_some_and(|(group, _)| group == option);
        self.options.iter().chain(SHARED).any(is_part)
    }
}

/// The options of a strategy as JSON.
pub(super) fn write<O: Serialize>(options: &O) -> serde_json::Result<Value> {
    serde_json::to_value(options)
}

/// Options read and written again.
pub(super) fn rewrite<O: Serialize + DeserializeOwned>(options: Value) -> serde_json::Result<Value> {
    write(&serde_json::from_value::<O>(options)?)
}

/// The options of a strategy from JSON.
pub(super) fn read<O: DeserializeOwned>(strategy: &str, options: Value) -> Result<O, StrategyError> {
    serde_json::from_value(options).map_err(|error| StrategyError::Given {
        strategy: strategy.to_owned(),
        option: "options".to_owned(),
        problem: error.to_string(),
    })
}

/// An option in words.
pub(super) const fn option(name: &'static str, about: &'static str, takes: &'static str) -> OptionText {
    OptionText { name, about, takes }
}

pub(super) const YES_NO: &str = "true or false";
pub(super) const COUNT: &str = "a whole number of at least 1";
pub(super) const COUNT_0: &str = "a whole number of at least 0";
pub(super) const POSITIVE: &str = "a number above 0";
pub(super) const AT_LEAST_0: &str = "a number of at least 0";
const FAMILY: &str = "\"squared-exponential\", \"matern32\", \"matern52\", \"additive-matern52\", \
                      \"rough-matern52\" or \"additive-rough-matern52\"";

/// Options that many strategies have.
const SHARED: &[OptionText] = &[
    option(
        "design",
        "where to start",
        "{ uniform = 15 }, { sobol = 15 } or { nested = { points = 15, every = 3 } }",
    ),
    option("model", "how trials are modelled", "a table of options such as { family = \"matern52\" }"),
    option("model.family", "the kernel's family", FAMILY),
    option("model.shared_lengthscale", "one lengthscale for all coordinates instead of one for each", YES_NO),
    option("model.priors", "priors on lengthscales and noise that fit the dimension", YES_NO),
    option("model.noise", "what is known of the noise", "\"learned\", or { known = 1e-4 } with its variance"),
    option("model.refit_every", "iterations between fits, at least", COUNT),
    option("model.refit_share", "iterations between fits as a share of those so far", "a number from 0 to 1"),
    option("effort", "how hard to look for the best point", "a table of options such as { starts = 8 }"),
    option("effort.raw", "quasi-random points that are looked at", COUNT_0),
    option("effort.near_hints", "points around the best trials that are looked at", COUNT_0),
    option("effort.starts", "points from which to climb", COUNT_0),
    option("effort.max_evaluations", "evaluations per climb", COUNT_0),
    option("freeze", "whether stages that are at hand may be kept", YES_NO),
];
