//! What the records of a study come to, kept beside them so that `status` need not read them all.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use stagetune::study::{Direction, Event};

use super::{Record, Stamped};
use crate::record::{CostUnit, How};

/// A study in a few numbers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// The metric's name.
    pub metric: String,
    /// What is better.
    pub direction: Direction,
    /// The strategy that proposes.
    pub strategy: String,
    /// Its seed.
    pub seed: u64,
    /// What costs are counted in.
    pub cost_unit: Option<CostUnit>,
    /// When the first record was made, in seconds since 1970.
    pub began: f64,
    /// When the last one was.
    pub last: f64,
    /// How often a process worked on it.
    pub sessions: u64,
    /// How long they worked, in seconds.
    pub wall: f64,
    /// Trials asked.
    pub trials: u64,
    /// Trials with a value.
    pub observed: u64,
    /// Trials without one.
    pub failed: u64,
    /// Trials that are running or wait to be continued.
    pub open: Vec<u64>,
    /// The best trial.
    pub best: Option<Best>,
    /// What was charged.
    pub spent: f64,
    /// What reused stages had cost when they ran.
    pub saved: f64,
    /// The stages in order.
    pub stages: Vec<StageTally>,
    /// Why the last process ended its work, if it did so in peace.
    pub closed: Option<String>,
    /// Whether the budget was reached when it did.
    pub finished: bool,
    /// Points of open trials, which a best one may turn out to be.
    points: std::collections::BTreeMap<u64, Map<String, Value>>,
}

/// The best trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Best {
    /// Its number.
    pub trial: u64,
    /// Its value.
    pub value: f64,
    /// Its parameters.
    pub point: Map<String, Value>,
    /// What had been spent when it was told.
    pub spent: f64,
}

/// What became of one stage over all trials.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StageTally {
    /// Its name.
    pub name: String,
    /// How often it ran to its end.
    pub ran: u64,
    /// How often its output was there.
    pub reused: u64,
    /// How often it failed.
    pub failed: u64,
    /// What its runs cost.
    pub cost: f64,
    /// What the reused outputs had cost.
    pub saved: f64,
    /// Seconds of its runs, failed ones included.
    pub seconds: f64,
}

impl Summary {
    /// What these records come to.
    pub fn of(records: &[Stamped]) -> Self {
        let mut summary = Self::default();
        records.iter().for_each(|record| summary.apply(record));
        summary
    }

    /// Takes in the next record.
    pub fn apply(&mut self, stamped: &Stamped) {
        let Stamped { at, record } = stamped;
        match record {
            Record::Opened { definition, .. } => {
                if self.sessions == 0 {
                    self.began = *at;
                }
                self.sessions += 1;
                self.metric.clone_from(&definition.metric);
                self.direction = definition.direction;
                self.cost_unit = Some(definition.cost_unit);
                (self.closed, self.finished) = (None, false);
                for stage in &definition.stages {
                    self.tally(&stage.name);
                }
            }
            // Time counts while a process is at work: from its first record to its last.
            _ => self.wall += (at - self.last).max(0.0),
        }
        self.last = *at;
        match record {
            Record::Study { event: Event::Started { strategy, seed, .. } } => {
                self.strategy.clone_from(strategy);
                self.seed = *seed;
            }
            Record::Study { event: Event::Asked { trial, proposal } } => {
                self.trials += 1;
                self.open.push(trial.index());
                self.points.insert(trial.index(), point(&proposal.point));
            }
            Record::Told { event, charged, stages } => {
                self.spent += charged.unwrap_or(0.0);
                for stage in stages {
                    let tally = self.tally(&stage.stage);
                    tally.seconds += if stage.how == How::Reused { 0.0 } else { stage.seconds };
                    match stage.how {
                        How::Ran => (tally.ran, tally.cost) = (tally.ran + 1, tally.cost + stage.cost),
                        How::Failed => {
                            (tally.failed, tally.cost) = (tally.failed + 1, tally.cost + stage.cost)
                        }
                        How::Reused => {
                            (tally.reused, tally.saved) = (tally.reused + 1, tally.saved + stage.cost);
                            self.saved += stage.cost;
                        }
                    }
                }
                self.outcome(event);
            }
            Record::Closed { finished, reason } => {
                (self.closed, self.finished) = (Some(reason.clone()), *finished);
            }
            _ => {}
        }
    }

    fn outcome(&mut self, event: &Event) {
        let (trial, value) = match event {
            Event::Observed { trial, value, .. } => (trial.index(), Some(*value)),
            Event::Failed { trial, .. } => (trial.index(), None),
            _ => return,
        };
        self.open.retain(|open| *open != trial);
        let point = self.points.remove(&trial).unwrap_or_default();
        match value {
            None => self.failed += 1,
            Some(value) => {
                self.observed += 1;
                if self.best.as_ref().is_none_or(|best| self.direction.is_better(value, best.value)) {
                    self.best = Some(Best { trial, value, point, spent: self.spent });
                }
            }
        }
    }

    fn tally(&mut self, name: &str) -> &mut StageTally {
        let found = self.stages.iter().position(|tally| tally.name == name);
        let index = found.unwrap_or_else(|| {
            self.stages.push(StageTally { name: name.to_owned(), ..StageTally::default() });
            self.stages.len() - 1
        });
        &mut self.stages[index]
    }
}

/// A point as JSON.
pub fn point(point: &stagetune::space::Point) -> Map<String, Value> {
    let value = |value: &stagetune::space::Value| match value {
        stagetune::space::Value::Int(int) => Value::from(*int),
        stagetune::space::Value::Float(float) => Value::from(*float),
        stagetune::space::Value::Choice(text) => Value::from(text.to_string()),
        stagetune::space::Value::Bool(bool) => Value::from(*bool),
    };
    point.iter().map(|(name, v)| (name.to_owned(), value(v))).collect()
}
