//! Asking and telling: sugar over proposals and events, for programs that run trials themselves.

use super::Study;
use super::error::StudyError;
use super::event::Event;
use crate::space::{Cost, Point};
use crate::trial::{End, How, Outcome, Proposed, StageReport, TrialId};

impl Study {
    /// What to try next, as an open trial; refused once a stopping rule holds.
    pub fn ask(&mut self) -> Result<Proposed, StudyError> {
        let proposal = Box::new(self.propose()?);
        let trial = self.state.next_id();
        self.begin_with(Event::Asked { trial, proposal })
    }

    /// Opens a trial of a point that somebody else chose; `from` says who, or where it comes from.
    pub fn attach(&mut self, point: Point, from: Option<&str>) -> Result<Proposed, StudyError> {
        let trial = self.state.next_id();
        self.begin_with(Event::Attached { trial, point, from: from.map(ToOwned::to_owned) })
    }

    /// Takes in an event that opens a trial, after the one that begins the study.
    fn begin_with(&mut self, event: Event) -> Result<Proposed, StudyError> {
        let is_new = self.events.is_empty();
        if is_new {
            self.take(self.started())?;
        }
        let id = self.state.next_id();
        if let Err(error) = self.take(event) {
            if is_new {
                self.events.clear();
            }
            return Err(error);
        }
        self.state.find_open(id).cloned()
    }

    /// What became of an open trial. Every trial is told once, in any order, also after the study stopped.
    pub fn tell(&mut self, outcome: impl Into<Outcome>) -> Result<(), StudyError> {
        let outcome = outcome.into();
        let id = outcome.id();
        let open = self.state.find_open(id)?;
        if open.point() != outcome.point() {
            let (asked, told) = (open.point().to_string(), outcome.point().to_string());
            return Err(StudyError::OtherPoint { id, asked, told });
        }
        let modules = self.space().modules().len();
        let stages = outcome.stages();
        if !stages.is_empty() && stages.len() != modules {
            return Err(StudyError::Stages { id, found: stages.len(), modules });
        }
        let (before, written) = (self.state.find_reports(id)?.reports.clone(), self.events.len());
        let told = self.tell_stages(&outcome).and_then(|()| {
            let end = self.end_of(&outcome)?;
            self.end_as(id, end)
        });
        if told.is_err() {
            self.events.truncate(written);
            self.state.restore_reports(id, before);
        }
        told
    }

    /// Tells a value where only the number of the trial is at hand, as after a restart.
    pub fn tell_value(&mut self, id: TrialId, value: f64) -> Result<(), StudyError> {
        let trial = self.state.find_open(id)?.clone();
        self.tell(trial.observe(value)?)
    }

    /// Tells a failure where only the number of the trial is at hand, as after a restart.
    pub fn tell_failure(&mut self, id: TrialId, reason: impl Into<String>) -> Result<(), StudyError> {
        let trial = self.state.find_open(id)?.clone();
        self.tell(trial.fail(reason))
    }

    /// Withdraws a trial, open or ended, as if it had never been. What ran stays charged and reusable; the number is not used again.
    pub fn withdraw(&mut self, id: TrialId, reason: impl Into<String>) -> Result<(), StudyError> {
        self.end_as(id, End::Withdrawn { reason: reason.into() })
    }

    /// The event that ends a trial like this, with what it is charged.
    pub fn ended(&self, trial: TrialId, end: End) -> Result<Event, StudyError> {
        let cost = match (self.state.find_open(trial), &end) {
            (Err(StudyError::Closed { .. }), End::Withdrawn { .. }) => None,
            (Err(error), _) => return Err(error),
            (Ok(_), _) => self.state.cost_of(trial, &end)?,
        };
        Ok(Event::Ended { trial, end, cost })
    }

    fn end_as(&mut self, id: TrialId, end: End) -> Result<(), StudyError> {
        let event = self.ended(id, end)?;
        self.take(event)
    }

    /// Reports of the stages whose costs were told, and of the one that the objective looks at.
    fn tell_stages(&mut self, outcome: &Outcome) -> Result<(), StudyError> {
        let id = outcome.id();
        let goal = self.state.objectives.goals.first().map(|goal| goal.metric.clone());
        let valued = match (goal.as_ref(), outcome) {
            (Some(metric), Outcome::Observed(trial)) => {
                let last = self.space().modules().len().saturating_sub(1);
                let stage = metric.stage().map_or(Ok(last), |stage| self.state.stage_index(id, stage))?;
                Some((stage, metric.name().to_owned(), trial.value()))
            }
            (None, _) | (_, Outcome::Failed(_)) => None,
        };
        let finished = match outcome {
            Outcome::Observed(_) => self.space().modules().len(),
            Outcome::Failed(trial) => trial.finished(),
        };
        for m in 0..self.space().modules().len() {
            let module = &self.space().modules()[m];
            let told = outcome.stages().get(m).copied();
            let how = match told {
                Some(Some(_)) if m >= finished => How::Failed,
                // Whoever measures says what ran.
                Some(None) if matches!(module.cost_kind(), Cost::Measured | Cost::Unknown) => How::Reused,
                Some(_) | None => How::Ran,
            };
            let value = valued.as_ref().filter(|(stage, _, _)| *stage == m);
            let says_something = told.flatten().is_some() || how == How::Reused || value.is_some();
            if !says_something || self.state.find_reports(id)?.reports.get(m).is_some_and(Option::is_some) {
                continue;
            }
            let mut report =
                StageReport { how, cost: told.flatten(), metrics: Default::default(), again: false };
            if let Some((_, name, value)) = value {
                report = report.with_metric(name, *value);
            }
            let stage = module.name().to_string();
            self.take(Event::Reported { trial: id, stage, report })?;
        }
        Ok(())
    }

    fn end_of(&self, outcome: &Outcome) -> Result<End, StudyError> {
        Ok(match outcome {
            Outcome::Observed(_) => End::Finished,
            Outcome::Failed(trial) => {
                let modules = self.space().modules();
                let name = |m: usize| match modules.get(m) {
                    Some(module) => Ok(module.name().to_string()),
                    None => Err(StudyError::Broke { id: trial.id(), module: m, modules: modules.len() }),
                };
                let stage = trial.broke().map(name).transpose()?;
                End::Failed { stage, finished: trial.finished(), reason: trial.reason().to_owned() }
            }
        })
    }
}
