//! What a strategy sees of a study.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Past;
use crate::acquisition::Told;
use crate::space::{Axis, CostModel, Movement, Point, RunHistory, Space, SpaceError};
use crate::trial::Trial;

/// What a strategy sees of a study: everything is minimised.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// What can be tuned.
    pub space: &'a Space,
    /// All trials in the order asked, also open and failed ones.
    pub trials: &'a [Trial],
    /// What a run of each module is expected to cost, if that is known.
    pub costs: Option<&'a [f64]>,
    /// Which earlier outputs are at hand.
    pub cost_model: CostModel,
    /// The runs so far, open trials counted as if they had finished.
    pub history: &'a RunHistory,
    /// What has been spent so far.
    pub spent: f64,
    /// What may be spent in all, if there is a limit.
    pub budget: Option<f64>,
    /// How many trials may be asked for in all, if there is a limit.
    pub most_trials: Option<usize>,
}

#[cfg(test)]
impl<'a> View<'a> {
    /// Of trials that nobody knows the costs of, without limits.
    pub(crate) fn of(space: &'a Space, trials: &'a [Trial], history: &'a RunHistory) -> Self {
        Self {
            space,
            trials,
            costs: None,
            cost_model: CostModel::Previous,
            history,
            spent: 0.0,
            budget: None,
            most_trials: None,
        }
    }
}

impl<'a> View<'a> {
    /// The same trials without what became of them.
    pub fn past(&self) -> Past<'a> {
        Past::new(self.space, self.trials)
    }

    /// The points of open trials.
    pub fn open(&self) -> impl Iterator<Item = &'a Point> + 'a {
        self.trials.iter().filter(|trial| trial.is_open()).map(Trial::point)
    }

    /// Whether this point is being tried right now.
    pub fn is_open(&self, point: &Point) -> bool {
        self.open().any(|open| open == point)
    }

    /// The codes of all points that were proposed, where the space has any that can be met twice; what is open will be told.
    /// A trial that was withdrawn was never told.
    pub(crate) fn told(&self) -> Result<Arc<Told>, SpaceError> {
        if self.space.axes().iter().all(|axis| *axis == Axis::Continuous) {
            return Ok(Arc::default());
        }
        let trials = self.trials.iter().filter(|trial| !trial.is_withdrawn());
        let codes = trials.map(|trial| self.space.encode(trial.point()));
        let codes = codes.collect::<Result<Vec<_>, _>>()?;
        Ok(Arc::new(Told::new(codes).with_tried(self.tried()?)))
    }

    /// What was tried of every large choice, by coordinate: each code once, those of the lowest values first.
    fn tried(&self) -> Result<BTreeMap<usize, Vec<f64>>, SpaceError> {
        let mut tried: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        let categories = self.space.categories();
        if !categories.contains(&true) {
            return Ok(tried);
        }
        let mut trials: Vec<&Trial> = self.trials.iter().filter(|trial| !trial.is_withdrawn()).collect();
        let value = |trial: &Trial| trial.value().unwrap_or(f64::INFINITY);
        trials.sort_by(|a, b| value(a).total_cmp(&value(b)));
        for trial in trials {
            let codes = self.space.encode(trial.point())?;
            for (d, code) in codes.into_iter().enumerate().filter(|(d, _)| categories[*d]) {
                let known = tried.entry(d).or_default();
                if !known.contains(&code) {
                    known.push(code);
                }
            }
        }
        Ok(tried)
    }

    /// What would have to run for a point.
    pub fn movement(&self, point: &Point) -> Result<Movement, SpaceError> {
        self.history.movement(self.space, self.cost_model, point)
    }

    /// What running a point is expected to cost, if costs are known.
    pub fn expected_cost(&self, movement: &Movement) -> Option<f64> {
        self.costs.and_then(|costs| movement.cost(costs).ok())
    }
}
