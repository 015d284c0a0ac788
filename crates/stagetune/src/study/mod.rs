//! The conversation: a study is asked what to try and told what became of it.
//!
//! [`Study::ask`] opens a trial, [`Study::tell`] gives it a value or a failure; several trials may be open at once.
//!
//! Everything that happens is an [`Event`], and [`Study::apply`] is the only way in which a study changes. [`Study::propose`] is pure: it says
//! what to try next and changes nothing, so that it may take its time on a [`Study::snapshot`] while results keep coming in. `ask` is
//! `propose` and an event; `tell` is events. [`Study::next`] says after every stage of a trial what to do next.
//!
//! A new study that is given the events of another arrives at the same state and proposes the same, bit for bit, without the work that found
//! the proposals. The study keeps an [`Account`] of what each trial cost, stops by [`StopRules`], and turns the user's direction into the
//! engine's, which minimises, at this edge and nowhere else. [`Study::forecast`] says what going on is expected to gain, and
//! [`StopRules::price`] stops a study when that is not worth its cost.
//!
//! ```
//! use stagetune::space::{Cost, Module, Param, Space};
//! use stagetune::objective::Direction;
//! use stagetune::study::{Event, StopRules, Study};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let space = Space::new([
//!     Module::new("denoise", [Param::float("strength", 1.0, 15.0)?])?.cost(Cost::Given(10.0))?,
//!     Module::new("train", [Param::float("lr", 1e-5, 1e-1)?.log()?])?.cost(Cost::Given(1.0))?,
//! ])?;
//! let new_study = || -> Result<Study, Box<dyn std::error::Error>> {
//!     Ok(Study::named(space.clone(), "lambo", 7)?
//!         .direction(Direction::Maximize)?
//!         .stop(StopRules { trials: Some(20), ..StopRules::default() })?)
//! };
//!
//! let mut study = new_study()?;
//! let mut journal: Vec<String> = Vec::new();
//! while study.stopped().is_none() {
//!     let trial = study.ask()?;
//!     let strength = trial.point().get("strength").and_then(|v| v.as_float()).ok_or("a float")?;
//!     if strength < 2.0 {
//!         study.tell(trial.fail("diverged").after(1))?;
//!     } else {
//!         study.tell(trial.observe(-(strength - 7.0).powi(2))?)?;
//!     }
//!     for event in study.events_since(journal.len()) {
//!         journal.push(serde_json::to_string(event)?);
//!     }
//! }
//! assert_eq!(study.account().charges().len(), 20);
//! let best = study.best().ok_or("one trial worked")?;
//!
//! // Another process, later.
//! let events: Vec<Event> = journal.iter().map(|line| serde_json::from_str(line)).collect::<Result<_, _>>()?;
//! let again = new_study()?.replay(events)?;
//! assert_eq!(again.best(), Some(best));
//! assert_eq!(again.events(), study.events());
//! # Ok(())
//! # }
//! ```

mod account;
mod apply;
mod conversation;
mod costs;
mod error;
mod event;
mod next;
mod regret;
mod state;
mod stopping;
mod tried;
mod worth;

pub use crate::objective::Direction;
pub use account::{Account, Charge};
pub use error::StudyError;
pub use event::{Event, FORMAT, Owner, Started};
pub use next::Next;
pub use regret::{MovementRegret, RegretError};
pub use stopping::{NoProgress, StopReason, StopRules};
pub use worth::PRICE_SHARE;

use std::sync::Mutex;

use serde_json::{Map, Value};

use crate::forecast::{Forecast, Horizon, NoForecast, forecast};
use crate::objective::Objectives;
use crate::space::{CostModel, Space};
use crate::strategy::{Identity, Proposal, Strategy, Why, by_name, configured};
use crate::trial::{Observed, Proposed, StageReport, Trial, TrialId};
use state::State;
use tried::Tried;

/// A study of a space by a strategy. On every error it is as it was before.
#[derive(Debug)]
pub struct Study {
    strategy: Box<dyn Strategy>,
    state: State,
    rules: StopRules,
    /// Only where a rule asks, and of a space of few points.
    tried: Option<Tried>,
    /// Who the events say that they belong to, where that is not the strategy's own word.
    label: Option<Identity>,
    /// Whether events of other options than the strategy's are taken, too.
    any_options: bool,
    events: Vec<Event>,
    /// Where the event is that opened each trial.
    opened: Vec<usize>,
    /// The epoch of the last owner; 0 before there was one.
    epoch: u64,
    /// Why no new trials are to begin.
    paused: Option<String>,
    /// What the price said after so many trials told: the rule is asked often, and takes a model.
    worth: Mutex<Option<(usize, Option<StopReason>)>>,
}

