//! The subcommand `microct unet`: reads a volume and its truth, trains, writes probability maps.

use super::{CROPS, Settings, infer, train};
use crate::volume;
use anyhow::{Context, Result};
use ndarray::Array3;
use serde::Serialize;
use std::path::PathBuf;
use std::time::Instant;

/// Train a U-Net on the annotated slices and write what it makes of the whole volume.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Directory that holds `volume.npy`, as `microct denoise` and `microct phantom` write it, or such a file
    #[arg(long = "in", value_name = "DIR")]
    pub input: PathBuf,
    /// Directory that holds the annotation `truth.npy`, as `microct phantom` writes it, or such a file
    #[arg(long, value_name = "DATA")]
    pub truth: PathBuf,
    /// Learning rate: the length of Adam's steps
    #[arg(long, default_value_t = 0.01, allow_negative_numbers = true)]
    pub lr: f64,
    /// Crops per step
    #[arg(long, default_value_t = 8)]
    pub batch: usize,
    /// Crops in the whole training
    #[arg(long, default_value_t = CROPS)]
    pub crops: usize,
    /// What weights and crops come from: the same seed makes the same bytes
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Directory to write `probability.npy` and `training.json` into
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

/// What `training.json` holds.
#[derive(Serialize)]
struct Summary {
    lr: f64,
    batch: usize,
    crops: usize,
    seed: u64,
    steps: usize,
    /// Means over the last quarter of the steps, and over slices that were not trained on.
    training_loss: f32,
    validation_loss: f32,
    /// The loss of every step.
    losses: Vec<f32>,
    seconds: f64,
}

/// Runs the subcommand.
pub fn run(options: &Options) -> Result<()> {
    let started = Instant::now();
    let settings =
        Settings { lr: options.lr, batch: options.batch, crops: options.crops, seed: options.seed };
    settings.check()?;
    let volume: Array3<u8> = volume::read(&volume::inside(&options.input, "volume.npy"), "the volume")?;
    let truth: Array3<u8> = volume::read(&volume::inside(&options.truth, "truth.npy"), "the annotation")?;
    volume::same_shape(("the volume", &volume), ("the annotation", &truth))?;
    volume::directory(&options.out)?;
    // A training that fails must not leave the maps of another one behind.
    for name in ["probability.npy", "training.json"] {
        volume::remove(&options.out.join(name))?;
    }

    let trained = train(&volume, &truth, &settings)?;
    let maps = infer(&trained.net, &volume)?;
    volume::write(&options.out.join("probability.npy"), &maps)?;
    let (training_loss, validation_loss) = (trained.training_loss(), trained.validation);
    let summary = Summary {
        lr: settings.lr,
        batch: settings.batch,
        crops: settings.crops,
        seed: settings.seed,
        steps: trained.losses.len(),
        training_loss,
        validation_loss,
        losses: trained.losses,
        seconds: started.elapsed().as_secs_f64(),
    };
    let file = options.out.join("training.json");
    std::fs::write(&file, serde_json::to_string_pretty(&summary)?)
        .with_context(|| format!("cannot write {}", file.display()))?;
    println!(
        "{} steps in {:.1} s, loss {training_loss:.3}, on slices not trained on {validation_loss:.3}",
        summary.steps, summary.seconds
    );
    Ok(())
}
