//! Non-local means (Buades, Coll & Morel 2005) in 3-D: each voxel becomes a mean of those whose surroundings look alike.
//!
//! v(i) = Σⱼ w(i, j) u(j) / Σⱼ w(i, j),  w(i, j) = exp(−max(d²(i, j) − 2σ², 0) / h²)
//!
//! - u(j): grey level of voxel j, v(i): denoised level of voxel i
//! - j: the voxels of the volume within [`SEARCH`] of i
//! - d²(i, j): mean squared difference of the patches of 3 × 3 × 3 voxels about i and j; a patch that leaves the volume repeats its border
//! - σ: standard deviation of the noise, by which the patches of equal tissue differ anyway: E d² = 2σ²
//! - h: strength in grey levels
//!
//! All pairs of one offset j − i share their squared differences, so the work goes offset by offset, and a patch is three sums of three.
//! Tiles of slices and rows are independent, and each voxel's sums run in the same order whatever the tiles and threads.

use crate::volume::Size;
use ndarray::ArrayView3;
use rayon::prelude::*;
use std::ops::Range;

/// How far the search reaches along z, y and x: 7 × 13 × 13 voxels hold a whole cell body, 8 to 14 across, in its slice;
/// along z less is enough, since neighbouring slices look alike, and every slice more costs a seventh of the time.
pub(super) const SEARCH: [usize; 3] = [3, 6, 6];

/// Slices and rows of a tile: its buffers stay in a core's cache, and their rims (computed twice) cost a third.
const TILE: (usize, usize) = (8, 24);

/// Exponents beyond this count as this: a weight of 10⁻⁷ adds nothing to a mean.
const LARGEST_EXPONENT: f32 = 16.0;

/// The denoised levels in standard layout.
pub(super) fn non_local_means(volume: ArrayView3<u8>, h: f32, sigma: f32, search: [usize; 3]) -> Vec<f32> {
    let size = volume.dim();
    let padded = Padded::new(volume);
    let mut result = vec![0.0; volume.len()];
    let slab = TILE.0 * size.1 * size.2;
    result.par_chunks_mut(slab).enumerate().for_each(|(index, slab)| {
        let first = index * TILE.0;
        let zs = first..(first + TILE.0).min(size.0);
        // The rows of one tile lie apart in the slab, slice by slice.
        let mut slices: Vec<_> =
            slab.chunks_exact_mut(size.1 * size.2).map(|slice| slice.chunks_mut(TILE.1 * size.2)).collect();
        let tiles: Vec<Vec<&mut [f32]>> = (0..size.1.div_ceil(TILE.1))
            .map(|_| slices.iter_mut().filter_map(Iterator::next).collect())
            .collect();
        tiles.into_par_iter().enumerate().for_each(|(index, out)| {
            let first = index * TILE.1;
            let ys = first..(first + TILE.1).min(size.1);
            Tile::new(&padded, zs.clone(), ys, h, sigma).fill(search, out);
        });
    });
    result
}

/// The volume with its border repeated once on every side, so that patches need no cases.
struct Padded {
    size: Size,
    levels: Vec<f32>,
}

impl Padded {
    fn new(volume: ArrayView3<u8>) -> Self {
        let size = volume.dim();
        let inside = |i: usize, length: usize| i.saturating_sub(1).min(length - 1);
        let mut levels = Vec::with_capacity((size.0 + 2) * (size.1 + 2) * (size.2 + 2));
        for z in 0..size.0 + 2 {
            for y in 0..size.1 + 2 {
                let at = |x| f32::from(volume[(inside(z, size.0), inside(y, size.1), inside(x, size.2))]);
                levels.extend((0..size.2 + 2).map(at));
            }
        }
        Self { size, levels }
    }

    /// A row in padded coordinates: voxel (z, y, x) is at (z + 1, y + 1, x + 1).
    fn row(&self, z: usize, y: usize) -> &[f32] {
        let width = self.size.2 + 2;
        let start = (z * (self.size.1 + 2) + y) * width;
        &self.levels[start..start + width]
    }
}

/// Slices `zs` and rows `ys` of the volume, with the sums of their weighted means.
struct Tile<'a> {
    padded: &'a Padded,
    zs: Range<usize>,
    ys: Range<usize>,
    /// 2σ² and 1 / h².
    expected: f32,
    scale: f32,
    /// Σ w u and Σ w of the tile's voxels.
    weighted: Vec<f32>,
    weights: Vec<f32>,
    /// Squared differences of one row; sums of three along x of the rows of one slice; sums along x and y of three slices.
    squares: Vec<f32>,
    rows: Vec<f32>,
    slices: [Vec<f32>; 3],
}

impl<'a> Tile<'a> {
    fn new(padded: &'a Padded, zs: Range<usize>, ys: Range<usize>, h: f32, sigma: f32) -> Self {
        let width = padded.size.2;
        let zeros = |rows: usize| vec![0.0_f32; rows * width];
        Self {
            padded,
            expected: 2.0 * sigma * sigma,
            scale: 1.0 / (h * h),
            weighted: zeros(zs.len() * ys.len()),
            weights: zeros(zs.len() * ys.len()),
            squares: vec![0.0; width + 2],
            rows: zeros(ys.len() + 2),
            slices: [zeros(ys.len()), zeros(ys.len()), zeros(ys.len())],
            zs,
            ys,
        }
    }