impl Study {
    /// A study that minimises, charges by [`CostModel::Previous`] and never stops.
    pub fn new(space: Space, strategy: Box<dyn Strategy>) -> Self {
        Self {
            strategy,
            state: State::new(space),
            rules: StopRules::default(),
            tried: None,
            label: None,
            any_options: false,
            events: Vec::new(),
            opened: Vec::new(),
            epoch: 0,
            paused: None,
            worth: Mutex::new(None),
        }
    }

    /// A study of a strategy by name with its default options.
    pub fn named(space: Space, strategy: &str, seed: u64) -> Result<Self, StudyError> {
        let chosen = by_name(strategy, &space, seed)?;
        Ok(Self::new(space, chosen))
    }

    /// A study of a strategy by name with these options, see [`configured`].
    pub fn configured(
        space: Space,
        strategy: &str,
        options: &Map<String, Value>,
        seed: u64,
    ) -> Result<Self, StudyError> {
        let chosen = configured(strategy, &space, options, seed)?;
        Ok(Self::new(space, chosen))
    }

    /// What the study is after: one goal for now, over a number that a stage reports.
    pub fn objectives(mut self, objectives: Objectives) -> Result<Self, StudyError> {
        self.not_begun("set of objectives")?;
        let names: Vec<String> = self.space().modules().iter().map(|m| m.name().to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        self.state.direction = objectives.only_goal(&names)?.direction;
        self.state.objectives = objectives;
        Ok(self)
    }

    /// What is better, of the metric that the study has.
    pub fn direction(self, direction: Direction) -> Result<Self, StudyError> {
        let mut objectives = self.state.objectives.clone();
        objectives.goals.iter_mut().for_each(|goal| goal.direction = direction);
        self.objectives(objectives)
    }

    /// Which earlier outputs are at hand.
    pub fn cost_model(mut self, cost_model: CostModel) -> Result<Self, StudyError> {
        self.not_begun("cost model")?;
        self.state.cost_model = cost_model;
        Ok(self)
    }

    /// When to stop.
    pub fn stop(mut self, rules: StopRules) -> Result<Self, StudyError> {
        self.not_begun("set of stopping rules")?;
        rules.check(&self.state.space)?;
        self.state.budget = rules.cost;
        self.state.most_trials = rules.trials;
        self.state.needs_costs = rules.needs_costs();
        self.tried = if rules.all_tried { Tried::of(&self.state.space) } else { None };
        self.rules = rules;
        Ok(self)
    }

    /// Who the events belong to; a study refuses those of another. Without a label the strategy speaks for itself.
    pub fn label(mut self, label: Identity) -> Result<Self, StudyError> {
        self.not_begun("label")?;
        self.label = Some(label);
        Ok(self)
    }

    /// Takes events of the same strategy with other options, and goes on with the options of now.
    pub fn with_any_options(mut self) -> Self {
        self.any_options = true;
        self
    }

    /// What to try next, and why; refused once a stopping rule holds. Nothing changes.
    pub fn propose(&self) -> Result<Proposal, StudyError> {
        if let Some(reason) = self.stopped() {
            return Err(StudyError::Stopped { reason });
        }
        let mut proposal = self.strategy.propose(&self.state.view())?;
        if let Some(belief) = &mut proposal.why.belief {
            belief.mean = self.state.direction.turned(belief.mean);
        }
        Ok(proposal)
    }

    /// A copy to propose from while this one takes in events. It has no events of its own past, and nobody writes down what it does.
    pub fn snapshot(&self) -> Self {
        Self {
            strategy: self.strategy.boxed(),
            state: self.state.clone(),
            rules: self.rules,
            tried: self.tried.clone(),
            label: self.label.clone(),
            any_options: self.any_options,
            events: Vec::new(),
            opened: Vec::new(),
            epoch: self.epoch,
            paused: self.paused.clone(),
            worth: Mutex::new(self.worth.lock().ok().and_then(|seen| *seen)),
        }
    }

    /// What can be tuned.
    pub fn space(&self) -> &Space {
        &self.state.space
    }

    /// What the study is after.
    pub fn pursued(&self) -> &Objectives {
        &self.state.objectives
    }

    /// Who proposes.
    pub fn identity(&self) -> Identity {
        self.label.clone().unwrap_or_else(|| self.strategy.identity())
    }

    /// The epoch of the last owner; 0 before there was one.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Why no new trials are to begin, if somebody paused the study.
    pub fn paused(&self) -> Option<&str> {
        self.paused.as_deref()
    }

    /// The open trials in the order asked: after a restart, what was running when the process ended.
    pub fn open(&self) -> impl Iterator<Item = &Proposed> {
        self.state.open()
    }

    /// All trials in the order asked, with the values as they were told.
    pub fn trials(&self) -> impl ExactSizeIterator<Item = Trial> + '_ {
        self.state.trials()
    }

