//! The subcommand `microct denoise`: reads a volume, writes it denoised.

use super::{Settings, denoise};
use crate::volume;
use anyhow::Result;
use ndarray::Array3;
use std::path::PathBuf;

/// Remove noise from a volume by non-local means and stretch its contrast.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Directory that holds `volume.npy`, or a NumPy file itself
    #[arg(long = "in", value_name = "DIR_OR_VOLUME")]
    pub input: PathBuf,
    /// How different in grey levels two places may be and still be averaged, usually 1 to 15
    #[arg(long, default_value_t = 5.0, allow_negative_numbers = true)]
    pub strength: f64,
    /// Factor by which grey levels move away from their median, usually 1 to 2
    #[arg(long, default_value_t = 1.3, allow_negative_numbers = true)]
    pub contrast: f64,
    /// Directory to write `volume.npy` into
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
}

/// Runs the subcommand.
pub fn run(options: &Options) -> Result<()> {
    let settings = Settings { strength: options.strength, contrast: options.contrast };
    settings.check()?;
    let input = volume::inside(&options.input, "volume.npy");
    let output = options.out.join("volume.npy");
    volume::not_over(&input, &output)?;
    let volume: Array3<u8> = volume::read(&input, "the volume")?;
    let denoised = denoise(volume.view(), &settings)?;
    volume::directory(&options.out)?;
    volume::write(&output, &denoised)
}
