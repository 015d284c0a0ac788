//! The study that a log tells of.

use stagetune::objective::Objectives;
use stagetune::space::CostModel;
use stagetune::strategy::{complete_options, differing_option};
use stagetune::study::{Event, Started, Study, StudyError};

use super::definition::changes;
use super::error::RunError;
use crate::file::Pipeline;
use crate::log::{Definition, Stamped};

/// A new study of a pipeline, with the strategy of that name.
pub fn study(pipeline: &Pipeline, strategy: &str) -> Result<Study, StudyError> {
    let plan = &pipeline.study;
    Study::configured(pipeline.space.clone(), strategy, &plan.options, plan.seed)?
        .objectives(Objectives::one(plan.metric.clone(), plan.direction))?
        .cost_model(CostModel::Cache)?
        .stop(plan.budget.rules())
}

/// How a study was begun.
pub(super) fn started(records: &[Stamped]) -> Option<&Started> {
    records.iter().find_map(|stamped| {
        let Event::Started(started) = &stamped.record.event else { return None };
        Some(&**started)
    })
}

/// Another strategy than stagetune's own choice, with which a study was begun whose file now leaves the choice to stagetune.
pub(super) fn begun_with<'a>(pipeline: &Pipeline, records: &'a [Stamped]) -> Option<&'a str> {
    let plan = &pipeline.study;
    let strategy = started(records)?.strategy.name.as_str();
    (plan.is_auto() && strategy != plan.engine_strategy()).then_some(strategy)
}

/// The first option that the study was begun with and does not have now, both in words.
pub(super) fn other_options(
    pipeline: &Pipeline,
    records: &[Stamped],
) -> Result<Option<(String, String)>, StudyError> {
    let Some(started) = started(records) else { return Ok(None) };
    let name = &started.strategy.name;
    let now = complete_options(name, &pipeline.study.options)?;
    let before = complete_options(name, &started.strategy.options);
    Ok(differing_option(&before.unwrap_or_else(|_| started.strategy.options.clone()), &now))
}

/// The study that the records tell of; a lenient one goes on with other options than it was begun with.
pub(super) fn replayed(pipeline: &Pipeline, records: &[Stamped], lenient: bool) -> Result<Study, RunError> {
    let strategy = begun_with(pipeline, records).unwrap_or(pipeline.study.engine_strategy());
    let study = study(pipeline, strategy)?;
    let study = if lenient { study.with_any_options() } else { study };
    continued(&pipeline.study.name, study, records)
}

/// A new study, brought to where the records end.
pub(super) fn continued(name: &str, study: Study, records: &[Stamped]) -> Result<Study, RunError> {
    let events = records.iter().map(|stamped| stamped.record.event.clone());
    let failed = |source| RunError::Replay { study: name.to_owned(), source: Box::new(source) };
    study.replay(events).map_err(failed)
}

/// Refuses a pipeline that is not the one which earlier trials ran.
pub(super) fn check_unchanged(name: &str, records: &[Stamped], now: &Definition) -> Result<(), RunError> {
    let told = records.iter().any(|stamped| matches!(stamped.record.event, Event::Ended { .. }));
    let before = records.iter().rev().find_map(|stamped| stamped.record.session.as_ref());
    let changes = before.filter(|_| told).map(|before| changes(&before.definition, now)).unwrap_or_default();
    if changes.is_empty() { Ok(()) } else { Err(RunError::Changed { study: name.to_owned(), changes }) }
}
