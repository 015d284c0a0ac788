//! The trials as columns with names and types, which CSV and Parquet both write.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use serde_json::Value;
use stagetune::space::DomainDescription;
use stagetune::study::Owner;
use stagetune_pipeline::ledger::{Ledger, ParamRow, StageRow, TrialRow};

use crate::rows;

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

/// The names of the first columns, which every study has; a parameter of the same name gets a prefix.
const FIXED: [&str; 9] = ["trial", "state", "value", "best", "cost", "spent", "asked", "told", "reason"];

/// The names of the last columns, which every study has as well: what each trial ran with.
const PROVENANCE: [&str; 4] = ["release", "host", "interpreter", "commit"];

/// All columns in the order of the export.
pub fn table(ledger: &Ledger) -> Result<Vec<Column>> {
    let trials = &ledger.trials;
    let doubles = |of: fn(&TrialRow) -> Option<f64>| Cells::Double(trials.iter().map(of).collect::<Vec<_>>());
    let fixed = [
        Cells::Int(trials.iter().map(|t| i64::try_from(t.trial).ok()).collect()),
        Cells::Text(trials.iter().map(|t| Some(t.state.as_str().into())).collect()),
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
    let mut taken = own_names(ledger);
    for (param, name) in ledger.params.iter().zip(param_names(ledger, &mut taken)) {
        columns.push(Column { name, cells: param_cells(param, trials)? });
    }
    for stage in &ledger.stages {
        let of = |trial| last_record(trial, &stage.name);
        let cells = [
            ("how", Cells::Text(trials.iter().map(|t| of(t).map(|s| s.how.as_str().into())).collect())),
            ("cost", Cells::Double(trials.iter().map(|t| of(t).map(|s| s.cost)).collect())),
            ("seconds", Cells::Double(trials.iter().map(|t| of(t).map(|s| s.seconds)).collect())),
        ];
        columns.extend(cells.map(|(what, cells)| Column { name: format!("{}.{what}", stage.name), cells }));
    }
    for metric in ledger.metrics() {
        let cells = Cells::Double(trials.iter().map(|trial| rows::metric(trial, &metric)).collect());
        columns.push(Column { name: free_name(metric.to_string(), "metric.", &mut taken), cells });
    }
    columns.extend(provenance(ledger));
    Ok(columns)
}

/// What each trial ran with.
fn provenance(ledger: &Ledger) -> impl Iterator<Item = Column> {
    let owners: Vec<Option<&Owner>> =
        ledger.trials.iter().map(|trial| ledger.owner(trial.epoch).map(|row| &row.owner)).collect();
    let texts = |of: fn(&Owner) -> Option<&String>| {
        Cells::Text(owners.iter().map(|owner| owner.and_then(of).cloned()).collect())
    };
    let cells = [
        texts(|owner| Some(&owner.release)),
        texts(|owner| Some(&owner.host)),
        texts(|owner| owner.interpreter.as_ref()),
        texts(|owner| owner.commit.as_ref()),
    ];
    PROVENANCE.into_iter().zip(cells).map(|(name, cells)| Column { name: name.into(), cells })
}

fn last_record<'a>(trial: &'a TrialRow, stage: &str) -> Option<&'a StageRow> {
    trial.stages.iter().rfind(|s| s.stage == stage)
}

/// The names that neither parameters nor metrics may have.
fn own_names(ledger: &Ledger) -> BTreeSet<String> {
    let of_stages = ledger
        .stages
        .iter()
        .flat_map(|s| ["how", "cost", "seconds"].map(|what| format!("{}.{what}", s.name)));
    FIXED.into_iter().chain(PROVENANCE).map(String::from).chain(of_stages).collect()
}

/// Names for the parameters' columns: their own, or with `param.` before it as long as another column has it.
fn param_names(ledger: &Ledger, taken: &mut BTreeSet<String>) -> Vec<String> {
    // Those that keep their own name come first: a prefix must not take a name that needs none.
    let free: BTreeSet<&str> =
        ledger.params.iter().map(|p| p.param.name.as_str()).filter(|name| !taken.contains(*name)).collect();
    taken.extend(free.iter().map(|name| String::from(*name)));
    let params = ledger.params.iter().map(|param| param.param.name.clone());
    params
        .map(|name| if free.contains(name.as_str()) { name } else { free_name(name, "param.", taken) })
        .collect()
}

/// A name that no other column has: this one, with the prefix before it as long as it is taken.
fn free_name(mut name: String, prefix: &str, taken: &mut BTreeSet<String>) -> String {
    while !taken.insert(name.clone()) {
        name.insert_str(0, prefix);
    }
    name
}

fn param_cells(param: &ParamRow, trials: &[TrialRow]) -> Result<Cells> {
    Ok(match param.param.domain {
        DomainDescription::Float { .. } => Cells::Double(cells(param, trials, "a number", Value::as_f64)?),
        DomainDescription::Int { .. } => Cells::Int(cells(param, trials, "a whole number", Value::as_i64)?),
        DomainDescription::Bool => Cells::Bool(cells(param, trials, "true or false", Value::as_bool)?),
        DomainDescription::Choice { .. } => {
            Cells::Text(cells(param, trials, "a text", |v| v.as_str().map(str::to_owned))?)
        }
    })
}

fn cells<T>(
    param: &ParamRow,
    trials: &[TrialRow],
    kind: &str,
    read: impl Fn(&Value) -> Option<T>,
) -> Result<Vec<Option<T>>> {
    trials
        .iter()
        .map(|trial| match trial.point.get(&param.param.name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match read(value) {
                Some(cell) => Ok(Some(cell)),
                None => bail!(
                    "trial {} has {value} for the parameter {:?}, which is {kind}; \
                     the study was told by another pipeline file, export it as JSON to see it all",
                    trial.trial,
                    param.param.name
                ),
            },
        })
        .collect()
}
