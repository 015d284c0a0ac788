//! What every view asks of a ledger's rows: values in order, metrics of a trial, what a trial ran with.
//!
//! Totals are not here: the ledger has them.

use std::collections::BTreeMap;

use serde::Serialize;
use stagetune::objective::{Direction, Metric};
use stagetune::trial::How;
use stagetune_pipeline::ledger::{Ledger, TrialRow, TrialState};

/// The place of each stage in the pipeline, by name.
pub fn stage_numbers(ledger: &Ledger) -> BTreeMap<&str, usize> {
    ledger.stages.iter().enumerate().map(|(at, stage)| (stage.name.as_str(), at)).collect()
}

/// What a trial was charged; of an open one, what its stages cost so far.
pub fn paid(trial: &TrialRow) -> f64 {
    let so_far = || trial.stages.iter().filter(|s| s.how != How::Reused).map(|s| clean(s.cost)).sum();
    trial.cost.map_or_else(so_far, clean)
}

/// The value of a trial that has one to show.
pub fn value(trial: &TrialRow) -> Option<f64> {
    trial.value.filter(|value| trial.state == TrialState::Observed && value.is_finite())
}

/// The trial that the study calls its best.
pub fn best(ledger: &Ledger) -> Option<&TrialRow> {
    let best = ledger.best_trial()?;
    ledger.trials.iter().find(|trial| trial.trial == best)
}

/// The trials with a value, the best first, ties in the order asked.
pub fn ranked(ledger: &Ledger) -> Vec<&TrialRow> {
    let mut trials: Vec<(f64, &TrialRow)> =
        ledger.trials.iter().filter_map(|trial| Some((value(trial)?, trial))).collect();
    trials.sort_by(|(a, _), (b, _)| match ledger.direction {
        Direction::Maximize => b.total_cmp(a),
        Direction::Minimize => a.total_cmp(b),
    });
    trials.into_iter().map(|(_, trial)| trial).collect()
}

/// A number that a stage of the trial reported.
pub fn metric(trial: &TrialRow, metric: &Metric) -> Option<f64> {
    let stage = trial.stages.iter().rfind(|row| Some(row.stage.as_str()) == metric.stage())?;
    stage.metrics.get(metric.name()).copied()
}

/// The metrics that are not the objective, in the order of the stages: the objective has a place of its own.
pub fn other_metrics(ledger: &Ledger) -> Vec<Metric> {
    let last = ledger.stages.last().map_or("", |stage| stage.name.as_str());
    let objective = Metric::of(ledger.metric.stage().unwrap_or(last), ledger.metric.name());
    ledger.metrics().into_iter().filter(|metric| *metric != objective).collect()
}

/// A trial and what it ran with, as JSON has it.
#[derive(Debug, Serialize)]
pub struct TrialFacts<'a> {
    #[serde(flatten)]
    trial: &'a TrialRow,
    release: Option<&'a str>,
    host: Option<&'a str>,
    interpreter: Option<&'a str>,
    commit: Option<&'a str>,
}

/// The trial with the release, the host, the interpreter and the commit that it ran with.
pub fn trial_facts<'a>(ledger: &'a Ledger, trial: &'a TrialRow) -> TrialFacts<'a> {
    let owner = ledger.owner(trial.epoch).map(|row| &row.owner);
    TrialFacts {
        trial,
        release: owner.map(|owner| owner.release.as_str()),
        host: owner.map(|owner| owner.host.as_str()),
        interpreter: owner.and_then(|owner| owner.interpreter.as_deref()),
        commit: owner.and_then(|owner| owner.commit.as_deref()),
    }
}

/// How many times dearer the study would have been without reuse; nothing where nothing was spent.
pub fn times_dearer(ledger: &Ledger) -> Option<f64> {
    let times = (ledger.spent + ledger.saved) / ledger.spent;
    (ledger.spent > 0.0 && times.is_finite()).then_some(times)
}

/// A cost that is a number from 0 on.
fn clean(cost: f64) -> f64 {
    if cost.is_finite() { cost.max(0.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use serde_json::{Value, json};

    #[test]
    fn the_best_trial_is_ranked_first_in_both_directions() {
        for direction in [Direction::Maximize, Direction::Minimize] {
            let ledger = sample::with_values(&[3.0, -1.0, 7.0, 7.0, 2.0], direction);
            assert_eq!(ranked(&ledger).first().map(|trial| trial.trial), ledger.best_trial());
        }
    }

    #[test]
    fn a_study_that_spent_nothing_would_not_have_been_dearer() {
        assert_eq!(times_dearer(&sample::empty()), None);
        assert!(times_dearer(&sample::study(60)).unwrap() > 1.5);
    }

    #[test]
    fn the_objective_is_no_other_metric_whether_or_not_it_names_its_stage() {
        let mut ledger = sample::study(20);
        let names = |ledger: &Ledger| -> Vec<String> {
            other_metrics(ledger).iter().map(ToString::to_string).collect()
        };
        assert_eq!(names(&ledger), ["denoise.psnr", "unet.loss", "reconstruct.iou"]);
        ledger.metric = Metric::of("reconstruct", "f1");
        assert_eq!(names(&ledger), ["denoise.psnr", "unet.loss", "reconstruct.iou"]);
        ledger.metric = Metric::of("unet", "loss");
        assert_eq!(names(&ledger), ["denoise.psnr", "reconstruct.f1", "reconstruct.iou"]);
    }

    #[test]
    fn a_trial_as_json_has_its_numbers_and_what_it_ran_with() {
        let ledger = sample::study(20);
        let (first, last) = (&ledger.trials[0], &ledger.trials[19]);
        let row = serde_json::to_value(trial_facts(&ledger, first)).unwrap();
        assert_eq!(
            row["stages"][0]["metrics"]["psnr"].as_f64(),
            metric(first, &Metric::of("denoise", "psnr"))
        );
        assert_eq!((&row["host"], &row["commit"]), (&json!("lab"), &json!("0123abc")));
        let row = serde_json::to_value(trial_facts(&ledger, last)).unwrap();
        assert_eq!(
            (&row["host"], &row["commit"], &row["release"]),
            (&json!("attic"), &Value::Null, &json!("0.2.0"))
        );
    }
}
