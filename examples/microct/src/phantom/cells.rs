//! Cell bodies: deformed ellipsoids, dark with a brighter centre, and the pale ghosts that nobody annotates.

use super::canvas::{AXON, BACKGROUND, CELL, Canvas, VESSEL, around, voxels};
use super::random::{Lattice, Part, cross, direction, dot, normal, smooth, stream, unit};
use super::recipe::{Recipe, TISSUES};
use super::regions::Regions;
use anyhow::{Result, bail};
use ndarray::Array3;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;

/// Two cells lie at least this share of their radii's sum apart: some touch, few overlap.
const APART: f32 = 0.95;
/// Largest share of a cell's voxels that a vessel or another cell may have had before.
const SHARED: f32 = 0.08;
/// Places tried for a cell before it is left out.
const TRIES: usize = 60;
/// Fewer voxels than this are a sliver that the volume's rim or a neighbour cut off, not a cell.
const SLIVER: usize = 12;
/// The dark of a cell reaches this far beyond the outline that annotators draw, in voxels.
const HALO: f32 = 1.5;
/// Annotators do not see a cell in the slices through its caps, whose section is below this share of its widest one.
const CAP: f32 = 0.38;
/// Least contrast of a cell and of a ghost in units of the mean.
const PALEST: f32 = 0.15;
const GHOST: std::ops::Range<f32> = 0.15..0.55;

/// Places and paints the cells and ghosts of every region.
pub(super) fn paint(canvas: &mut Canvas, regions: &Regions, recipe: &Recipe) -> Result<()> {
    let mut rng = stream(recipe.seed, Part::Cells, 0);
    let mut placed: Vec<Body> = Vec::new();
    let mut number = 0;
    for (region, count) in expected(regions, recipe, 1.0) {
        for _ in 0..count {
            let mut body = Body::new(&mut rng, region, recipe.contrast_spread);
            for _ in 0..TRIES {
                body.centre = place(&mut rng, recipe, body.radius);
                if regions.at(body.centre[1], body.centre[2]) != region
                    || placed.iter().any(|other| body.crowds(other))
                    || refused_by_axons(canvas, &body, &mut rng)
                {
                    continue;
                }
                let Some(own) = own_voxels(canvas, &body) else { continue };
                if own.len() >= SLIVER {
                    let Some(next) = u16::checked_add(number, 1) else {
                        bail!("a phantom holds at most {} cells; make it smaller", u16::MAX);
                    };
                    number = next;
                    for [z, y, x] in own {
                        canvas.classes[(z, y, x)] = CELL;
                        canvas.cells[(z, y, x)] = number;
                    }
                }
                body.shade(&mut canvas.grey, None);
                placed.push(body);
                break;
            }
        }
    }
    let mut rng = stream(recipe.seed, Part::Ghosts, 0);
    for (region, count) in expected(regions, recipe, recipe.ghosts) {
        for _ in 0..count {
            let mut body = Body::new(&mut rng, region, 0.0);
            body.radius *= 0.85;
            body.contrast *= rng.random_range(GHOST);
            body.centre = place(&mut rng, recipe, body.radius);
            if regions.at(body.centre[1], body.centre[2]) == region
                && !placed.iter().any(|other| body.crowds(other))
            {
                body.shade(&mut canvas.grey, Some(&canvas.classes));
                placed.push(body);
            }
        }
    }
    Ok(())
}

/// Cells wanted in each region, those included whose centre lies just outside the volume.
fn expected(regions: &Regions, recipe: &Recipe, share: f32) -> [(usize, usize); 4] {
    let (depth, height, width) = recipe.size;
    let columns = (height * width) as f32;
    let areas = regions.areas();
    std::array::from_fn(|region| {
        let cells = &TISSUES[region].cells;
        let grown = |side: usize| side as f32 + 2.0 * cells.radius;
        let volume = grown(depth) * grown(height) * grown(width) * areas[region] as f32 / columns;
        (region, (share * cells.density * volume / 1e6).round() as usize)
    })
}

fn place(rng: &mut ChaCha8Rng, recipe: &Recipe, margin: f32) -> [f32; 3] {
    let (depth, height, width) = recipe.size;
    [depth, height, width].map(|side| rng.random_range(-margin - 0.5..side as f32 - 0.5 + margin))
}

/// Whether the cell lies in a bundle that drives cells away.
fn refused_by_axons(canvas: &Canvas, body: &Body, rng: &mut ChaCha8Rng) -> bool {
    let [z, y, x] = body.centre.map(|part| part.round() as usize);
    let avoided = TISSUES[body.region].axons.as_ref().map_or(0.0, |axons| axons.avoided);
    canvas.classes.get((z, y, x)) == Some(&AXON) && rng.random::<f32>() < avoided
}

