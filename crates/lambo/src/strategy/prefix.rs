//! Frozen prefixes: Γ takes few values, so a cost-aware acquisition function is maximised once for each of them.
//!
//! ```text
//! for every first free module m, and every prefix x_{1:m−1} that is at hand:
//!   maximise over u the acquisition at [x_{1:m−1}, u];  modules from m on run, and those of the prefix that are not at hand
//! ```
//!
//! A maximiser over the whole space never lands on values that were run before, and always pays for everything. At hand is the previous
//! point, that of the last trial that did not fail, and with a cache the [`POOL`] best points as well. A free module counts as
//! run even if its value turns out to be one seen before: otherwise a point that costs nothing would be repeated for ever.

use rayon::prelude::*;

use super::course::{Course, Place};
use super::model::Model;
use super::{Proposal, StrategyError, View};
use crate::acquisition::{MaximiseError, Maximiser, Objective, Region};
use crate::space::{Batch, CostModel, Point, Value};
use crate::trial::Trial;

/// Best points whose prefixes are tried under a cache: as many as EEIPU takes (arXiv 2411.03731).
const POOL: usize = 5;

/// How hard to look beside each prefix by default: there are several, and each has fewer free coordinates than the whole.
pub(super) fn effort() -> Maximiser {
    Maximiser { raw: 256, near_hints: 96, starts: 8, max_evaluations: 60, seed: 0 }
}

/// The values of early modules that are kept, and what runs then.
#[derive(Clone, Debug)]
pub(super) struct Prefix<'a> {
    /// How many modules are kept.
    pub(super) kept: usize,
    /// The point they are kept from; `None` where there is none yet.
    point: Option<&'a Point>,
    /// Its coordinates that are frozen.
    frozen: Vec<f64>,
    /// Whether each module runs.
    pub(super) runs: Vec<bool>,
}

/// The best place beside a prefix.
pub(super) struct Candidate<'a> {
    /// The prefix.
    pub(super) prefix: &'a Prefix<'a>,
    /// Where.
    pub(super) place: Place<'a>,
    /// The value of what was maximised.
    pub(super) value: f64,
}

/// The prefixes worth trying, those that keep least first; the first keeps nothing.
pub(super) fn prefixes<'a>(view: &View<'a>) -> Result<Vec<Prefix<'a>>, StrategyError> {
    let pool = pool(view);
    let mut prefixes: Vec<Prefix<'a>> = Vec::new();
    let mut seen: Vec<&[Value]> = Vec::new();
    // A module without parameters cannot change: what matters is the first one that can.
    let tunable = |m: &usize| !view.space.module_params(*m).is_empty();
    for kept in (0..view.space.modules().len()).filter(tunable) {
        for point in &pool {
            let values = point.values().get(..view.space.module_params(kept).start).unwrap_or_default();
            if !seen.contains(&values) {
                seen.push(values);
                prefixes.push(prefix(view, kept, point)?);
            }
        }
    }
    if prefixes.is_empty() {
        prefixes.push(whole(view));
    }
    Ok(prefixes)
}

/// The prefix that keeps nothing and finds nothing at hand, as methods have it that do not freeze.
pub(super) fn whole<'a>(view: &View<'_>) -> Prefix<'a> {
    Prefix { kept: 0, point: None, frozen: Vec::new(), runs: vec![true; view.space.modules().len()] }
}

/// Maximises beside each prefix; those that forbidden regions leave nothing beside are left out.
pub(super) fn solve<'a, O: Objective>(
    view: &View<'a>,
    prefixes: &'a [Prefix<'a>],
    objective: impl Fn(&'a Prefix<'a>) -> O + Sync,
    hints: &Batch,
    effort: &Maximiser,
) -> Result<Vec<Candidate<'a>>, StrategyError> {
    let solved: Vec<Result<Option<Candidate<'a>>, StrategyError>> = prefixes
        .par_iter()
        .map(|prefix| {
            let region = Region::of(view.space).freeze(0, &prefix.frozen)?;
            match effort.maximise(&objective(prefix), &region, hints) {
                Ok(best) => {
                    let kept = prefix.point.map(|point| (point, prefix.kept));
                    let place = Place { region, kept, x: best.x };
                    Ok(Some(Candidate { prefix, place, value: best.value }))
                }
                Err(
                    MaximiseError::Forbidden(_)
                    | MaximiseError::NothingAllowed
                    | MaximiseError::NothingFinite,
                ) if !prefix.frozen.is_empty() => Ok(None),
                Err(error) => Err(error.into()),
            }
        })
        .collect();
    solved.into_iter().filter_map(Result::transpose).collect()
}

/// A proposal of the best place beside any of these prefixes, and the value there; what is maximised depends on what has to run.
pub(super) fn propose<'a, O: Objective>(
    course: &Course,
    view: &View<'a>,
    model: &Model,
    prefixes: &'a [Prefix<'a>],
    objective: impl Fn(&'a [bool]) -> O + Sync,
    effort: &Maximiser,
) -> Result<(Proposal, f64), StrategyError> {
    let of_prefix = |prefix: &'a Prefix<'a>| objective(&prefix.runs);
    let candidates = solve(view, prefixes, of_prefix, &model.hints(), &course.effort(effort))?;
    let best = best(&candidates, |candidate| candidate.value)?;
    let proposal = course.propose(view, model, &of_prefix(best.prefix), &best.place)?;
    Ok((proposal, best.value))
}

