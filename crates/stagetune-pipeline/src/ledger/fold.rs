//! Taking in one record: the only code that knows what an event means to people.

use stagetune::objective::{Goal, Objectives};
use stagetune::space::{Point, SpaceDescription};
use stagetune::study::{Event, Started};
use stagetune::trial::{End, How, StageReport, TrialId};

use super::rows::point_json;
use super::{Best, Ledger, OwnerRow, ParamRow, StageRow, StageTally, TrialRow, TrialState};
use crate::log::{Record, Run, Stamped};

impl Ledger {
    /// Takes in the next record.
    pub fn apply(&mut self, stamped: &Stamped) {
        let Stamped { at, record } = stamped;
        if self.last == 0.0 {
            (self.began, self.last) = (*at, *at);
        }
        let Record { event, session, run, owned_for } = record;
        if matches!(event, Event::Owned { .. }) {
            self.wall_of_earlier = owned_for.map(|_| self.wall);
        }
        self.count_time(event, *at, *owned_for);
        self.last = *at;
        match event {
            Event::Started(started) => self.start(started),
            Event::Owned { epoch, by } => {
                self.owners.push(OwnerRow { epoch: *epoch, since: *at, owner: by.clone() });
                (self.closed, self.finished) = (None, false);
                if let Some(session) = session {
                    self.cost_unit = session.definition.cost_unit;
                }
            }
            Event::Released { finished, reason, .. } => {
                (self.closed, self.finished) = (Some(reason.clone()), *finished);
            }
            Event::Asked { trial, proposal } => {
                self.open_trial(*trial, &proposal.point, *at, proposal.why.to_string());
            }
            Event::Attached { trial, point, from } => {
                let from = from.as_deref().unwrap_or("somebody");
                self.open_trial(*trial, point, *at, format!("chosen by {from}"));
            }
            Event::Settled { trial, point } => {
                if let Some(row) = self.row(*trial) {
                    row.point = point_json(point);
                }
            }
            Event::Launched { .. } => {}
            Event::Reported { trial, stage, report } => self.report(*trial, stage, report, run.as_ref(), *at),
            Event::Ended { trial, end, cost } => self.end(*trial, end, *cost, *at),
            Event::Paused { reason } => self.paused = Some(reason.clone()),
            Event::Resumed => self.paused = None,
            Event::Noted { trial, text } => {
                self.notes.push((trial.map(TrialId::index), text.clone()));
            }
        }
    }

    /// Time counts while somebody owns the study: from when it was taken to its last record.
    fn count_time(&mut self, event: &Event, at: f64, owned_for: Option<f64>) {
        if let Some(earlier) = self.wall_of_earlier {
            self.wall = owned_for.map_or(self.wall, |seconds| earlier + seconds);
            return;
        }
        // Owners of earlier releases did not say: then the times of their records do.
        let by_owner = match event {
            Event::Asked { .. }
            | Event::Settled { .. }
            | Event::Launched { .. }
            | Event::Reported { .. }
            | Event::Released { .. } => true,
            Event::Ended { end, .. } => !matches!(end, End::Withdrawn { .. }),
            Event::Started(_)
            | Event::Owned { .. }
            | Event::Attached { .. }
            | Event::Paused { .. }
            | Event::Resumed
            | Event::Noted { .. } => false,
        };
        if by_owner && !self.owners.is_empty() && self.closed.is_none() {
            self.wall += (at - self.last).max(0.0);
        }
    }

    fn start(&mut self, started: &Started) {
        let Started { strategy, objectives, space, release, .. } = started;
        let Objectives { goals, .. } = objectives;
        if let Some(Goal { metric, direction }) = goals.first() {
            (self.metric, self.direction) = (metric.clone(), *direction);
        }
        (self.strategy, self.seed) = (strategy.name.clone(), strategy.seed);
        self.release.clone_from(release);
        let SpaceDescription { stages, .. } = space;
        for (i, stage) in stages.iter().enumerate() {
            let before = i.checked_sub(1).and_then(|i| stages.get(i)).map(|stage| stage.name.clone());
            let after = stage.after.clone().unwrap_or_else(|| before.into_iter().collect());
            self.stages.push(StageTally { name: stage.name.clone(), after, ..StageTally::default() });
            let row = |param: &_| ParamRow { stage: stage.name.clone(), param: Clone::clone(param) };
            self.params.extend(stage.params.iter().map(row));
        }
    }

