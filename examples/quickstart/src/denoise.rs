//! The first stage: non-local means (Buades, Coll & Morel 2005), which averages pixels whose surroundings look alike.
//!
//! ```text
//! d²(p, q) = mean over offsets o of the patch of (v(p + o) − v(q + o))²
//! w(p, q) = exp(−d²(p, q) / h²),  v'(p) = Σ_q w(p, q) v(q) / Σ_q w(p, q)      q in a window around p
//! ```
//!
//! Glossary: h `strength`, in grey values; `patch` radius of what is compared; `SEARCH` radius of the window.

use crate::Failure;
use crate::arguments::Arguments;
use crate::picture::Picture;

/// Radius of the window in which alike pixels are looked for: two cells wide.
const SEARCH: isize = 9;

/// `quickstart denoise`.
pub fn run(mut arguments: Arguments) -> Result<(), Failure> {
    let from: std::path::PathBuf = arguments.take("in")?;
    let (strength, patch) = (arguments.take("strength")?, arguments.take("patch")?);
    let out = arguments.out()?;
    arguments.end()?;
    non_local_means(&Picture::read(&from)?, strength, patch)?.write(&out.join("denoised.pgm"))
}

/// The picture with less noise.
pub fn non_local_means(noisy: &Picture, strength: f32, patch: usize) -> Result<Picture, Failure> {
    if !(strength.is_finite() && strength > 0.0 && (1..=8).contains(&patch)) {
        return Err(format!(
            "a strength of {strength} and a patch of {patch}; give a strength above 0, a patch from 1 to 8"
        )
        .into());
    }
    let border = patch + SEARCH as usize;
    let padded = noisy.padded(border);
    let side = 2 * patch + 1;
    // 1/(h² · pixels of a patch): sums of squares become exponents.
    let scale = 1.0 / (strength * strength * (side * side) as f32);
    let row = |x: isize, y: isize| {
        let start = (y + border as isize) as usize * padded.width + (x + border as isize) as usize;
        &padded.pixels[start..start + side]
    };
    Ok(noisy.map(|x, y| {
        let (mut weights, mut sum) = (0.0, 0.0);
        let reach = patch as isize;
        for dy in -SEARCH..=SEARCH {
            for dx in -SEARCH..=SEARCH {
                let mut distance = 0.0;
                for o in -reach..=reach {
                    let (here, there) = (row(x - reach, y + o), row(x + dx - reach, y + dy + o));
                    distance += here.iter().zip(there).map(|(a, b)| (a - b) * (a - b)).sum::<f32>();
                }
                let weight = (-distance * scale).exp();
                weights += weight;
                sum += weight * row(x + dx, y + dy)[0];
            }
        }
        // The pixel itself has weight 1.
        sum / weights
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Phantom, draw};

    fn error(a: &Picture, b: &Picture) -> f32 {
        a.pixels.iter().zip(&b.pixels).map(|(a, b)| (a - b) * (a - b)).sum::<f32>() / a.pixels.len() as f32
    }

    #[test]
    fn it_brings_a_noisy_picture_closer_to_the_clean_one() {
        let Phantom { clean, noisy, .. } = draw(64, 3);
        let denoised = non_local_means(&noisy, 0.1, 2).unwrap();
        assert!(error(&denoised, &clean) < 0.5 * error(&noisy, &clean));
        // Far too weak it does nothing, far too strong it washes everything away.
        let [weak, strong] = [1e-4, 10.0].map(|h| non_local_means(&noisy, h, 2).unwrap());
        assert!(error(&weak, &noisy) < 1e-6);
        assert!(error(&strong, &clean) > error(&denoised, &clean));
    }

    #[test]
    fn an_even_picture_stays_as_it_is() {
        let even = Picture::filled(12, 9, 0.25);
        assert!(error(&non_local_means(&even, 0.1, 1).unwrap(), &even) < 1e-12);
    }

    #[test]
    fn strengths_and_patches_that_make_no_sense_are_refused() {
        let even = Picture::filled(4, 4, 0.5);
        for (strength, patch) in [(0.0, 1), (f32::NAN, 1), (0.1, 0), (0.1, 9)] {
            assert!(non_local_means(&even, strength, patch).is_err());
        }
    }
}