/// The voxels that a body gets, connected by faces; nothing if it would take too many from others.
fn own_voxels(canvas: &Canvas, body: &Body) -> Option<Vec<[usize; 3]>> {
    let (mut all, mut free, mut vessel) = (0, Vec::new(), 0);
    for voxel in voxels(around(canvas.grey.dim(), body.centre, body.reach())) {
        if body.depth(voxel) > 0.0 {
            all += 1;
            match canvas.classes[voxel] {
                CELL => {}
                VESSEL => vessel += 1,
                _ => free.push(voxel),
            }
        }
    }
    let taken = all - free.len();
    if taken as f32 > SHARED * all as f32 || vessel as f32 > SHARED * all as f32 {
        return None;
    }
    Some(largest_piece(without_caps(free)))
}

/// The voxels in slices that show a good part of the cell.
fn without_caps(all: Vec<[usize; 3]>) -> Vec<[usize; 3]> {
    let mut sections = std::collections::BTreeMap::new();
    all.iter().for_each(|voxel| *sections.entry(voxel[0]).or_insert(0) += 1);
    let widest = sections.values().copied().max().unwrap_or(0);
    let shown = |z: usize| sections.get(&z).is_some_and(|&area: &i32| area as f32 >= CAP * widest as f32);
    all.into_iter().filter(|voxel| shown(voxel[0])).collect()
}

/// The largest set of voxels connected by faces; `all` is sorted.
fn largest_piece(all: Vec<[usize; 3]>) -> Vec<[usize; 3]> {
    let mut seen = vec![false; all.len()];
    let mut best = Vec::new();
    for start in 0..all.len() {
        if seen[start] {
            continue;
        }
        seen[start] = true;
        let (mut piece, mut queue) = (Vec::new(), VecDeque::from([all[start]]));
        while let Some(voxel) = queue.pop_front() {
            piece.push(voxel);
            for axis in 0..3 {
                for step in [usize::MAX, 1] {
                    let mut beside = voxel;
                    beside[axis] = beside[axis].wrapping_add(step);
                    if let Ok(index) = all.binary_search(&beside)
                        && !std::mem::replace(&mut seen[index], true)
                    {
                        queue.push_back(beside);
                    }
                }
            }
        }
        if piece.len() > best.len() {
            best = piece;
        }
    }
    best
}

/// A deformed ellipsoid.
struct Body {
    region: usize,
    centre: [f32; 3],
    radius: f32,
    /// Axes divided by their half-lengths in units of the radius.
    axes: [[f32; 3]; 3],
    dents: Lattice,
    /// Grey levels below the background.
    contrast: f32,
    /// Share of the contrast that the centre lacks.
    centre_glow: f32,
}

impl Body {
    fn new(rng: &mut ChaCha8Rng, region: usize, contrast_spread: f32) -> Self {
        let cells = &TISSUES[region].cells;
        let radius = cells.radius * (cells.spread * normal(rng)).clamp(-0.5, 0.45).exp();
        let first = direction(rng);
        let second = unit(cross(first, direction(rng)));
        let lengths = [1.0 + 0.13 * normal(rng).clamp(-2.0, 2.0), 1.0 + 0.1 * normal(rng).clamp(-2.0, 2.0)];
        // The third axis keeps the volume that of a sphere.
        let third = 1.0 / (lengths[0] * lengths[1]);
        let scale = |axis: [f32; 3], length: f32| axis.map(|part| part / length);
        let axes = [scale(first, lengths[0]), scale(second, lengths[1]), scale(cross(first, second), third)];
        let contrast = cells.contrast * (1.0 + contrast_spread * normal(rng)).clamp(PALEST, 1.6);
        let centre_glow = rng.random_range(0.1..0.6) * smooth((radius - 2.5) / 2.0);
        Self { region, centre: [0.0; 3], radius, axes, dents: Lattice::new(rng), contrast, centre_glow }
    }

    fn reach(&self) -> f32 {
        self.radius * 1.5 + HALO
    }

    fn crowds(&self, other: &Body) -> bool {
        let offset: [f32; 3] = std::array::from_fn(|axis| self.centre[axis] - other.centre[axis]);
        dot(offset, offset).sqrt() < APART * (self.radius + other.radius)
    }

    /// Depth of a voxel below the body's surface, in voxels.
    fn depth(&self, voxel: [usize; 3]) -> f32 {
        let offset: [f32; 3] = std::array::from_fn(|axis| voxel[axis] as f32 - self.centre[axis]);
        let distance = self.axes.map(|axis| dot(axis, offset));
        let length = dot(distance, distance).sqrt();
        let towards = distance.map(|part| 1.4 * part / length.max(0.5));
        self.radius * (1.0 + 0.13 * self.dents.at(towards)) - length
    }

    /// Darkens the body and its halo; over `classes`, only where there is background.
    fn shade(&self, grey: &mut Array3<f32>, classes: Option<&Array3<u8>>) {
        for voxel in voxels(around(grey.dim(), self.centre, self.reach())) {
            let depth = self.depth(voxel);
            let elsewhere = classes.is_some_and(|classes| classes[voxel] != BACKGROUND);
            if depth > -HALO && !elsewhere {
                let cover = smooth((depth + HALO) / (HALO + 1.0));
                let middle = (1.0 - depth / self.radius) / 0.42;
                let dark = self.contrast * (1.0 - self.centre_glow * (-middle * middle).exp());
                grey[voxel] -= cover * dark;
            }
        }
    }
}
