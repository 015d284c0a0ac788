//! Training examples: crops of the annotated slices, half of them around a cell, mirrored at random, with a weight for each voxel's true class.

use super::net::{CLASSES, MULTIPLE, SLICES};
use anyhow::{Result, bail};
use burn::tensor::{Device, Tensor, TensorData};
use ndarray::Array3;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::ops::Range;

/// Side of a crop in voxels: a cell and what surrounds it. Small crops mean many steps for the same work.
const SIDE: usize = 32;
/// How much an error counts by class: cells and vessels are a few per cent of all voxels.
const WEIGHTS: [f32; CLASSES] = [0.5, 0.5, 2.0, 4.0];
/// The class of cells.
const CELL: u8 = 3;

/// Blank pictures without weight fill a batch up to this: with fewer, the framework takes another way through the gradients of the weights, which
/// is three times slower.
const FEWEST: usize = 5;

/// Where crops come from.
pub struct Crops<'a> {
    volume: &'a Array3<u8>,
    truth: &'a Array3<u8>,
    slices: Range<usize>,
    /// Voxels of cells in these slices.
    cells: Vec<(usize, usize, usize)>,
}

/// A slice and its neighbours, which are what the network sees of it; at the ends of the volume the slice stands in for what is missing.
pub fn around(z: usize, depth: usize) -> [usize; SLICES] {
    [z.saturating_sub(1), z, (z + 1).min(depth.saturating_sub(1))]
}

/// Grey levels as the network sees them: near 0, of size 1.
pub fn scaled(grey: u8) -> f32 {
    (f32::from(grey) - 120.0) / 40.0
}

impl<'a> Crops<'a> {
    /// Crops of these slices.
    pub fn new(volume: &'a Array3<u8>, truth: &'a Array3<u8>, slices: Range<usize>) -> Result<Self> {
        if let Some((voxel, class)) = truth.indexed_iter().find(|(_, class)| usize::from(**class) >= CLASSES)
        {
            bail!(
                "the annotation has class {class} at voxel {voxel:?}; there are 0 (background), 1 (axon), 2 (vessel) and 3 (cell)"
            );
        }
        let all = truth.indexed_iter().filter(|((z, ..), class)| slices.contains(z) && **class == CELL);
        let cells = all.map(|(voxel, _)| voxel).collect();
        Ok(Self { volume, truth, slices, cells })
    }

    /// Whether these slices show a cell.
    pub fn has_cells(&self) -> bool {
        !self.cells.is_empty()
    }

    /// Pictures (n, slice, y, x), and for each voxel (n, class, y, x) a weight at its true class, which add up to 1. There may be more
    /// pictures than crops, blank ones without weight.
    pub fn batch(&self, count: usize, rng: &mut ChaCha8Rng, device: &Device) -> (Tensor<4>, Tensor<4>) {
        let (depth, height, width) = self.volume.dim();
        let (h, w) = (side(height), side(width));
        let filled = count.max(FEWEST);
        let mut pictures = Vec::with_capacity(filled * SLICES * h * w);
        let mut weights = vec![0.0f32; filled * CLASSES * h * w];
        for n in 0..count {
            let (z, top, left) = self.corner(h, w, rng);
            let (upside_down, mirrored): (bool, bool) = (rng.random(), rng.random());
            let row = |y: usize| top + if upside_down { h - 1 - y } else { y };
            let column = |x: usize| left + if mirrored { w - 1 - x } else { x };
            for z in around(z, depth) {
                for y in 0..h {
                    pictures.extend((0..w).map(|x| scaled(self.volume[(z, row(y), column(x))])));
                }
            }
            for y in 0..h {
                for x in 0..w {
                    let class = usize::from(self.truth[(z, row(y), column(x))]);
                    weights[((n * CLASSES + class) * h + y) * w + x] = WEIGHTS[class];
                }
            }
        }
        pictures.resize(filled * SLICES * h * w, 0.0);
        let total: f32 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= total);
        let pictures = Tensor::from_data(TensorData::new(pictures, [filled, SLICES, h, w]), device);
        (pictures, Tensor::from_data(TensorData::new(weights, [filled, CLASSES, h, w]), device))
    }

    /// Slice, first row and first column of a crop: with even chances anywhere, or with a voxel of a cell in it.
    fn corner(&self, h: usize, w: usize, rng: &mut ChaCha8Rng) -> (usize, usize, usize) {
        let (_, height, width) = self.volume.dim();
        let anywhere = (
            rng.random_range(self.slices.clone()),
            rng.random_range(0..=height - h),
            rng.random_range(0..=width - w),
        );
        if self.cells.is_empty() || rng.random() {
            return anywhere;
        }
        let (z, y, x) = self.cells[rng.random_range(0..self.cells.len())];
        let top = y.saturating_sub(rng.random_range(0..h)).min(height - h);
        (z, top, x.saturating_sub(rng.random_range(0..w)).min(width - w))
    }
}

/// The side of crops along an axis of this length; poolings want a multiple of four.
fn side(length: usize) -> usize {
    SIDE.min(length / MULTIPLE * MULTIPLE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn a_class_that_nobody_knows_is_refused() {
        let mut truth = Array3::zeros((8, 8, 8));
        truth[(7, 1, 2)] = 4;
        let complaint = Crops::new(&truth, &truth, 0..1).err().map(|error| error.to_string());
        assert!(complaint.is_some_and(|text| text.contains("class 4 at voxel (7, 1, 2)")));
    }

    #[test]
    fn weights_add_up_to_one_and_sit_at_the_true_class() {
        let truth = Array3::from_shape_fn((4, 40, 36), |(_, y, x)| if (y, x) == (20, 20) { CELL } else { 0 });
        let crops = Crops::new(&truth, &truth, 0..2).unwrap();
        let (pictures, weights) =
            crops.batch(6, &mut ChaCha8Rng::seed_from_u64(1), &burn::tensor::Device::flex());
        assert_eq!((pictures.dims(), weights.dims()), ([6, 3, 32, 32], [6, 4, 32, 32]));
        let by_class = weights.sum_dim(3).sum_dim(2).sum_dim(0).into_data();
        let by_class = by_class.as_slice::<f32>().unwrap();
        assert!((by_class.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        assert!(
            by_class[0] > 0.9 && by_class[1] == 0.0 && by_class[2] == 0.0 && by_class[3] > 0.0,
            "{by_class:?}"
        );
    }
}
