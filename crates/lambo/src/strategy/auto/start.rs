//! How `auto` starts: a few settings of dear modules, each with several of the cheap ones behind it.
//!
//! ```text
//! C_m          what runs if module m is the first that changes
//! k_m        = how often module m + 1 is drawn for each draw of m:  half of C_m / C_{m+1}, between 1 and 4
//! stride_m   = k_m · k_{m+1} ⋯      trials for which a draw of m is kept;  1 for the last
//! points     = 2 · stride_1, at least D + 2 (4 to 10) and at most 24
//! ```
//!
//! A draw of the first module that costs fifty times the rest is thus looked at from four sides for an eighth of what it cost; where costs are equal nothing
//! is kept, and the start is a plain quasi-random one. Costs that are measured are those of the trials so far, so that the rule is asked before every trial:
//! a module is drawn anew once its draw has been kept for as many trials as it is worth, when a trial has failed in it, or when two have failed
//! behind it and none has succeeded. Failed trials do not count as points. While all values are the same there is nothing to model, and the start goes on.

use super::super::design::quasi_random;
use super::super::fresh::{away_from_open, within};
use super::super::stage_cost::StageCosts;
use super::super::stream::{Purpose, seed_of, stream};
use super::super::{StrategyError, View};
use crate::space::{Batch, Point, Space, SpaceError, Value};
use crate::trial::Trial;

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
const MOST_POINTS: usize = 24;

/// Trials that may fail behind a draw while none succeeds.
const PATIENCE: usize = 2;

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
    /// For how many trials a draw of each module is kept; those without parameters are kept for ever.
    strides: Vec<usize>,
    /// How many points there are.
    points: usize,
}

impl Drawn {
    /// Takes note that modules from `first` on were drawn for a trial.
    pub(super) fn draw_from(&mut self, first: usize, modules: usize) {
        self.draws.resize(modules, 0);
        self.kept.resize(modules, 0);
        for m in 0..modules {
            if m >= first {
                self.draws[m] += 1;
                self.kept[m] = 0;
            }
            self.kept[m] += 1;
        }
    }
}

impl Start {
    /// By what is known of costs now; `nested` is whether anything is kept at all.
    pub(super) fn of(view: &View<'_>, nested: bool, costs: &StageCosts) -> Self {
        let space = view.space;
        let tunable: Vec<usize> = tunable(space).collect();
        let from = |m: usize| cost_from(costs, m, space);
        let mut strides = vec![usize::MAX; space.modules().len()];
        let mut stride = 1;
        for (place, &m) in tunable.iter().enumerate().rev() {
            if let Some(&next) = tunable.get(place + 1).filter(|_| nested) {
                let ratio = from(m) / from(next);
                let behind = if ratio.is_nan() { 1.0 } else { SHARE * ratio };
                let most = MOST_BEHIND.min(MOST_POINTS / (FIRST_DRAWS * stride)).max(1);
                // A cast of what is too large is the largest.
                stride *= (behind.round() as usize).clamp(1, most);
            }
            strides[m] = stride;
        }
        let fewest = (space.dim() + 2).clamp(FEWEST, ENOUGH);
        let draws = if tunable.is_empty() { 1 } else { FIRST_DRAWS * stride };
        Self { strides, points: draws.max(fewest) }
    }

    /// Whether it is over.
    pub(super) fn is_over(&self, view: &View<'_>) -> bool {
        let mut values = view.trials.iter().filter_map(Trial::value);
        let first = values.next();
        let differ = values.any(|value| Some(value) != first);
        differ && view.trials.iter().filter(|trial| !trial.is_failed()).count() >= self.points
    }

    /// The next point and the first module that is drawn for it; `None` if nothing that was not tried is found.
    pub(super) fn next(
        &self,
        view: &View<'_>,
        drawn: &Drawn,
        seed: u64,
    ) -> Result<Option<(Point, usize)>, StrategyError> {
        let first = self.first_to_draw(view, drawn);
        // Where all that can follow was tried, more is drawn.
        for first in [first, 0] {
            for attempt in 0..ATTEMPTS {
                let point = draw(view, drawn, seed, first, attempt)?;
                if !view.trials.iter().any(|trial| *trial.point() == point) {
                    return Ok(Some((point, first)));
                }
            }
        }
        Ok(None)
    }

