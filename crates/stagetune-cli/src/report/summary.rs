//! The sums of a study: what each stage cost, what reuse saved, which trials came first.

use std::collections::BTreeMap;

use stagetune::study::Direction;
use stagetune_pipeline::record::{How, StageRecord, StudyRecord, TrialRecord, TrialState};

/// The sums of a whole study.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Trials with a value.
    pub observed: usize,
    /// Trials without one.
    pub failed: usize,
    /// Trials that are not told yet.
    pub open: usize,
    /// What the stages that ran cost, failures included.
    pub spent: f64,
    /// What the reused stages had cost when they ran.
    pub saved: f64,
    /// One for each stage, in order.
    pub stages: Vec<StageSums>,
}

/// The sums of one stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageSums {
    /// Runs whose output was kept.
    pub runs: usize,
    /// Trials that found its output.
    pub reuses: usize,
    /// Runs that failed.
    pub failures: usize,
    /// The cost of the runs whose output was kept.
    pub kept: f64,
    /// The cost of the failures.
    pub lost: f64,
    /// What its reuses had cost when they ran.
    pub saved: f64,
}

impl StageSums {
    /// What it cost, failures included.
    pub fn spent(&self) -> f64 {
        self.kept + self.lost
    }

    /// The mean cost of a run whose output was kept.
    pub fn mean(&self) -> Option<f64> {
        (self.runs > 0).then(|| self.kept / self.runs as f64)
    }
}

impl Summary {
    /// Adds up a study.
    pub fn of(record: &StudyRecord) -> Self {
        let mut summary = Self { stages: vec![StageSums::default(); record.stages.len()], ..Self::default() };
        let numbers = stage_numbers(record);
        for trial in &record.trials {
            match trial.state {
                TrialState::Observed => summary.observed += 1,
                TrialState::Failed => summary.failed += 1,
                TrialState::Open => summary.open += 1,
            }
            for stage in &trial.stages {
                if let Some(sums) =
                    numbers.get(stage.stage.as_str()).and_then(|at| summary.stages.get_mut(*at))
                {
                    sums.add(stage);
                }
            }
            summary.spent += paid(trial);
            summary.saved += reused(trial);
        }
        summary
    }

    /// What all stages of all trials would have cost.
    pub fn without_reuse(&self) -> f64 {
        self.spent + self.saved
    }

    /// How many times dearer the study would have been without reuse; nothing where nothing was spent.
    pub fn factor(&self) -> Option<f64> {
        (self.spent > 0.0).then(|| self.without_reuse() / self.spent).filter(|factor| factor.is_finite())
    }
}

impl StageSums {
    fn add(&mut self, stage: &StageRecord) {
        let cost = clean(stage.cost);
        match stage.how {
            How::Ran => (self.runs, self.kept) = (self.runs + 1, self.kept + cost),
            How::Reused => (self.reuses, self.saved) = (self.reuses + 1, self.saved + cost),
            How::Failed => (self.failures, self.lost) = (self.failures + 1, self.lost + cost),
        }
    }
}

/// The place of each stage in the pipeline, by name.
pub fn stage_numbers(record: &StudyRecord) -> BTreeMap<&str, usize> {
    record.stages.iter().enumerate().map(|(at, stage)| (stage.name.as_str(), at)).collect()
}

/// What a trial was charged; of an open one, what its stages cost so far.
pub fn paid(trial: &TrialRecord) -> f64 {
    let so_far = || trial.stages.iter().filter(|s| s.how != How::Reused).map(|s| clean(s.cost)).sum();
    trial.cost.map_or_else(so_far, clean)
}

/// What the stages that a trial reused had cost.
pub fn reused(trial: &TrialRecord) -> f64 {
    trial.stages.iter().filter(|s| s.how == How::Reused).map(|s| clean(s.cost)).sum()
}

/// The value of a trial that has one to show.
pub fn value(trial: &TrialRecord) -> Option<f64> {
    trial.value.filter(|value| trial.state == TrialState::Observed && value.is_finite())
}

/// The trial that the study calls its best.
pub fn best(record: &StudyRecord) -> Option<&TrialRecord> {
    let best = record.best?;
    record.trials.iter().find(|trial| trial.trial == best)
}

/// Whether the first value is better than the second.
pub fn better(direction: Direction, a: f64, b: f64) -> bool {
    match direction {
        Direction::Maximize => a > b,
        Direction::Minimize => a < b,
    }
}

/// The trials with a value, the best first, ties in the order asked.
pub fn ranked(record: &StudyRecord) -> Vec<&TrialRecord> {
    let mut trials: Vec<(f64, &TrialRecord)> =
        record.trials.iter().filter_map(|trial| Some((value(trial)?, trial))).collect();
    trials.sort_by(|(a, _), (b, _)| match record.direction {
        Direction::Maximize => b.total_cmp(a),
        Direction::Minimize => a.total_cmp(b),
    });
    trials.into_iter().map(|(_, trial)| trial).collect()
}

/// A cost that is a number from 0 on.
fn clean(cost: f64) -> f64 {
    if cost.is_finite() { cost.max(0.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn what_was_spent_and_saved_is_what_everything_would_have_cost() {
        let record = sample::study(60);
        let summary = Summary::of(&record);
        let all: f64 = record.trials.iter().flat_map(|t| &t.stages).map(|s| s.cost).sum();
        assert!((summary.without_reuse() - all).abs() < 1e-6 * all);
        let by_stage: f64 = summary.stages.iter().map(|s| s.spent() + s.saved).sum();
        assert!((by_stage - all).abs() < 1e-6 * all);
        assert!(summary.factor().unwrap() > 1.5);
        assert_eq!(summary.observed + summary.failed + summary.open, 60);
    }

    #[test]
    fn a_study_that_spent_nothing_has_no_factor() {
        assert_eq!(Summary::of(&sample::empty()).factor(), None);
    }

    #[test]
    fn the_best_trial_is_ranked_first_in_both_directions() {
        for direction in [Direction::Maximize, Direction::Minimize] {
            let record = sample::with_values(&[3.0, -1.0, 7.0, 7.0, 2.0], direction);
            assert_eq!(ranked(&record).first().map(|trial| trial.trial), record.best);
        }
    }
}
