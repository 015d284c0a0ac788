//! Where each tissue lies: four quadrants of the (y, x) plane with wavy, soft borders, the same in every slice.

use super::random::{Lattice, Part, stream};
use super::recipe::{Recipe, TISSUES, Tissue};
use ndarray::Array2;

/// Half the width, in voxels, of the transition between two tissues' grey levels.
const SOFTNESS: f32 = 2.5;
/// Slope of a border's wide transition as a share of its soft one's.
const INWARDS: f32 = 0.35;
/// Bends of a border as a share of the volume's side.
const WAVE: f32 = 0.1;

/// The regions of a phantom, numbered as [`TISSUES`].
pub(super) struct Regions {
    /// The region of each column of voxels.
    pub of: Array2<u8>,
    /// How much of each tissue a column of voxels has; the weights add up to 1.
    pub weights: Array2<[f32; 4]>,
}

impl Regions {
    /// Lays the regions out.
    pub(super) fn new(recipe: &Recipe) -> Self {
        let (_, height, width) = recipe.size;
        let mut rng = stream(recipe.seed, Part::Regions, 0);
        let (left, top) = (Lattice::new(&mut rng), Lattice::new(&mut rng));
        let weights = Array2::from_shape_fn((height, width), |(y, x)| {
            let (v, u) = ((y as f32 + 0.5) / height as f32, (x as f32 + 0.5) / width as f32);
            let right = u - 0.5 - WAVE * left.at([3.0 * v, 0.5, 0.5]);
            let lower = v - 0.5 - WAVE * top.at([3.0 * u, 0.5, 0.5]);
            let right = logistic(right * width as f32 / SOFTNESS);
            let lower = logistic(lower * height as f32 / SOFTNESS);
            [(1.0 - lower) * (1.0 - right), (1.0 - lower) * right, lower * (1.0 - right), lower * right]
        });
        let of = weights
            .map(|shares| (0..4).fold(0, |best, i| if shares[i] > shares[best] { i } else { best }) as u8);
        Self { of, weights }
    }

    /// The region at a place, which may lie outside the volume: the nearest column counts.
    pub(super) fn at(&self, y: f32, x: f32) -> usize {
        let (height, width) = self.of.dim();
        // A cast from a float saturates, so that negative places become 0.
        let near = |place: f32, side: usize| (place.round() as usize).min(side.saturating_sub(1));
        self.of.get((near(y, height), near(x, width))).map_or(0, |&region| usize::from(region))
    }

    /// How far inside a region a column of voxels lies: 0 far outside, 1 far inside, over a wide transition.
    pub(super) fn depth(&self, y: usize, x: usize, region: usize) -> f32 {
        // A share s belongs to the distance ln(s / (1 − s)) from the border in units of its softness.
        let share = self.weights[(y, x)][region].clamp(1e-6, 1.0 - 1e-6);
        logistic(INWARDS * (share / (1.0 - share)).ln())
    }

    /// Columns of voxels in each region.
    pub(super) fn areas(&self) -> [usize; 4] {
        let mut areas = [0; 4];
        self.of.iter().for_each(|&region| areas[usize::from(region)] += 1);
        areas
    }

    /// A property of the tissue, blended over the borders.
    pub(super) fn blend(&self, property: impl Fn(&Tissue) -> f32) -> Array2<f32> {
        let values: [f32; 4] = std::array::from_fn(|region| property(&TISSUES[region]));
        self.weights.map(|shares| shares.iter().zip(values).map(|(share, value)| share * value).sum())
    }
}

fn logistic(t: f32) -> f32 {
    1.0 / (1.0 + (-t).exp())
}
