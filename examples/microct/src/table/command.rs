//! The subcommand `microct table`.

use super::Seconds;
use super::{Data, Grid, Rows, Table, compute, keys};
use crate::unet::CROPS;
use crate::volume;
use anyhow::{Context, Result, bail, ensure};
use std::path::{Path, PathBuf};

/// Compute F1 over a whole grid of settings by training every U-Net of it; goes on where it was stopped.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// How many stages: 2 (505 U-Nets on the volume as it is) or 3 (12 ways to denoise × 40 U-Nets)
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u8).range(2..=3))]
    pub stages: u8,
    /// Directory that `microct phantom` has written
    #[arg(long, value_name = "DATA")]
    pub data: PathBuf,
    /// Directory for the rows, one file for each training that is done
    #[arg(long, value_name = "DIR")]
    pub rows: PathBuf,
    /// Stage seconds that `microct measure` has written
    #[arg(long, value_name = "FILE")]
    pub seconds: PathBuf,
    /// Directory for `f1.u16` and `table.json`, written when all rows are there
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Trainings side by side, one core each [default: the number of cores]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
    /// Do at most so many trainings now
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Crops in every training
    #[arg(long, default_value_t = CROPS)]
    pub crops: usize,
    /// The day, to be written into the table
    #[arg(long, default_value = "", value_parser = crate::parse_day)]
    pub date: String,
}

/// Runs the subcommand.
pub fn run(options: &Options) -> Result<()> {
    let data = Data {
        volume: volume::read(&volume::inside(&options.data, "volume.npy"), "the volume")?,
        truth: volume::read(&volume::inside(&options.data, "truth.npy"), "the annotation")?,
        cells: volume::read(&volume::inside(&options.data, "cells.npy"), "the true cells")?,
    };
    volume::same_shape(("the volume", &data.volume), ("the annotation", &data.truth))?;
    volume::same_shape(("the volume", &data.volume), ("the true cells", &data.cells))?;
    let grid = if options.stages == 2 { Grid::two() } else { Grid::three() };
    // What can be wrong is found out now, not after the hours.
    let seconds = read_seconds(&options.seconds)?;
    for (stage, _) in &grid.stages {
        seconds_of(&seconds, stage, &options.seconds)?;
    }
    volume::directory(&options.out)?;
    let rows = Rows::open(&options.rows)?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = options.jobs.map_or(cores, usize::from);
    let missing = compute(&data, &grid, &rows, jobs, options.limit.unwrap_or(usize::MAX), options.crops)?;
    if missing > 0 {
        println!("{missing} trainings are left; run the same command again to go on");
        return Ok(());
    }
    let table = Table::read(grid.clone(), &rows, &keys(&data, &grid, options.crops))?;
    ensure!(
        table.best() > 0.0,
        "no setting finds a single cell: something is wrong with the data, and the table is not written"
    );
    let made = serde_json::json!({
        "command": "cargo xtask microct tables", "stages": options.stages, "seed": super::SEED, "date": options.date, "cores": cores,
        "version": env!("CARGO_PKG_VERSION"), "size": data.volume.dim(), "crops": options.crops,
    });
    table.write(&options.out, &|stage| seconds_of(&seconds, stage, &options.seconds), &made)?;
    println!("{}: best F1 {:.4}, mean {:.4}", grid.name, table.best(), table.mean());
    for spread in table.spreads() {
        let best: Vec<String> = spread.best.iter().map(|best| format!("{best:.3}")).collect();
        println!("{:>9}: {:.3}  ({})", spread.name, spread.spread, best.join(" "));
    }
    Ok(())
}

fn read_seconds(file: &Path) -> Result<serde_json::Value> {
    let text = std::fs::read(file)
        .with_context(|| format!("cannot read {}; `microct measure` writes it", file.display()))?;
    serde_json::from_slice(&text).with_context(|| format!("{} is not JSON; measure again", file.display()))
}

fn seconds_of(seconds: &serde_json::Value, stage: &str, file: &Path) -> Result<Seconds> {
    let found: Option<Seconds> = seconds.get(stage).and_then(|s| serde_json::from_value(s.clone()).ok());
    match found.filter(|s| s.mean >= 0.0 && s.mean.is_finite() && s.sd >= 0.0 && s.sd.is_finite()) {
        Some(seconds) => Ok(seconds),
        None => bail!(
            "{} has no mean and sd of the stage {stage} that are seconds; measure again",
            file.display()
        ),
    }
}
