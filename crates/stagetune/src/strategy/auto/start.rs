//! How `auto` starts: a few settings of dear modules, each with several of the cheap ones behind it.
//!
//! ```text
//! C_m          what module m and all that it feeds cost
//! k_m        = how often the next module that m feeds is drawn for each draw of m:  half of C_m / C_next, between 1 and 4
//! stride_m   = k_m · k_next ⋯      trials for which a draw of m is kept;  1 for the last
//! points     = 2 · the longest stride, at least D + 2 (4 to 10) and at most 24; in a graph enough for every branch to move once
//! ```
//!
//! A draw of the first module that costs fifty times the rest is thus looked at from four sides for a twelfth of what it cost; where costs are equal nothing
//! is kept, and the start is a plain quasi-random one. Costs that are measured are those of the trials so far, so that the rule is asked before every trial:
//! a module is drawn anew once its draw has been kept for as many trials as it is worth, when a trial has failed in it, or when two have failed
//! behind it and none has succeeded. In a graph a module is drawn with those that it feeds, the other branches stay and have their turn later.
//! Failed trials do not count as points. While all values are the same there is nothing to model, and the start goes on.

use super::trial_overhead;
use crate::space::{Batch, Point, Space, SpaceError, StageSet, Value, Wiring};
use crate::strategy::parts::design::quasi_random;
use crate::strategy::parts::fresh::{away_from_open, within};
use crate::strategy::parts::stage_cost::StageCosts;
use crate::strategy::parts::stream::{Purpose, seed_of, stream};
use crate::strategy::{StrategyError, View};
use crate::trial::{Failed, Trial};

/// The most draws of a module for each draw of the one before it: later ones tell less than another draw of that would.
const MOST_BEHIND: usize = 4;

/// Share of a draw's cost that looking at it from several sides may cost.
const SHARE: f64 = 0.5;

/// Draws of the first module.
const FIRST_DRAWS: usize = 2;

/// The least number of points, whatever the dimension.
const FEWEST: usize = 4;

/// Beyond this number of points the model chooses better than chance, whatever the dimension.
const ENOUGH: usize = 10;

/// The most points: with many modules of very different costs strides multiply.
const LONGEST_START: usize = 24;

/// Trials that may fail behind a draw while none succeeds.
const MOST_FAILURES: usize = 2;

/// Further draws that are looked at where a point was tried already.
const ATTEMPTS: usize = 32;

/// What the start has drawn so far; kept by the strategy, since values that can be met twice do not show it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Drawn {
    /// How often each module was drawn.
    draws: Vec<usize>,
    /// For how many trials each draw has been kept.
    kept: Vec<usize>,
}

/// What is known of the start at a trial.
#[derive(Debug, PartialEq)]
pub(super) struct Start {
    /// What is drawn with a module.
    wiring: Wiring,
    /// For how many trials a draw of each module is kept; those without parameters are kept for ever.
    strides: Vec<usize>,
    /// How many points there are.
    points: usize,
    /// What every module costs.
    costs: Vec<f64>,
}

impl Drawn {
    /// Whether module `m` is drawn when `first` is: all are for the first trial, and for a number beyond the last module.
    fn with(&self, wiring: &Wiring, first: usize, m: usize) -> bool {
        first >= self.draws.len() || wiring.feeds(first, m)
    }

    /// Takes note that `first` and what it feeds were drawn for a trial.
    pub(super) fn draw_from(&mut self, first: usize, wiring: &Wiring, modules: usize) {
        let drawn: StageSet = (0..modules).filter(|&m| self.with(wiring, first, m)).collect();
        self.draws.resize(modules, 0);
        self.kept.resize(modules, 0);
        for m in 0..modules {
            if drawn.contains(m) {
                self.draws[m] += 1;
                self.kept[m] = 0;
            }
            self.kept[m] += 1;
        }
    }
}

/// What is drawn with a module: what it feeds or, where nothing is kept, all after it.
pub(super) fn wiring(space: &Space, nested: bool) -> Wiring {
    if nested { space.wiring().clone() } else { Wiring::Chain }
}

