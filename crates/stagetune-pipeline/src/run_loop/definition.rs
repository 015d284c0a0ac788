//! What a study runs, as the journal keeps it; and a study from its journal, as people look at it.

use std::collections::BTreeMap;

use stagetune::space::{Domain, Param};
use stagetune::study::Event;

use super::keys::Keys;
use crate::file::{Pipeline, StageCost};
use crate::journal::{Definition, Record, StageDefinition, Stamped};
use crate::record::{CostUnit, DomainFacts, ParamFacts, StageFacts, StudyRecord, TrialRecord, TrialState};

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
    let modules = pipeline.space.modules().iter();
    Definition {
        metric: pipeline.study.metric.clone(),
        direction: pipeline.study.direction,
        stages: stages.collect(),
        params: modules.flat_map(|m| m.params().iter().map(|p| facts(p, m.name()))).collect(),
        cost_unit: if measured { CostUnit::Seconds } else { CostUnit::Units },
    }
}

/// What makes results of one pipeline no results of another.
pub(super) fn changes(before: &Definition, now: &Definition) -> Vec<String> {
    let mut changes = Vec::new();
    if before.metric != now.metric {
        changes.push(format!("the metric was `{}` and is `{}`", before.metric, now.metric));
    }
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

/// A study from its journal.
pub fn record(name: &str, records: &[Stamped]) -> StudyRecord {
    let mut study = StudyRecord {
        study: name.to_owned(),
        metric: String::new(),
        direction: stagetune::study::Direction::default(),
        strategy: String::new(),
        seed: 0,
        release: String::new(),
        stages: Vec::new(),
        params: Vec::new(),
        cost_unit: CostUnit::Units,
        trials: Vec::new(),
        best: None,
        stopped: None,
    };
    let (mut spent, mut best) = (0.0, None::<f64>);
    for Stamped { at, record } in records {
        match record {
            Record::Opened { definition, .. } => {
                study.metric.clone_from(&definition.metric);
                study.direction = definition.direction;
                study.params.clone_from(&definition.params);
                study.cost_unit = definition.cost_unit;
                let facts = |stage: &StageDefinition| StageFacts {
                    name: stage.name.clone(),
                    after: stage.after.clone(),
                };
                study.stages = definition.stages.iter().map(facts).collect();
                study.stopped = None;
            }
            Record::Study { event: Event::Started { strategy, seed, release, .. } } => {
                study.strategy.clone_from(strategy);
                study.seed = *seed;
                study.release.clone_from(release);
            }
            Record::Study { event: Event::Asked { trial, proposal } } => study.trials.push(TrialRecord {
                trial: trial.index(),
                point: crate::journal::point(&proposal.point),
                state: TrialState::Open,
                value: None,
                reason: None,
                cost: None,
                spent: None,
                best: None,
                asked: *at,
                told: None,
                stages: Vec::new(),
                why: proposal.why().to_string(),
            }),
            Record::Told { event, charged, stages } => {
                let (id, value, reason) = match event {
                    Event::Observed { trial, value, .. } => (trial.index(), Some(*value), None),
                    Event::Failed { trial, reason, .. } => (trial.index(), None, Some(reason.clone())),
                    _ => continue,
                };
                spent += charged.unwrap_or(0.0);
                if value.is_some_and(|v| best.is_none_or(|b| study.direction.is_better(v, b))) {
                    (best, study.best) = (value, Some(id));
                }
                let index = usize::try_from(id).unwrap_or(usize::MAX);
                if let Some(trial) = study.trials.get_mut(index) {
                    trial.state = if value.is_some() { TrialState::Observed } else { TrialState::Failed };
                    (trial.value, trial.reason, trial.cost) = (value, reason, *charged);
                    (trial.spent, trial.best, trial.told) = (Some(spent), best, Some(*at));
                    trial.stages.clone_from(stages);
                }
            }
            Record::Closed { finished, reason } => study.stopped = finished.then(|| reason.clone()),
            Record::Study { .. } => {}
        }
    }
    study
}

fn different<'a, T: PartialEq>(a: &'a BTreeMap<String, T>, b: &'a BTreeMap<String, T>) -> Option<&'a String> {
    a.keys().chain(b.keys()).find(|name| a.get(*name) != b.get(*name))
}

fn facts(param: &Param, stage: &str) -> ParamFacts {
    let domain = match param.domain() {
        Domain::Float(range) => {
            DomainFacts::Float { low: range.low(), high: range.high(), log: range.is_log() }
        }
        Domain::Int(range) => {
            DomainFacts::Int { low: range.low(), high: range.high(), step: range.step(), log: range.is_log() }
        }
        Domain::Choice(values) => {
            DomainFacts::Choice { values: values.iter().map(|value| value.to_string()).collect() }
        }
        Domain::Bool => DomainFacts::Bool,
        // A kind that this release does not draw is shown as a list of its values.
        _ => DomainFacts::Choice { values: Vec::new() },
    };
    ParamFacts { name: param.name().to_string(), stage: stage.to_owned(), domain }
}
