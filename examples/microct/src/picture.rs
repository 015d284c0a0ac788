//! `microct picture`: a slice beside its truth in colours, as a PNG.

use crate::phantom::{AXON, CELL, VESSEL};
use crate::volume;
use anyhow::{Context, Result, ensure};
use ndarray::{Array3, ArrayView2, Axis, Zip};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

/// Options of `microct picture`.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Directory with volume.npy and truth.npy.
    #[arg(long)]
    data: PathBuf,
    /// Number of the slice, from 0.
    #[arg(long, default_value_t = 30)]
    slice: usize,
    /// Axis that the slice is perpendicular to.
    #[arg(long, value_enum, default_value_t = Along::Z)]
    axis: Along,
    /// Pixels along each side of a voxel.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=16))]
    scale: u32,
    /// The PNG to write.
    #[arg(long)]
    out: PathBuf,
}

/// An axis of a volume.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub enum Along {
    /// Depth.
    Z,
    /// Height.
    Y,
    /// Width.
    X,
}

/// An RGB picture, rows from the top.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// Pixels along x.
    pub width: usize,
    /// Pixels along y.
    pub height: usize,
    /// Three bytes per pixel.
    pub bytes: Vec<u8>,
}

/// Voxels of white between the slice and its truth.
const GAP: usize = 2;

/// Reads a volume and its truth and draws one slice of them.
pub fn run(options: &Options) -> Result<()> {
    let grey: Array3<u8> = volume::read(&options.data.join("volume.npy"), "the volume")?;
    let truth: Array3<u8> = volume::read(&options.data.join("truth.npy"), "the truth")?;
    volume::same_shape(("the volume", &grey), ("the truth", &truth))?;
    let axis = Axis(options.axis as usize);
    let slices = grey.len_of(axis);
    ensure!(
        options.slice < slices,
        "there is no slice {}: the slices are 0 to {}",
        options.slice,
        slices - 1
    );
    let (grey, truth) = (grey.index_axis(axis, options.slice), truth.index_axis(axis, options.slice));
    let picture = beside(grey, truth, options.scale as usize);
    let path = options.out.display();
    let file = File::create(&options.out).with_context(|| format!("cannot make the picture {path}"))?;
    write(&picture, BufWriter::new(file)).with_context(|| format!("cannot write the picture {path}"))
}

/// A slice at the left and its truth over the fainter slice at the right.
pub fn beside(grey: ArrayView2<u8>, truth: ArrayView2<u8>, scale: usize) -> Picture {
    let (rows, columns) = grey.dim();
    let plain = grey.map(|&level| [level; 3]);
    let coloured = Zip::from(grey).and(truth).map_collect(|&level, &class| colour(level, class));
    let (width, height) = ((2 * columns + GAP) * scale, rows * scale);
    let mut bytes = Vec::with_capacity(3 * width * height);
    for row in 0..height {
        for column in 0..width {
            let (y, x) = (row / scale.max(1), column / scale.max(1));
            let pixel = plain.get((y, x)).or_else(|| coloured.get((y, x.checked_sub(columns + GAP)?)));
            bytes.extend(pixel.unwrap_or(&[255; 3]));
        }
    }
    Picture { width, height, bytes }
}

/// Writes a picture as an 8-bit PNG.
pub fn write(picture: &Picture, to: impl Write) -> Result<()> {
    let mut encoder = png::Encoder::new(to, u32::try_from(picture.width)?, u32::try_from(picture.height)?);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&picture.bytes)?;
    Ok(writer.finish()?)
}

/// Colours that readers with any colour vision can tell apart (Okabe and Ito, 2008).
fn colour(level: u8, class: u8) -> [u8; 3] {
    let tint = match class {
        AXON => [86, 180, 233],
        VESSEL => [213, 94, 0],
        CELL => [0, 158, 115],
        _ => return [level / 2; 3],
    };
    // A quarter of the slice shows through.
    tint.map(|part: u8| part / 4 * 3 + level / 4)
}
