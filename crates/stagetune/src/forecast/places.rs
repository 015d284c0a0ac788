//! Where trials might go: the best place beside every prefix, a few that open everything, and some around and behind each of them.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::acquisition::{Acquisition, LogEi, Maximiser, Surface};
use crate::space::{Axis, Batch, Point, Space, StageSet};
use crate::strategy::parts::fresh::uniform;
use crate::strategy::parts::model::Model;
use crate::strategy::parts::prefix::{self, Prefix};
use crate::strategy::parts::price::{PerPrice, Price};
use crate::strategy::parts::stage_cost::StageCosts;
use crate::strategy::parts::stream::{Purpose, seed_of, stream};
use crate::strategy::parts::wide;
use crate::strategy::{StrategyError, View};

/// Places in all, about: their covariance matrix has the square of it.
const MOST_PLACES: usize = 512;

/// The same in a wide space: their covariances take as long as there are coordinates.
const MOST_PLACES_WIDE: usize = 128;

/// Places around a base with the same modules kept, at most.
const MOST_AROUND: usize = 32;

/// Points by chance among which those are looked for that open everything.
const CHANCES: usize = 64;

/// How many of these are taken.
const OPENERS: usize = 3;

/// How far places that lie near a base are from it, in each coordinate.
const NEAR: f64 = 0.15;

/// How hard to look beside each prefix: a forecast needs the height of the peak, not its last digit.
const EFFORT: Maximiser = Maximiser { raw: 128, near_hints: 48, starts: 4, max_evaluations: 40, seed: 0 };

/// Places for trials.
pub(super) struct Places {
    /// Their codes.
    pub(super) x: Batch,
    /// The points themselves, with kept values bit for bit.
    pub(super) points: Vec<Point>,
    /// The modules that are free there, and so count as run.
    pub(super) free: Vec<StageSet>,
}

/// A place with others around and behind it.
struct Base {
    u: Vec<f64>,
    point: Point,
    keeps: StageSet,
}

/// The places of a view.
pub(super) fn places(
    view: &View<'_>,
    model: &Model,
    costs: &StageCosts,
    incumbent: f64,
    seed: u64,
) -> Result<Places, StrategyError> {
    let log_ei = LogEi::new(incumbent)?;
    let prefixes = prefix::prefixes(view)?;
    let objective = |runs| PerPrice {
        objective: Surface::new(&model.gp, log_ei),
        price: Price::new(costs, runs),
        exponent: 1.0,
    };
    let effort = Maximiser { seed: seed_of(seed, Purpose::Maximise, 0), ..EFFORT };
    let mut bases = Vec::new();
    let hints = model.hints();
    let winners =
        prefix::solve(view, &prefixes, |prefix: &Prefix<'_>| objective(&prefix.runs), &hints, &effort)?;
    for winner in winners {
        let u = winner.place.x;
        bases.push(match winner.place.kept {
            Some((point, keeps)) => {
                Base { point: view.space.decode_keeping(point, keeps, &u)?, keeps: keeps.clone(), u }
            }
            None => Base { point: view.space.decode(&u)?, keeps: StageSet::empty(), u },
        });
    }
    let mut rng = stream(seed, Purpose::Chance, 0);
    bases.extend(openers(view, model, log_ei, &bases, &mut rng)?);
    let mut found = Places { x: Batch::new(view.space.dim()), points: Vec::new(), free: Vec::new() };
    for base in &bases {
        found.push(view.space, base.u.clone(), base.point.clone(), &base.keeps);
    }
    let ways = prefix::ways(view);
    let most = if wide::is_wide(view.space) { MOST_PLACES_WIDE } else { MOST_PLACES };
    let around: Vec<(&Base, &StageSet)> = bases
        .iter()
        .flat_map(|base| ways.iter().filter(|way| base.keeps.is_subset(way)).map(move |way| (base, way)))
        .collect();
    let each = (most / around.len().max(1)).clamp(1, MOST_AROUND);
    for (base, way) in around {
        for k in 0..each {
            if found.points.len() >= most {
                return Ok(found);
            }
            if let Some((u, point)) = beside(view, base, way, k % 2 == 1, &mut rng)? {
                found.push(view.space, u, point, way);
            }
        }
    }
    Ok(found)
}

impl Places {
    fn push(&mut self, space: &Space, u: Vec<f64>, point: Point, keeps: &StageSet) {
        // A row of this space has its length.
        let _ = self.x.push(&u);
        self.points.push(point);
        self.free.push(StageSet::all(space.modules().len()).without(keeps));
    }
}

/// Points by chance that open everything, the most promising ones, apart from each other.
fn openers(
    view: &View<'_>,
    model: &Model,
    log_ei: LogEi,
    bases: &[Base],
    rng: &mut ChaCha8Rng,
) -> Result<Vec<Base>, StrategyError> {
    let mut chances = Batch::new(view.space.dim());
    for _ in 0..CHANCES {
        let _ = chances.push(&uniform(view.space, rng)?);
    }
    let belief = model.gp.predict(&chances)?;
    let score = |(mean, variance): (&f64, &f64)| log_ei.score(*mean, variance.sqrt()).value;
    let mut order: Vec<(f64, &[f64])> =
        belief.mean.iter().zip(&belief.variance).map(score).zip(chances.rows()).collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut found: Vec<Base> = Vec::new();
    for (_, u) in order {
        let apart = |base: &Base| base.u.iter().zip(u).any(|(a, b)| (a - b).abs() > NEAR);
        let point = view.space.decode(u)?;
        if found.len() < OPENERS && bases.iter().chain(&found).all(apart) && !is_told(view, &point) {
            found.push(Base { u: u.to_vec(), point, keeps: StageSet::empty() });
        }
    }
    Ok(found)
}

/// A place that keeps these modules of a base: anywhere else in the others, or near it; `None` where that is forbidden or told.
fn beside(
    view: &View<'_>,
    base: &Base,
    keeps: &StageSet,
    near: bool,
    rng: &mut ChaCha8Rng,
) -> Result<Option<(Vec<f64>, Point)>, StrategyError> {
    let mut u = if near { base.u.clone() } else { uniform(view.space, rng)? };
    if near {
        for (u, axis) in u.iter_mut().zip(view.space.axes()) {
            let step: f64 = rng.random_range(-NEAR..NEAR);
            if !matches!(axis, Axis::OneHot { .. } | Axis::Category { .. }) {
                *u = (*u + step).clamp(0.0, 1.0);
            }
        }
        view.space.snap(&mut u)?;
    }
    for m in keeps.iter() {
        let own = view.space.module_coordinates(m);
        if let (Some(to), Some(from)) = (u.get_mut(own.clone()), base.u.get(own)) {
            to.copy_from_slice(from);
        }
    }
    if !view.space.allows_coded(&u) {
        return Ok(None);
    }
    let point = view.space.decode_keeping(&base.point, keeps, &u)?;
    Ok(if is_told(view, &point) { None } else { Some((u, point)) })
}

/// Whether a point was tried; where a coordinate is continuous, no other one is met twice.
fn is_told(view: &View<'_>, point: &Point) -> bool {
    view.space.axes().iter().all(|axis| *axis != Axis::Continuous)
        && view.trials.iter().any(|trial| trial.point() == point)
}
