//! What each strategy does and what can be set about it, as data.

use serde::Serialize;
use serde_json::Value;

use super::kind;
use super::read::GROUPS;
use crate::strategy::StrategyError;

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
    let kind = kind(name)?;
    let (name, about) = STRATEGIES.iter().copied().find(|(known, _)| *known == name).unwrap_or(("", ""));
    let mut options = Vec::new();
    if let Ok(Value::Object(values)) = kind.write() {
        for (option, default) in values {
            match default {
                // Rules that can be switched off are shown as one.
                Value::Object(parts) if GROUPS[..2].contains(&option.as_str()) => {
                    options.extend(
                        parts
                            .into_iter()
                            .map(|(part, default)| entry(name, &format!("{option}.{part}"), default)),
                    );
                }
                default => options.push(entry(name, &option, default)),
            }
        }
    }
    Ok(StrategyDescription { name, about, options })
}

/// What can be given for an option.
pub(super) fn takes(strategy: &str, option: &str) -> &'static str {
    text(strategy, option).1
}

fn entry(strategy: &str, name: &str, default: Value) -> OptionDescription {
    let (about, takes) = text(strategy, name);
    OptionDescription { name: name.to_owned(), default, about, takes }
}

/// What an option does and takes; an entry for the strategy alone comes before one for all.
fn text(strategy: &str, option: &str) -> (&'static str, &'static str) {
    let family = strategy.trim_end_matches("-paper").trim_end_matches("-fixed").trim_end_matches("-ahead");
    let own =
        |entry: &&(&str, &str, &str, &str)| entry.1 == option && (entry.0.is_empty() || entry.0 == family);
    let found = OPTIONS.iter().filter(own).max_by_key(|entry| !entry.0.is_empty());
    found.map_or(("", "another value"), |entry| (entry.2, entry.3))
}

/// The strategies, each in one line.
const STRATEGIES: [(&str, &str); 17] = [
    (
        "auto",
        "what to take if in doubt: improvement per cost, stages that are at hand kept, its own start and model",
    ),
    ("random", "points by chance: what everybody has to beat"),
    ("gp-ucb", "the lowest confidence bound anywhere; ignores costs"),
    ("gp-ei", "the largest expected improvement anywhere; ignores costs"),
    ("mes", "the point that tells most about the minimum; ignores costs"),
    ("eipu", "expected improvement per unit of cost anywhere, as published"),
    ("eipu-prefix", "expected improvement per unit of cost, stages that are at hand kept"),
    ("carbo", "the same with a cost that matters less as the budget is spent, and a design of its own"),
    ("ca-mobo", "a compromise between value and cost with weights by chance"),
    ("eeipu", "expected improvement times expected inverse cost, stages that are at hand kept"),
    ("switch-eipu", "stays with dear stages while that is worth the lower cost"),
    ("switch-eipu-ahead", "the same, and looks at what a new dear stage would open"),
    ("pbgi", "the best Gittins index, stages that are at hand kept; its price of a run falls"),
    ("pbgi-fixed", "the same at a fixed price of a run"),
    ("ts", "the minimum of a sampled function per unit of cost, stages that are at hand kept"),
    (
        "lambo",
        "a slowly moving bandit over regions of early stages, which move where that is worth their price",
    ),
    ("lambo-paper", "the bandit with the settings of the paper, which changes early stages rarely"),
];

const YES_NO: &str = "true or false";
const COUNT: &str = "a whole number of at least 1";
const COUNT_0: &str = "a whole number of at least 0";
const POSITIVE: &str = "a number above 0";
const AT_LEAST_0: &str = "a number of at least 0";
const FAMILY: &str = "\"squared-exponential\", \"matern32\", \"matern52\", \"additive-matern52\", \"rough-matern52\" or \
                      \"additive-rough-matern52\"";
const BETA: &str = "\"printed\", \"sqrt\" or { fixed = 2.0 }";

