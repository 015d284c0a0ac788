//! What every trial must come to, worked out from its point alone, and what a log says otherwise.

use super::sketch::{Cost, MODULUS, Sketch, Stage};
use super::tally::{Finding, Kind, Tally};
use serde_json::{Map, Value};
use stagetune::space::Point;
use stagetune::study::Event;
use stagetune::trial::{End, How, StageReport, TrialId};
use stagetune_pipeline::log::Stamped;
use std::collections::{BTreeMap, BTreeSet};

/// What a stage must come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Value(i64),
    Fails,
    /// Its time is over.
    Hangs,
    /// A stage that it reads has no output.
    Blocked,
}

/// What the stages of a point must come to, in order; nothing if the point is none of this pipeline.
pub fn outcomes(sketch: &Sketch, point: &Map<String, Value>) -> Option<Vec<Outcome>> {
    let mut all: Vec<Outcome> = Vec::new();
    for stage in &sketch.stages {
        all.push(outcome(stage, &all, point)?);
    }
    Some(all)
}

fn outcome(stage: &Stage, before: &[Outcome], point: &Map<String, Value>) -> Option<Outcome> {
    let mut v = stage.salt;
    for read in &stage.reads {
        let Outcome::Value(p) = before.get(*read)? else { return Some(Outcome::Blocked) };
        v = (v * 31 + p) % MODULUS;
    }
    for param in &stage.params {
        for number in param.numbers(point.get(&param.name)?)? {
            v = (v * 37 + number) % MODULUS;
        }
    }
    Some(if stage.hangs.is_some_and(|(when, _)| when.holds(v)) {
        Outcome::Hangs
    } else if stage.fails.is_some_and(|when| when.holds(v)) {
        Outcome::Fails
    } else {
        Outcome::Value(v)
    })
}

/// The value of the trial, if it has one.
pub fn value(outcomes: &[Outcome]) -> Option<i64> {
    let all = outcomes.iter().all(|outcome| matches!(outcome, Outcome::Value(_)));
    match outcomes.last() {
        Some(Outcome::Value(v)) if all => Some(*v),
        Some(_) | None => None,
    }
}

/// What a log says of its trials.
#[derive(Debug, Default)]
pub struct Said {
    /// What the trials that have ended must come to, by number.
    pub ended: BTreeMap<u64, Option<i64>>,
    pub finished: u64,
    /// Whether an output was made again because it had been lost.
    pub made_again: bool,
}

/// Compares every event of a log with what it must be.
pub fn check(sketch: &Sketch, records: &[Stamped], tally: &mut Tally, found: &mut Vec<Finding>) -> Said {
    let said = Said::default();
    let mut reading = Reading {
        sketch,
        tally,
        found,
        said,
        expected: BTreeMap::new(),
        reported: BTreeSet::new(),
        outputs: Outputs::default(),
    };
    for Stamped { record, .. } in records {
        if let Event::Asked { trial, proposal } = &record.event {
            reading.asked(*trial, &proposal.point);
        } else if let Event::Reported { trial, stage, report } = &record.event {
            let key = record.run.as_ref().map(|run| run.key.as_str()).unwrap_or_default();
            reading.reported(*trial, stage, report, key);
        } else if let Event::Ended { trial, end, .. } = &record.event {
            reading.ended(*trial, end);
        }
    }
    reading.said
}

/// A log that is being compared.
struct Reading<'a> {
    sketch: &'a Sketch,
    tally: &'a mut Tally,
    found: &'a mut Vec<Finding>,
    said: Said,
    /// What the stages of every trial must come to.
    expected: BTreeMap<u64, Vec<Outcome>>,
    reported: BTreeSet<(u64, String)>,
    outputs: Outputs,
}

