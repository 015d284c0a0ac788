//! What to do next with an open trial: asked after every stage.

use super::Study;
use super::error::StudyError;
use crate::space::{Point, StageSet};
use crate::trial::{How, StageReport, TrialId};

/// What to do next with an open trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// These stages can run now: what they need has its output. Some may be running already.
    Run(StageSet),
    /// The values of later stages are still open: [`Study::settle`] says what they are to be.
    Settle,
    /// Give the trial up: going on is not worth its cost.
    Abandon {
        /// Why.
        reason: String,
    },
    /// Nothing is left to run: every stage has reported, or one has failed.
    Finish,
}

impl Study {
    /// What to do next with an open trial.
    pub fn next(&self, trial: TrialId) -> Result<Next, StudyError> {
        let open = self.state.find_reports(trial)?;
        let failed = |report: &Option<StageReport>| report.as_ref().is_some_and(|r| r.how == How::Failed);
        if open.reports.iter().any(failed) || open.reports.iter().all(Option::is_some) {
            return Ok(Next::Finish);
        }
        let stages = open.reports.len();
        let settled = open.settled.unwrap_or(stages);
        let has_output = |m: usize| open.reports.get(m).is_some_and(Option::is_some);
        let mut run = StageSet::empty();
        for m in (0..settled).filter(|m| !has_output(*m)) {
            if self.space().wiring().needs(m).into_iter().all(has_output) {
                run.insert(m);
            }
        }
        Ok(if run.is_empty() && settled < stages { Next::Settle } else { Next::Run(run) })
    }

    /// The whole point of a trial whose later values are still open. Like a proposal it is computed and changes nothing; the event
    /// `settled` makes it so.
    ///
    /// No strategy of this release leaves values open: the point is the one that was proposed.
    pub fn settle(&self, trial: TrialId) -> Result<Point, StudyError> {
        Ok(self.state.find_open(trial)?.point().clone())
    }
}
