//! What a study knows, and the two steps that change it: a proposal becomes a trial, a trial gets
//! its outcome.
//!
//! A live study and a replayed one take the same steps, so that they are in the same state by construction.

use std::collections::{BTreeMap, BTreeSet};

use super::account::{Account, Charge, charge};
use super::costs::Costs;
use super::error::StudyError;
use crate::objective::{Direction, Metric, Objectives};
use crate::space::{CostModel, Movement, Point, RunHistory, Space};
use crate::strategy::View;
use crate::trial::{End, How, Observed, Proposed, SetAside, StageReport, Trial, TrialId};

/// Everything but the strategy and the events.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) space: Space,
    pub(super) objectives: Objectives,
    /// Of the one goal.
    pub(super) direction: Direction,
    pub(super) cost_model: CostModel,
    pub(super) budget: Option<f64>,
    pub(super) most_trials: Option<usize>,
    /// Whether the study cannot go on without knowing what trials cost.
    pub(super) needs_costs: bool,
    /// In the order asked, minimised.
    trials: Vec<Trial>,
    /// Those that are open, with what their stages have reported.
    open: BTreeMap<usize, Open>,
    /// The runs in the order told: what trials are charged after.
    told: RunHistory,
    /// The same, and after them open trials in the order asked as if they had finished: what
    /// proposals are made after.
    planned: RunHistory,
    costs: Costs,
    account: Account,
    /// The first of the best trials told.
    best: Option<usize>,
}

/// An open trial.
#[derive(Clone, Debug, Default)]
pub(super) struct Open {
    /// How many stages, from the first on, have their values for good; `None` is all of them.
    pub(super) settled: Option<usize>,
    /// A place for each stage.
    pub(super) reports: Vec<Option<StageReport>>,
}

