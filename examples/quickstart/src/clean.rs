//! The last stage: likely pixels become cells, thin and small things go, and the result is scored on the right half of the picture.
//!
//! ```text
//! F1 = 2 TP / (2 TP + FP + FN)      over the pixels of the half that the classifier did not learn from
//! ```

use crate::Failure;
use crate::arguments::Arguments;
use crate::morphology::Mask;
use crate::picture::Picture;
use serde_json::json;

/// How well the cells were found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// The share of what was found that is right.
    pub precision: f64,
    /// The share of what is there that was found.
    pub recall: f64,
    /// Their harmonic mean.
    pub f1: f64,
}

/// `quickstart clean`.
pub fn run(mut arguments: Arguments) -> Result<(), Failure> {
    let (from, truth): (std::path::PathBuf, std::path::PathBuf) =
        (arguments.take("in")?, arguments.take("truth")?);
    let (threshold, opening) = (arguments.take("threshold")?, arguments.take("opening")?);
    let smallest = arguments.take("smallest")?;
    let out = arguments.out()?;
    arguments.end()?;
    let probability = Picture::read(&from.join("probability.pgm"))?;
    let truth = Picture::read(&truth)?;
    let mask = clean(&probability, threshold, opening, smallest);
    let Score { precision, recall, f1 } = score(&mask, &truth)?;
    shown(&mask, &truth).write(&out.join("found.pgm"))?;
    let result = json!({ "f1": f1, "precision": precision, "recall": recall });
    Ok(std::fs::write(out.join("result.json"), format!("{result}\n"))?)
}

/// The pixels that are taken for cells.
pub fn clean(probability: &Picture, threshold: f32, opening: usize, smallest: usize) -> Mask {
    let on = probability.pixels.iter().map(|p| *p >= threshold).collect();
    Mask { width: probability.width, on }.opened(opening).without_smaller(smallest)
}

/// The score on the right half.
pub fn score(mask: &Mask, truth: &Picture) -> Result<Score, Failure> {
    if mask.width != truth.width || mask.on.len() != truth.pixels.len() {
        return Err("what was found and the truth are not of one size".into());
    }
    let (mut hits, mut found, mut there) = (0.0, 0.0, 0.0);
    for i in (0..mask.on.len()).filter(|i| i % mask.width >= mask.width / 2) {
        let (on, cell) = (mask.on[i], truth.pixels[i] > 0.5);
        hits += f64::from(u8::from(on && cell));
        found += f64::from(u8::from(on));
        there += f64::from(u8::from(cell));
    }
    let share = |of: f64| if of > 0.0 { hits / of } else { 0.0 };
    let f1 = if found + there > 0.0 { 2.0 * hits / (found + there) } else { 1.0 };
    Ok(Score { precision: share(found), recall: share(there), f1 })
}

/// A picture to look at: what was found and right is white, missed cells are light, false alarms dark.
fn shown(mask: &Mask, truth: &Picture) -> Picture {
    let grey = |(on, truth): (&bool, &f32)| match (*on, *truth > 0.5) {
        (true, true) => 1.0,
        (false, true) => 0.7,
        (true, false) => 0.35,
        (false, false) => 0.0,
    };
    Picture { pixels: mask.on.iter().zip(&truth.pixels).map(grey).collect(), ..truth.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_score_counts_the_right_half_alone() {
        let truth = Picture { width: 4, height: 2, pixels: vec![1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0] };
        let mask = Mask { width: 4, on: vec![false, false, true, false, true, true, false, true] };
        // On the right: one hit, one false alarm, two missed.
        let score = score(&mask, &truth).unwrap();
        assert_eq!((score.precision, score.recall, score.f1), (0.5, 1.0 / 3.0, 0.4));
    }

    #[test]
    fn nothing_found_scores_nothing() {
        let truth = Picture::filled(4, 2, 1.0);
        let nothing = clean(&Picture::filled(4, 2, 0.2), 0.5, 1, 3);
        assert_eq!(score(&nothing, &truth).unwrap(), Score { precision: 0.0, recall: 0.0, f1: 0.0 });
        assert!(score(&nothing, &Picture::filled(4, 3, 1.0)).is_err());
    }

    #[test]
    fn a_threshold_a_disc_and_a_size_decide_what_is_left() {
        let row = [0.1, 0.6, 0.6, 0.6, 0.1, 0.4, 0.9];
        let picture = Picture { width: 7, height: 3, pixels: [row; 3].concat() };
        let on = |threshold, opening, smallest| {
            clean(&picture, threshold, opening, smallest).on.iter().filter(|on| **on).count()
        };
        assert_eq!([on(0.5, 0, 0), on(0.3, 0, 0), on(0.5, 1, 0), on(0.5, 0, 4)], [12, 15, 5, 9]);
    }
}
