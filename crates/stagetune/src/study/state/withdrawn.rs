//! Trials that are withdrawn, as if they had never been: what ran stays charged and at hand, and
//! nothing is learned.

use super::super::account::Charge;
use super::super::costs::Costs;
use super::super::error::StudyError;
use super::State;
use crate::space::Point;
use crate::trial::{How, SetAside, StageReport, Trial, TrialId};

impl State {
    /// The point of a trial, if it has ended.
    pub(super) fn closed_point(&self, id: TrialId) -> Option<Point> {
        let index = usize::try_from(id.index()).ok()?;
        let trial = self.trials.get(index).filter(|_| !self.open.contains_key(&index))?;
        Some(trial.point().clone())
    }

    /// Charges a stage that ended after its trial was ended by somebody else.
    pub(super) fn report_late(
        &mut self,
        id: TrialId,
        m: usize,
        point: &Point,
        report: &StageReport,
    ) -> Result<(), StudyError> {
        if let Some((name, value)) = report.bad_number() {
            let stage = self.space.modules().get(m).map(|module| module.name().to_string());
            let (stage, name) = (stage.unwrap_or_default(), name.to_owned());
            return Err(StudyError::Report { id, stage, name, value });
        }
        let cumulative = self.account.spent() + report.cost.unwrap_or(0.0);
        if !cumulative.is_finite() {
            return Err(StudyError::Overflow { id });
        }
        let mut movement = self.told.movement(&self.space, self.cost_model, point)?;
        // The output is at hand if all that it was made of is.
        let at_hand = movement.runs.lowest().is_none_or(|first| first >= m) && report.how != How::Failed;
        movement.runs = std::iter::once(m).filter(|_| report.how != How::Reused).collect();
        if at_hand {
            self.told.record_until(&self.space, point, m + 1)?;
            self.planned.record_until(&self.space, point, m + 1)?;
            self.end_planned();
        }
        let best = self.account.best();
        let cost = report.cost;
        self.account.push(Charge { trial: id, movement, cost, cumulative, value: None, best, counts: false });
        Ok(())
    }

    /// Withdraws a trial that had ended: nothing that it told counts any more. What it cost and
    /// what is at hand stays.
    pub(in crate::study) fn withdraw_ended(&mut self, id: TrialId, reason: &str) -> Result<(), StudyError> {
        let index = usize::try_from(id.index()).unwrap_or(usize::MAX);
        let asked = self.trials.len();
        let slot = self.trials.get_mut(index).ok_or(StudyError::UnknownTrial { id, asked })?;
        if let Trial::SetAside(trial) = slot
            && trial.is_withdrawn()
        {
            return Err(StudyError::Closed { id });
        }
        *slot = Trial::SetAside(SetAside::new(id, slot.point().clone(), reason, true));
        self.account.forget(id, self.direction);
        let best = self.account.charges().iter().filter(|charge| charge.value.is_some());
        let best = best.filter(|charge| charge.value == self.account.best()).map(|charge| charge.trial);
        self.best = best.map(|trial| trial.index() as usize).next();
        self.costs = Costs::of(&self.space);
        for charge in self.account.charges() {
            let Some(trial) = self.trials.get(charge.trial.index() as usize) else { continue };
            match trial {
                Trial::Observed(trial) => self.costs.learn(trial.reports(), self.space.modules().len()),
                Trial::Failed(trial) => self.costs.learn(trial.reports(), trial.finished()),
                Trial::SetAside(trial) if !trial.is_withdrawn() => {
                    self.costs.learn(trial.reports(), trial.finished());
                }
                Trial::Proposed(_) | Trial::SetAside(_) => {}
            }
        }
        Ok(())
    }
}
