//! The only way in which a study changes: it takes in an event. A live study and one that is read from a log take the same steps.

use serde_json::{Map, Value};

use super::Study;
use super::error::StudyError;
use super::event::{self, Event, FORMAT, OLDEST, Started};
use crate::space::Point;
use crate::strategy::{Proposal, complete_options, differing_option};
use crate::trial::{End, TrialId};

impl Study {
    /// Takes in an event. On an error nothing has changed.
    pub fn apply(&mut self, event: &Event) -> Result<(), StudyError> {
        self.take(event.clone())
    }

    /// Continues from these events; `self` is a new study with the same space, strategy and options.
    ///
    /// The study is then in the state it would be in had it lived through them, and proposes what it would have proposed. Its
    /// stopping rules may be others; a strategy that looks at the budget sees the new one.
    pub fn replay(mut self, events: impl IntoIterator<Item = Event>) -> Result<Self, StudyError> {
        if !self.events().is_empty() {
            return Err(StudyError::Begun { what: "past" });
        }
        for (position, event) in events.into_iter().enumerate() {
            self.take(event).map_err(|problem| StudyError::Event { position, problem: Box::new(problem) })?;
        }
        Ok(self)
    }

    /// The same as [`Study::apply`] of an event that nobody else needs.
    pub(super) fn take(&mut self, mut event: Event) -> Result<(), StudyError> {
        self.make_own(&mut event)?;
        if self.events.is_empty() && !matches!(event, Event::Started(_)) {
            return Err(StudyError::NotStarted);
        }
        match &event {
            Event::Started(started) => self.check_started(started)?,
            Event::Owned { epoch, .. } => {
                if *epoch <= self.epoch {
                    return Err(StudyError::Epoch { found: *epoch, last: self.epoch });
                }
                self.epoch = *epoch;
            }
            Event::Asked { trial, proposal } => self.open_asked(*trial, proposal)?,
            Event::Attached { trial, point, .. } => {
                self.check_next(*trial)?;
                self.state.check_point(point)?;
                self.open_next(point.clone(), None)?;
            }
            Event::Settled { trial, point } => self.state.settle_trial(*trial, point.clone())?,
            Event::Launched { trial, stage, .. } => {
                self.state.find_open(*trial)?;
                self.state.stage_index(*trial, stage)?;
            }
            Event::Reported { trial, stage, report } => self.state.report(*trial, stage, report.clone())?,
            Event::Ended { trial, end, cost } => self.end(*trial, end, *cost)?,
            Event::Paused { reason } => self.paused = Some(reason.clone()),
            Event::Resumed => self.paused = None,
            Event::Released { .. } => {}
            Event::Noted { trial, .. } => {
                if let Some(id) = trial.filter(|id| id.index() >= self.state.asked() as u64) {
                    return Err(StudyError::UnknownTrial { id, asked: self.state.asked() });
                }
            }
        }
        self.events.push(event);
        Ok(())
    }

    fn open_asked(&mut self, trial: TrialId, proposal: &Proposal) -> Result<(), StudyError> {
        self.check_next(trial)?;
        self.state.check_point(&proposal.point)?;
        let modules = self.state.space.modules().len();
        if let Some(settled) = proposal.settled.filter(|settled| *settled > modules) {
            return Err(StudyError::Settled { id: trial, settled, modules });
        }
        event::check_writable(trial, proposal)?;
        self.strategy.accept(&self.state.view().past(), proposal)?;
        // Nothing below is refused: the point is one of the space.
        self.open_next(proposal.point.clone(), proposal.settled)
    }

    fn open_next(&mut self, point: Point, settled: Option<usize>) -> Result<(), StudyError> {
        let trial = self.state.open_trial(point, settled)?;
        if let Some(tried) = &mut self.tried {
            tried.note(trial.point());
        }
        self.opened.push(self.events.len());
        Ok(())
    }

