//! Blood vessels: a branching network of capillaries walked at random in three dimensions, and a few trunks through all slices.

use super::canvas::{CELL, Canvas, VESSEL, around, voxels};
use super::random::{Part, direction, normal, smooth, stream, unit};
use super::recipe::{Recipe, TISSUES};
use super::regions::Regions;
use crate::volume::Size;
use ndarray::{Array3, Zip};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Voxels between two points of a walk; closer than the thinnest radius, so that tubes have no necks.
const STEP: f32 = 0.8;
/// Walks begin up to this far outside the volume, or fewer would cross its rim than its middle.
const MARGIN: f32 = 25.0;
/// Longest capillary in steps, and its mean turn per step in radians.
const LONGEST: usize = 160;
const TURN: f32 = 0.09;
/// Stretch of the directions along z: annotated sections show fewer long tubes than directions all alike would.
const UPRIGHT: f32 = 2.2;
/// Chance that a capillary branches off one that is there.
const BRANCHING: f32 = 0.55;
/// Thinnest radius that still leaves a connected trail of voxels.
const THINNEST: f32 = 0.9;
/// Distance from the wall to the middle of the bright rim, and its half-width, in voxels.
const RIM: (f32, f32) = (2.0, 0.8);
/// The dark of a vessel reaches this far beyond the outline that annotators draw, in voxels.
const SOFT: f32 = 1.2;
/// A walk reaches this far beyond a vessel's wall to paint its rim.
const REACH: f32 = 4.0;

/// The vessels as painted later, over the cells.
pub(super) struct Vessels {
    /// Depth of each voxel below the wall of the vessel nearest to it; negative outside, −∞ far off.
    depth: Array3<f32>,
    /// Grey level inside that vessel.
    level: Array3<f32>,
    /// Height of its bright rim in grey levels.
    rim: Array3<f32>,
}

/// Grows the network and marks its class.
pub(super) fn grow(canvas: &mut Canvas, regions: &Regions, recipe: &Recipe) -> Vessels {
    let blank = |value: f32| Array3::from_elem(recipe.size, value);
    let vessels = Vessels { depth: blank(f32::NEG_INFINITY), level: blank(0.0), rim: blank(0.0) };
    let rng = stream(recipe.seed, Part::Vessels, 0);
    let mut walker = Walker { size: recipe.size, regions, rng, vessels, trail: Vec::new() };
    walker.trunks();
    walker.capillaries();
    Zip::from(&mut canvas.classes).and(&walker.vessels.depth).par_for_each(|class, &depth| {
        if depth > 0.0 {
            *class = VESSEL;
        }
    });
    walker.vessels
}

impl Vessels {
    /// Paints lumen and rim except inside cells.
    pub(super) fn paint(&self, canvas: &mut Canvas) {
        let painted = Zip::from(&mut canvas.grey).and(&canvas.classes).and(&self.depth).and(&self.level);
        painted.and(&self.rim).par_for_each(|grey, &class, &depth, &level, &rim| {
            if depth > -REACH {
                let wall = (depth + RIM.0) / RIM.1;
                let lumen = if class == CELL { 0.0 } else { smooth((depth + SOFT) / (SOFT + 0.7)) };
                let bright = *grey + rim * (-wall * wall).exp() * if class == CELL { 0.3 } else { 1.0 };
                *grey = bright + (level - bright) * lumen;
            }
        });
    }
}

struct Walker<'a> {
    size: Size,
    regions: &'a Regions,
    rng: ChaCha8Rng,
    vessels: Vessels,
    /// Points of earlier capillaries, to branch from.
    trail: Vec<[f32; 3]>,
}

/// The look of one vessel.
struct Tube {
    radius: f32,
    level: f32,
    rim: f32,
}

