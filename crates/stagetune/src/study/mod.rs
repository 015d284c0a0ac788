//! The conversation: a study is asked what to try and told what became of it.
//!
//! [`Study::ask`] opens a trial, [`Study::tell`] gives it a value or a failure; several trials may be open at once. Everything that
//! happens is an [`Event`]. A new study that replays the events of another arrives at the same state and proposes the same, bit for bit,
//! without the work that found the proposals. The study keeps an [`Account`] of what each trial cost, stops by [`StopRules`], and turns
//! the user's direction into the engine's, which minimises, at this edge and nowhere else. [`Study::forecast`] says what going on is expected to
//! gain, and [`StopRules::price`] stops a study when that is not worth its cost.
//!
//! ```
//! use stagetune::space::{Cost, Module, Param, Space};
//! use stagetune::study::{Direction, Event, StopRules, Study};
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
mod costs;
mod error;
mod event;
mod fingerprint;
mod options;
mod regret;
mod replay;
mod state;
mod stopping;
mod tried;
mod worth;

pub use account::{Account, Charge};
pub use error::StudyError;
pub use event::{Direction, Event, FORMAT};
pub use options::differing_option;
pub use regret::{MovementRegret, RegretError};
pub use stopping::{NoProgress, StopReason, StopRules};
pub use worth::PRICE_SHARE;

use std::sync::Mutex;

use serde_json::{Map, Value};

use crate::space::{CostModel, Space};
use crate::strategy::{
    Forecast, Horizon, NoForecast, Proposal, Strategy, Why, by_name, configured, forecast,
};
use crate::trial::{Observed, Outcome, Proposed, Trial, TrialId};
use state::State;
use tried::Tried;

/// A conversation with a strategy about a space. On every error it is as it was before.
#[derive(Debug)]
pub struct Study {
    strategy: Box<dyn Strategy>,
    state: State,
    rules: StopRules,
    /// Only where a rule asks, and of a space of few points.
    tried: Option<Tried>,
    label: Label,
    events: Vec<Event>,
    /// Where the event of each trial's proposal is.
    asked: Vec<usize>,
    /// What the price said after so many trials told: the rule is asked often, and takes a model.
    worth: Mutex<Option<(usize, Option<StopReason>)>>,
}

/// What tells the events of one strategy from those of another.
#[derive(Clone, Debug, Default)]
struct Label {
    strategy: String,
    seed: u64,
    options: String,
}

impl Study {
    /// A study that minimises, charges by [`CostModel::Previous`], never stops and has no label.
    pub fn new(space: Space, strategy: Box<dyn Strategy>) -> Self {
        Self {
            strategy,
            state: State::new(space),
            rules: StopRules::default(),
            tried: None,
            label: Label::default(),
            events: Vec::new(),
            asked: Vec::new(),
            worth: Mutex::new(None),
        }
    }

    /// A study of a strategy by name with its default options, labelled with the name and the seed.
    pub fn named(space: Space, strategy: &str, seed: u64) -> Result<Self, StudyError> {
        let chosen = by_name(strategy, &space, seed)?;
        Self::new(space, chosen).label(strategy, seed, "")
    }

    /// A study of a strategy by name with these options, see [`configured`]; labelled with the name and the seed.
    pub fn configured(
        space: Space,
        strategy: &str,
        options: &Map<String, Value>,
        seed: u64,
    ) -> Result<Self, StudyError> {
        let chosen = configured(strategy, &space, options, seed)?;
        Self::new(space, chosen).label(strategy, seed, "")
    }

