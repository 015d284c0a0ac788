//! Frozen prefixes: Γ takes few values, so a cost-aware acquisition function is maximised once for each of them.
//!
//! ```text
//! for every first free module m, and every prefix x_{1:m−1} that is at hand:
//!   maximise over u the acquisition at [x_{1:m−1}, u];  modules from m on run, and those of the prefix that are not at hand
//! ```
//!
//! A maximiser over the whole space never lands on values that were run before, and always pays for everything. At hand is the previous
//! point, that of the last trial that did not fail, and with a cache the [`POOL`] best points as well, or so many different prefixes of every depth ([`different`]). A free module counts as
//! run even if its value turns out to be one seen before: otherwise a point that costs nothing would be repeated for ever.
//!
//! In a graph of modules there are more ways to keep values: for every module also all but those that it feeds, so that a branch can move beside another
//! that stays. Whatever is kept, everything upstream of it is kept, too.

use std::sync::Arc;

use rayon::prelude::*;

use super::model::Model;
use super::state::{Place, StrategyState};
use super::wide;
use crate::acquisition::{MaximiseError, Maximiser, Objective, Region, Told};
use crate::space::{Batch, CostModel, Point, Space, StageSet, Value, Wiring};
use crate::strategy::{Proposal, StrategyError, View};
use crate::trial::Trial;

/// Best points whose prefixes are tried under a cache: as many as EEIPU takes (arXiv 2411.03731).
const POOL: usize = 5;

/// Best points among which different prefixes are looked for: more would take time and are far from the best.
const LOOKED_AT: usize = 1_000;

/// How hard to look beside each prefix by default: there are several, and each has fewer free coordinates than the whole.
pub(crate) fn effort() -> Maximiser {
    Maximiser { raw: 256, near_hints: 96, starts: 8, max_evaluations: 60, seed: 0 }
}

/// The values of modules that are kept, and what runs then.
#[derive(Clone, Debug)]
pub(crate) struct Prefix<'a> {
    /// The modules that are kept; with a module, all that feed it are.
    keeps: StageSet,
    /// The point they are kept from, and its code; `None` where there is none yet.
    point: Option<(&'a Point, Vec<f64>)>,
    /// The modules that run.
    pub(crate) runs: StageSet,
}

/// The best place beside a prefix.
pub(crate) struct Candidate<'a> {
    /// The prefix.
    pub(crate) prefix: &'a Prefix<'a>,
    /// Where.
    pub(crate) place: Place<'a>,
    /// The value of what was maximised.
    pub(crate) value: f64,
}

/// The prefixes worth trying, those that keep least first and those that only graphs have at the end; the first keeps nothing.
pub(crate) fn prefixes<'a>(view: &View<'a>) -> Result<Vec<Prefix<'a>>, StrategyError> {
    gather(view, &pool(view, POOL), usize::MAX)
}

/// The same with, under a cache, so many different prefixes for every way to keep values, those of the best points first. The best points often share
/// their early values; this finds its way back to others, too.
pub(crate) fn different<'a>(view: &View<'a>, most: usize) -> Result<Vec<Prefix<'a>>, StrategyError> {
    gather(view, &pool(view, LOOKED_AT), most)
}

/// The prefixes of these points, each once and at most so many for every way to keep values beside those of the first point.
fn gather<'a>(view: &View<'a>, pool: &[&'a Point], most: usize) -> Result<Vec<Prefix<'a>>, StrategyError> {
    let mut prefixes: Vec<Prefix<'a>> = Vec::new();
    let mut seen: Vec<(StageSet, Vec<&[Value]>)> = Vec::new();
    let tunable = tunable(view.space);
    let (ways, most) = wide::ways(view.space, ways_to_keep(view.space), most, view.trials.len());
    for keeps in ways {
        let before = prefixes.len();
        for point in pool {
            if prefixes.len() - before > most {
                break;
            }
            // A module without parameters is kept for nothing: what matters are those with values.
            let with_values = keeps.both(&tunable);
            let values = kept_values(view.space, &with_values, point);
            let way = (with_values, values);
            if !seen.contains(&way) {
                seen.push(way);
                prefixes.push(prefix(view, &keeps, point)?);
            }
        }
    }
    if prefixes.is_empty() {
        prefixes.push(whole(view));
    }
    Ok(prefixes)
}

/// The prefix that keeps nothing and finds nothing at hand, as methods have it that do not freeze.
pub(crate) fn whole<'a>(view: &View<'_>) -> Prefix<'a> {
    let modules = view.space.modules().len();
    Prefix { keeps: StageSet::empty(), point: None, runs: StageSet::all(modules) }
}

