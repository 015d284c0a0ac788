//! The second stage: a classifier learns from the left half of the picture, where people have marked the cells, and says for every pixel how likely it
//! is one of a cell.

use crate::Failure;
use crate::arguments::Arguments;
use crate::features::{FEATURES, features};
use crate::perceptron::{Sample, train};
use crate::picture::Picture;
use serde_json::json;

/// How often each marked pixel is seen, on average.
const EPOCHS: usize = 80;

/// Of the pixels of the left half so many are marked: every third.
const MARKED: usize = 3;

/// Dice of the first weights and of the order.
const SEED: u64 = 1;

/// What the stage found.
#[derive(Debug)]
pub struct Trained {
    /// The probability of a cell at each pixel.
    pub probability: Picture,
    /// The mean loss over the marked pixels.
    pub loss: f64,
}

/// `quickstart train`.
pub fn run(mut arguments: Arguments) -> Result<(), Failure> {
    let (from, truth): (std::path::PathBuf, std::path::PathBuf) =
        (arguments.take("in")?, arguments.take("truth")?);
    let (rate, hidden) = (arguments.take("lr")?, arguments.take("hidden")?);
    let out = arguments.out()?;
    arguments.end()?;
    let trained =
        classify(&Picture::read(&from.join("denoised.pgm"))?, &Picture::read(&truth)?, rate, hidden)?;
    trained.probability.write(&out.join("probability.pgm"))?;
    let report = json!({ "loss": trained.loss });
    Ok(std::fs::write(out.join("train.json"), format!("{report}\n"))?)
}

/// Learns from the left half and looks at the whole.
pub fn classify(picture: &Picture, truth: &Picture, rate: f32, hidden: usize) -> Result<Trained, Failure> {
    if (picture.width, picture.height) != (truth.width, truth.height) {
        return Err("the picture and its truth are not of one size".into());
    }
    if !(rate.is_finite() && rate > 0.0 && (1..=1_000).contains(&hidden)) {
        return Err(format!(
            "lr {rate} and {hidden} hidden units; give a rate above 0, from 1 to 1000 units"
        )
        .into());
    }
    let mut seen = features(picture);
    let marked: Vec<usize> =
        (0..seen.len()).filter(|i| i % picture.width < picture.width / 2 && i % MARKED == 0).collect();
    standardise(&mut seen, &marked);
    let samples: Vec<Sample> = marked.iter().map(|&i| (seen[i], truth.pixels[i] > 0.5)).collect();
    let network = train(&samples, hidden, rate, EPOCHS, SEED);
    let loss = network.loss(&samples);
    if !loss.is_finite() {
        return Err(format!("the training diverged at a rate of {rate}; give a smaller one").into());
    }
    let pixels = seen.iter().map(|x| network.probability(x)).collect();
    Ok(Trained { probability: Picture { pixels, ..picture.clone() }, loss })
}

/// Gives every feature mean 0 and variance 1 over the marked pixels.
fn standardise(seen: &mut [[f32; FEATURES]], marked: &[usize]) {
    let count = marked.len().max(1) as f32;
    for f in 0..FEATURES {
        let mean = marked.iter().map(|&i| seen[i][f]).sum::<f32>() / count;
        let variance = marked.iter().map(|&i| (seen[i][f] - mean).powi(2)).sum::<f32>() / count;
        let sd = variance.sqrt().max(1e-6);
        seen.iter_mut().for_each(|x| x[f] = (x[f] - mean) / sd);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::draw;

    #[test]
    fn cells_become_more_likely_than_the_rest_also_where_nothing_is_marked() {
        let phantom = draw(96, 7);
        let trained = classify(&phantom.clean, &phantom.truth, 0.02, 6).unwrap();
        let mean = |wanted: f32| {
            let right = (0..96 * 96).filter(|i| i % 96 >= 48 && phantom.truth.pixels[*i] == wanted);
            let p: Vec<f32> = right.map(|i| trained.probability.pixels[i]).collect();
            p.iter().sum::<f32>() / p.len() as f32
        };
        assert!(mean(1.0) > 2.0 * mean(0.0));
    }

    #[test]
    fn features_are_standardised_over_the_marked_pixels() {
        let mut seen = vec![[1.0; FEATURES], [3.0; FEATURES], [7.0; FEATURES]];
        standardise(&mut seen, &[0, 1]);
        assert_eq!(seen, [[-1.0; FEATURES], [1.0; FEATURES], [5.0; FEATURES]]);
    }

    #[test]
    fn pictures_and_numbers_that_do_not_fit_are_refused() {
        let (small, large) = (Picture::filled(4, 4, 0.5), Picture::filled(5, 4, 0.5));
        assert!(classify(&small, &large, 0.1, 2).is_err());
        assert!(classify(&small, &small, f32::INFINITY, 2).is_err());
        assert!(classify(&small, &small, 0.1, 0).is_err());
    }
}
