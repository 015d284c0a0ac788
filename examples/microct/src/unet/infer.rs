//! From a network and a volume to probability maps.
//!
//! The network sees three slices at a time; what it says of neighbouring voxels is smoothed by 1-2-1 along every axis, since cells are round in 3-D.

use super::crops::{around, scaled};
use super::net::{CLASSES, MULTIPLE, Net, SLICES};
use super::train::Diverged;
use anyhow::{Context, Result};
use burn::tensor::activation::softmax;
use burn::tensor::{Device, Tensor, TensorData};
use ndarray::{Array3, Array4, Axis, Zip};

/// Slices that go through the network together.
const TOGETHER: usize = 4;
/// The maps that are kept, by class: cells first, then vessels.
const KEPT: [usize; 2] = [3, 2];

/// P(cell) and P(vessel) of every voxel in 255ths, as (map, z, y, x).
pub fn infer(net: &Net, volume: &Array3<u8>) -> Result<Array4<u8>> {
    let (depth, height, width) = volume.dim();
    let (h, w) = (height.next_multiple_of(MULTIPLE), width.next_multiple_of(MULTIPLE));
    let device = Device::flex();
    let mut maps = Array4::<f32>::zeros((KEPT.len(), depth, height, width));
    for first in (0..depth).step_by(TOGETHER) {
        let count = TOGETHER.min(depth - first);
        let mut pictures = Vec::with_capacity(count * SLICES * h * w);
        for z in (first..first + count).flat_map(|z| around(z, depth)) {
            for y in 0..h {
                // Beyond the edge the last row and column go on.
                let y = y.min(height - 1);
                pictures.extend((0..w).map(|x| scaled(volume[(z, y, x.min(width - 1))])));
            }
        }
        let pictures = Tensor::from_data(TensorData::new(pictures, [count, SLICES, h, w]), &device);
        let answer = softmax(net.forward(pictures), 1).into_data();
        let answer = answer.as_slice::<f32>().ok().context("the network's answer is not f32")?;
        for (map, class) in KEPT.into_iter().enumerate() {
            for n in 0..count {
                for y in 0..height {
                    let row = ((n * CLASSES + class) * h + y) * w;
                    for x in 0..width {
                        maps[(map, first + n, y, x)] = answer[row + x];
                    }
                }
            }
        }
    }
    if !maps.iter().all(|p| p.is_finite()) {
        return Err(Diverged("the network's answers are not numbers".to_owned()).into());
    }
    for axis in 1..4 {
        smooth(&mut maps, Axis(axis));
    }
    Ok(maps.mapv(|p| (p * 255.0).round() as u8))
}

/// 1-2-1 along an axis; beyond the ends the last value goes on.
fn smooth(maps: &mut Array4<f32>, axis: Axis) {
    let last = maps.len_of(axis) - 1;
    let before = maps.clone();
    for k in 0..=last {
        Zip::from(maps.index_axis_mut(axis, k))
            .and(before.index_axis(axis, k.saturating_sub(1)))
            .and(before.index_axis(axis, (k + 1).min(last)))
            .for_each(|here, one, other| *here = 0.5 * *here + 0.25 * (one + other));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smoothing_spreads_a_voxel_and_keeps_a_constant() {
        let mut maps = Array4::from_elem((1, 3, 3, 3), 0.0);
        maps[(0, 1, 1, 1)] = 1.0;
        let mut constant = Array4::from_elem((1, 1, 4, 2), 0.3);
        for axis in 1..4 {
            smooth(&mut maps, Axis(axis));
            smooth(&mut constant, Axis(axis));
        }
        assert_eq!(
            (maps[(0, 1, 1, 1)], maps[(0, 0, 0, 0)], maps[(0, 1, 0, 1)]),
            (0.125, 1.0 / 64.0, 1.0 / 16.0)
        );
        assert!((maps.sum() - 1.0).abs() < 1e-6 && constant.iter().all(|p| (p - 0.3).abs() < 1e-6));
    }

    #[test]
    fn any_size_of_slice_gets_maps_of_that_size() {
        let net = Net::new(1, &Device::flex());
        for size in [(1, 1, 1), (2, 5, 9), (5, 8, 4)] {
            let maps = infer(&net, &Array3::from_elem(size, 100)).unwrap();
            assert_eq!(maps.dim(), (2, size.0, size.1, size.2));
        }
    }
}
