//! What a study knows, and the two steps that change it: a proposal becomes a trial, a trial gets its outcome.
//!
//! A live study and a replayed one take the same steps, so that they are in the same state by construction.

use std::collections::BTreeSet;

use super::account::{Account, Charge, charge};
use super::costs::Costs;
use super::error::StudyError;
use super::event::Direction;
use crate::space::{CostModel, Movement, Point, RunHistory, Space};
use crate::strategy::View;
use crate::trial::{Failed, Observed, Outcome, Proposed, Trial, TrialId};

/// Everything but the strategy and the events.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) space: Space,
    pub(super) direction: Direction,
    pub(super) cost_model: CostModel,
    pub(super) budget: Option<f64>,
    pub(super) most_trials: Option<usize>,
    /// Whether the study cannot go on without knowing what trials cost.
    pub(super) needs_costs: bool,
    /// In the order asked, minimised.
    trials: Vec<Trial>,
    /// Which of them are open.
    open: BTreeSet<usize>,
    /// The runs in the order told: what trials are charged after.
    told: RunHistory,
    /// The same, and after them open trials in the order asked as if they had finished: what proposals are made after.
    planned: RunHistory,
    costs: Costs,
    account: Account,
    /// The first of the best trials told.
    best: Option<usize>,
}

impl State {
    pub(super) fn new(space: Space) -> Self {
        Self {
            costs: Costs::of(&space),
            space,
            direction: Direction::default(),
            cost_model: CostModel::default(),
            budget: None,
            most_trials: None,
            needs_costs: false,
            trials: Vec::new(),
            open: BTreeSet::new(),
            told: RunHistory::new(),
            planned: RunHistory::new(),
            account: Account::default(),
            best: None,
        }
    }