impl Start {
    /// By what is known of costs now; `nested` is whether anything is kept at all.
    pub(super) fn of(view: &View<'_>, nested: bool, costs: &StageCosts) -> Self {
        let space = view.space;
        let wiring = wiring(space, nested);
        let each = stage_costs(costs, space);
        let from = |m: usize| -> f64 {
            each.iter().enumerate().filter(|(k, _)| space.wiring().feeds(m, *k)).map(|(_, cost)| cost).sum()
        };
        let mut strides = vec![usize::MAX; space.modules().len()];
        let mut longest = 1;
        for m in tunable(space).collect::<Vec<_>>().into_iter().rev() {
            let fed: Vec<usize> = tunable(space).filter(|&k| k > m && nested && wiring.feeds(m, k)).collect();
            // Those between which and this one there is no other.
            let next = fed.iter().filter(|&&k| !fed.iter().any(|&j| j < k && wiring.feeds(j, k)));
            let stride = next.map(|&next| {
                let ratio = from(m) / from(next);
                let behind = if ratio.is_nan() { 1.0 } else { SHARE * ratio };
                let most = MOST_BEHIND.min(LONGEST_START / (FIRST_DRAWS * strides[next])).max(1);
                // A cast of what is too large is the largest.
                strides[next] * (behind.round() as usize).clamp(1, most)
            });
            strides[m] = stride.max().unwrap_or(1);
            longest = longest.max(strides[m]);
        }
        let fewest = (space.dim() + 2).clamp(FEWEST, ENOUGH);
        let draws = if space.dim() == 0 { 1 } else { FIRST_DRAWS * longest };
        // Every branch has its turn.
        let sources =
            tunable(space).filter(|&m| !tunable(space).any(|k| k < m && wiring.feeds(k, m))).count();
        Self { strides, points: draws.max(fewest).max(longest.saturating_add(sources)), costs: each, wiring }
    }

    /// Whether it is over.
    pub(super) fn is_over(&self, view: &View<'_>) -> bool {
        let mut values = view.trials.iter().filter_map(Trial::value);
        let first = values.next();
        let differ = values.any(|value| Some(value) != first);
        differ
            && view.trials.iter().filter(|trial| trial.is_open() || trial.value().is_some()).count()
                >= self.points
    }

    /// The next point and the first module that is drawn for it, or the number of modules where all are; `None` if nothing that was not tried is found.
    pub(super) fn next(
        &self,
        view: &View<'_>,
        drawn: &Drawn,
        seed: u64,
    ) -> Result<Option<(Point, usize)>, StrategyError> {
        let first = self.first_to_draw(view, drawn);
        let is_source = |m: &usize| !(0..*m).any(|k| self.wiring.feeds(k, *m));
        let modules = view.space.modules().len();
        // Where all that can follow was tried, more is drawn: another branch, and in the end everything. What the budget does not pay for comes last.
        let mut firsts: Vec<usize> = [first].into_iter().chain((0..modules).filter(is_source)).collect();
        firsts.extend([modules].into_iter().chain(tunable(view.space)));
        firsts.sort_by_key(|&first| !self.is_affordable(view, drawn, first));
        for first in firsts {
            for attempt in 0..ATTEMPTS {
                let point = self.draw(view, drawn, seed, first, attempt)?;
                if !view.trials.iter().any(|trial| *trial.point() == point) {
                    return Ok(Some((point, first)));
                }
            }
        }
        Ok(None)
    }

    /// Whether the budget pays for a draw of module `first` and of what it feeds.
    fn is_affordable(&self, view: &View<'_>, drawn: &Drawn, first: usize) -> bool {
        let run = self.costs.iter().enumerate().filter(|(m, _)| drawn.with(&self.wiring, first, *m));
        trial_overhead::pays_for(view, run.map(|(_, cost)| cost).sum())
    }

    /// The module that is drawn anew: the earliest whose draw has been kept long enough or has failed, and at the latest the last one. Of several branches one that
    /// has failed, and then the one that has been kept for longest.
    fn first_to_draw(&self, view: &View<'_>, drawn: &Drawn) -> usize {
        let space = view.space;
        let Some(last) = view.trials.last() else { return 0 };
        let kept = |m: usize| drawn.kept.get(m).copied().unwrap_or(usize::MAX);
        let stride = |m: usize| self.strides.get(m).copied().unwrap_or(1);
        let due: Vec<(bool, usize)> = tunable(space)
            .map(|m| (self.has_failed(view, last.point(), m), m))
            .filter(|&(failed, m)| failed || kept(m) >= stride(m))
            .collect();
        let earliest =
            due.iter().filter(|(_, m)| !due.iter().any(|&(_, k)| k < *m && self.wiring.feeds(k, *m)));
        let next = earliest.max_by_key(|&&(failed, m)| (failed, kept(m), std::cmp::Reverse(m)));
        next.map(|&(_, m)| m).or_else(|| tunable(space).last()).unwrap_or(0)
    }