    fn open_trial(&mut self, trial: TrialId, point: &Point, at: f64, why: String) {
        self.trials.push(TrialRow {
            trial: trial.index(),
            point: point_json(point),
            state: TrialState::Open,
            value: None,
            reason: None,
            cost: None,
            spent: None,
            best: None,
            asked: at,
            told: None,
            stages: Vec::new(),
            why,
            epoch: self.owners.last().map_or(0, |owner| owner.epoch),
        });
    }

    fn report(&mut self, trial: TrialId, stage: &str, report: &StageReport, run: Option<&Run>, at: f64) {
        let epoch = self.owners.last().map_or(0, |owner| owner.epoch);
        let cost = match report.how {
            How::Ran | How::Failed => report.cost.unwrap_or(0.0),
            How::Reused => run.map_or(0.0, |run| run.saved),
        };
        let row = StageRow {
            stage: stage.to_owned(),
            how: report.how,
            key: run.map_or_else(String::new, |run| run.key.clone()),
            cost,
            metrics: report.metrics.clone(),
            seconds: run.map_or(0.0, |run| run.seconds),
            began: run.map_or(at, |run| run.began),
            ended: run.map_or(at, |run| run.ended),
            attempts: run.map_or(0, |run| run.attempts),
        };
        if let Some(tally) = self.stages.iter_mut().find(|tally| tally.name == stage) {
            match report.how {
                How::Ran => {
                    (tally.ran, tally.cost) = (tally.ran + 1, tally.cost + cost);
                    tally.seconds += row.seconds;
                }
                How::Failed => {
                    (tally.failed, tally.cost) = (tally.failed + 1, tally.cost + cost);
                    tally.seconds += row.seconds;
                }
                How::Reused => {
                    (tally.reused, tally.saved) = (tally.reused + 1, tally.saved + cost);
                }
            }
        }
        // Somebody ended the trial while the stage ran.
        let was_closed = self.row(trial).is_some_and(|trial| trial.state != TrialState::Open);
        if let Some(trial) = self.row(trial).filter(|_| was_closed) {
            trial.cost = Some(trial.cost.unwrap_or(0.0) + report.cost.unwrap_or(0.0));
            self.spent += report.cost.unwrap_or(0.0);
        }
        if report.again || was_closed {
            let rows = self.row(trial).map(|trial| &mut trial.stages);
            if let Some(before) = rows.and_then(|rows| rows.iter_mut().find(|row| row.stage == stage)) {
                let spent = if before.how == How::Reused { 0.0 } else { before.cost };
                let (seconds, attempts) = (before.seconds + row.seconds, before.attempts + row.attempts);
                *before = StageRow { cost: spent + row.cost, seconds, attempts, ..row };
                return;
            }
        }
        let place = |name: &str| self.stages.iter().position(|tally| tally.name == name);
        let at = place(stage);
        let before = |row: &StageRow| place(&row.stage) <= at;
        let index = usize::try_from(trial.index()).unwrap_or(usize::MAX);
        let Some(stages) = self.trials.get(index).map(|trial| &trial.stages) else { return };
        // In the order of the pipeline, whichever branch was first.
        let position = stages.iter().take_while(|row| before(row)).count();
        if let Some(trial) = self.trials.get_mut(index) {
            trial.stages.insert(position, row);
            trial.epoch = epoch;
        }
    }