    /// What is better.
    pub fn direction(mut self, direction: Direction) -> Result<Self, StudyError> {
        self.not_begun("direction")?;
        self.state.direction = direction;
        Ok(self)
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

    /// What the events belong to; a replay refuses those of another strategy, seed or options.
    ///
    /// Without options the strategy speaks for itself ([`Strategy::settings`]).
    pub fn label(
        mut self,
        strategy: impl Into<String>,
        seed: u64,
        options: impl Into<String>,
    ) -> Result<Self, StudyError> {
        self.not_begun("label")?;
        self.label = Label { strategy: strategy.into(), seed, options: options.into() };
        Ok(self)
    }

    /// What to try next; refused once a stopping rule holds.
    pub fn ask(&mut self) -> Result<Proposed, StudyError> {
        if let Some(reason) = self.stopped() {
            return Err(StudyError::Stopped { reason });
        }
        let mut proposal = self.strategy.propose(&self.state.view())?;
        if let Some(belief) = &mut proposal.why.belief {
            belief.mean = self.state.direction.turned(belief.mean);
        }
        self.admit(proposal)
    }

    /// What became of an open trial. Every trial is told once, in any order, also after the study stopped.
    pub fn tell(&mut self, outcome: impl Into<Outcome>) -> Result<(), StudyError> {
        let outcome = outcome.into();
        let event = match &outcome {
            Outcome::Observed(trial) => {
                Event::Observed { trial: trial.id(), value: trial.value(), stages: trial.stages().to_vec() }
            }
            Outcome::Failed(trial) => Event::Failed {
                trial: trial.id(),
                reason: trial.reason().to_owned(),
                finished: trial.finished(),
                broke: trial.broke(),
                stages: trial.stages().to_vec(),
            },
        };
        self.state.close_trial(outcome)?;
        self.events.push(event);
        Ok(())
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

    /// What can be tuned.
    pub fn space(&self) -> &Space {
        &self.state.space
    }

    /// The open trials in the order asked: after a restart, what was running when the process ended.
    pub fn open(&self) -> impl Iterator<Item = &Proposed> {
        self.state.open()
    }

    /// All trials in the order asked, with the values as they were told.
    pub fn trials(&self) -> impl ExactSizeIterator<Item = Trial> + '_ {
        self.state.trials()
    }

    /// What led to a trial.
    pub fn proposal(&self, id: TrialId) -> Option<&Proposal> {
        let index = usize::try_from(id.index()).ok()?;
        match self.events.get(*self.asked.get(index)?)? {
            Event::Asked { proposal, .. } => Some(proposal),
            _ => None,
        }
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
        let State { direction, .. } = self.state;
        let (asked, tried, account) = (self.state.asked(), self.tried.as_ref(), self.state.account());
        let held = self.rules.holds(direction, asked, tried, account);
        held.or_else(|| self.not_worth_it())
    }

    /// What going on is expected to gain: the next trial, and as much as the horizon buys; in the user's direction, gains above 0.
    ///
    /// ```
    /// use stagetune::space::{Cost, Module, Param, Space};
    /// use stagetune::strategy::Horizon;
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
        let told = worth::looked_at(self.state.account().charges().len());
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

    /// Makes a proposal a trial: the one way for new ones and for those of a replay.
    fn admit(&mut self, proposal: Proposal) -> Result<Proposed, StudyError> {
        self.state.check_point(&proposal.point)?;
        event::check_writable(self.state.next_id(), &proposal)?;
        self.strategy.accept(&self.state.view(), &proposal)?;
        // Nothing below is refused: the point is one of the space.
        let trial = self.state.open_trial(proposal.point.clone())?;
        if let Some(tried) = &mut self.tried {
            tried.note(trial.point());
        }
        if self.events.is_empty() {
            self.events.push(self.started());
        }
        self.asked.push(self.events.len());
        self.events.push(Event::Asked { trial: trial.id(), proposal: Box::new(proposal) });
        Ok(trial)
    }

    /// The first event.
    fn started(&self) -> Event {
        Event::Started {
            format: FORMAT,
            release: env!("CARGO_PKG_VERSION").to_owned(),
            strategy: self.label.strategy.clone(),
            seed: self.label.seed,
            options: match self.label.options.as_str() {
                "" => self.strategy.settings(),
                given => given.to_owned(),
            },
            direction: self.state.direction,
            cost_model: self.state.cost_model,
            space: fingerprint::fingerprint(&self.state.space),
        }
    }

    fn not_begun(&self, what: &'static str) -> Result<(), StudyError> {
        if self.events.is_empty() { Ok(()) } else { Err(StudyError::Begun { what }) }
    }
}
