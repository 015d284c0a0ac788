//! The shape of a pipeline file, for editors: they show these descriptions, complete keys and mark what does not fit.
//!
//! The file itself is read by the checks beside this, which say more than a shape can. That both know the same keys and types is tested: whatever the
//! checks accept fits the shape.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

/// A pipeline file of stagetune: what is tuned, and the commands that are run to find out how good it is.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)] // Nobody reads the fields: the shape is for editors.
pub(super) struct PipelineFile {
    /// How the study goes: what is optimised, by which strategy, and when it ends.
    study: StudyFile,
    /// The outputs of stages that are kept.
    cache: Option<CacheFile>,
    /// The commands, in an order in which they can run.
    #[schemars(length(min = 1))]
    stage: Vec<StageFile>,
}

/// How the study goes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct StudyFile {
    /// The study's name in the journal: letters, digits, `.`, `_` and `-`.
    #[schemars(regex(pattern = r"^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$"))]
    name: String,
    /// The number that is optimised: a key of the result.json that the last stage writes into `{out}`, such as
    /// "f1", or `stage.number` of another stage, such as "train.loss". Every stage may write numbers into
    /// `{out}/result.json`; all are kept and shown.
    metric: String,
    /// Whether a higher or a lower metric is better.
    direction: DirectionFile,
    /// What chooses the next trial: "auto", or a name that `stagetune strategies` lists.
    strategy: Option<String>,
    /// Options of the strategy.
    options: Option<BTreeMap<String, Json>>,
    /// What all dice come from; the same seed proposes the same trials. 0 unless given.
    seed: Option<u64>,
    /// When to stop: limits, of which the first one reached ends the study, or "auto": when going on is not worth its cost.
    budget: Option<BudgetChoice>,
    /// How many trials may fail from the beginning before the study gives up. 10 unless given.
    #[schemars(range(min = 1))]
    give_up_after: Option<u64>,
    /// How long a fault of the world (a full disk, an input that changed) is waited for before the run ends.
    /// "10 min" unless given; 0 does not wait.
    patience: Option<Length>,
    /// A command that is run when the study waits, when it ends, and when it finds a new best value. `{event}` in it
    /// is "waits", "ended" or "best", `{study}` the study's name, `{text}` what there is to say.
    notify: Option<Vec<String>>,
    /// Directories outside the study's own where inputs and programs may lie, such as "../data".
    outside: Option<Vec<String>>,
}

/// What is better.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum DirectionFile {
    /// Higher values are better.
    Maximize,
    /// Lower values are better.
    Minimize,
}

/// When to stop.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)]
enum BudgetChoice {
    /// When going on is not worth its cost.
    Auto(AutoFile),
    /// The first one reached ends the study.
    Limits(BudgetFile),
}

/// The choice is left to stagetune.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum AutoFile {
    /// While a full run's worth of cost is expected to gain a thousandth of the distance from the median of the values to the best one, the study goes on.
    Auto,
}

/// When to stop: the first one reached ends the study. So does a space of which every point was tried.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct BudgetFile {
    /// How many trials are run.
    #[schemars(range(min = 1))]
    trials: Option<u64>,
    /// What the stages that ran may cost in all: a duration such as "90 min", or a number.
    cost: Option<Length>,
    /// How long `stagetune run` may be at work: a duration such as "2 h", or seconds.
    wall: Option<Length>,
    /// A value of the metric that is good enough.
    target: Option<f64>,
    /// What the metric must be expected to gain for its cost: "0.01 per hour", "0.01 per 10 min", "0.01 per unit", a number for each second or unit, or
    /// "auto", a thousandth of the spread of values for a full run. The study ends when no next trials gain as much.
    price: Option<Length>,
}

/// The outputs of stages that are kept.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct CacheFile {
    /// How much may be kept, such as "20 GB"; what is cheap to make again goes first. No limit unless given.
    limit: Option<Length>,
}

/// One command of the pipeline.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code)]
struct StageFile {
    /// Its name: letters, digits, `_` and `-`. Later stages read its output as `{name}`.
    #[schemars(regex(pattern = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"))]
    name: String,
    /// The program and its arguments, one text each; there is no shell. `{out}` is a fresh directory for the output, `{stage}` the finished
    /// output of an earlier stage, `{param}` a parameter of this stage; `{{` and `}}` are braces.
    #[schemars(length(min = 1))]
    run: Vec<String>,
    /// Files and directories that the command reads; when their content changes, the stage runs again.
    inputs: Option<Vec<String>>,
    /// Variables that are set for the command.
    env: Option<BTreeMap<String, String>>,
    /// Variables of the caller that the output depends on; when one changes, the stage runs again.
    watch_env: Option<Vec<String>>,
    /// How long a run may take: a duration such as "10 min", or seconds. Then the command and all that it started are killed.
    timeout: Option<Length>,
    /// How long a run has to end by itself after it was asked to (SIGTERM): at its timeout, or when the study is stopped. Then it is
    /// killed. 2 s unless given.
    grace: Option<Length>,
    /// How often a failed run is tried again. 0 unless given.
    #[schemars(range(max = 1000))]
    retries: Option<u32>,
    /// What a run costs: "measured" (its seconds, the default), "reported" (the key `cost` of its result.json), or a number.
    cost: Option<CostFile>,
    /// The earlier stages that it needs; the one before it unless given, none if `[]`.
    after: Option<Vec<String>>,
    /// What can be tuned in this stage, by name.
    params: Option<BTreeMap<String, ParamFile>>,
    /// Conditions on this stage's parameters that are never tried, such as "lr > 0.05 and batch < 4".
    forbid: Option<Vec<String>>,
    /// Where the values of a parameter fall into regions that behave differently, such as `{ lr = [1e-3] }`.
    cuts: Option<BTreeMap<String, Vec<f64>>>,
}

