//! The figures that annotated slices are described by, measured on a phantom: fractions, sections and grey levels per region.

use super::recipe::TISSUES;
use super::{AXON, CELL, Phantom, VESSEL};
use ndarray::{Array2, ArrayView2};
use serde::Serialize;

/// One region's figures.
#[derive(Debug, Clone, Serialize)]
pub struct RegionStatistics {
    /// `ctx`, `str`, `trn` or `zi`.
    pub region: &'static str,
    /// Myelinated axons.
    pub axon: ClassStatistics,
    /// Blood vessels.
    pub vessel: ClassStatistics,
    /// Cell bodies.
    pub cell: ClassStatistics,
    /// Percentiles 1, 5, 25, 50, 75, 95 and 99 of the grey levels.
    pub grey: [f64; 7],
}

/// One class's figures; a component is a set of voxels of a slice connected by edges, not corners.
#[derive(Debug, Clone, Serialize)]
pub struct ClassStatistics {
    /// Share of the region's voxels.
    pub fraction: f64,
    /// Components per 128 × 128 voxels of a slice.
    pub components: f64,
    /// Percentiles 10, 50 and 90 of the components' areas.
    pub areas: [f64; 3],
}

/// Voxels of the patches that the annotations came in.
const PATCH: f64 = 128.0 * 128.0;

/// The figures of every region that has voxels.
pub fn statistics(phantom: &Phantom) -> Vec<RegionStatistics> {
    let sections = [AXON, VESSEL, CELL].map(|class| Sections::new(phantom, class));
    let mut all = Vec::new();
    for (region, tissue) in TISSUES.iter().enumerate() {
        let mut grey: Vec<f64> = Vec::new();
        for slice in phantom.grey.outer_iter() {
            let columns = slice.into_iter().zip(&phantom.regions);
            grey.extend(
                columns.filter(|(_, of)| usize::from(**of) == region).map(|(level, _)| f64::from(*level)),
            );
        }
        if grey.is_empty() {
            continue;
        }
        grey.sort_by(f64::total_cmp);
        let [axon, vessel, cell] =
            sections.each_ref().map(|sections| sections.figures(region, grey.len() as f64));
        let grey = [1.0, 5.0, 25.0, 50.0, 75.0, 95.0, 99.0].map(|percent| percentile(&grey, percent));
        all.push(RegionStatistics { region: tissue.name, axon, vessel, cell, grey });
    }
    all
}

/// The components of a class in all slices.
struct Sections {
    /// Sorted areas of those that lie mostly in each region.
    areas: [Vec<f64>; 4],
    /// Voxels of the class in each region.
    voxels: [f64; 4],
}

impl Sections {
    fn new(phantom: &Phantom, class: u8) -> Self {
        let mut sections = Self { areas: Default::default(), voxels: [0.0; 4] };
        for slice in phantom.classes.outer_iter() {
            sections.add(slice, &phantom.regions, class);
        }
        sections.areas.iter_mut().for_each(|areas| areas.sort_by(f64::total_cmp));
        sections
    }

    fn add(&mut self, slice: ArrayView2<u8>, regions: &Array2<u8>, class: u8) {
        let mut open = slice.map(|&of| of == class);
        let mut stack = Vec::new();
        for (start, _) in slice.indexed_iter().filter(|(_, of)| **of == class) {
            let mut area = [0.0; 4];
            stack.push(start);
            while let Some((y, x)) = stack.pop() {
                if let Some(voxel) = open.get_mut((y, x))
                    && std::mem::take(voxel)
                {
                    area[usize::from(regions[(y, x)])] += 1.0;
                    // A place left of the slice wraps to one far right of it and is not found.
                    stack.extend([(y + 1, x), (y.wrapping_sub(1), x), (y, x + 1), (y, x.wrapping_sub(1))]);
                }
            }
            let whole: f64 = area.iter().sum();
            if whole > 0.0 {
                let most =
                    (0..4).fold(0, |most, region| if area[region] > area[most] { region } else { most });
                self.areas[most].push(whole);
                (0..4).for_each(|region| self.voxels[region] += area[region]);
            }
        }
    }

    fn figures(&self, region: usize, voxels: f64) -> ClassStatistics {
        let areas = &self.areas[region];
        ClassStatistics {
            fraction: self.voxels[region] / voxels,
            components: areas.len() as f64 / voxels * PATCH,
            areas: [10.0, 50.0, 90.0].map(|percent| percentile(areas, percent)),
        }
    }
}

/// The percentile of sorted numbers, linear between neighbours; 0 without numbers.
fn percentile(sorted: &[f64], percent: f64) -> f64 {
    let place = percent / 100.0 * sorted.len().saturating_sub(1) as f64;
    let at = |index: f64| sorted.get(index as usize).copied().unwrap_or(0.0);
    at(place.floor()) + (at(place.ceil()) - at(place.floor())) * place.fract()
}