impl Walker<'_> {
    /// Wide vessels that pass through every slice, a fixed number per area so that every seed has them.
    fn trunks(&mut self) {
        for (region, &area) in self.regions.areas().iter().enumerate() {
            let vessels = &TISSUES[region].vessels;
            let number = (vessels.trunks * area as f32 / (96.0 * 96.0)).round() as usize;
            for _ in 0..number {
                let mut place = self.start(region, 0.0);
                let tilt = [0.0, 0.25 * normal(&mut self.rng), 0.25 * normal(&mut self.rng)];
                let mut heading = unit([1.0, tilt[1], tilt[2]]);
                // The walk begins at the first slice and leans back towards the z axis, so that it stays in its region.
                place[0] = -5.0;
                let radius = vessels.trunk_radius * (0.1 * normal(&mut self.rng)).exp();
                let tube = Tube { radius, level: self.rng.random_range(2.0..12.0), rim: 45.0 };
                while place[0] < self.size.0 as f32 + 5.0 {
                    self.stamp(place, &tube);
                    self.trail.push(place);
                    self.advance(&mut place, &mut heading, 0.04);
                    heading = unit([heading[0].max(0.3) + 0.02, heading[1] * 0.99, heading[2] * 0.99]);
                }
            }
        }
    }

    /// Capillaries, until every region has its length of them.
    fn capillaries(&mut self) {
        let depth = self.size.0 as f32;
        let areas = self.regions.areas();
        let mut left: [f32; 4] = std::array::from_fn(|region| {
            TISSUES[region].vessels.length / 1000.0 * areas[region] as f32 * depth
        });
        for region in 0..4 {
            // Walks that leave the volume at once add no length: their number is bounded too.
            let mut walks = 50 + (left[region] * 0.5) as usize;
            while left[region] > 0.0 && walks > 0 {
                walks -= 1;
                self.capillary(region, &mut left);
            }
        }
    }

    fn capillary(&mut self, region: usize, left: &mut [f32; 4]) {
        let vessels = &TISSUES[region].vessels;
        let radius = (vessels.radius * (vessels.spread * normal(&mut self.rng)).exp()).max(THINNEST);
        let tube = Tube {
            radius,
            level: (20.0 + 15.0 * normal(&mut self.rng)).clamp(0.0, 60.0),
            rim: self.rng.random_range(5.0..35.0),
        };
        let mut place = self.start(region, MARGIN);
        if self.rng.random::<f32>() < BRANCHING && !self.trail.is_empty() {
            let root = self.trail[self.rng.random_range(0..self.trail.len())];
            if self.regions.at(root[1], root[2]) == region {
                place = root;
            }
        }
        let [z, y, x] = direction(&mut self.rng);
        let mut heading = unit([UPRIGHT * z, y, x]);
        let steps = self.rng.random_range(LONGEST / 4..LONGEST);
        for _ in 0..steps {
            let here = self.regions.at(place[1], place[2]);
            if self.inside(place) {
                if left[here] <= 0.0 {
                    return;
                }
                left[here] -= STEP;
                self.trail.push(place);
            }
            self.stamp(place, &tube);
            self.advance(&mut place, &mut heading, TURN);
        }
    }

    /// A place of the region, up to `margin` outside the volume.
    fn start(&mut self, region: usize, margin: f32) -> [f32; 3] {
        let sides = [self.size.0, self.size.1, self.size.2].map(|side| side as f32);
        let mut place = [0.0; 3];
        // A region may have no voxels in a tiny volume; the last place drawn then serves.
        for _ in 0..200 {
            place = sides.map(|side| self.rng.random_range(-margin - 0.5..side + margin));
            // Trunks keep clear of the rim and of the borders.
            let clear = if margin > 0.0 { 0.0 } else { 18.0 };
            let corners = [(-clear, -clear), (-clear, clear), (clear, -clear), (clear, clear)];
            if corners.iter().all(|(y, x)| self.regions.at(place[1] + y, place[2] + x) == region) {
                break;
            }
        }
        place
    }

    fn advance(&mut self, place: &mut [f32; 3], heading: &mut [f32; 3], turn: f32) {
        let turned = heading.map(|part| part + turn * normal(&mut self.rng));
        *heading = unit(turned);
        for axis in 0..3 {
            place[axis] += STEP * heading[axis];
        }
    }

    fn inside(&self, place: [f32; 3]) -> bool {
        let sides = [self.size.0, self.size.1, self.size.2];
        (0..3).all(|axis| place[axis] >= -0.5 && place[axis] < sides[axis] as f32 - 0.5)
    }

    /// Adds a ball to the network: every voxel belongs to the vessel in which it lies deepest.
    fn stamp(&mut self, centre: [f32; 3], tube: &Tube) {
        for [z, y, x] in voxels(around(self.size, centre, tube.radius + REACH)) {
            let offset = [z as f32 - centre[0], y as f32 - centre[1], x as f32 - centre[2]];
            let depth = tube.radius - offset.iter().map(|part| part * part).sum::<f32>().sqrt();
            let known = &mut self.vessels.depth[(z, y, x)];
            if depth > -REACH && depth > *known {
                *known = depth;
                self.vessels.level[(z, y, x)] = tube.level;
                self.vessels.rim[(z, y, x)] = tube.rim;
            }
        }
    }
}