    /// Whether a trial has failed in what module `m` made of this point, or two behind it and none has succeeded.
    fn has_failed(&self, view: &View<'_>, point: &Point, m: usize) -> bool {
        let space = view.space;
        let lineage = |point: &Point| -> Vec<Value> {
            let feeding = (0..=m).filter(|&k| self.wiring.feeds(k, m));
            feeding.filter_map(|k| point.values().get(space.module_params(k))).flatten().cloned().collect()
        };
        let own = lineage(point);
        let behind = || view.trials.iter().filter(|trial| lineage(trial.point()) == own);
        // What a stage without parameters was given is what the tunable one before it made.
        let blamed = |failed: &Failed| {
            // A trial whose stages all finished and that has no value failed in the last one.
            let last = space.modules().len().saturating_sub(1);
            let stage = failed.broke().unwrap_or(failed.finished()).min(last);
            let feeding = tunable(space).filter(|&k| k <= stage && self.wiring.feeds(k, stage)).last();
            feeding.or_else(|| tunable(space).next())
        };
        // What broke elsewhere says nothing about what this module made.
        let breaks = behind()
            .filter_map(|trial| if let Trial::Failed(failed) = trial { blamed(failed) } else { None });
        let breaks: Vec<usize> = breaks.filter(|&broke| self.wiring.feeds(m, broke)).collect();
        let vain = breaks.len() >= MOST_FAILURES && !behind().any(|trial| trial.value().is_some());
        vain || breaks.contains(&m)
    }

    /// A draw of module `first` and of what it feeds, the others as in the trial before.
    fn draw(
        &self,
        view: &View<'_>,
        drawn: &Drawn,
        seed: u64,
        first: usize,
        attempt: usize,
    ) -> Result<Point, StrategyError> {
        let (space, index) = (view.space, view.trials.len());
        let modules = space.modules().len();
        let sequence = seed_of(seed, Purpose::Design, 0);
        let is_drawn = |m: usize| drawn.with(&self.wiring, first, m);
        let previous = view.trials.last().map(Trial::point).filter(|_| !(0..modules).all(is_drawn));
        let mut u = match previous {
            Some(previous) => space.encode(previous)?,
            None => vec![0.0; space.dim()],
        };
        // Every module takes its own coordinates of the point whose number is how often it was drawn: consecutive points are far apart.
        for m in (0..modules).filter(|&m| is_drawn(m)) {
            let number = drawn.draws.get(m).copied().unwrap_or(0).saturating_add(attempt);
            let point = quasi_random(space, sequence, number);
            let own = space.module_coordinates(m);
            if let (Some(to), Some(from)) = (u.get_mut(own.clone()), point.get(own)) {
                to.copy_from_slice(from);
            }
        }
        // Where the combination is forbidden, later modules give way first.
        let mut rng = stream(seed, Purpose::Design, index as u64);
        let mut keep = modules;
        while !space.allows_coded(&u) {
            keep = keep.saturating_sub(1);
            match free_from(space, keep, &u, &mut rng) {
                Ok(found) => u = found,
                Err(error) if keep == 0 => return Err(error.into()),
                Err(_) => {}
            }
        }
        let point = match previous {
            Some(previous) => {
                let keeps: StageSet = (0..keep).filter(|&m| !is_drawn(m)).collect();
                space.decode_keeping(previous, &keeps, &u)?
            }
            None => space.decode(&u)?,
        };
        away_from_open(view, point, &mut stream(seed, Purpose::Chance, index as u64))
    }
}

fn tunable(space: &Space) -> impl Iterator<Item = usize> + '_ {
    (0..space.modules().len()).filter(|&m| !space.module_params(m).is_empty())
}

/// What every stage costs in the middle of the space.
fn stage_costs(costs: &StageCosts, space: &Space) -> Vec<f64> {
    let middle = Batch::of(space.dim(), &vec![0.5; space.dim()]);
    let of = |k: usize| match costs.fixed(k) {
        Some(cost) => cost,
        None => match costs.logs(k, &middle, false) {
            Ok(Some(logs)) => logs.mean.first().map_or(0.0, |log| log.exp()),
            _ => 0.0,
        },
    };
    (0..costs.len()).map(of).collect()
}

/// A uniform point with the modules before `keep` as they are.
fn free_from<R: rand::Rng + ?Sized>(
    space: &Space,
    keep: usize,
    u: &[f64],
    rng: &mut R,
) -> Result<Vec<f64>, SpaceError> {
    let kept = space.module_coordinates(keep).start;
    let (mut lower, mut upper) = (vec![0.0; space.dim()], vec![1.0; space.dim()]);
    for (d, value) in u.iter().enumerate().take(kept) {
        (lower[d], upper[d]) = (*value, *value);
    }
    within(space, &lower, &upper, rng)
}
