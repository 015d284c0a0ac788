//! The volume while it is painted: grey levels as fractions, classes and instances.

use crate::volume::Size;
use ndarray::Array3;
use std::ops::Range;

/// The class of voxels that are none of the others.
pub const BACKGROUND: u8 = 0;
/// Myelinated axons.
pub const AXON: u8 = 1;
/// Blood vessels.
pub const VESSEL: u8 = 2;
/// Cell bodies.
pub const CELL: u8 = 3;

/// Grey levels before noise, classes and cells.
pub(super) struct Canvas {
    pub grey: Array3<f32>,
    pub classes: Array3<u8>,
    pub cells: Array3<u16>,
}

/// The voxels of a box of half-width `reach` around `centre` that lie in the volume.
pub(super) fn around(size: Size, centre: [f32; 3], reach: f32) -> [Range<usize>; 3] {
    let sides = [size.0, size.1, size.2];
    std::array::from_fn(|axis| {
        // Casts saturate: a box outside the volume is an empty range.
        let low = (centre[axis] - reach).ceil().max(0.0) as usize;
        let high = ((centre[axis] + reach).floor() + 1.0).max(0.0) as usize;
        low.min(sides[axis])..high.min(sides[axis])
    })
}

/// Every voxel of a box, x fastest.
pub(super) fn voxels([zs, ys, xs]: [Range<usize>; 3]) -> impl Iterator<Item = [usize; 3]> {
    zs.flat_map(move |z| {
        let xs = xs.clone();
        ys.clone().flat_map(move |y| xs.clone().map(move |x| [z, y, x]))
    })
}