impl<'a> Prefix<'a> {
    /// Whether a module before `last` is free and can change.
    pub(crate) fn opens(&self, space: &Space, last: usize) -> bool {
        !tunable(space).both(&StageSet::first(last)).is_subset(&self.keeps)
    }

    /// Whether the values that are kept lie in a box of the unit cube, give or take a little.
    pub(crate) fn fits(&self, space: &Space, lower: &[f64], upper: &[f64], slack: f64) -> bool {
        let Some((_, u)) = &self.point else { return true };
        let mut kept = self.keeps.iter().flat_map(|m| space.module_coordinates(m));
        kept.all(|i| match (u.get(i), lower.get(i), upper.get(i)) {
            (Some(u), Some(low), Some(high)) => low - slack <= *u && *u <= high + slack,
            _ => false,
        })
    }

    /// The point that values are kept from, if there is one, and which modules are.
    pub(crate) fn kept(&self) -> (Option<&'a Point>, StageSet) {
        (self.point.as_ref().map(|(point, _)| *point), self.keeps.clone())
    }

    /// What is left to search.
    pub(crate) fn region<'s>(&self, space: &'s Space, told: &Arc<Told>) -> Result<Region<'s>, MaximiseError> {
        let mut region = Region::of(space).beside(told);
        let Some((_, u)) = &self.point else { return Ok(region) };
        for own in self.keeps.iter().map(|m| space.module_coordinates(m)) {
            region = region.freeze(own.start, u.get(own).unwrap_or_default())?;
        }
        Ok(region)
    }

    /// Whether no value is kept.
    fn is_whole(&self, space: &Space) -> bool {
        self.point.is_none() || self.keeps.both(&tunable(space)).is_empty()
    }
}

/// Maximises beside each prefix; those beside which forbidden regions or earlier trials leave nothing are left out.
pub(crate) fn solve<'a, O: Objective>(
    view: &View<'a>,
    prefixes: &'a [Prefix<'a>],
    objective: impl Fn(&'a Prefix<'a>) -> O + Sync,
    hints: &Batch,
    effort: &Maximiser,
) -> Result<Vec<Candidate<'a>>, StrategyError> {
    let (told, effort) = (view.told()?, wide::effort(view.space, effort));
    let solved: Vec<Result<Option<Candidate<'a>>, StrategyError>> = prefixes
        .par_iter()
        .map(|prefix| {
            let region = prefix.region(view.space, &told)?;
            match effort.maximise(&objective(prefix), &region, hints) {
                Ok(best) => {
                    let kept = prefix.point.as_ref().map(|(point, _)| (*point, &prefix.keeps));
                    let place = Place { region, kept, x: best.x };
                    Ok(Some(Candidate { prefix, place, value: best.value }))
                }
                Err(
                    MaximiseError::Forbidden(_)
                    | MaximiseError::NothingAllowed
                    | MaximiseError::NothingFinite,
                ) if !prefix.is_whole(view.space) => Ok(None),
                Err(error) => Err(error.into()),
            }
        })
        .collect();
    solved.into_iter().filter_map(Result::transpose).collect()
}

/// A proposal of the best place beside any of these prefixes, and the value there; what is maximised depends on what has to run.
pub(crate) fn propose<'a, O: Objective>(
    state: &StrategyState,
    view: &View<'a>,
    model: &Model,
    prefixes: &'a [Prefix<'a>],
    objective: impl Fn(&'a StageSet) -> O + Sync,
    effort: &Maximiser,
) -> Result<(Proposal, f64), StrategyError> {
    let of_prefix = |prefix: &'a Prefix<'a>| objective(&prefix.runs);
    let candidates = solve(view, prefixes, of_prefix, &model.hints(), &state.effort(effort))?;
    let best = best(&candidates, |candidate| candidate.value)?;
    let proposal = state.propose(view, model, &of_prefix(best.prefix), &best.place)?;
    Ok((proposal, best.value))
}