/// The candidate with the largest score, the one that keeps least among equals.
pub(super) fn best<'c, 'a>(
    candidates: &'c [Candidate<'a>],
    score: impl Fn(&Candidate<'a>) -> f64,
) -> Result<&'c Candidate<'a>, StrategyError> {
    let mut best: Option<(&Candidate<'a>, f64)> = None;
    for candidate in candidates {
        let score = score(candidate);
        if best.is_none_or(|(_, highest)| score > highest || highest.is_nan()) {
            best = Some((candidate, score));
        }
    }
    best.map(|(candidate, _)| candidate).ok_or(StrategyError::Maximise(MaximiseError::NothingFinite))
}

/// The previous point, and with a cache the best points, lowest first.
fn pool<'a>(view: &View<'a>) -> Vec<&'a Point> {
    let previous = view.trials.iter().rfind(|trial| !trial.is_failed()).map(Trial::point);
    let mut pool: Vec<&Point> = previous.into_iter().collect();
    if view.cost_model == CostModel::Cache {
        let mut told: Vec<(f64, &Point)> =
            view.trials.iter().filter_map(|trial| Some((trial.value()?, trial.point()))).collect();
        told.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut best: Vec<&Point> = Vec::new();
        for (_, point) in told {
            if best.len() == POOL {
                break;
            }
            if !best.contains(&point) {
                best.push(point);
            }
        }
        pool.extend(best);
    }
    pool
}

fn prefix<'a>(view: &View<'a>, kept: usize, point: &'a Point) -> Result<Prefix<'a>, StrategyError> {
    let mut frozen = view.space.encode(point)?;
    frozen.truncate(view.space.module_coordinates(kept).start);
    // After a failure not even the previous point is at hand as a whole.
    let mut runs = view.movement(point)?.runs;
    runs.iter_mut().skip(kept).for_each(|runs| *runs = true);
    Ok(Prefix { kept, point: Some(point), frozen, runs })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{Cost, Module, Param, RunHistory, Space};
    use crate::trial::{Proposed, TrialId};

    fn space() -> Space {
        let module = |name: &str, cost: f64, params: &[&str]| {
            let params: Vec<Param> = params.iter().map(|p| Param::float(p, 0.0, 1.0).unwrap()).collect();
            Module::new(name, params).unwrap().cost(Cost::Given(cost)).unwrap()
        };
        Space::new([
            module("load", 3.0, &[]),
            module("first", 40.0, &["a"]),
            module("second", 10.0, &["b"]),
            module("third", 1.0, &["c"]),
        ])
        .unwrap()
    }

    /// Trials at these points with these values, in order; `None` failed at once.
    fn told(space: &Space, points: &[([f64; 3], Option<f64>)]) -> (Vec<Trial>, RunHistory) {
        let mut history = RunHistory::new();
        let trials = points.iter().enumerate().map(|(i, (u, value))| {
            let point = space.decode(u).unwrap();
            let trial = Proposed::new(TrialId::new(i as u64), point.clone());
            let done = if value.is_some() { 4 } else { 0 };
            history.record_until(space, &point, done).unwrap();
            match value {
                Some(value) => Trial::Observed(trial.observe(*value).unwrap()),
                None => Trial::Failed(trial.fail("broke")),
            }
        });
        (trials.collect(), history)
    }

    fn found(points: &[([f64; 3], Option<f64>)], cost_model: CostModel) -> Vec<(usize, Vec<f64>, f64)> {
        let space = space();
        let (trials, history) = told(&space, points);
        let (costs, history) = (space.given_costs().unwrap(), &history);
        let view = View {
            space: &space,
            trials: &trials,
            costs: Some(&costs),
            cost_model,
            history,
            spent: 0.0,
            budget: None,
        };
        let gamma = |runs: &[bool]| runs.iter().zip(&costs).filter(|(runs, _)| **runs).map(|(_, c)| c).sum();
        prefixes(&view).unwrap().iter().map(|p| (p.kept, p.frozen.clone(), gamma(&p.runs))).collect()
    }

    #[test]
    fn the_previous_point_is_kept_up_to_every_module_that_can_change() {
        let points = [([0.25, 0.5, 0.75], Some(1.0)), ([0.5, 0.25, 0.125], Some(2.0))];
        let expected = [(1, vec![], 51.0), (2, vec![0.5], 11.0), (3, vec![0.5, 0.25], 1.0)];
        assert_eq!(found(&points, CostModel::Previous), expected);
    }

    #[test]
    fn after_a_failure_the_point_before_it_is_no_longer_at_hand() {
        let points = [([0.25, 0.5, 0.75], Some(1.0)), ([0.5, 0.25, 0.125], None)];
        let expected = [(1, vec![], 54.0), (2, vec![0.25], 54.0), (3, vec![0.25, 0.5], 54.0)];
        assert_eq!(found(&points, CostModel::Previous), expected);
        // A cache still has it.
        let gammas: Vec<f64> = found(&points, CostModel::Cache).iter().map(|p| p.2).collect();
        assert_eq!(gammas, [51.0, 11.0, 1.0]);
    }

    #[test]
    fn a_cache_offers_each_prefix_of_the_best_points_once() {
        let points =
            [([0.25, 0.5, 0.75], Some(1.0)), ([0.25, 0.75, 0.5], Some(0.5)), ([0.5, 0.25, 0.125], Some(2.0))];
        let kept: Vec<Vec<f64>> = found(&points, CostModel::Cache).into_iter().map(|p| p.1).collect();
        let expected = [vec![], vec![0.5], vec![0.25], vec![0.5, 0.25], vec![0.25, 0.75], vec![0.25, 0.5]];
        assert_eq!(kept, expected);
    }
}
