//! `microct phantom`: a phantom written into a directory.

use super::{Recipe, RegionStatistics, generate, statistics};
use crate::volume::{self, Size};
use anyhow::{Context, Result};
use serde::Serialize;
use std::path::PathBuf;

/// Options of `microct phantom`.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Directory for volume.npy, truth.npy, cells.npy and phantom.json.
    #[arg(long)]
    out: PathBuf,
    /// The same seed makes the same bytes.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Voxels along z, y and x.
    #[arg(long, value_name = "Z,Y,X", default_value = "64,192,192", value_parser = parse_size)]
    size: Size,
    /// Noise amplitude as a multiple of the measured one [default: 0.9]
    #[arg(long, allow_negative_numbers = true)]
    noise: Option<f32>,
    /// Correlation length of the finer noise in voxels [default: 1]
    #[arg(long, allow_negative_numbers = true)]
    correlation: Option<f32>,
    /// Spread of the cells' contrast in units of its mean [default: 0.25]
    #[arg(long, allow_negative_numbers = true)]
    contrast_spread: Option<f32>,
    /// Pale spots that are no cells, per cell [default: 0]
    #[arg(long, allow_negative_numbers = true)]
    ghosts: Option<f32>,
    /// Amplitude of ring artefacts in grey levels [default: 3]
    #[arg(long, allow_negative_numbers = true)]
    rings: Option<f32>,
}

/// What `phantom.json` holds.
#[derive(Serialize)]
struct Description<'a> {
    #[serde(flatten)]
    recipe: &'a Recipe,
    cells: u16,
    statistics: Vec<RegionStatistics>,
}

/// Makes a phantom and writes it.
pub fn run(options: &Options) -> Result<()> {
    let usual = Recipe::default();
    let recipe = Recipe {
        seed: options.seed,
        size: options.size,
        noise: options.noise.unwrap_or(usual.noise),
        correlation: options.correlation.unwrap_or(usual.correlation),
        contrast_spread: options.contrast_spread.unwrap_or(usual.contrast_spread),
        ghosts: options.ghosts.unwrap_or(usual.ghosts),
        rings: options.rings.unwrap_or(usual.rings),
    };
    let phantom = generate(&recipe)?;
    let directory = &options.out;
    volume::directory(directory)?;
    volume::write(&directory.join("volume.npy"), &phantom.grey)?;
    volume::write(&directory.join("truth.npy"), &phantom.classes)?;
    volume::write(&directory.join("cells.npy"), &phantom.cells)?;
    let cells = phantom.cells.iter().copied().max().unwrap_or(0);
    let description = Description { recipe: &recipe, cells, statistics: statistics(&phantom) };
    let path = directory.join("phantom.json");
    let text = serde_json::to_string_pretty(&description).context("cannot describe the phantom")?;
    std::fs::write(&path, text + "\n").with_context(|| format!("cannot write {}", path.display()))
}

fn parse_size(text: &str) -> Result<Size, String> {
    let sides: Result<Vec<usize>, _> = text.split(',').map(|side| side.trim().parse()).collect();
    match sides.as_deref() {
        Ok(&[depth, height, width]) => Ok((depth, height, width)),
        _ => Err("a size is three whole numbers as in 64,192,192: voxels along z, y and x".to_owned()),
    }
}