    fn end(&mut self, trial: TrialId, end: &End, cost: Option<f64>) -> Result<(), StudyError> {
        match (self.state.find_open(trial), end) {
            // What had ended can only be withdrawn.
            (Err(StudyError::Closed { .. }), End::Withdrawn { reason }) => {
                self.state.withdraw_ended(trial, reason)?;
            }
            (Err(error), _) => return Err(error),
            (Ok(_), _) => {
                if let End::Abandoned { after, .. } = end {
                    self.state.stage_index(trial, after)?;
                }
                self.state.end_trial(trial, end, cost)?;
            }
        }
        if let End::Withdrawn { .. } = end {
            self.forget_tried(trial);
        }
        Ok(())
    }

    /// A withdrawn point counts as not tried, and what was worked out with its result is not believed any more.
    fn forget_tried(&mut self, trial: TrialId) {
        if let Ok(seen) = self.worth.get_mut() {
            *seen = None;
        }
        let point = self.state.trials().nth(trial.index() as usize).map(|trial| trial.point().clone());
        if let (Some(tried), Some(point)) = (&mut self.tried, point) {
            tried.take_back(&point);
        }
    }

    fn check_next(&self, found: TrialId) -> Result<(), StudyError> {
        let expected = self.state.next_id();
        if found == expected { Ok(()) } else { Err(StudyError::OutOfOrder { expected, found }) }
    }

    /// Makes the point of an event one of this space: it then shares its names, and is known as its own without a look at the values.
    fn make_own(&self, event: &mut Event) -> Result<(), StudyError> {
        let point = match event {
            Event::Asked { proposal, .. } => &mut proposal.point,
            Event::Attached { point, .. } | Event::Settled { point, .. } => point,
            Event::Started(_)
            | Event::Owned { .. }
            | Event::Released { .. }
            | Event::Launched { .. }
            | Event::Reported { .. }
            | Event::Ended { .. }
            | Event::Paused { .. }
            | Event::Resumed
            | Event::Noted { .. } => return Ok(()),
        };
        *point = self.state.space.point(point.iter().map(|(name, value)| (name, value.clone())))?;
        Ok(())
    }

    fn check_started(&self, theirs: &Started) -> Result<(), StudyError> {
        if !self.events.is_empty() {
            return Err(StudyError::StartedTwice);
        }
        if !(OLDEST..=FORMAT).contains(&theirs.format) {
            let (found, release) = (theirs.format, theirs.release.clone());
            return Err(StudyError::Format { found, known: FORMAT, release });
        }
        let Event::Started(ours) = self.started() else { return Err(StudyError::NotStarted) };
        let differs = |what, events: &str, study: &str| {
            Err(StudyError::Differs { what, events: format!("`{events}`"), study: format!("`{study}`") })
        };
        let (events, study) = (&theirs.strategy, &ours.strategy);
        if events.name != study.name {
            return differs("strategy", &events.name, &study.name);
        }
        if events.seed != study.seed {
            return differs("seed", &events.seed.to_string(), &study.seed.to_string());
        }
        // A missing key means its default, and an old name the new one. A strategy of somebody else's has no list of them.
        let complete = |options: &Map<String, Value>| {
            complete_options(&study.name, options).unwrap_or_else(|_| options.clone())
        };
        if !self.any_options
            && let Some((events, study)) =
                differing_option(&complete(&events.options), &complete(&study.options))
        {
            return Err(StudyError::Differs { what: "options", events, study });
        }
        for (theirs, ours) in theirs.objectives.goals.iter().zip(&ours.objectives.goals) {
            if theirs.metric != ours.metric {
                return differs("metric", &theirs.metric.to_string(), &ours.metric.to_string());
            }
            if theirs.direction != ours.direction {
                return differs("direction", theirs.direction.as_str(), ours.direction.as_str());
            }
        }
        if theirs.objectives != ours.objectives {
            let count = |started: &Started| {
                let Started { objectives, .. } = started;
                format!("{} goals and {} constraints", objectives.goals.len(), objectives.constraints.len())
            };
            return differs("set of objectives", &count(theirs), &count(&ours));
        }
        if theirs.cost_model != ours.cost_model {
            return differs("cost model", theirs.cost_model.as_str(), ours.cost_model.as_str());
        }
        match theirs.space.first_difference(&ours.space) {
            Some((events, study)) => Err(StudyError::Differs { what: "space", events, study }),
            None => Ok(()),
        }
    }
}
