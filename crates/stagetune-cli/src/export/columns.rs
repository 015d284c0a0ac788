//! The trials as columns with names and types, which CSV and Parquet both write.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use serde_json::Value;
use stagetune_pipeline::record::{
    DomainFacts, How, ParamFacts, StageRecord, StudyRecord, TrialRecord, TrialState,
};

/// A column: a name, and a cell for each trial.
#[derive(Debug)]
pub struct Column {
    /// Different from every other column's.
    pub name: String,
    /// One for each trial.
    pub cells: Cells,
}

/// Cells of one type; `None` is a missing value.
#[derive(Debug)]
pub enum Cells {
    /// Whole numbers.
    Int(Vec<Option<i64>>),
    /// Numbers.
    Double(Vec<Option<f64>>),
    /// Truth values.
    Bool(Vec<Option<bool>>),
    /// Texts.
    Text(Vec<Option<String>>),
    /// Instants in seconds since 1970.
    Time(Vec<Option<f64>>),
}

/// The names of the columns that every study has; a parameter of the same name gets a prefix.
const FIXED: [&str; 9] = ["trial", "state", "value", "best", "cost", "spent", "asked", "told", "reason"];

/// All columns in the order of the export.
pub fn table(record: &StudyRecord) -> Result<Vec<Column>> {
    let trials = &record.trials;
    let doubles =
        |of: fn(&TrialRecord) -> Option<f64>| Cells::Double(trials.iter().map(of).collect::<Vec<_>>());
    let fixed = [
        Cells::Int(trials.iter().map(|t| i64::try_from(t.trial).ok()).collect()),
        Cells::Text(trials.iter().map(|t| Some(state(t.state).into())).collect()),
        doubles(|t| t.value),
        doubles(|t| t.best),
        doubles(|t| t.cost),
        doubles(|t| t.spent),
        Cells::Time(trials.iter().map(|t| Some(t.asked)).collect()),
        Cells::Time(trials.iter().map(|t| t.told).collect()),
        Cells::Text(trials.iter().map(|t| t.reason.clone()).collect()),
    ];
    let mut columns: Vec<Column> =
        FIXED.iter().zip(fixed).map(|(name, cells)| Column { name: (*name).into(), cells }).collect();
    let names = param_names(record);
    for (param, name) in record.params.iter().zip(names) {
        columns.push(Column { name, cells: param_cells(param, trials)? });
    }
    for stage in &record.stages {
        let of = |trial| last_record(trial, &stage.name);
        let cells = [
            ("how", Cells::Text(trials.iter().map(|t| of(t).map(|s| how(s.how).into())).collect())),
            ("cost", Cells::Double(trials.iter().map(|t| of(t).map(|s| s.cost)).collect())),
            ("seconds", Cells::Double(trials.iter().map(|t| of(t).map(|s| s.seconds)).collect())),
        ];
        columns.extend(cells.map(|(what, cells)| Column { name: format!("{}.{what}", stage.name), cells }));
    }
    Ok(columns)
}

/// What a state is called in files.
pub fn state(state: TrialState) -> &'static str {
    match state {
        TrialState::Open => "open",
        TrialState::Observed => "observed",
        TrialState::Failed => "failed",
    }
}

fn how(how: How) -> &'static str {
    match how {
        How::Ran => "ran",
        How::Reused => "reused",
        How::Failed => "failed",
    }
}

fn last_record<'a>(trial: &'a TrialRecord, stage: &str) -> Option<&'a StageRecord> {
    trial.stages.iter().rfind(|s| s.stage == stage)
}

/// Names for the parameters' columns: their own, with `param.` before it as long as another column has that name.
fn param_names(record: &StudyRecord) -> Vec<String> {
    let of_stages = record
        .stages
        .iter()
        .flat_map(|s| ["how", "cost", "seconds"].map(|what| format!("{}.{what}", s.name)));
    let mut taken: BTreeSet<String> = FIXED.iter().map(|name| String::from(*name)).chain(of_stages).collect();
    // Those that keep their own name come first: a prefix must not take the name of a parameter that needs none.
    let free: BTreeSet<&str> =
        record.params.iter().map(|p| p.name.as_str()).filter(|name| !taken.contains(*name)).collect();
    taken.extend(free.iter().map(|name| String::from(*name)));
    record
        .params
        .iter()
        .map(|param| {
            let mut name = param.name.clone();
            if !free.contains(name.as_str()) {
                while !taken.insert(name.clone()) {
                    name.insert_str(0, "param.");
                }
            }
            name
        })
        .collect()
}

fn param_cells(param: &ParamFacts, trials: &[TrialRecord]) -> Result<Cells> {
    Ok(match param.domain {
        DomainFacts::Float { .. } => Cells::Double(cells(param, trials, "a number", Value::as_f64)?),
        DomainFacts::Int { .. } => Cells::Int(cells(param, trials, "a whole number", Value::as_i64)?),
        DomainFacts::Bool => Cells::Bool(cells(param, trials, "true or false", Value::as_bool)?),
        DomainFacts::Choice { .. } => {
            Cells::Text(cells(param, trials, "a text", |v| v.as_str().map(str::to_owned))?)
        }
    })
}

fn cells<T>(
    param: &ParamFacts,
    trials: &[TrialRecord],
    kind: &str,
    read: impl Fn(&Value) -> Option<T>,
) -> Result<Vec<Option<T>>> {
    trials
        .iter()
        .map(|trial| match trial.point.get(&param.name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match read(value) {
                Some(cell) => Ok(Some(cell)),
                None => bail!(
                    "trial {} has {value} for the parameter {:?}, which is {kind}; \
                     the study was told by another pipeline file, export it as JSON to see it all",
                    trial.trial,
                    param.name
                ),
            },
        })
        .collect()
}
