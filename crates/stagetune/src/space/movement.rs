//! What moving to the next point costs: which modules must run, and the sum of their costs.
//!
//! ```text
//! Γᵗ = Σₘ cₘ · 1{ the output of module m for xᵗ is not at hand }
//! previous   at hand: the outputs of iteration t − 1, except the last module's, which is charged at every iteration
//! cache      at hand: the output of every prefix x₁..ₘ ever run, so that a point seen before is free
//! ```
//!
//! - `Γ`: movement cost;  `cₘ`: cost of module m;  `x₁..ₘ`: the values of all modules upstream of m, and its own

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use super::module::Cost;
use super::point::{Point, Value};
use super::space::{Space, SpaceError};
use super::stage_set::StageSet;

/// Which earlier outputs are at hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CostModel {
    /// Those of the iteration before, as in the paper.
    #[default]
    Previous,
    /// Those of every run so far, as with a cache of stage outputs.
    Cache,
}

impl CostModel {
    /// The word for it in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Previous => "previous",
            Self::Cache => "cache",
        }
    }
}

/// Which modules must run for a point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Movement {
    /// The first module whose prefix of values is not at hand; `None` if all are.
    pub first_changed: Option<usize>,
    /// The modules that run, and are charged.
    pub runs: StageSet,
    /// How many modules there are in all.
    pub modules: usize,
}

/// The runs so far: what both cost models need to know of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunHistory {
    /// The last point, and how many modules ran to their end on it.
    last: Option<(Point, usize)>,
    /// Every module with the values that reached it, and how often they did.
    prefixes: BTreeMap<Reached, usize>,
}

/// A module with the values that reached it. The digest comes first: most comparisons end there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Reached {
    digest: u64,
    module: usize,
    values: Vec<Value>,
}

/// Why a movement has no cost.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MovementError {
    /// A module's cost is not given.
    #[error("the cost of module `{module}` is not known; give it a cost, or pass costs in")]
    UnknownCost {
        /// The module.
        module: Arc<str>,
    },
    /// Not one cost per module.
    #[error("there are {modules} modules but {costs} costs; pass one for each")]
    Length {
        /// How many modules there are.
        modules: usize,
        /// How many costs were passed.
        costs: usize,
    },
    /// A cost that is negative, infinite or NaN.
    #[error("the cost of module {module} (counted from 0) is {cost}; pass a finite number of at least 0")]
    Cost {
        /// The module.
        module: usize,
        /// What was passed.
        cost: f64,
    },
    /// Costs whose sum is past the largest double.
    #[error("the costs add up to more than a number can hold; use a larger unit")]
    Overflow,
}

impl Movement {
    /// Γ: the sum of the costs of the modules that run.
    pub fn cost(&self, costs: &[f64]) -> Result<f64, MovementError> {
        if costs.len() != self.modules {
            return Err(MovementError::Length { modules: self.modules, costs: costs.len() });
        }
        if let Some(module) = costs.iter().position(|c| !(c.is_finite() && *c >= 0.0)) {
            return Err(MovementError::Cost { module, cost: costs[module] });
        }
        let charged = self.runs.iter().filter_map(|m| costs.get(m));
        // From 0, for an empty sum of floats is −0.
        let gamma = charged.fold(0.0, |gamma, c| gamma + c);
        if gamma.is_finite() { Ok(gamma) } else { Err(MovementError::Overflow) }
    }
}

impl RunHistory {
    /// Nothing has run yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// What would have to run for `next`.
    pub fn movement(&self, space: &Space, model: CostModel, next: &Point) -> Result<Movement, SpaceError> {
        check(space, next)?;
        let modules = space.modules().len();
        Ok(match model {
            CostModel::Previous => match &self.last {
                Some((last, done)) => from_previous(space, last, *done, next),
                None => everything(modules),
            },
            CostModel::Cache => {
                let is_new = |m: &usize| !self.prefixes.contains_key(&reached(space, next, *m));
                let runs: StageSet = (0..modules).filter(is_new).collect();
                Movement { first_changed: runs.lowest(), runs, modules }
            }
        })
    }

    /// Of the modules that would run for `next` those that still would once every module has run on `point` as well, under a cache.
    pub(crate) fn left_after(space: &Space, runs: &StageSet, point: &Point, next: &Point) -> StageSet {
        runs.both(&unshared(space, point, space.modules().len(), next))
    }

    /// Notes that every module has run on `point`, or was at hand.
    pub fn record(&mut self, space: &Space, point: &Point) -> Result<(), SpaceError> {
        self.record_until(space, point, space.modules().len())
    }

