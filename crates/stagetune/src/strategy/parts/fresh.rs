//! Points by chance: uniform over what is allowed, and never one that is being tried already.

use rand::{Rng, RngExt};

use super::stream::{Purpose, stream};
use crate::acquisition::Region;
use crate::space::{Axis, Point, Space, SpaceError, StageSet};
use crate::strategy::{Source, StrategyError, View};

/// Uniform draws before the forbidden regions are taken to leave too little for sampling.
const UNIFORM_DRAWS: usize = 10_000;

/// Points by chance that are tried before a finite space is searched in order.
const REDRAWS: usize = 64;

/// Points by chance inside a region that are tried when the one wanted is open.
const NEARBY: usize = 16;

/// Finite spaces with more points than this have one that is not open.
const MAX_POINTS: u64 = 1 << 20;

/// A uniform point of the unit cube that is allowed.
///
/// Where the forbidden regions leave too little to be hit, a point of what they leave, near a uniform one.
pub(crate) fn uniform<R: Rng + ?Sized>(space: &Space, rng: &mut R) -> Result<Vec<f64>, SpaceError> {
    within(space, &vec![0.0; space.dim()], &vec![1.0; space.dim()], rng)
}

/// A uniform point of a box of the unit cube that is allowed.
pub(crate) fn within<R: Rng + ?Sized>(
    space: &Space,
    lower: &[f64],
    upper: &[f64],
    rng: &mut R,
) -> Result<Vec<f64>, SpaceError> {
    let mut draw = || -> Result<Vec<f64>, SpaceError> {
        let mut u: Vec<f64> =
            lower.iter().zip(upper).map(|(l, u)| (l + (u - l) * rng.random::<f64>()).clamp(*l, *u)).collect();
        uniform_choices(space, lower, upper, rng, &mut u);
        space.snap(&mut u)?;
        Ok(u)
    };
    let inside = |u: &[f64]| u.iter().zip(lower.iter().zip(upper)).all(|(u, (l, h))| l <= u && u <= h);
    for _ in 0..UNIFORM_DRAWS {
        let u = draw()?;
        if inside(&u) && space.allows_coded(&u) {
            return Ok(u);
        }
    }
    // Boxes around a uniform point, each twice as wide as the one before.
    let (centre, mut reach) = (draw()?, 1.0 / 64.0);
    while reach < 1.0 {
        let low: Vec<f64> = centre.iter().zip(lower).map(|(c, l)| (c - reach).max(*l)).collect();
        let high: Vec<f64> = centre.iter().zip(upper).map(|(c, h)| (c + reach).min(*h)).collect();
        if let Ok(found) = space.find_allowed(&low, &high) {
            return Ok(found);
        }
        reach *= 2.0;
    }
    space.find_allowed(lower, upper)
}

/// The same point, or another by chance if it is being tried already.
pub(crate) fn away_from_open<R: Rng + ?Sized>(
    view: &View<'_>,
    point: Point,
    rng: &mut R,
) -> Result<Point, StrategyError> {
    if !view.is_open(&point) {
        return Ok(point);
    }
    for _ in 0..REDRAWS {
        let other = view.space.decode(&uniform(view.space, rng)?)?;
        if !view.is_open(&other) {
            return Ok(other);
        }
    }
    first_not_open(view)
}

/// The point at a place of a region, or another by chance if it is being tried already: first one of the same region.
///
/// The modules of a point that are `kept` stay as they are, bit for bit.
pub(crate) fn settle(
    view: &View<'_>,
    seed: u64,
    region: &Region<'_>,
    kept: Option<(&Point, &StageSet)>,
    x: &[f64],
) -> Result<(Point, Source), StrategyError> {
    let decode = |x: &[f64]| match kept {
        Some((previous, keeps)) => view.space.decode_keeping(previous, keeps, x),
        None => view.space.decode(x),
    };
    let wanted = decode(x)?;
    if !view.is_open(&wanted) {
        return Ok((wanted, Source::Model));
    }
    let mut rng = stream(seed, Purpose::Chance, view.trials.len() as u64);
    for _ in 0..NEARBY {
        let Ok(x) = within(view.space, region.lower(), region.upper(), &mut rng) else { break };
        let point = decode(&x)?;
        if !view.is_open(&point) {
            return Ok((point, Source::Spread));
        }
    }
    Ok((away_from_open(view, wanted, &mut rng)?, Source::Elsewhere))
}

/// Of a choice that is coded by several coordinates one is 1: each of those that the box leaves is as likely.
fn uniform_choices<R: Rng + ?Sized>(space: &Space, lower: &[f64], upper: &[f64], rng: &mut R, u: &mut [f64]) {
    for (i, axis) in space.axes().iter().enumerate() {
        if let Axis::OneHot { first, len } = *axis
            && first == i
        {
            let fits = |k: usize| {
                (first..first + len).all(|j| {
                    let v = if j == first + k { 1.0 } else { 0.0 };
                    lower[j] <= v && v <= upper[j]
                })
            };
            let options: Vec<usize> = (0..len).filter(|&k| fits(k)).collect();
            if !options.is_empty() {
                let picked = options[rng.random_range(0..options.len())];
                (0..len).for_each(|k| u[first + k] = if k == picked { 1.0 } else { 0.0 });
            }
        }
    }
}

/// The first allowed point of a finite space that is not open.
fn first_not_open(view: &View<'_>) -> Result<Point, StrategyError> {
    let counts: Option<Vec<u64>> = view.space.params().iter().map(|param| param.count()).collect();
    let counts = counts.ok_or(StrategyError::Exhausted)?;
    let total = counts.iter().try_fold(1u64, |n, c| n.checked_mul(*c)).unwrap_or(u64::MAX).min(MAX_POINTS);
    for number in 0..total {
        let mut rest = number;
        let mut u = vec![0.0; view.space.dim()];
        for (p, count) in counts.iter().enumerate() {
            let index = rest % count;
            rest /= count;
            let range = view.space.param_coordinates(p);
            match view.space.axes()[range.start] {
                Axis::OneHot { first, .. } => u[first + index as usize] = 1.0,
                Axis::Continuous | Axis::Grid { .. } | Axis::Category { .. } => {
                    u[range.start] = view.space.grid_code(range.start, index).unwrap_or(0.0);
                }
            }
        }
        if view.space.allows_coded(&u) {
            let point = view.space.decode(&u)?;
            if !view.is_open(&point) {
                return Ok(point);
            }
        }
    }
    Err(StrategyError::Exhausted)
}
