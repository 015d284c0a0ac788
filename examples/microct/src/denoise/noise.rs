//! The noise of a volume: a robust estimate from how far voxels lie from the mean of their neighbours.
//!
//! r = u − (sum of the 6 neighbours) / 6, which smooth tissue leaves near 0 and of which noise of variance σ² makes 7σ²/6;
//! σ = 1.4826 · median |r| · √(6/7), where 1.4826 turns the median of |normal| into its standard deviation.
//! Noise that is correlated between neighbours is underestimated, so that less of the tissue is taken for noise.

use ndarray::ArrayView3;

/// Standard deviation of a normal variable over its median absolute value.
const MAD_TO_SIGMA: f64 = 1.4826;

/// The standard deviation of the noise in grey levels; neighbours outside the volume repeat the border.
pub fn sigma(volume: ArrayView3<u8>) -> f64 {
    let (depth, height, width) = volume.dim();
    // Counts of |6 r|, which is an integer of at most 6 · 255.
    let mut counts = [0_usize; 6 * 255 + 1];
    let level = |z: usize, y: usize, x: usize| i32::from(volume[(z, y, x)]);
    for z in 0..depth {
        let (above, below) = (z.saturating_sub(1), (z + 1).min(depth - 1));
        for y in 0..height {
            let (back, front) = (y.saturating_sub(1), (y + 1).min(height - 1));
            for x in 0..width {
                let (left, right) = (x.saturating_sub(1), (x + 1).min(width - 1));
                let neighbours = level(above, y, x)
                    + level(below, y, x)
                    + level(z, back, x)
                    + level(z, front, x)
                    + level(z, y, left)
                    + level(z, y, right);
                counts[(6 * level(z, y, x) - neighbours).unsigned_abs() as usize] += 1;
            }
        }
    }
    let mut seen = 0;
    let median = counts.iter().position(|&count| {
        seen += count;
        2 * seen >= volume.len()
    });
    median.unwrap_or(0) as f64 / 6.0 * MAD_TO_SIGMA * (6.0_f64 / 7.0).sqrt()
}