    /// Notes a run that failed: only the first `done` modules have their outputs.
    ///
    /// In a graph, later modules of another branch may have run as well; they count as not at hand, which charges too much rather than too little.
    pub fn record_until(&mut self, space: &Space, point: &Point, done: usize) -> Result<(), SpaceError> {
        check(space, point)?;
        let done = done.min(space.modules().len());
        for m in 0..done {
            let times = self.prefixes.entry(reached(space, point, m)).or_insert(0);
            *times = times.saturating_add(1);
        }
        self.last = Some((point.clone(), done));
        Ok(())
    }

    /// Takes back that the modules from `done` on have run on a point that was recorded as a whole.
    pub(crate) fn take_back(&mut self, space: &Space, point: &Point, done: usize) {
        for m in done..space.modules().len() {
            if let Entry::Occupied(mut entry) = self.prefixes.entry(reached(space, point, m)) {
                let times = entry.get_mut();
                *times = times.saturating_sub(1);
                if *times == 0 {
                    entry.remove();
                }
            }
        }
    }

    /// Makes the last run of `other` the last one here.
    pub(crate) fn end_like(&mut self, other: &Self) {
        self.last.clone_from(&other.last);
    }

    /// Makes this point, on which every module has run, the last one.
    pub(crate) fn end_with(&mut self, space: &Space, point: &Point) {
        self.last = Some((point.clone(), space.modules().len()));
    }
}

impl Space {
    /// What runs for `next` when only the outputs of `previous` are at hand; everything if there is no previous point.
    pub fn movement(&self, previous: Option<&Point>, next: &Point) -> Result<Movement, SpaceError> {
        check(self, next)?;
        match previous {
            Some(previous) => {
                check(self, previous)?;
                Ok(from_previous(self, previous, self.modules().len(), next))
            }
            None => Ok(everything(self.modules().len())),
        }
    }

    /// The cost of every module, if all are given.
    pub fn given_costs(&self) -> Result<Vec<f64>, MovementError> {
        let cost = |module: &super::Module| match module.cost_kind() {
            Cost::Given(c) => Ok(c),
            _ => Err(MovementError::UnknownCost { module: module.name().clone() }),
        };
        self.modules().iter().map(cost).collect()
    }
}

fn check(space: &Space, point: &Point) -> Result<(), SpaceError> {
    if space.owns(point) { Ok(()) } else { Err(SpaceError::ForeignPoint { point: point.to_string() }) }
}

fn everything(modules: usize) -> Movement {
    Movement { first_changed: (modules > 0).then_some(0), runs: StageSet::all(modules), modules }
}

/// The modules that something else reaches at `next` than at `last`, or that did not finish there: all but the first `done` of them.
fn unshared(space: &Space, last: &Point, done: usize, next: &Point) -> StageSet {
    let modules = space.modules().len();
    let differs = |m: &usize| {
        let own = space.module_params(*m);
        *m >= done || last.values().get(own.clone()) != next.values().get(own)
    };
    let changed: StageSet = (0..modules).filter(differs).collect();
    let reached = |m: &usize| changed.iter().any(|k| space.wiring().feeds(k, *m));
    (0..modules).filter(reached).collect()
}

/// What runs where the outputs of the iteration before are at hand.
fn from_previous(space: &Space, last: &Point, done: usize, next: &Point) -> Movement {
    let modules = space.modules().len();
    let mut runs = unshared(space, last, done, next);
    let first_changed = runs.lowest();
    // The result itself is wanted anew at every iteration: the paper's experiments charge the last module always.
    if let Some(last) = modules.checked_sub(1) {
        runs.insert(last);
    }
    Movement { first_changed, runs, modules }
}

/// Module `m` with the values that reach it, in order.
fn reached(space: &Space, point: &Point, m: usize) -> Reached {
    let upstream = (0..space.modules().len()).filter(|&k| space.wiring().feeds(k, m));
    let values: Vec<Value> =
        upstream.filter_map(|k| point.values().get(space.module_params(k))).flatten().cloned().collect();
    let digest = values.iter().fold(FNV_OFFSET, digest);
    Reached { digest, module: m, values }
}

/// The constants of FNV-1a for 64 bits (Fowler, Noll & Vo).
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

fn digest(before: u64, value: &Value) -> u64 {
    let word = |hash: u64, word: u64| (hash ^ word ^ word >> 32).wrapping_mul(FNV_PRIME);
    match value {
        Value::Int(i) => word(before, i.cast_unsigned()),
        Value::Float(x) => word(before, x.to_bits()),
        Value::Choice(text) => text.bytes().fold(before, |hash, byte| word(hash, byte.into())),
        Value::Bool(b) => word(before, u64::from(*b)),
    }
}