    /// What led to a trial; nothing where somebody else chose its point.
    pub fn proposal(&self, id: TrialId) -> Option<&Proposal> {
        let index = usize::try_from(id.index()).ok()?;
        let event = self.events.get(*self.opened.get(index)?)?;
        if let Event::Asked { proposal, .. } = event { Some(proposal) } else { None }
    }

    /// Why a trial was proposed.
    pub fn why(&self, id: TrialId) -> Option<&Why> {
        self.proposal(id).map(Proposal::why)
    }

    /// The best trial so far, the first one told among equals.
    pub fn best(&self) -> Option<Observed> {
        self.state.best()
    }

    /// The stopping rule that holds, if one does.
    pub fn stopped(&self) -> Option<StopReason> {
        self.limit_reached().or_else(|| self.not_worth_it())
    }

    /// The limit that is reached, as far as that can be seen without a model: all rules but the price.
    pub fn limit_reached(&self) -> Option<StopReason> {
        let (asked, tried, account) = (self.state.asked(), self.tried.as_ref(), self.state.account());
        self.rules.holds(self.state.direction, asked, tried, account)
    }

    /// What the stages of an open trial have reported, a place for each stage.
    pub fn reports(&self, trial: TrialId) -> Option<&[Option<StageReport>]> {
        self.state.find_reports(trial).ok().map(|open| open.reports.as_slice())
    }

    /// What going on is expected to gain: the next trial, and as much as the horizon buys; in the user's direction, gains above 0.
    ///
    /// ```
    /// use stagetune::space::{Cost, Module, Param, Space};
    /// use stagetune::forecast::Horizon;
    /// use stagetune::study::Study;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let module = Module::new("only", [Param::float("x", 0.0, 1.0)?])?.cost(Cost::Given(2.0))?;
    /// let mut study = Study::named(Space::new([module])?, "gp-ei", 1)?;
    /// assert!(study.forecast(Horizon::Cost(60.0)).is_err()); // nothing is known yet
    /// for _ in 0..6 {
    ///     let trial = study.ask()?;
    ///     let x = trial.point().get("x").and_then(|v| v.as_float()).ok_or("a float")?;
    ///     study.tell(trial.observe((5.0 * x).sin() * x)?)?;
    /// }
    /// let ahead = study.forecast(Horizon::Cost(60.0))?;
    /// assert!(ahead.next_cost == 2.0 && ahead.expected_gain >= ahead.next_gain);
    /// # Ok(())
    /// # }
    /// ```
    pub fn forecast(&self, horizon: Horizon) -> Result<Forecast, NoForecast> {
        let ahead = forecast(&self.state.view(), horizon, worth::SEED)?;
        Ok(Forecast { incumbent: self.state.direction.turned(ahead.incumbent), ..ahead })
    }

    /// What the price says, worked out once for every look.
    fn not_worth_it(&self) -> Option<StopReason> {
        let told = worth::looked_at(self.state.account().counted().count());
        let Ok(mut seen) = self.worth.lock() else { return self.rules.not_worth_it(&self.state) };
        match *seen {
            Some((at, reason)) if at == told => reason,
            _ => {
                let reason = self.rules.not_worth_it(&self.state);
                *seen = Some((told, reason));
                reason
            }
        }
    }

    /// What the trials cost.
    pub fn account(&self) -> &Account {
        self.state.account()
    }

    /// What the open trials are expected to cost together, by their proposals or by what is known since; where nobody knows, nothing.
    ///
    /// Whoever runs several at a time and has a budget asks for no other while this and what is spent reach it.
    pub fn expected_open_cost(&self) -> f64 {
        let now = self.state.told_view(&[], self.state.told());
        let known = |trial: &Proposed| now.expected_cost(&now.movement(trial.point()).ok()?);
        let said = |trial: &Proposed| self.why(trial.id()).and_then(|why| why.expected_cost);
        self.open().filter_map(|trial| said(trial).or_else(|| known(trial))).sum()
    }

    /// Everything that happened.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// What happened after the first `n` events.
    pub fn events_since(&self, n: usize) -> &[Event] {
        self.events.get(n..).unwrap_or_default()
    }

    /// The event that begins this study.
    pub fn started(&self) -> Event {
        Event::Started(Box::new(Started {
            format: FORMAT,
            release: env!("CARGO_PKG_VERSION").to_owned(),
            strategy: self.identity(),
            objectives: self.state.objectives.clone(),
            cost_model: self.state.cost_model,
            space: self.state.space.describe(),
        }))
    }

    fn not_begun(&self, what: &'static str) -> Result<(), StudyError> {
        if self.events.is_empty() { Ok(()) } else { Err(StudyError::Begun { what }) }
    }
}
