//! Bundles of myelinated axons: bright, striped along their fibres, at a set share of a region.

use super::canvas::{AXON, Canvas};
use super::random::{Lattice, Part, cross, dot, smooth, stream, unit};
use super::recipe::{Axons, Recipe, TISSUES};
use super::regions::Regions;
use ndarray::parallel::prelude::*;
use ndarray::{Array3, Axis};

/// Width of the soft edge of a bundle in units of its field.
const EDGE: f32 = 0.14;
/// How much thinner bundles get towards their region's border, in units of their field.
const TAPER: f32 = 1.4;
/// Share of the stripes that the tissue between bundles shows.
const BETWEEN: f32 = 0.4;

/// Paints the axons of every region that has some.
pub(super) fn paint(canvas: &mut Canvas, regions: &Regions, recipe: &Recipe) {
    let mut rng = stream(recipe.seed, Part::Axons, 0);
    for (region, tissue) in TISSUES.iter().enumerate() {
        let Some(axons) = &tissue.axons else { continue };
        let bundles = Bundles::new(axons, std::array::from_fn(|_| Lattice::new(&mut rng)));
        let mut field = Array3::<f32>::zeros(recipe.size);
        field.axis_iter_mut(Axis(0)).into_par_iter().enumerate().for_each(|(z, mut slice)| {
            for ((y, x), value) in slice.indexed_iter_mut() {
                let near = regions.weights[(y, x)][region] > 0.02;
                *value = if near {
                    bundles.field(z, y, x) - TAPER * (1.0 - regions.depth(y, x, region))
                } else {
                    f32::NEG_INFINITY
                };
            }
        });
        let Some(threshold) = threshold(&field, regions, region, axons.fraction) else { continue };
        let slices = canvas.grey.axis_iter_mut(Axis(0)).into_par_iter();
        slices.zip(canvas.classes.axis_iter_mut(Axis(0))).enumerate().for_each(
            |(z, (mut grey, mut classes))| {
                for ((y, x), level) in grey.indexed_iter_mut() {
                    let depth = field[(z, y, x)] - threshold;
                    let weight = regions.weights[(y, x)][region];
                    if weight > 0.02 {
                        let cover = smooth(depth / EDGE + 0.5);
                        let stripes =
                            axons.stripes * bundles.stripe(z, y, x) * (BETWEEN + (1.0 - BETWEEN) * cover);
                        *level += weight * (cover * axons.contrast + stripes);
                    }
                    if depth > 0.0 && usize::from(regions.of[(y, x)]) == region {
                        classes[(y, x)] = AXON;
                    }
                }
            },
        );
    }
}

/// The field whose high parts are bundles, and its stripes.
struct Bundles<'a> {
    axons: &'a Axons,
    /// Along the fibres, across them in the plane, and across both.
    frame: [[f32; 3]; 3],
    lattices: [Lattice; 5],
}

impl<'a> Bundles<'a> {
    fn new(axons: &'a Axons, lattices: [Lattice; 5]) -> Self {
        let along = unit(axons.direction);
        let across = unit(cross([1.0, 0.0, 0.0], along));
        Self { axons, frame: [along, across, cross(along, across)], lattices }
    }

    /// Coordinates along and across the fibres, which bend slowly.
    fn bent(&self, z: usize, y: usize, x: usize) -> [f32; 3] {
        let place = [z as f32, y as f32, x as f32];
        let bend = 9.0 * self.lattices[0].at(place.map(|part| part / 45.0));
        let [along, across, third] = self.frame.map(|axis| dot(axis, place));
        [along, across + bend, third]
    }

    fn field(&self, z: usize, y: usize, x: usize) -> f32 {
        let Axons { along, across, strands, .. } = *self.axons;
        let [u, v, w] = self.bent(z, y, x);
        let [a, b, c] = [u / along, v / across, w / across];
        // A second lattice, turned by 37° in each plane, hides the grid of the first.
        let turned = [0.8 * a + 0.6 * b, 0.8 * b - 0.6 * a + 0.6 * c, 0.8 * c - 0.6 * b];
        let bundle = self.lattices[1].at([a, b, c]) + self.lattices[4].at(turned);
        bundle + strands * self.lattices[2].at([3.0 * u / along, 3.5 * v / across, 3.5 * w / across])
    }

    /// Single fibres: long, and about three voxels wide.
    fn stripe(&self, z: usize, y: usize, x: usize) -> f32 {
        let [u, v, w] = self.bent(z, y, x);
        self.lattices[3].at([u / 18.0, v / 2.2, w / 4.0])
    }
}

/// The value that a `fraction` of the region's voxels exceeds, or nothing for a region without voxels.
fn threshold(field: &Array3<f32>, regions: &Regions, region: usize, fraction: f32) -> Option<f32> {
    let mut values: Vec<f32> = field
        .outer_iter()
        .flat_map(|slice| slice.into_iter().zip(&regions.of).filter(|(_, of)| usize::from(**of) == region))
        .map(|(value, _)| *value)
        .collect();
    let rank = (values.len() as f32 * (1.0 - fraction)) as usize;
    (rank < values.len()).then(|| *values.select_nth_unstable_by(rank, f32::total_cmp).1)
}
