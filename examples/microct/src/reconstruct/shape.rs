//! The shape rule: a cell body is compact and fills its bounding box, a vessel is long or bent and leaves most of it empty.
//!
//! extent = voxels / voxels of the bounding box; a ball has π/6 ≈ 0.52, a straight tube along an axis π/4, an oblique one far less.

use super::components::Components;
use crate::parts::scored_from;

/// Components of fewer voxels are specks of noise: the ball of radius 1, the smallest thing that an opening leaves, has 7,
/// and a cell body of 8 voxels across has some 270.
pub const SPECK: usize = 8;

/// One object: a connected component with its measures.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    /// Number of voxels.
    pub voxels: usize,
    /// Sums of the voxels' z, y and x.
    sums: [usize; 3],
    /// First and last voxel of the bounding box along z, y and x.
    low: [usize; 3],
    high: [usize; 3],
}

impl Object {
    /// The share of its bounding box that the object fills, in (0, 1].
    pub fn extent(&self) -> f64 {
        let bounds: usize = self.low.iter().zip(&self.high).map(|(low, high)| high - low + 1).product();
        self.voxels as f64 / bounds as f64
    }

    /// The mean z, y and x of the voxels.
    pub fn centroid(&self) -> [f64; 3] {
        self.sums.map(|sum| sum as f64 / self.voxels as f64)
    }

    /// Whether the centroid lies past the slices that a network may have seen in training.
    pub fn is_scored(&self, depth: usize) -> bool {
        self.sums[0] >= scored_from(depth) * self.voxels
    }

    fn empty() -> Self {
        Self { voxels: 0, sums: [0; 3], low: [usize::MAX; 3], high: [0; 3] }
    }

    fn add(&mut self, z: usize, y: usize, start: usize, end: usize) {
        let length = end - start;
        self.voxels += length;
        // The sum of start..end is exact: one of its two factors is even.
        let sum = (start + end - 1) * length / 2;
        for (axis, (total, low, high)) in
            [(z * length, z, z), (y * length, y, y), (sum, start, end - 1)].into_iter().enumerate()
        {
            self.sums[axis] += total;
            self.low[axis] = self.low[axis].min(low);
            self.high[axis] = self.high[axis].max(high);
        }
    }
}

/// The objects among the components, and for each component the number of its object, none for specks.
pub(super) fn objects(components: &Components) -> (Vec<Object>, Vec<Option<usize>>) {
    let mut all = vec![Object::empty(); components.count];
    let height = components.size.1;
    for (run, &component) in components.runs.iter().zip(&components.component) {
        all[component].add(run.row / height, run.row % height, run.start, run.end);
    }
    let mut objects = Vec::new();
    let numbers = all.into_iter().map(|object| {
        (object.voxels >= SPECK).then(|| {
            objects.push(object);
            objects.len() - 1
        })
    });
    let numbers = numbers.collect();
    (objects, numbers)
}
