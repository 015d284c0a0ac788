//! What the scanner adds: correlated noise at two scales and ring artefacts.
//!
//! White noise w filtered by a Gaussian kernel k has the variance Σ k² per axis; the filter divides by its root.
//! Edges wrap around, so the amplitude is the same everywhere.

use super::random::{Lattice, Part, stream};
use super::recipe::Recipe;
use super::regions::Regions;
use ndarray::parallel::prelude::*;
use ndarray::{Array3, Axis, Zip};
use rand::{Rng, RngExt};
use rayon::slice::ParallelSliceMut;

/// Share of the variance in the finer noise, and how much longer the coarser one's correlation is.
const FINE: f32 = 0.85;
const COARSER: f32 = 2.6;
/// Amplitude in grey levels and size in voxels of the slow shading.
const SHADING: (f32, f32) = (3.0, 60.0);
/// Voxels between two rings, and slices over which a ring fades.
const RING: (f32, f32) = (2.5, 12.0);

/// Adds noise, shading and rings.
pub(super) fn add(grey: &mut Array3<f32>, regions: &Regions, recipe: &Recipe) {
    let fine = correlated(recipe, Part::Fine, recipe.correlation);
    let coarse = correlated(recipe, Part::Coarse, recipe.correlation * COARSER);
    let amplitude = regions.blend(|tissue| tissue.noise * recipe.noise);
    let (share, rest) = (FINE.sqrt(), (1.0 - FINE).sqrt());
    let slices = fine.outer_iter().into_par_iter().zip(coarse.outer_iter());
    slices.zip(grey.axis_iter_mut(Axis(0))).for_each(|((fine, coarse), mut grey)| {
        Zip::from(&mut grey).and(&fine).and(&coarse).and(&amplitude).for_each(
            |grey, fine, coarse, amplitude| {
                *grey += amplitude * (share * fine + rest * coarse);
            },
        );
    });
    artefacts(grey, recipe);
}

/// Rings around an axis near the middle, and slow shading.
fn artefacts(grey: &mut Array3<f32>, recipe: &Recipe) {
    let (_, height, width) = recipe.size;
    let mut rng = stream(recipe.seed, Part::Rings, 0);
    let (rings, shading) = (Lattice::new(&mut rng), Lattice::new(&mut rng));
    let middle = [height, width].map(|side| side as f32 * rng.random_range(0.4..0.6));
    grey.axis_iter_mut(Axis(0)).into_par_iter().enumerate().for_each(|(z, mut slice)| {
        let z = z as f32;
        for ((y, x), level) in slice.indexed_iter_mut() {
            let (y, x) = (y as f32, x as f32);
            let radius = (y - middle[0]).hypot(x - middle[1]);
            // The field's standard deviation is about 0.4; the factor makes it the amplitude asked for.
            *level += 2.5 * recipe.rings * rings.at([radius / RING.0, z / RING.1, 0.5]);
            *level += SHADING.0 * shading.at([z, y, x].map(|part| part / SHADING.1));
        }
    });
}

/// Noise of variance 1 with a Gaussian correlation.
fn correlated(recipe: &Recipe, part: Part, sigma: f32) -> Array3<f32> {
    let mut white = Array3::<f32>::zeros(recipe.size);
    white.axis_iter_mut(Axis(0)).into_par_iter().enumerate().for_each(|(z, mut slice)| {
        let mut rng = stream(recipe.seed, part, z);
        slice.iter_mut().for_each(|value| {
            // The sum of four uniform numbers is close to normal, and the filter makes it closer.
            let bits = rng.next_u64();
            let sum = (0..4).map(|word| (bits >> (16 * word)) & 0xffff).sum::<u64>();
            *value = (sum as f32 / 65_536.0 - 2.0) * 3.0_f32.sqrt();
        });
    });
    let mut filtered = white.clone();
    for axis in [2, 1, 0] {
        let kernel = kernel(sigma, white.len_of(Axis(axis)));
        blur(&white, &mut filtered, axis, &kernel);
        std::mem::swap(&mut white, &mut filtered);
    }
    white
}

/// Offsets and weights of a Gaussian, wrapped around a side and scaled to keep the variance of white noise.
fn kernel(sigma: f32, side: usize) -> Vec<(usize, f32)> {
    let reach = (3.0 * sigma).ceil() as i64;
    let mut folded = std::collections::BTreeMap::new();
    for offset in -reach..=reach {
        let place = offset.rem_euclid(side.max(1) as i64) as usize;
        *folded.entry(place).or_insert(0.0) += (-0.5 * (offset as f32 / sigma).powi(2)).exp();
    }
    let norm = folded.values().map(|weight| weight * weight).sum::<f32>().sqrt();
    folded.into_iter().map(|(offset, weight)| (offset, weight / norm)).collect()
}

/// Filters along one axis, slice by slice.
fn blur(from: &Array3<f32>, to: &mut Array3<f32>, axis: usize, kernel: &[(usize, f32)]) {
    let (depth, height, width) = from.dim();
    let add = |row: &mut [f32], other: &[f32], weight: f32| {
        row.iter_mut().zip(other).for_each(|(value, other)| *value += weight * other);
    };
    let (Some(from), Some(to)) = (from.as_slice(), to.as_slice_mut()) else { return };
    to.par_chunks_mut((height * width).max(1)).enumerate().for_each(|(z, slice)| {
        slice.fill(0.0);
        let source = |z: usize, y: usize| &from[(z * height + y) * width..][..width];
        for (y, row) in slice.chunks_mut(width.max(1)).enumerate() {
            for &(offset, weight) in kernel {
                match axis {
                    0 => add(row, source((z + offset) % depth, y), weight),
                    1 => add(row, source(z, (y + offset) % height), weight),
                    _ => {
                        let (head, tail) = source(z, y).split_at(offset);
                        add(row, tail, weight);
                        add(&mut row[width - offset..], head, weight);
                    }
                }
            }
        }
    });
}
