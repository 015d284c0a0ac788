//! Why a study refuses; whatever it refuses, it is as it was before.

use super::stopping::StopReason;
use crate::objective::{Metric, ObjectiveError};
use crate::space::SpaceError;
use crate::strategy::StrategyError;
use crate::trial::{TrialError, TrialId};

/// Why a study refuses.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// A stopping rule holds.
    #[error("the study has stopped: {reason}; to go on, continue it from its events with other rules")]
    Stopped {
        /// Which rule, and what made it hold.
        reason: StopReason,
    },
    /// A stopping rule that makes no sense.
    #[error("stopping rule `{rule}`: {problem}")]
    Rule {
        /// Its name.
        rule: &'static str,
        /// What is wrong and how to mend it.
        problem: String,
    },
    /// Options, or a replay, for a study that has trials.
    #[error("the study has begun, and its {what} is fixed; set it before the first trial, on a new study")]
    Begun {
        /// What was to be set.
        what: &'static str,
    },
    /// No trial of that number.
    #[error("there is no trial {id}; {asked} were asked for, numbered from 0")]
    UnknownTrial {
        /// What was told.
        id: TrialId,
        /// How many there are.
        asked: usize,
    },
    /// An outcome for a trial that has one.
    #[error("trial {id} has been told before and keeps that outcome; tell each trial once")]
    Closed {
        /// The trial.
        id: TrialId,
    },
    /// An outcome of another point.
    #[error(
        "trial {id} is to run {asked}, but the outcome is of {told}; tell what the trial's own point gave"
    )]
    OtherPoint {
        /// The trial.
        id: TrialId,
        /// Its point.
        asked: String,
        /// The outcome's point.
        told: String,
    },
    /// Not one measured cost per module.
    #[error(
        "trial {id} has {found} measured costs for {modules} modules; give one for each, none for those that did not run"
    )]
    Stages {
        /// The trial.
        id: TrialId,
        /// How many were told.
        found: usize,
        /// How many modules there are.
        modules: usize,
    },
    /// More modules finished than there are.
    #[error("trial {id} is said to have finished {finished} modules; there are only {modules}")]
    Finished {
        /// The trial.
        id: TrialId,
        /// What was told.
        finished: usize,
        /// How many modules there are.
        modules: usize,
    },
    /// A module broke that is not there.
    #[error("trial {id} is said to have broken in module {module} (from 0); there are only {modules}")]
    Broke {
        /// The trial.
        id: TrialId,
        /// What was told.
        module: usize,
        /// How many modules there are.
        modules: usize,
    },
    /// A module is said both to have finished and to have broken.
    #[error(
        "trial {id} is said to have broken in module {module} (from 0), but also that the first {finished} modules finished; leave one of the two out"
    )]
    BrokeFinished {
        /// The trial.
        id: TrialId,
        /// The module.
        module: usize,
        /// How many are said to have finished.
        finished: usize,
    },
    /// A study that stops by cost cannot tell what a trial cost.
    #[error(
        "trial {id}: nobody knows its cost, and the study stops by cost; tell what its modules cost with `measured`, or give them costs"
    )]
    Unmeasured {
        /// The trial.
        id: TrialId,
    },
    /// Costs whose sum is past the largest double.
    #[error("trial {id}: the costs add up to more than a number can hold; use a larger unit")]
    Overflow {
        /// The trial.
        id: TrialId,
    },
    /// A proposal in a forbidden region.
    #[error("trial {id} cannot be {point}, which is forbidden; a strategy proposes what the space allows")]
    Forbidden {
        /// The trial.
        id: TrialId,
        /// The point.
        point: String,
    },
    /// A proposal that could not be read back from its event.
    #[error(
        "the proposal of trial {id} holds {field} = {value}, which no event can hold; give finite numbers"
    )]
    Unwritable {
        /// The trial.
        id: TrialId,
        /// Where the number stands.
        field: &'static str,
        /// The number.
        value: f64,
    },
    /// The outcome makes no sense.
    #[error(transparent)]
    Trial(#[from] TrialError),
    /// The point is not one of the space.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// The strategy has nothing to propose, or does not know the proposal.
    #[error(transparent)]
    Strategy(Box<StrategyError>),
    /// An event that cannot be replayed.
    #[error("event {position} (counted from 0): {problem}")]
    Event {
        /// Which event.
        position: usize,
        /// Why not.
        #[source]
        problem: Box<StudyError>,
    },
    /// Events of a later release.
    #[error(
        "the events have format {found}, and this release reads formats up to {known}; use stagetune {release} or later"
    )]
    Format {
        /// The events' format.
        found: u32,
        /// The latest that is known.
        known: u32,
        /// The release that wrote them.
        release: String,
    },
    /// Events of another study.
    #[error(
        "the events belong to a study whose {what} is {events}, but here it is {study}; make it the same, or begin a new study without these events"
    )]
    Differs {
        /// What differs.
        what: &'static str,
        /// In the events.
        events: String,
        /// In the study.
        study: String,
    },
    /// The first event is not the beginning.
    #[error("the first event must say what study it begins (`started`); pass all events from the first on")]
    NotStarted,
    /// A second beginning.
    #[error("the study begins a second time; pass the events of one study only")]
    StartedTwice,
    /// A stage that the study does not have.
    #[error("trial {id}: there is no stage `{stage}`; report the stages of this study")]
    UnknownStage {
        /// The trial.
        id: TrialId,
        /// The stage.
        stage: String,
    },
    /// A stage that has reported before.
    #[error(
        "trial {id}: stage `{stage}` reports once for a trial, and `again` only where its output was lost"
    )]
    ReportedTwice {
        /// The trial.
        id: TrialId,
        /// The stage.
        stage: String,
    },
    /// A report that holds a number which makes no sense.
    #[error(
        "trial {id}: stage `{stage}` reports {name} = {value}; costs are finite and at least 0, metrics are finite"
    )]
    Report {
        /// The trial.
        id: TrialId,
        /// The stage.
        stage: String,
        /// The number's name.
        name: String,
        /// The number.
        value: f64,
    },
    /// A report of a stage whose values are still open.
    #[error("trial {id}: the values of stage `{stage}` are not settled yet; settle them before it runs")]
    NotSettled {
        /// The trial.
        id: TrialId,
        /// The stage.
        stage: String,
    },
    /// More stages settled than there are.
    #[error("trial {id} is said to settle the values of {settled} stages; there are only {modules}")]
    Settled {
        /// The trial.
        id: TrialId,
        /// How many stages.
        settled: usize,
        /// How many there are.
        modules: usize,
    },
    /// Values of a trial that has all of them.
    #[error("trial {id}: its values are settled; they are settled once")]
    SettledTwice {
        /// The trial.
        id: TrialId,
    },
    /// A finished trial without the objective's metric.
    #[error("trial {id} has finished, but no stage reported `{metric}`; report it, or tell a failure")]
    NoValue {
        /// The trial.
        id: TrialId,
        /// The metric.
        metric: Metric,
    },
    /// A charge that makes no sense.
    #[error("trial {id}: a charge of {cost} makes no sense; it is a finite number of at least 0")]
    Charge {
        /// The trial.
        id: TrialId,
        /// The charge.
        cost: f64,
    },
    /// An owner whose epoch is not newer.
    #[error("an owner with epoch {found} comes after one with epoch {last}; every owner takes a larger one")]
    Epoch {
        /// The event's epoch.
        found: u64,
        /// The last one.
        last: u64,
    },
    /// A strategy that panicked.
    #[error("the strategy panicked; this is a fault of the strategy, and nothing told is lost")]
    Panicked,
    /// Objectives that cannot be pursued.
    #[error(transparent)]
    Objective(#[from] ObjectiveError),
    /// Trials that are not numbered in order.
    #[error("trial {found} is asked for where trial {expected} is next; pass all events, once and in order")]
    OutOfOrder {
        /// The next trial.
        expected: TrialId,
        /// The event's trial.
        found: TrialId,
    },
}

impl From<StrategyError> for StudyError {
    fn from(error: StrategyError) -> Self {
        Self::Strategy(Box::new(error))
    }
}
