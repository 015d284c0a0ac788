//! How `auto` starts: a few settings of dear modules, each with several of the cheap ones behind it.
//!
//! ```text
//! C_m          what runs if module m is the first that changes
//! k_m        = how often module m + 1 is drawn for each draw of m:  half of C_m / C_{m+1}, between 1 and 4
//! stride_m   = k_m · k_{m+1} ⋯      trials for which a draw of m is kept;  1 for the last
//! points     = 2 · stride_1, and at least D + 2 (4 to 10)
//! ```
//!
//! A draw of the first module that costs fifty times the rest is thus looked at from four sides for an eighth of what it cost; where costs are equal nothing
//! is kept, and the start is a plain quasi-random one. Costs that are measured are those of the trials so far, so that the rule is asked before every trial:
//! a module is drawn anew once its draw has been kept for as many trials as it is worth, or when a trial with it has failed in it.

use super::super::design::quasi_random;
use super::super::fresh::{away_from_open, within};
use super::super::stage_cost::StageCosts;
use super::super::stream::{Purpose, seed_of, stream};
use super::super::{StrategyError, View};
use crate::space::{Batch, Point, Space, Value};
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

/// What is known of the start at a trial.
#[derive(Debug, PartialEq)]
pub(super) struct Start {
    /// For how many trials a draw of each module is kept; those without parameters are kept for ever.
    strides: Vec<usize>,
    /// How many points there are.
    points: usize,
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
                // A cast of what is too large is the largest.
                stride *= (behind.round() as usize).clamp(1, MOST_BEHIND);
            }
            strides[m] = stride;
        }
        let fewest = (space.dim() + 2).clamp(FEWEST, ENOUGH);
        let draws = if tunable.is_empty() { 1 } else { FIRST_DRAWS * stride };
        // With many modules that cost much less than the ones before them strides multiply: dearer ones still get their two draws.
        Self { strides, points: draws.max(fewest) }
    }

    /// Whether it is over.
    pub(super) fn is_over(&self, view: &View<'_>) -> bool {
        view.trials.len() >= self.points
    }

    /// The next point.
    pub(super) fn next(&self, view: &View<'_>, seed: u64) -> Result<Point, StrategyError> {
        let (space, index) = (view.space, view.trials.len());
        let sequence = seed_of(seed, Purpose::Design, 0);
        let first = self.first_to_draw(view);
        let mut u = vec![0.0; space.dim()];
        // Every module takes its own coordinates of the point whose number is how often it was drawn: consecutive points are far apart.
        for m in first..space.modules().len() {
            let drawn = quasi_random(space, sequence, draws(view, m));
            let own = space.module_coordinates(m);
            u[own.clone()].copy_from_slice(&drawn[own]);
        }
        let mut rng = stream(seed, Purpose::Design, index as u64);
        let previous = view.trials.last().filter(|_| first > 0).map(Trial::point);
        let Some(previous) = previous else {
            let whole = if space.allows_coded(&u) { u } else { free_from(space, 0, &u, &mut rng)? };
            return away_from_open(
                view,
                space.decode(&whole)?,
                &mut stream(seed, Purpose::Chance, index as u64),
            );
        };
        let kept = space.module_coordinates(first).start;
        u[..kept].copy_from_slice(&space.encode(previous)?[..kept]);
        // Where the combination is forbidden, later modules give way first.
        let mut keep = first;
        while !space.allows_coded(&u) {
            match free_from(space, keep, &u, &mut rng) {
                Ok(found) => u = found,
                Err(error) if keep == 0 => return Err(error.into()),
                Err(_) => keep -= 1,
            }
        }
        let point = space.decode_keeping(previous, |m| m < keep, &u)?;
        away_from_open(view, point, &mut stream(seed, Purpose::Chance, index as u64))
    }

    /// The first module that is drawn anew: the earliest whose draw has been kept long enough, and at the latest the last one.
    fn first_to_draw(&self, view: &View<'_>) -> usize {
        let space = view.space;
        let Some(last) = view.trials.last() else { return 0 };
        let latest = tunable(space).last().unwrap_or(0);
        let failed_in = match last {
            Trial::Failed(trial) => trial.finished(),
            _ => usize::MAX,
        };
        let same = |trial: &Trial, m: usize| {
            trial.point().values().get(..space.module_params(m).end)
                == last.point().values().get(..space.module_params(m).end)
        };
        for m in tunable(space) {
            let kept = view.trials.iter().rev().take_while(|trial| same(trial, m)).count();
            if kept >= self.strides.get(m).copied().unwrap_or(1) || m >= failed_in {
                return m;
            }
        }
        latest
    }
}

/// How often a module was drawn: runs of trials with the same values of it.
fn draws(view: &View<'_>, m: usize) -> usize {
    let own =
        |trial: &'_ Trial| trial.point().values().get(view.space.module_params(m)).map(<[Value]>::to_vec);
    let changes = view.trials.windows(2).filter(|pair| own(&pair[0]) != own(&pair[1])).count();
    changes + usize::from(!view.trials.is_empty())
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
) -> Result<Vec<f64>, crate::space::SpaceError> {
    let kept = space.module_coordinates(keep).start;
    let (mut lower, mut upper) = (vec![0.0; space.dim()], vec![1.0; space.dim()]);
    lower[..kept].copy_from_slice(&u[..kept]);
    upper[..kept].copy_from_slice(&u[..kept]);
    within(space, &lower, &upper, rng)
}
