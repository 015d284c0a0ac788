//! Raw points: where to look first.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::climb::Walk;
use super::{MaximiseError, Maximiser};
use crate::acquisition::region::Region;
use crate::numeric::sobol::Sobol;
use crate::space::Batch;

/// Draws per wanted point before the forbidden regions are taken to leave too little for sampling.
const PATIENCE: usize = 16;

/// Widths of the scatter around a hint, as shares of the box: from a fifth down to a five-hundredth, evenly in the logarithm.
const SCATTER: (f64, f64) = (0.2, 0.002);

/// Points of a grid that are looked through one by one at most, which takes milliseconds.
const MOST_ENUMERATED: u64 = 1 << 16;

/// Hints that the region holds, points scattered around all hints, and quasi-random points; all allowed, at least one.
pub(super) fn points(
    maximiser: &Maximiser,
    region: &Region<'_>,
    walk: &Walk<'_>,
    hints: &Batch,
) -> Result<Batch, MaximiseError> {
    let mut points = Batch::new(region.dim());
    let mut keep = |x: &[f64]| {
        let kept = region.contains(x);
        if kept {
            let _ = points.push(x);
        }
        kept
    };
    let mut x = region.lower().to_vec();

    let mut rng = ChaCha8Rng::seed_from_u64(maximiser.seed);
    let around = if hints.is_empty() { 0 } else { maximiser.near_hints.div_ceil(hints.len()) };
    for hint in hints.rows() {
        walk.place(hint, &mut x);
        keep(&x);
        for _ in 0..around {
            let width = SCATTER.0 * (SCATTER.1 / SCATTER.0).powf(rng.random::<f64>());
            walk.place(hint, &mut x);
            walk.scatter(width, &mut rng, &mut x);
            keep(&x);
        }
        // A hint that is left out is no start, and a scatter of few jumps would mostly meet it again: its neighbours stand for it.
        if region.leaves_out() {
            walk.place(hint, &mut x);
            for neighbour in walk.neighbours(&x) {
                keep(&neighbour);
            }
        }
    }

    let mut sobol = Sobol::new(walk.decisions(), maximiser.seed);
    let mut u = vec![0.0; walk.decisions()];
    let mut missing = maximiser.raw.max(1);
    for _ in 0..missing.saturating_mul(PATIENCE) {
        if missing == 0 {
            break;
        }
        // The lengths agree by construction; were they not to, the points would stay at the corner.
        let _ = sobol.next_into(&mut u);
        walk.map(&u, &mut x);
        if keep(&x) {
            missing -= 1;
        }
    }
    // Chance misses the few points that are left of a grid; one by one they are found.
    if points.is_empty() && region.leaves_out() {
        walk.each(MOST_ENUMERATED, |x| {
            if region.contains(x) {
                let _ = points.push(x);
            }
        });
    }
    if points.is_empty() {
        let space = region.space().ok_or(MaximiseError::NothingAllowed)?;
        let found = space.find_allowed(region.lower(), region.upper())?;
        if !region.contains(&found) {
            return Err(MaximiseError::NothingAllowed);
        }
        let _ = points.push(&found);
    }
    Ok(points)
}