/// The candidate with the largest score, the one that keeps least among equals.
pub(crate) fn best<'c, 'a>(
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

/// The previous point, and with a cache so many of the best points, lowest first.
fn pool<'a>(view: &View<'a>, most: usize) -> Vec<&'a Point> {
    let previous = view.trials.iter().rfind(|trial| !trial.is_failed()).map(Trial::point);
    let mut pool: Vec<&Point> = previous.into_iter().collect();
    if view.cost_model == CostModel::Cache {
        let mut told: Vec<(f64, &Point)> =
            view.trials.iter().filter_map(|trial| Some((trial.value()?, trial.point()))).collect();
        told.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut best: Vec<&Point> = Vec::new();
        for (_, point) in told {
            if best.len() == most {
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

/// Which modules to keep at this trial: of many ways in a wide space a few.
pub(crate) fn ways(view: &View<'_>) -> Vec<StageSet> {
    wide::ways(view.space, ways_to_keep(view.space), 1, view.trials.len()).0
}

/// Which modules to keep: all before one that can change and, where that is more, all that it does not feed.
pub(crate) fn ways_to_keep(space: &Space) -> Vec<StageSet> {
    let (modules, tunable) = (space.modules().len(), tunable(space));
    let mut ways: Vec<StageSet> = tunable.iter().map(StageSet::first).collect();
    if *space.wiring() != Wiring::Chain {
        let not_fed_by = |m: usize| (0..modules).filter(|&k| !space.wiring().feeds(m, k)).collect();
        ways.extend(tunable.iter().map(not_fed_by));
    }
    ways
}

/// The modules with parameters.
pub(crate) fn tunable(space: &Space) -> StageSet {
    (0..space.modules().len()).filter(|&m| !space.module_params(m).is_empty()).collect()
}

fn kept_values<'p>(space: &Space, keeps: &StageSet, point: &'p Point) -> Vec<&'p [Value]> {
    keeps.iter().filter_map(|m| point.values().get(space.module_params(m))).collect()
}

fn prefix<'a>(view: &View<'a>, keeps: &StageSet, point: &'a Point) -> Result<Prefix<'a>, StrategyError> {
    // After a failure not even the previous point is at hand as a whole.
    let free = StageSet::all(view.space.modules().len()).without(keeps);
    let runs = view.movement(point)?.runs.union(&free);
    Ok(Prefix { keeps: keeps.clone(), point: Some((point, view.space.encode(point)?)), runs })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{Cost, Module, Param, RunHistory};
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
        found_in(&space(), points, cost_model)
    }

    /// The first free module, what is frozen, and what runs then costs.
    fn found_in(
        space: &Space,
        points: &[([f64; 3], Option<f64>)],
        cost_model: CostModel,
    ) -> Vec<(usize, Vec<f64>, f64)> {
        let (trials, history) = told(space, points);
        let (costs, history) = (space.given_costs().unwrap(), &history);
        let view = View {
            space,
            trials: &trials,
            costs: Some(&costs),
            cost_model,
            history,
            spent: 0.0,
            budget: None,
            most_trials: None,
        };
        let gamma = |runs: &StageSet| runs.iter().map(|m| costs[m]).sum();
        let frozen = |p: &Prefix<'_>| -> Vec<f64> {
            let region = p.region(space, &Arc::default()).unwrap();
            let ends = region.lower().iter().zip(region.upper());
            ends.filter(|(low, high)| low == high).map(|(low, _)| *low).collect()
        };
        let first_free = |p: &Prefix<'_>| (0..4).find(|&m| !p.keeps.contains(m)).unwrap();
        prefixes(&view).unwrap().iter().map(|p| (first_free(p), frozen(p), gamma(&p.runs))).collect()
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

    #[test]
    fn different_prefixes_are_gone_back_to_where_the_best_points_share_one() {
        let space = space();
        // Eight good points behind one early value, and two others that are worse.
        let mut points: Vec<([f64; 3], Option<f64>)> =
            (0..8).map(|i| ([0.25, 0.5, 0.1 * i as f64], Some(0.1 * i as f64))).collect();
        points.extend([([0.5, 0.25, 0.5], Some(5.0)), ([0.75, 0.25, 0.5], Some(6.0))]);
        let (trials, history) = told(&space, &points);
        let costs = space.given_costs().unwrap();
        let view = View {
            space: &space,
            trials: &trials,
            costs: Some(&costs),
            cost_model: CostModel::Cache,
            history: &history,
            spent: 0.0,
            budget: None,
            most_trials: None,
        };
        let firsts =
            |prefixes: &[Prefix<'_>]| prefixes.iter().filter(|p| p.keeps == StageSet::first(2)).count();
        assert_eq!(firsts(&prefixes(&view).unwrap()), 2, "of the previous point and of the best ones");
        assert_eq!(firsts(&different(&view, 8).unwrap()), 3);
        assert_eq!(firsts(&different(&view, 1).unwrap()), 2);
    }

    #[test]
    fn a_branch_of_a_graph_moves_while_the_other_stays() {
        // load feeds everything; first and second are independent and both feed third.
        let graph = space().wired(&[vec![], vec![0], vec![0], vec![1, 2]]).unwrap();
        let points = [([0.5, 0.25, 0.125], Some(2.0))];
        let expected =
            [(1, vec![], 51.0), (2, vec![0.5], 11.0), (3, vec![0.5, 0.25], 1.0), (1, vec![0.25], 41.0)];
        assert_eq!(found_in(&graph, &points, CostModel::Previous), expected);
    }
}