/// Options: the strategy, or all of them; the name; what it does; what it takes.
const OPTIONS: &[(&str, &str, &str, &str)] = &[
    (
        "",
        "design",
        "where to start",
        "{ uniform = 15 }, { sobol = 15 } or { nested = { points = 15, every = 3 } }",
    ),
    ("", "model", "how trials are modelled", "a table of options such as { family = \"matern52\" }"),
    ("", "model.family", "the kernel's family", FAMILY),
    ("", "model.shared_lengthscale", "one lengthscale for all coordinates instead of one for each", YES_NO),
    ("", "model.priors", "priors on lengthscales and noise that fit the dimension", YES_NO),
    ("", "model.noise", "what is known of the noise", "\"learned\", or { known = 1e-4 } with its variance"),
    ("", "model.refit_every", "iterations between fits, at least", COUNT),
    ("", "model.refit_share", "iterations between fits as a share of those so far", "a number from 0 to 1"),
    ("", "effort", "how hard to look for the best point", "a table of options such as { starts = 8 }"),
    ("", "effort.raw", "quasi-random points that are looked at", COUNT_0),
    ("", "effort.near_hints", "points around the best trials that are looked at", COUNT_0),
    ("", "effort.starts", "points from which to climb", COUNT_0),
    ("", "effort.max_evaluations", "evaluations per climb", COUNT_0),
    ("gp-ucb", "beta", "weight of the standard deviation", BETA),
    ("ca-mobo", "beta", "factor of the weight of the variance", AT_LEAST_0),
    (
        "",
        "rival",
        "another family of kernels: the likelier of both is taken",
        "a family such as \"squared-exponential\", or \"none\"",
    ),
    (
        "auto",
        "rivals",
        "other families of kernels, taken where they are clearly likelier",
        "a list of families such as [\"additive-matern52\", \"rough-matern52\"]",
    ),
    (
        "auto",
        "start",
        "how to start",
        "\"nested\", which keeps dear stages for several trials, or \"spread\", which never does",
    ),
    (
        "auto",
        "exponent",
        "how strongly costs count: 0 not at all, 1 as improvement per unit of cost",
        AT_LEAST_0,
    ),
    (
        "auto",
        "odds",
        "whether failed trials have a model of their own instead of counting as the worst value",
        YES_NO,
    ),
    (
        "auto",
        "prefixes",
        "with a cache: how many different prefixes of every depth are gone back to",
        "a whole number from 1 to 1000",
    ),
    (
        "auto",
        "known",
        "places whose value is known up to this share of the spread of values are left alone unless they are sure to be better",
        "a number from 0 to less than 1",
    ),
    (
        "auto",
        "steps",
        "whether improvements of less than half a step do not count where the metric moves in steps",
        YES_NO,
    ),
    ("auto", "least_share", "what a trial counts as at least, in full runs", "a number from 0.001 to 1"),
    (
        "auto",
        "pace",
        "whether a trial also costs its place where their number is limited, so that cheap ones do not use them up",
        YES_NO,
    ),
    ("auto", "bend", "whether values far above the best are bent where that is likelier", YES_NO),
    (
        "auto",
        "stray",
        "how far the logarithms of lengthscales stray from their mean",
        "a number above 0, or \"none\"",
    ),
    ("mes", "samples", "samples of the minimum", COUNT),
    ("eeipu", "samples", "samples of the costs", COUNT),
    ("mes", "points", "quasi-random points over which the minimum is taken", COUNT),
    ("carbo", "points", "length of the design where there is no budget", COUNT),
    ("", "initial_share", "share of the budget that the design spends", "a number from 0 to below 1"),
    ("", "candidates", "candidates for each point of the design", COUNT),
    ("", "freeze", "whether stages that are at hand may be kept", YES_NO),
    ("", "scalarisation", "how value and cost become one number", "\"smallest-utility\" or \"largest-loss\""),
    ("", "epsilon", "what a stage that is at hand counts as, in the unit of costs", AT_LEAST_0),
    ("", "look_ahead", "ends of the pipeline that are looked at behind a new dear stage", COUNT_0),
    ("pbgi", "lambda", "price of a full run, in standard deviations of the values", POSITIVE),
    (
        "pbgi",
        "decay",
        "what the price is multiplied by when no point is worth it",
        "a number above 0, at most 1",
    ),
    ("", "features", "random features of the sampled function", COUNT),
    (
        "",
        "alpha",
        "what the best point of a region minimises",
        "{ lcb = \"sqrt\" }, { lcb = \"printed\" }, { lcb = { fixed = 2.0 } }, \"ei\", \"log-ei\", { mes = { samples = 10 } }, \
         { gittins = 0.01 }, \"ei-per-cost\" or { gittins-per-cost = { lambda = 0.1, decay = 0.5 } }",
    ),
    (
        "",
        "losses",
        "how the losses of regions reach the bandit",
        "\"rescale\", \"gap\", \"raw\" or { clip = { low = 0.0, high = 1.0 } }",
    ),
    ("", "eta", "learning rate of the bandit", POSITIVE),
    ("", "partition", "first regions of a stage without cuts", "\"bisect\" or { diameter = 0.5 }"),
    (
        "",
        "depths",
        "how rarely stages move: each level halves how often",
        "{ all = 1 }, { each = [2, 1] } with one for each stage but the last, or \"from-costs\"",
    ),
    ("", "abandon", "when regions are dropped", "{ below = 0.1, after = 10 } or \"none\""),
    (
        "",
        "abandon.below",
        "share of an even chance below which a region is weak",
        "a number from 0 to below 1",
    ),
    ("", "abandon.after", "iterations in a row that a region may be weak", COUNT),
    ("", "refinements", "how often regions are halved after some were dropped", COUNT_0),
    (
        "",
        "refresh_every",
        "iterations after which all regions are equally likely again",
        "a whole number of at least 1, or \"none\"",
    ),
    ("", "growth", "when the first stage is moved more rarely", "{ every = 20, more_than = 5 } or \"none\""),
    ("", "growth.every", "iterations between looks", COUNT),
    ("", "growth.more_than", "changes of the first stage in between that are still fine", COUNT_0),
    ("lambo", "lambda", "what a unit of cost is worth in units of the metric", POSITIVE),
    (
        "",
        "scores",
        "losses added to regions where a condition holds",
        "a list such as [[\"lr > 0.01\", 0.5]]",
    ),
    (
        "",
        "theory",
        "the settings of the paper's proof for a known number of iterations",
        "{ horizon = 500 }, { horizon = 500, lipschitz = 2.0 } or \"none\"",
    ),
    ("", "max_arms", "the most regions", COUNT),
    (
        "",
        "anchors",
        "stages that stay where a region is looked through: the previous point's, or any at hand that are worth it",
        "\"previous\" or \"prefixes\"",
    ),
];