impl State {
    pub(super) fn new(space: Space) -> Self {
        Self {
            costs: Costs::of(&space),
            space,
            objectives: Objectives::default(),
            direction: Direction::default(),
            cost_model: CostModel::default(),
            budget: None,
            most_trials: None,
            needs_costs: false,
            trials: Vec::new(),
            open: BTreeMap::new(),
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
        let charges = self.account.counted().take(n);
        let told: BTreeSet<u64> = charges.map(|charge| charge.trial.index()).collect();
        self.trials.iter().filter(|trial| told.contains(&trial.id().index())).cloned().collect()
    }

    /// The runs in the order told.
    pub(super) fn told(&self) -> &RunHistory {
        &self.told
    }

    /// What a strategy would see after these trials and runs if there were no others; money and
    /// expected costs are those of now, and no forecast looks at them.
    pub(super) fn told_view<'a>(&'a self, trials: &'a [Trial], history: &'a RunHistory) -> View<'a> {
        View { trials, history, ..self.view() }
    }

    /// The runs of the first `n` trials that were told.
    pub(super) fn told_history(&self, n: usize) -> Result<RunHistory, StudyError> {
        let mut history = RunHistory::new();
        for charge in self.account.counted().take(n) {
            let Some(trial) = self.trials.get(charge.trial.index() as usize) else { continue };
            let modules = self.space.modules().len();
            let done = match trial {
                // What ran of a trial that was set aside is at hand, but no stopping rule counts on it.
                Trial::SetAside(_) => continue,
                Trial::Failed(failed) => {
                    let movement = history.movement(&self.space, self.cost_model, trial.point())?;
                    until_failure(failed.id(), failed.finished(), failed.broke(), movement, modules)?.1
                }
                Trial::Proposed(_) | Trial::Observed(_) => modules,
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
        self.open.keys().filter_map(|index| {
            let Trial::Proposed(trial) = self.trials.get(*index)? else { return None };
            Some(trial)
        })
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
        let Trial::Observed(trial) = self.trials.get(self.best?)? else { return None };
        Some(self.turned(trial.clone()))
    }

    /// The open trial of that number.
    pub(super) fn find_open(&self, id: TrialId) -> Result<&Proposed, StudyError> {
        let index = usize::try_from(id.index()).ok();
        match index.and_then(|index| self.trials.get(index)) {
            None => Err(StudyError::UnknownTrial { id, asked: self.trials.len() }),
            Some(Trial::Proposed(trial)) => Ok(trial),
            Some(Trial::Observed(_) | Trial::Failed(_) | Trial::SetAside(_)) => {
                Err(StudyError::Closed { id })
            }
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

    /// What is known of an open trial.
    pub(super) fn find_reports(&self, id: TrialId) -> Result<&Open, StudyError> {
        self.find_open(id)?;
        let open = usize::try_from(id.index()).ok().and_then(|index| self.open.get(&index));
        open.ok_or(StudyError::Closed { id })
    }

    /// The stage of that name.
    pub(super) fn stage_index(&self, id: TrialId, stage: &str) -> Result<usize, StudyError> {
        let found = self.space.modules().iter().position(|module| module.name().as_ref() == stage);
        found.ok_or_else(|| StudyError::UnknownStage { id, stage: stage.to_owned() })
    }

    /// Opens the next trial; `settled` stages have their values for good.
    pub(super) fn open_trial(
        &mut self,
        point: Point,
        settled: Option<usize>,
    ) -> Result<Proposed, StudyError> {
        self.planned.record(&self.space, &point)?;
        let trial = Proposed::new(self.next_id(), point);
        let reports = vec![None; self.space.modules().len()];
        self.open.insert(self.trials.len(), Open { settled, reports });
        self.trials.push(Trial::Proposed(trial.clone()));
        Ok(trial)
    }

    /// Gives the later stages of an open trial their values.
    pub(super) fn settle_trial(&mut self, id: TrialId, point: Point) -> Result<(), StudyError> {
        let old = self.find_open(id)?.point().clone();
        let settled = self.find_reports(id)?.settled.ok_or(StudyError::SettledTwice { id })?;
        self.check_point(&point)?;
        for m in 0..settled {
            let values = self.space.module_params(m);
            if old.values().get(values.clone()) != point.values().get(values) {
                let (asked, told) = (old.to_string(), point.to_string());
                return Err(StudyError::OtherPoint { id, asked, told });
            }
        }
        self.planned.take_back(&self.space, &old, 0);
        self.planned.record(&self.space, &point)?;
        let index = id.index() as usize;
        if let Some(open) = self.open.get_mut(&index) {
            open.settled = None;
        }
        if let Some(slot) = self.trials.get_mut(index) {
            *slot = Trial::Proposed(Proposed::new(id, point));
        }
        self.end_planned();
        Ok(())
    }

    /// Takes the report of a stage of an open trial.
    ///
    /// A stage may come to its end after somebody has ended its trial: it is charged, and its
    /// output is at hand.
    pub(super) fn report(&mut self, id: TrialId, stage: &str, report: StageReport) -> Result<(), StudyError> {
        let m = self.stage_index(id, stage)?;
        if let Some(point) = self.closed_point(id) {
            return self.report_late(id, m, &point, &report);
        }
        let open = self.find_reports(id)?;
        let before = open.reports.get(m).and_then(Option::as_ref);
        if before.is_some() != report.again {
            return Err(StudyError::ReportedTwice { id, stage: stage.to_owned() });
        }
        if open.settled.is_some_and(|settled| m >= settled) {
            return Err(StudyError::NotSettled { id, stage: stage.to_owned() });
        }
        if let Some((name, value)) = report.bad_number() {
            let (stage, name) = (stage.to_owned(), name.to_owned());
            return Err(StudyError::Report { id, stage, name, value });
        }
        let index = id.index() as usize;
        if let Some(slot) = self.open.get_mut(&index).and_then(|open| open.reports.get_mut(m)) {
            let before = slot.take();
            let spent = before.as_ref().and_then(|before| before.cost);
            let cost = match (spent, report.cost) {
                (Some(before), Some(again)) => Some(before + again),
                (before, again) => before.or(again),
            };
            // A stage that was reused at first has run for this trial now.
            *slot = Some(StageReport { cost, again: false, ..report });
        }
        Ok(())
    }

    /// Takes back what stages reported, to what it was before.
    pub(super) fn restore_reports(&mut self, id: TrialId, reports: Vec<Option<StageReport>>) {
        if let Some(open) = self.open.get_mut(&(id.index() as usize)) {
            open.reports = reports;
        }
    }

    /// What the objective's metric came to in these reports.
    pub(super) fn value_in(&self, id: TrialId, reports: &[Option<StageReport>]) -> Result<f64, StudyError> {
        let Some(goal) = self.objectives.goals.first() else {
            return Err(StudyError::NoValue { id, metric: Metric::of_last("") });
        };
        let m = match goal.metric.stage() {
            Some(stage) => self.stage_index(id, stage)?,
            None => reports.len().saturating_sub(1),
        };
        let report = reports.get(m).and_then(Option::as_ref);
        let value = report.and_then(|report| report.metrics.get(goal.metric.name())).copied();
        value.ok_or_else(|| StudyError::NoValue { id, metric: goal.metric.clone() })
    }

    /// What a trial would be charged if it ended like this now.
    pub(super) fn cost_of(&self, id: TrialId, end: &End) -> Result<Option<f64>, StudyError> {
        let (point, open) = (self.find_open(id)?.point(), self.find_reports(id)?);
        let movement = self.told.movement(&self.space, self.cost_model, point)?;
        let (movement, _, _) = self.reach(id, end, &open.reports, movement)?;
        Ok(charge(&self.space, &movement, &open.reports))
    }

    /// Which stages count as run, how many have their outputs at hand, and how many of them are
    /// whole runs to learn costs from.
    fn reach(
        &self,
        id: TrialId,
        end: &End,
        reports: &[Option<StageReport>],
        movement: Movement,
    ) -> Result<(Movement, usize, usize), StudyError> {
        let modules = self.space.modules().len();
        match end {
            End::Finished => Ok((movement, modules, modules)),
            End::Failed { stage, finished, .. } => {
                let broke = stage.as_deref().map(|stage| self.stage_index(id, stage)).transpose()?;
                let (movement, done) = until_failure(id, *finished, broke, movement, modules)?;
                Ok((movement, done, *finished))
            }
            End::Abandoned { .. } | End::Withdrawn { .. } => {
                let out =
                    |report: &Option<StageReport>| report.as_ref().is_some_and(|r| r.how != How::Failed);
                let finished = reports.iter().take_while(|report| out(report)).count();
                let mut movement = movement;
                for (m, _) in reports.iter().enumerate().filter(|(_, report)| report.is_none()) {
                    movement.runs.remove(m);
                }
                Ok((movement, finished, finished))
            }
        }
    }

    /// Ends an open trial; `recorded` is what it was charged, where that is known already.
    pub(super) fn end_trial(
        &mut self,
        id: TrialId,
        end: &End,
        recorded: Option<f64>,
    ) -> Result<(), StudyError> {
        // The trial's own point, whose names the space knows at a glance.
        let point = self.find_open(id)?.point().clone();
        let reports = self.find_reports(id)?.reports.clone();
        let movement = self.told.movement(&self.space, self.cost_model, &point)?;
        let (movement, done, whole) = self.reach(id, end, &reports, movement)?;
        let cost = recorded.or_else(|| charge(&self.space, &movement, &reports));
        if let Some(cost) = cost.filter(|cost| cost.is_nan() || *cost < 0.0) {
            return Err(StudyError::Charge { id, cost });
        }
        let learns = matches!(end, End::Finished | End::Failed { .. });
        if cost.is_none() && self.needs_costs && learns {
            return Err(StudyError::Unmeasured { id });
        }
        let cumulative = self.account.spent() + cost.unwrap_or(0.0);
        if !cumulative.is_finite() {
            return Err(StudyError::Overflow { id });
        }
        let open = Proposed::new(id, point.clone());
        let ended = match end {
            End::Finished => {
                let observed = open.observe(self.value_in(id, &reports)?)?;
                Trial::Observed(observed.reported(reports.clone()))
            }
            End::Failed { stage, finished, reason } => {
                let failed = open.fail(reason.clone()).after(*finished).reported(reports.clone());
                let broke = stage.as_deref().map(|stage| self.stage_index(id, stage)).transpose()?;
                Trial::Failed(broke.map_or(failed.clone(), |module| failed.broken_in(module)))
            }
            End::Abandoned { reason, .. } => {
                let aside = SetAside::new(id, point.clone(), reason.clone(), false);
                Trial::SetAside(aside.reported(reports.clone(), whole))
            }
            End::Withdrawn { reason } => {
                Trial::SetAside(SetAside::new(id, point.clone(), reason.clone(), true))
            }
        };
        let value = ended.value();
        let before = self.account.best();
        let improves = value.is_some_and(|v| before.is_none_or(|b| self.direction.is_better(v, b)));
        let best = if improves { value } else { before };

        // Nothing below is refused: the point is one of the space.
        self.told.record_until(&self.space, &point, done)?;
        let index = id.index() as usize;
        self.open.remove(&index);
        if !matches!(end, End::Withdrawn { .. }) {
            self.costs.learn(&reports, whole);
        }
        let counts = !matches!(end, End::Withdrawn { .. });
        self.account.push(Charge { trial: id, movement, cost, cumulative, value, best, counts });
        if improves {
            self.best = Some(index);
        }
        let ended = match ended {
            Trial::Observed(trial) => Trial::Observed(self.turned(trial)),
            other => other,
        };
        if let Some(slot) = self.trials.get_mut(index) {
            *slot = ended;
        }
        // A failure takes back outputs that had been counted on, and another order of ends changes
        // what the last ones are.
        self.planned.take_back(&self.space, &point, done);
        self.end_planned();
        Ok(())
    }

    /// What proposals are made after ends with the last open trial, or with the last one that ended.
    fn end_planned(&mut self) {
        match self.open.last_key_value().and_then(|(index, _)| self.trials.get(*index)) {
            Some(last) => self.planned.end_with(&self.space, last.point()),
            None => self.planned.end_like(&self.told),
        }
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
    id: TrialId,
    finished: usize,
    broke: Option<usize>,
    mut movement: Movement,
    modules: usize,
) -> Result<(Movement, usize), StudyError> {
    if finished > modules {
        return Err(StudyError::Finished { id, finished, modules });
    }
    if let Some(module) = broke.filter(|&module| module >= modules) {
        return Err(StudyError::Broke { id, module, modules });
    }
    if let Some(module) = broke.filter(|&module| module < finished) {
        return Err(StudyError::BrokeFinished { id, module, finished });
    }
    let at_hand = movement.runs.lowest().unwrap_or(modules);
    let done = finished.max(at_hand);
    movement.runs.truncate(done.saturating_add(1).min(modules));
    Ok((movement, done))
}

mod withdrawn;

#[cfg(test)]
mod tests;
