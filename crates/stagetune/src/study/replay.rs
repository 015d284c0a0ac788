//! A study from its events: every proposal is accepted again, none is made again.

use super::Study;
use super::error::StudyError;
use super::event::{Event, FORMAT};
use super::fingerprint::first_difference;
use super::options::differing_option;
use crate::strategy::Proposal;
use crate::trial::TrialId;

impl Study {
    /// Continues from these events; `self` is a new study with the same space, strategy and options.
    ///
    /// The study is then in the state it would be in had it lived through them, and proposes what it would have proposed. Its
    /// stopping rules may be others; a strategy that looks at the budget sees the new one.
    pub fn replay(mut self, events: impl IntoIterator<Item = Event>) -> Result<Self, StudyError> {
        if !self.events().is_empty() {
            return Err(StudyError::Begun { what: "past" });
        }
        for (position, event) in events.into_iter().enumerate() {
            self.apply(event)
                .map_err(|problem| StudyError::Event { position, problem: Box::new(problem) })?;
        }
        Ok(self)
    }

    fn apply(&mut self, event: Event) -> Result<(), StudyError> {
        match event {
            Event::Started { .. } => self.apply_started(event),
            _ if self.events().is_empty() => Err(StudyError::NotStarted),
            Event::Asked { trial, proposal } => self.apply_asked(trial, *proposal),
            Event::Observed { trial, value, stages } => {
                let open = self.state.find_open(trial)?.clone();
                self.tell(open.observe(value)?.measured(stages)?)
            }
            Event::Failed { trial, reason, finished, broke, stages } => {
                let open = self.state.find_open(trial)?.clone();
                let failed = open.fail(reason).after(finished);
                let failed = match broke {
                    Some(module) => failed.broken_in(module),
                    None => failed,
                };
                self.tell(failed.measured(stages)?)
            }
        }
    }

    fn apply_asked(&mut self, trial: TrialId, mut proposal: Proposal) -> Result<(), StudyError> {
        let expected = self.state.next_id();
        if trial != expected {
            return Err(StudyError::OutOfOrder { expected, found: trial });
        }
        // A point made by this space shares its names, and is known as its own without a look at the values.
        proposal.point =
            self.state.space.point(proposal.point.iter().map(|(name, value)| (name, value.clone())))?;
        self.admit(proposal).map(|_| ())
    }

    fn apply_started(&mut self, event: Event) -> Result<(), StudyError> {
        if !self.events().is_empty() {
            return Err(StudyError::StartedTwice);
        }
        let (theirs, ours) = (described(&event), described(&self.started()));
        if let Event::Started { format, release, .. } = &event
            && !(1..=FORMAT).contains(format)
        {
            return Err(StudyError::Format { found: *format, known: FORMAT, release: release.clone() });
        }
        for ((what, events), (_, study)) in theirs.into_iter().zip(ours) {
            if events != study {
                let (events, study) = match what {
                    "space" => first_difference(&events, &study),
                    "options" => differing_option(&events, &study).unwrap_or((events, study)),
                    _ => (quoted(events), quoted(study)),
                };
                return Err(StudyError::Differs { what, events, study });
            }
        }
        self.events.push(event);
        Ok(())
    }
}

/// What must be the same in the events and in the study.
fn described(started: &Event) -> Vec<(&'static str, String)> {
    match started {
        Event::Started { strategy, seed, options, direction, cost_model, space, .. } => vec![
            ("strategy", strategy.clone()),
            ("seed", seed.to_string()),
            ("options", options.clone()),
            ("direction", format!("{direction:?}").to_lowercase()),
            ("cost model", format!("{cost_model:?}").to_lowercase()),
            ("space", space.clone()),
        ],
        _ => Vec::new(),
    }
}

fn quoted(text: String) -> String {
    format!("`{text}`")
}