    /// What the strategy sees.
    pub(super) fn view(&self) -> View<'_> {
        View {
            space: &self.space,
            trials: &self.trials,
            costs: self.costs.expected(),
            cost_model: self.cost_model,
            history: &self.planned,
            spent: self.account.spent(),
            budget: self.budget,
            most_trials: self.most_trials,
        }
    }

    /// The first `n` trials that were told, in the order asked.
    pub(super) fn told_trials(&self, n: usize) -> Vec<Trial> {
        let charges = self.account.charges().iter().take(n);
        let told: BTreeSet<u64> = charges.map(|charge| charge.trial.index()).collect();
        self.trials.iter().filter(|trial| told.contains(&trial.id().index())).cloned().collect()
    }

    /// The runs in the order told.
    pub(super) fn told(&self) -> &RunHistory {
        &self.told
    }

    /// What a strategy would see after these trials and runs if there were no others; money and expected costs are those of now, and no forecast looks at them.
    pub(super) fn told_view<'a>(&'a self, trials: &'a [Trial], history: &'a RunHistory) -> View<'a> {
        View { trials, history, ..self.view() }
    }

    /// The runs of the first `n` trials that were told.
    pub(super) fn told_history(&self, n: usize) -> Result<RunHistory, StudyError> {
        let mut history = RunHistory::new();
        let charges = self.account.charges();
        for charge in charges.iter().take(n) {
            let Some(trial) = self.trials.get(charge.trial.index() as usize) else { continue };
            let modules = self.space.modules().len();
            let done = match trial {
                Trial::Failed(failed) => {
                    let movement = history.movement(&self.space, self.cost_model, trial.point())?;
                    until_failure(failed, movement, modules)?.1
                }
                _ => modules,
            };
            history.record_until(&self.space, trial.point(), done)?;
        }
        Ok(history)
    }

    pub(super) fn account(&self) -> &Account {
        &self.account
    }

    pub(super) fn asked(&self) -> usize {
        self.trials.len()
    }

    /// The number of the next trial.
    pub(super) fn next_id(&self) -> TrialId {
        TrialId::new(self.trials.len() as u64)
    }

    pub(super) fn open(&self) -> impl Iterator<Item = &Proposed> {
        let trial = |index: &usize| match self.trials.get(*index) {
            Some(Trial::Proposed(trial)) => Some(trial),
            _ => None,
        };
        self.open.iter().filter_map(trial)
    }

    /// All trials with the user's values.
    pub(super) fn trials(&self) -> impl ExactSizeIterator<Item = Trial> + '_ {
        self.trials.iter().map(|trial| match trial {
            Trial::Observed(trial) => Trial::Observed(self.turned(trial.clone())),
            other => other.clone(),
        })
    }

    /// The best trial with the user's value.
    pub(super) fn best(&self) -> Option<Observed> {
        match self.trials.get(self.best?)? {
            Trial::Observed(trial) => Some(self.turned(trial.clone())),
            _ => None,
        }
    }

    /// The open trial of that number.
    pub(super) fn find_open(&self, id: TrialId) -> Result<&Proposed, StudyError> {
        let index = usize::try_from(id.index()).ok();
        match index.and_then(|index| self.trials.get(index)) {
            None => Err(StudyError::UnknownTrial { id, asked: self.trials.len() }),
            Some(Trial::Proposed(trial)) => Ok(trial),
            Some(_) => Err(StudyError::Closed { id }),
        }
    }

    /// Whether a point may become the next trial.
    pub(super) fn check_point(&self, point: &Point) -> Result<(), StudyError> {
        // Only a point of the space has a code.
        self.space.encode(point)?;
        if self.space.allows(point) {
            return Ok(());
        }
        Err(StudyError::Forbidden { id: self.next_id(), point: point.to_string() })
    }

    /// Opens the next trial.
    pub(super) fn open_trial(&mut self, point: Point) -> Result<Proposed, StudyError> {
        self.planned.record(&self.space, &point)?;
        let trial = Proposed::new(self.next_id(), point);
        self.open.insert(self.trials.len());
        self.trials.push(Trial::Proposed(trial.clone()));
        Ok(trial)
    }

    /// Gives an open trial its outcome, which has the user's value.
    pub(super) fn close_trial(&mut self, outcome: Outcome) -> Result<(), StudyError> {
        let id = outcome.id();
        let modules = self.space.modules().len();
        let open = self.find_open(id)?;
        if open.point() != outcome.point() {
            let (asked, told) = (open.point().to_string(), outcome.point().to_string());
            return Err(StudyError::OtherPoint { id, asked, told });
        }
        // The trial's own point, whose names the space knows at a glance.
        let point = open.point().clone();
        let stages = outcome.stages();
        if !stages.is_empty() && stages.len() != modules {
            return Err(StudyError::Stages { id, found: stages.len(), modules });
        }
        let movement = self.told.movement(&self.space, self.cost_model, &point)?;
        let (movement, done, whole) = match &outcome {
            Outcome::Observed(_) => (movement, modules, modules),
            Outcome::Failed(trial) => {
                let (movement, done) = until_failure(trial, movement, modules)?;
                (movement, done, trial.finished())
            }
        };
        let cost = charge(&self.space, &movement, stages);
        if cost.is_none() && self.needs_costs {
            return Err(StudyError::Unmeasured { id });
        }
        let cumulative = self.account.spent() + cost.unwrap_or(0.0);
        if !cumulative.is_finite() {
            return Err(StudyError::Overflow { id });
        }
        let value = if let Outcome::Observed(trial) = &outcome { Some(trial.value()) } else { None };
        let before = self.account.best();
        let improves = value.is_some_and(|v| before.is_none_or(|b| self.direction.is_better(v, b)));
        let best = if improves { value } else { before };

        // Nothing below is refused: the point is one of the space.
        self.told.record_until(&self.space, &point, done)?;
        let index = id.index() as usize;
        self.open.remove(&index);
        self.costs.learn(stages, whole);
        self.account.push(Charge { trial: id, movement, cost, cumulative, value, best });
        if improves {
            self.best = Some(index);
        }
        if let Some(slot) = self.trials.get_mut(index) {
            *slot = match outcome {
                Outcome::Observed(trial) if self.direction == Direction::Maximize => {
                    Trial::Observed(trial.negated())
                }
                other => other.into(),
            };
        }
        // A failure takes back outputs that had been counted on, and another order of tells changes what the last ones are.
        self.planned.take_back(&self.space, &point, done);
        match self.open.last().and_then(|index| self.trials.get(*index)) {
            Some(last) => self.planned.end_with(&self.space, last.point()),
            None => self.planned.end_like(&self.told),
        }
        Ok(())
    }

    fn turned(&self, trial: Observed) -> Observed {
        match self.direction {
            Direction::Minimize => trial,
            Direction::Maximize => trial.negated(),
        }
    }
}

/// Which modules ran before a failure, and how many have their outputs at hand.
///
/// Something was running when the trial broke: at the earliest the first module that had to run.
fn until_failure(
    trial: &Failed,
    mut movement: Movement,
    modules: usize,
) -> Result<(Movement, usize), StudyError> {
    let finished = trial.finished();
    if finished > modules {
        return Err(StudyError::Finished { id: trial.id(), finished, modules });
    }
    if let Some(module) = trial.broke().filter(|&module| module >= modules) {
        return Err(StudyError::Broke { id: trial.id(), module, modules });
    }
    if let Some(module) = trial.broke().filter(|&module| module < finished) {
        return Err(StudyError::BrokeFinished { id: trial.id(), module, finished });
    }
    let at_hand = movement.runs.iter().position(|runs| *runs).unwrap_or(modules);
    let done = finished.max(at_hand);
    movement.runs.iter_mut().skip(done.saturating_add(1)).for_each(|runs| *runs = false);
    Ok((movement, done))
}

#[cfg(test)]
mod tests;