    fn end(&mut self, trial: TrialId, end: &End, cost: Option<f64>, at: f64) {
        let metric = self.metric.clone();
        let last = self.stages.last().map(|tally| tally.name.clone()).unwrap_or_default();
        let Some(row) = self.row(trial) else { return };
        let was_open = row.state == TrialState::Open;
        let had_value = row.state == TrialState::Observed;
        let had_failed = row.state == TrialState::Failed;
        let stage = metric.stage().unwrap_or(&last);
        let found = row.stages.iter().find(|row| row.stage == stage);
        let value = found.and_then(|row| row.metrics.get(metric.name())).copied();
        row.state = match end {
            End::Finished => TrialState::Observed,
            End::Failed { .. } => TrialState::Failed,
            End::Abandoned { .. } => TrialState::Abandoned,
            End::Withdrawn { .. } => TrialState::Withdrawn,
        };
        row.value = value.filter(|_| matches!(end, End::Finished));
        row.reason = end.reason().map(ToOwned::to_owned);
        if was_open {
            (row.cost, row.told) = (cost, Some(at));
            let reused = row.stages.iter().filter(|row| row.how == How::Reused);
            self.saved += reused.map(|row| row.cost).sum::<f64>();
            self.spent += cost.unwrap_or(0.0);
        }
        let (spent, value) = (self.spent, self.row(trial).and_then(|row| row.value));
        match end {
            End::Finished => self.observed += 1,
            End::Failed { .. } => self.failed += 1,
            End::Abandoned { .. } => {}
            End::Withdrawn { .. } => {
                self.observed -= u64::from(had_value).min(self.observed);
                self.failed -= u64::from(had_failed).min(self.failed);
                self.find_best_again();
            }
        }
        if let Some(value) = value
            && self.best.as_ref().is_none_or(|best| self.direction.is_better(value, best.value))
        {
            let point = self.row(trial).map(|row| row.point.clone()).unwrap_or_default();
            self.best = Some(Best { trial: trial.index(), value, point, spent });
        }
        let best = self.best.as_ref().map(|best| best.value);
        if let Some(row) = self.row(trial).filter(|_| was_open) {
            (row.spent, row.best) = (Some(spent), best);
        }
    }

    /// The best of all trials that still count, the first one told among equals.
    fn find_best_again(&mut self) {
        let mut ended: Vec<&TrialRow> = self.trials.iter().filter(|row| row.value.is_some()).collect();
        ended.sort_by(|a, b| a.told.unwrap_or(0.0).total_cmp(&b.told.unwrap_or(0.0)));
        let mut best: Option<Best> = None;
        for row in ended {
            let Some(value) = row.value else { continue };
            if best.as_ref().is_none_or(|best| self.direction.is_better(value, best.value)) {
                let (point, spent) = (row.point.clone(), row.spent.unwrap_or(0.0));
                best = Some(Best { trial: row.trial, value, point, spent });
            }
        }
        self.best = best;
        let mut order: Vec<usize> = (0..self.trials.len()).collect();
        let told = |i: &usize| self.trials.get(*i).and_then(|row| row.told).unwrap_or(f64::INFINITY);
        order.sort_by(|a, b| told(a).total_cmp(&told(b)));
        let mut best: Option<f64> = None;
        for i in order {
            let direction = self.direction;
            let Some(row) = self.trials.get_mut(i).filter(|row| row.told.is_some()) else { continue };
            if row.value.is_some_and(|value| best.is_none_or(|best| direction.is_better(value, best))) {
                best = row.value;
            }
            row.best = best;
        }
    }

    fn row(&mut self, trial: TrialId) -> Option<&mut TrialRow> {
        usize::try_from(trial.index()).ok().and_then(|index| self.trials.get_mut(index))
    }
}

/// What somebody did to a study that another owns, in one line; nothing where an event is a step of
/// the owner.
pub fn in_words(event: &Event) -> Option<String> {
    match event {
        Event::Ended { trial, end, .. } => Some(match end {
            End::Finished => format!("trial {trial} was told its value"),
            End::Failed { reason, .. } => format!("trial {trial} was told to have failed: {reason}"),
            End::Abandoned { reason, .. } => format!("trial {trial} was abandoned: {reason}"),
            End::Withdrawn { reason } => format!("trial {trial} was withdrawn: {reason}"),
        }),
        Event::Attached { trial, from, .. } => {
            Some(format!("trial {trial} was chosen by {}", from.as_deref().unwrap_or("somebody")))
        }
        Event::Paused { reason } => Some(format!("the study is on hold, no new trials begin: {reason}")),
        Event::Resumed => Some("the study is on hold no longer".into()),
        Event::Noted { trial: Some(trial), text } => Some(format!("on trial {trial}: {text}")),
        Event::Noted { trial: None, text } => Some(text.clone()),
        Event::Started(_)
        | Event::Owned { .. }
        | Event::Released { .. }
        | Event::Asked { .. }
        | Event::Settled { .. }
        | Event::Launched { .. }
        | Event::Reported { .. } => None,
    }
}