/// Something that can be tuned: exactly one of float, int, choice and bool.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("oneOf" = [
    {"required": ["float"]}, {"required": ["int"]}, {"required": ["choice"]}, {"required": ["bool"]}
]))]
#[allow(dead_code)]
struct ParamFile {
    /// A number between two others: `[lowest, highest]`.
    float: Option<[f64; 2]>,
    /// A whole number between two others, both included: `[lowest, highest]`.
    int: Option<[i64; 2]>,
    /// One of several texts without an order.
    #[schemars(length(min = 1))]
    choice: Option<Vec<String>>,
    /// `bool = true`: true and false are tried.
    bool: Option<bool>,
    /// The distance between neighbours of an int. 1 unless given.
    #[schemars(range(min = 1))]
    step: Option<i64>,
    /// Spread over orders of magnitude, as learning rates are.
    log: Option<bool>,
}

/// A text with a unit, such as "10 min" or "20 GB", or a number.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)]
enum Length {
    /// With its unit.
    Text(String),
    /// In seconds or bytes.
    Number(f64),
}

/// What a run of a stage costs.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)]
enum CostFile {
    /// Found out when it runs.
    Learnt(LearntCost),
    /// Known beforehand.
    Given(f64),
}

/// Where a cost that is not known comes from.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum LearntCost {
    /// The seconds that it takes.
    Measured,
    /// The key `cost` of the stage's result.json.
    Reported,
}

/// Any value of an option.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)]
enum Json {
    /// True or false.
    Flag(bool),
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// Several.
    List(Vec<Json>),
    /// Named ones.
    Table(BTreeMap<String, Json>),
}

/// The JSON schema of a pipeline file, which editors use.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(PipelineFile).to_value()
}

/// A commented pipeline file to start from.
pub fn starter() -> &'static str {
    include_str!("starter.toml")
}

/// Whether a text has the shape that editors are told of; what the checks accept has.
#[doc(hidden)]
pub fn fits_shape(text: &str) -> Result<(), String> {
    toml::from_str::<PipelineFile>(text).map(|_| ()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::{budget, check::FILE_KEYS, params::PARAM_KEYS, stage::STAGE_KEYS, study};
    use super::*;

    fn keys(schema: &serde_json::Value, definition: Option<&str>) -> Vec<String> {
        let table = definition.map_or(schema, |name| &schema["$defs"][name]);
        table["properties"].as_object().unwrap().keys().cloned().collect()
    }

    #[test]
    fn the_shape_has_the_keys_that_the_checks_know() {
        let schema = schema();
        for (definition, known) in [
            (None, &FILE_KEYS[..]),
            (Some("StudyFile"), &study::STUDY_KEYS),
            (Some("BudgetFile"), &budget::BUDGET_KEYS),
            (Some("CacheFile"), &study::CACHE_KEYS),
            (Some("StageFile"), &STAGE_KEYS),
            (Some("ParamFile"), &PARAM_KEYS),
        ] {
            let (mut shape, mut checks) = (keys(&schema, definition), known.to_vec());
            shape.sort();
            checks.sort_unstable();
            assert_eq!(shape, checks, "{definition:?}");
        }
    }

    #[test]
    fn every_key_has_a_description_for_editors() {
        let schema = schema();
        let tables = std::iter::once(&schema).chain(schema["$defs"].as_object().unwrap().values());
        for table in tables {
            for (key, property) in table["properties"].as_object().into_iter().flatten() {
                assert!(property["description"].is_string(), "{key}: {property}");
            }
        }
    }

    #[test]
    fn the_starter_passes_the_checks_and_has_the_shape() {
        use std::path::Path;
        let parsed =
            super::super::Pipeline::parse_with_warnings(starter(), Path::new("p.toml"), Path::new("/study"));
        let (pipeline, warnings) = parsed.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(warnings, vec![]);
        assert_eq!(pipeline.stages.len(), 2);
        assert_eq!(fits_shape(starter()), Ok(()));
        assert!(starter().starts_with("#:schema .stagetune/pipeline.schema.json\n"));
    }
}