    /// The first module that is drawn anew: the earliest whose draw has been kept long enough or has failed, and at the latest the last one.
    fn first_to_draw(&self, view: &View<'_>, drawn: &Drawn) -> usize {
        let space = view.space;
        let Some(last) = view.trials.last() else { return 0 };
        let prefix = |point: &'_ Point, m: usize| -> Option<Vec<Value>> {
            point.values().get(..space.module_params(m).end).map(<[Value]>::to_vec)
        };
        for m in tunable(space) {
            let kept = drawn.kept.get(m).copied().unwrap_or(usize::MAX);
            let own = prefix(last.point(), m);
            let behind = || view.trials.iter().filter(|trial| prefix(trial.point(), m) == own);
            let failures = behind().filter(|trial| trial.is_failed()).count();
            let vain = failures >= PATIENCE && !behind().any(|trial| trial.value().is_some());
            // What a stage without parameters was given is what the tunable one before it made.
            let next = tunable(space).find(|later| *later > m).unwrap_or(usize::MAX);
            let failed_in =
                |trial: &Trial| matches!(trial, Trial::Failed(failed) if failed.finished() < next);
            let stride = self.strides.get(m).copied().unwrap_or(1);
            if kept >= stride || vain || behind().any(failed_in) {
                return m;
            }
        }
        tunable(space).last().unwrap_or(0)
    }
}

/// A draw of the modules from `first` on, the others as in the trial before.
fn draw(
    view: &View<'_>,
    drawn: &Drawn,
    seed: u64,
    first: usize,
    attempt: usize,
) -> Result<Point, StrategyError> {
    let (space, index) = (view.space, view.trials.len());
    let sequence = seed_of(seed, Purpose::Design, 0);
    let previous = view.trials.last().map(Trial::point).filter(|_| first > 0);
    let mut u = match previous {
        Some(previous) => space.encode(previous)?,
        None => vec![0.0; space.dim()],
    };
    // Every module takes its own coordinates of the point whose number is how often it was drawn: consecutive points are far apart.
    for m in first..space.modules().len() {
        let number = drawn.draws.get(m).copied().unwrap_or(0).saturating_add(attempt);
        let point = quasi_random(space, sequence, number);
        let own = space.module_coordinates(m);
        if let (Some(to), Some(from)) = (u.get_mut(own.clone()), point.get(own)) {
            to.copy_from_slice(from);
        }
    }
    // Where the combination is forbidden, later modules give way first.
    let mut rng = stream(seed, Purpose::Design, index as u64);
    let mut keep = space.modules().len();
    while !space.allows_coded(&u) {
        keep = keep.saturating_sub(1);
        match free_from(space, keep, &u, &mut rng) {
            Ok(found) => u = found,
            Err(error) if keep == 0 => return Err(error.into()),
            Err(_) => {}
        }
    }
    let point = match previous {
        Some(previous) => space.decode_keeping(previous, |m| m < first.min(keep), &u)?,
        None => space.decode(&u)?,
    };
    away_from_open(view, point, &mut stream(seed, Purpose::Chance, index as u64))
}

fn tunable(space: &Space) -> impl Iterator<Item = usize> + '_ {
    (0..space.modules().len()).filter(|&m| !space.module_params(m).is_empty())
}

/// What running module `m` and all after it costs in the middle of the space.
fn cost_from(costs: &StageCosts, m: usize, space: &Space) -> f64 {
    let middle = Batch::of(space.dim(), &vec![0.5; space.dim()]);
    let of = |k: usize| match costs.fixed(k) {
        Some(cost) => cost,
        None => match costs.logs(k, &middle, false) {
            Ok(Some(logs)) => logs.mean.first().map_or(0.0, |log| log.exp()),
            _ => 0.0,
        },
    };
    (m..costs.len()).map(of).sum()
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