    /// Writes the means; `out` holds the tile's rows of each slice.
    fn fill(mut self, search: [usize; 3], out: Vec<&mut [f32]>) {
        let [deep, high, wide] = search.map(|reach| isize::try_from(reach).unwrap_or(0));
        for dz in -deep..=deep {
            for dy in -high..=high {
                for dx in -wide..=wide {
                    self.add(dz, dy, dx);
                }
            }
        }
        let sums = self.weighted.iter().zip(&self.weights);
        for (mean, (weighted, weight)) in out.into_iter().flatten().zip(sums) {
            *mean = weighted / weight;
        }
    }

    /// Adds the voxels that lie at an offset, where they are in the volume.
    fn add(&mut self, dz: isize, dy: isize, dx: isize) {
        let (depth, height, width) = self.padded.size;
        let zs = within(self.zs.clone(), depth, dz);
        let ys = within(self.ys.clone(), height, dy);
        let xs = within(0..width, width, dx);
        if zs.is_empty() || ys.is_empty() || xs.is_empty() {
            return;
        }
        // In padded coordinates the slices zs.start..zs.end + 2 hold the patches of zs; the last two of a triple are known from before.
        for z in zs.start..zs.end + 2 {
            self.sum_slice(z, &ys, &xs, (dz, dy, dx));
            if let Some(centre) = z.checked_sub(2).filter(|centre| zs.contains(centre)) {
                self.weigh_slice(centre, &ys, &xs, (dz, dy, dx));
            }
        }
    }

    /// Sums squared differences over 3 × 3 voxels of padded slice `z`.
    fn sum_slice(
        &mut self,
        z: usize,
        ys: &Range<usize>,
        xs: &Range<usize>,
        (dz, dy, dx): (isize, isize, isize),
    ) {
        let (width, count) = (self.padded.size.2, xs.len());
        for (index, y) in (ys.start..ys.end + 2).enumerate() {
            let one = &self.padded.row(z, y)[xs.start..xs.end + 2];
            let from = xs.start.saturating_add_signed(dx);
            let other = &self.padded.row(z.saturating_add_signed(dz), y.saturating_add_signed(dy))
                [from..from + count + 2];
            let squares = &mut self.squares[..count + 2];
            for ((square, one), other) in squares.iter_mut().zip(one).zip(other) {
                *square = (one - other) * (one - other);
            }
            let (left, centre, right) = (&squares[..count], &squares[1..=count], &squares[2..]);
            let row = &mut self.rows[index * width..index * width + count];
            sum_of_three(row, left, centre, right);
        }
        let slice = &mut self.slices[z % 3];
        for index in 0..ys.len() {
            let row = |y: usize| &self.rows[y * width..y * width + count];
            sum_of_three(
                &mut slice[index * width..index * width + count],
                row(index),
                row(index + 1),
                row(index + 2),
            );
        }
    }

    /// Adds the weights of slice `z`, whose three sums are known.
    fn weigh_slice(
        &mut self,
        z: usize,
        ys: &Range<usize>,
        xs: &Range<usize>,
        (dz, dy, dx): (isize, isize, isize),
    ) {
        let (width, count) = (self.padded.size.2, xs.len());
        let [above, level, below] = [z, z + 1, z + 2].map(|padded| &self.slices[padded % 3]);
        for (index, y) in ys.clone().enumerate() {
            let at = ((z - self.zs.start) * self.ys.len() + y - self.ys.start) * width + xs.start;
            let from = (xs.start + 1).saturating_add_signed(dx);
            let other = self.padded.row((z + 1).saturating_add_signed(dz), (y + 1).saturating_add_signed(dy));
            let other = &other[from..from + count];
            let sums = index * width..index * width + count;
            let (above, level, below) = (&above[sums.clone()], &level[sums.clone()], &below[sums]);
            let weighted = &mut self.weighted[at..at + count];
            let weights = &mut self.weights[at..at + count];
            for x in 0..count {
                let distance = (above[x] + level[x] + below[x]) * (1.0 / 27.0);
                let w = decay((distance - self.expected) * self.scale);
                weighted[x] += w * other[x];
                weights[x] += w;
            }
        }
    }
}

/// The part of `range` whose shifted indices lie in 0..length.
fn within(range: Range<usize>, length: usize, shift: isize) -> Range<usize> {
    let start = range.start.max(shift.min(0).unsigned_abs());
    let end = range.end.min(length.saturating_sub(shift.max(0).unsigned_abs()));
    start..end.max(start)
}

fn sum_of_three(out: &mut [f32], one: &[f32], two: &[f32], three: &[f32]) {
    for (((out, one), two), three) in out.iter_mut().zip(one).zip(two).zip(three) {
        *out = one + two + three;
    }
}

/// exp(−max(t, 0)) as (exp(−t/32))³² with five terms of the series: 3 · 10⁻⁶ off at most, and only products and sums, which
/// become vector instructions and give the same bits on every machine.
#[inline]
pub(super) fn decay(t: f32) -> f32 {
    let t = if t > 0.0 { t } else { 0.0 };
    let t = if t < LARGEST_EXPONENT { t } else { LARGEST_EXPONENT };
    let y = t * (-1.0 / 32.0);
    let e = 1.0 + y * (1.0 + y * (0.5 + y * (1.0 / 6.0 + y * (1.0 / 24.0))));
    let e2 = e * e;
    let e4 = e2 * e2;
    let e8 = e4 * e4;
    let e16 = e8 * e8;
    e16 * e16
}
