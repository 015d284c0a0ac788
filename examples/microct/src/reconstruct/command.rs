//! The subcommand `microct reconstruct`: reads probabilities and true cells, writes cells and their score.

use super::{Reconstruction, Settings, Truth, reconstruct};
use crate::volume;
use anyhow::{Context, Result, ensure};
use ndarray::{Array3, Array4, Axis};
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Find cells in probabilities and score them against the truth.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Directory that holds `probability.npy`, as `microct unet` writes it, or such a file
    #[arg(long = "in", value_name = "DIR")]
    pub input: PathBuf,
    /// Directory that holds the true `cells.npy`, as `microct phantom` writes it, or such a file
    #[arg(long, value_name = "DATA")]
    pub truth: PathBuf,
    /// Least probability of a voxel of a cell, 0 to 1
    #[arg(long, default_value_t = 0.6, allow_negative_numbers = true)]
    pub purity: f64,
    /// Radius in voxels of the ball of the 3-D opening: 0 (none), 1 or 2
    #[arg(long, default_value_t = 1)]
    pub opening: usize,
    /// Least share of its bounding box that a cell fills, 0 to 1
    #[arg(long, default_value_t = 0.4, allow_negative_numbers = true)]
    pub extent: f64,
    /// Directory to write `result.json`, `cells.npy` and `cells.csv` into
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

/// What `result.json` holds.
#[derive(Serialize)]
struct Summary {
    f1: f64,
    precision: f64,
    recall: f64,
    /// Scored cells found, scored true cells, matched pairs.
    found: usize,
    truth: usize,
    matched: usize,
    /// All cells and vessels of the volume, scored or not.
    cells: usize,
    vessels: usize,
    purity: f64,
    opening: usize,
    extent: f64,
}

/// Runs the subcommand.
pub fn run(options: &Options) -> Result<()> {
    let settings = Settings { purity: options.purity, opening: options.opening, extent: options.extent };
    settings.check()?;
    let probability = read_probability(&volume::inside(&options.input, "probability.npy"))?;
    let probability = probability.index_axis(Axis(0), 0);
    let cells = volume::inside(&options.truth, "cells.npy");
    volume::not_over(&cells, &options.out.join("cells.npy"))?;
    let instances: Array3<u16> = volume::read(&cells, "the true cells")?;
    volume::same_shape(("the probability of cells", &probability), ("the true cells", &instances))?;

    let truth = Truth::new(instances.view());
    truth.check()?;

    let found = reconstruct(probability, &truth, &settings)?;
    volume::directory(&options.out)?;
    volume::write(&options.out.join("cells.npy"), &found.labels)?;
    write_text(&options.out.join("cells.csv"), &table(&found)?)?;
    // The result comes last: whoever sees it may rely on the other files.
    write_text(&options.out.join("result.json"), &summary(&found, &settings)?)
}

/// Reads the probabilities of the two classes, shape (2, z, y, x).
fn read_probability(path: &Path) -> Result<Array4<u8>> {
    let probability: Array4<u8> = volume::read(path, "the probability maps")?;
    let shape = probability.dim();
    ensure!(
        shape.0 == 2,
        "the probability maps {} have the shape {shape:?}; (2, z, y, x) is needed, as `microct unet` writes them: of cells, of vessels",
        path.display()
    );
    Ok(probability)
}

/// One line for each found cell; `matched` is the number of the true cell, empty if there is none.
fn table(found: &Reconstruction) -> Result<String> {
    let depth = found.labels.dim().0;
    let mut text = String::from("cell,z,y,x,voxels,extent,probability,scored,matched\n");
    for (index, cell) in found.cells.iter().enumerate() {
        let [z, y, x] = cell.object.centroid();
        let matched = cell.matched.map_or(String::new(), |number| number.to_string());
        writeln!(
            text,
            "{},{z:.2},{y:.2},{x:.2},{},{:.4},{:.4},{},{matched}",
            index + 1,
            cell.object.voxels,
            cell.object.extent(),
            cell.probability,
            cell.object.is_scored(depth)
        )?;
    }
    Ok(text)
}

fn summary(found: &Reconstruction, settings: &Settings) -> Result<String> {
    let score = found.score;
    let summary = Summary {
        f1: score.f1(),
        precision: score.precision(),
        recall: score.recall(),
        found: score.found,
        truth: score.truth,
        matched: score.matched,
        cells: found.cells.len(),
        vessels: found.vessels,
        purity: settings.purity,
        opening: settings.opening,
        extent: settings.extent,
    };
    Ok(serde_json::to_string_pretty(&summary).context("cannot write the result as JSON")? + "\n")
}

fn write_text(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}