impl Reading<'_> {
    fn wrong(&mut self, what: String) {
        self.found.push(Finding { kind: Kind::Wrong, what });
    }

    fn asked(&mut self, trial: TrialId, point: &Point) {
        let point = serde_json::to_value(point).unwrap_or_default();
        match point.as_object().and_then(|point| outcomes(self.sketch, point)) {
            Some(outcomes) => {
                if self.expected.insert(trial.index(), outcomes).is_some() {
                    self.wrong(format!("trial {trial} was asked twice"));
                }
            }
            None => self.wrong(format!("trial {trial} has a point that is none of this pipeline: {point}")),
        }
    }

    fn reported(&mut self, trial: TrialId, stage: &str, report: &StageReport, key: &str) {
        let number = self.sketch.stages.iter().position(|one| one.name == *stage);
        let outcome = number.and_then(|number| self.expected.get(&trial.index())?.get(number)).copied();
        let (Some(number), Some(outcome)) = (number, outcome) else {
            self.wrong(format!("a report of stage {stage} of trial {trial}, which nobody asked"));
            return;
        };
        self.tally.reports += 1;
        self.tally.reused += u64::from(report.how == How::Reused);
        self.said.made_again |= report.again;
        if !self.reported.insert((trial.index(), stage.to_owned())) && !report.again {
            let what = format!("stage {stage} of trial {trial} reported twice");
            self.found.push(Finding { kind: Kind::Twice, what });
            return;
        }
        let is_last = number + 1 == self.sketch.stages.len();
        if let Some(problem) = report_problem(self.sketch.stages.get(number), is_last, outcome, report) {
            self.wrong(format!("stage {stage} of trial {trial}: {problem}"));
        }
        if let Some(problem) = self.outputs.problem(key, stage, outcome) {
            self.wrong(format!("stage {stage} of trial {trial}: {problem}"));
        }
    }

    fn ended(&mut self, trial: TrialId, end: &End) {
        let Some(outcomes) = self.expected.get(&trial.index()) else {
            self.wrong(format!("trial {trial} ended, which nobody asked"));
            return;
        };
        let (value, problem) = (value(outcomes), end_problem(self.sketch, outcomes, end));
        self.tally.trials += 1;
        if let Some(problem) = problem {
            self.wrong(format!("trial {trial}: {problem}"));
        }
        self.said.finished += u64::from(*end == End::Finished);
        if self.said.ended.insert(trial.index(), value).is_some() {
            self.found.push(Finding { kind: Kind::Twice, what: format!("trial {trial} was told twice") });
        }
    }
}

fn report_problem(
    stage: Option<&Stage>,
    is_last: bool,
    outcome: Outcome,
    report: &StageReport,
) -> Option<String> {
    let value = match (outcome, report.how) {
        (Outcome::Value(value), How::Ran | How::Reused) => value,
        (Outcome::Fails | Outcome::Hangs, How::Failed) => return None,
        (_, how) => return Some(format!("{}, where {outcome:?} is right", how.as_str())),
    };
    // Evicted, and nothing that runs needs it: what it held is not known any more.
    if report.how == How::Reused && report.metrics.is_empty() && !is_last {
        return None;
    }
    let found = report.metrics.get("v");
    if found != Some(&(value as f64)) {
        return Some(format!("v is {found:?} ({}), and not {value}", report.how.as_str()));
    }
    let right = match (stage?.cost, report.how) {
        (Cost::Given(cost), How::Ran) => cost as f64,
        (Cost::Reported, How::Ran) => (value % 5 + 1) as f64,
        (Cost::Measured, _) | (_, How::Reused | How::Failed) => return None,
    };
    // After a failed try the cost is that of both.
    let fits = report.cost == Some(right) || stage?.stumbles;
    (!fits).then(|| format!("it cost {:?}, and not {right}", report.cost))
}

fn end_problem(sketch: &Sketch, outcomes: &[Outcome], end: &End) -> Option<String> {
    match (value(outcomes), end) {
        (Some(_), End::Finished) => None,
        (None, End::Failed { stage: Some(stage), reason, .. }) => {
            let number = sketch.stages.iter().position(|one| one.name == *stage);
            let says = match number.and_then(|number| outcomes.get(number)) {
                Some(Outcome::Fails) => reason.contains("code 3"),
                Some(Outcome::Hangs) => true,
                Some(Outcome::Value(_) | Outcome::Blocked) | None => false,
            };
            (!says).then(|| format!("it failed in {stage} ({reason}), where {outcomes:?} is right"))
        }
        (_, end) => Some(format!("it ended {end:?}, where {outcomes:?} is right")),
    }
}

/// Which output has which key: the same key twice is the same stage with the same value.
#[derive(Debug, Default)]
struct Outputs {
    by_key: BTreeMap<String, (String, Outcome)>,
    keys: BTreeMap<(String, i64), String>,
}

impl Outputs {
    fn problem(&mut self, key: &str, stage: &str, outcome: Outcome) -> Option<String> {
        let this = (stage.to_owned(), outcome);
        let known = self.by_key.entry(key.to_owned()).or_insert_with(|| this.clone());
        if *known != this {
            return Some(format!("its key {key} is that of {known:?}, and not of {this:?}"));
        }
        let Outcome::Value(value) = outcome else { return None };
        let first = self.keys.entry((stage.to_owned(), value)).or_insert_with(|| key.to_owned());
        (first != key).then(|| format!("its output has the key {key}, and had {first} before"))
    }
}
