//! A phantom of brain tissue: a seeded volume that looks like a microCT scan, with the truth of every voxel.
//!
//! Regions are laid out first, axon bundles painted into them, vessels grown, cells placed where there is room,
//! and noise added last. Sizes and densities come from annotated slices (`recipe.rs` holds them all);
//! numbers of cells, lengths of vessels and shares of axons are fixed, only their places are random,
//! so that volumes of different seeds have similar statistics. The usual seed is the one that they were compared with real ones for.

mod axons;
mod canvas;
mod cells;
mod command;
mod noise;
mod random;
mod recipe;
mod regions;
mod statistics;
mod vessels;

pub use canvas::{AXON, BACKGROUND, CELL, VESSEL};
pub use command::{Options, run};
pub use recipe::Recipe;
pub use statistics::{ClassStatistics, RegionStatistics, statistics};

use anyhow::Result;
use canvas::Canvas;
use ndarray::{Array2, Array3};
use regions::Regions;

/// A volume and its truth, axes (z, y, x).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phantom {
    /// Grey levels.
    pub grey: Array3<u8>,
    /// [`BACKGROUND`], [`AXON`], [`VESSEL`] or [`CELL`].
    pub classes: Array3<u8>,
    /// Numbers of cells from 1, 0 elsewhere.
    pub cells: Array3<u16>,
    /// The region of each column of voxels: 0 cortex, 1 striatum, 2 thalamus, 3 zona incerta.
    pub regions: Array2<u8>,
}

/// Makes the phantom of a recipe.
pub fn generate(recipe: &Recipe) -> Result<Phantom> {
    recipe.check()?;
    let regions = Regions::new(recipe);
    let background = regions.blend(|tissue| tissue.grey);
    let mut canvas = Canvas {
        grey: Array3::from_shape_fn(recipe.size, |(_, y, x)| background[(y, x)]),
        classes: Array3::from_elem(recipe.size, BACKGROUND),
        cells: Array3::zeros(recipe.size),
    };
    axons::paint(&mut canvas, &regions, recipe);
    let vessels = vessels::grow(&mut canvas, &regions, recipe);
    cells::paint(&mut canvas, &regions, recipe)?;
    vessels.paint(&mut canvas);
    noise::add(&mut canvas.grey, &regions, recipe);
    // A cast from a float saturates at 0 and 255.
    let grey = canvas.grey.map(|level| level.round() as u8);
    Ok(Phantom { grey, classes: canvas.classes, cells: canvas.cells, regions: regions.of })
}
