//! What a study runs, as the log keeps it, and what has changed about it.

use std::collections::BTreeMap;

use super::keys::Keys;
use crate::file::{Pipeline, StageCost};
use crate::ledger::CostUnit;
use crate::log::{Definition, StageDefinition};

/// What a pipeline runs.
pub fn definition(pipeline: &Pipeline, keys: &Keys) -> Definition {
    let name = |index: &usize| pipeline.stages.get(*index).map(|stage| stage.name.clone());
    let stages = pipeline.stages.iter().enumerate().map(|(index, stage)| StageDefinition {
        name: stage.name.clone(),
        run: stage.run.iter().map(|argument| argument.source.clone()).collect(),
        after: stage.after.iter().filter_map(name).collect(),
        inputs: keys.inputs_of(index),
        env: keys.env_of(index),
    });
    let measured = pipeline.stages.iter().all(|stage| stage.cost == StageCost::Measured);
    Definition {
        stages: stages.collect(),
        cost_unit: if measured { CostUnit::Seconds } else { CostUnit::Units },
    }
}

/// What makes results of one pipeline no results of another.
pub(super) fn changes(before: &Definition, now: &Definition) -> Vec<String> {
    let mut changes = Vec::new();
    for stage in &now.stages {
        let Some(old) = before.stages.iter().find(|old| old.name == stage.name) else { continue };
        let name = &stage.name;
        if old.run != stage.run {
            changes.push(format!(
                "stage `{name}` ran `{}` and now runs `{}`",
                old.run.join(" "),
                stage.run.join(" ")
            ));
        }
        if old.after != stage.after {
            changes.push(format!("stage `{name}` came after other stages"));
        }
        if let Some(input) = different(&old.inputs, &stage.inputs) {
            changes.push(format!("the input `{input}` of stage `{name}` has changed"));
        }
        if let Some(variable) = different(&old.env, &stage.env) {
            changes.push(format!("the variable `{variable}` of stage `{name}` has changed"));
        }
    }
    changes
}

fn different<'a, T: PartialEq>(a: &'a BTreeMap<String, T>, b: &'a BTreeMap<String, T>) -> Option<&'a String> {
    a.keys().chain(b.keys()).find(|name| a.get(*name) != b.get(*name))
}
