//! Denoising: 3-D non-local means, then a stretch of contrast about the median grey level.
//!
//! v = non-local means of the volume (see `means`), result = m + c (v − m), rounded and clamped to 0..=255
//!
//! - m: median grey level of the volume as it came; denoising hardly moves it
//! - c: contrast, 1 leaves the levels as they are

mod command;
mod means;
mod noise;
#[cfg(test)]
mod tests;

pub use command::{Options, run};
pub use noise::sigma;

use anyhow::{Context, Result, ensure};
use ndarray::{Array3, ArrayView3};

/// Strengths that are accepted, in grey levels: below, weights vanish; above, everything is averaged with everything.
pub const STRENGTHS: std::ops::RangeInclusive<f64> = 0.1..=100.0;

/// Contrasts that are accepted: below 1 levels would be lost, above 10 a volume is black and white.
pub const CONTRASTS: std::ops::RangeInclusive<f64> = 1.0..=10.0;

/// The knobs of the stage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// How different in grey levels two patches may be and still count as alike: h of the weights.
    pub strength: f64,
    /// Factor of the distance to the median grey level.
    pub contrast: f64,
}

impl Settings {
    /// Refuses settings out of range.
    pub fn check(&self) -> Result<()> {
        let Self { strength, contrast } = self;
        ensure!(
            STRENGTHS.contains(strength),
            "strength is {strength}; it is in grey levels and must be between {} and {}, 1 to 15 being usual",
            STRENGTHS.start(),
            STRENGTHS.end()
        );
        ensure!(
            CONTRASTS.contains(contrast),
            "contrast is {contrast}; it is a factor and must be between {} and {}, 1 to 2 being usual",
            CONTRASTS.start(),
            CONTRASTS.end()
        );
        Ok(())
    }
}

/// Denoises a volume on the threads of the current pool; the result does not depend on their number.
pub fn denoise(volume: ArrayView3<u8>, settings: &Settings) -> Result<Array3<u8>> {
    settings.check()?;
    ensure!(!volume.is_empty(), "the volume has no voxels: its shape is {:?}", volume.dim());
    let sigma = sigma(volume) as f32;
    let means = means::non_local_means(volume, settings.strength as f32, sigma, means::SEARCH);
    let median = f32::from(median(volume));
    let contrast = settings.contrast as f32;
    // A conversion to u8 clamps.
    let levels = means.into_iter().map(|v| (median + contrast * (v - median)).round() as u8).collect();
    Array3::from_shape_vec(volume.dim(), levels).context("the denoised levels do not fill the volume")
}

/// The lower median of the grey levels.
fn median(volume: ArrayView3<u8>) -> u8 {
    let mut counts = [0_usize; 256];
    volume.iter().for_each(|&level| counts[usize::from(level)] += 1);
    let mut below = 0;
    let middle = (0..=u8::MAX).find(|&level| {
        below += counts[usize::from(level)];
        2 * below >= volume.len()
    });
    middle.unwrap_or(0)
}
