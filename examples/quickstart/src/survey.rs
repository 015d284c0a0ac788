//! `quickstart survey`: points by chance, a good point, and what becomes of it when one parameter is moved, all in one process.

use crate::Failure;
use crate::arguments::Arguments;
use crate::clean::{clean, score};
use crate::denoise::non_local_means;
use crate::picture::Picture;
use crate::train::classify;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::Path;

/// What can be tuned, as `pipeline.toml` has it: name, least, greatest, how it is spread, and its value at the good point.
const PARAMS: [Param; 7] = [
    ("strength", 0.02, 0.5, Scale::Log, 0.085),
    ("patch", 1.0, 3.0, Scale::Whole, 2.0),
    ("lr", 5e-4, 1.0, Scale::Log, 0.008),
    ("hidden", 1.0, 16.0, Scale::Whole, 5.0),
    ("threshold", 0.05, 0.8, Scale::Linear, 0.2),
    ("opening", 0.0, 4.0, Scale::Whole, 2.0),
    ("smallest", 0.0, 80.0, Scale::Whole, 10.0),
];

type Param = (&'static str, f64, f64, Scale, f64);

/// A value for each parameter.
type Point = [f64; 7];

#[derive(Clone, Copy, Debug, PartialEq)]
enum Scale {
    Linear,
    Log,
    Whole,
}

/// Prints the survey of the picture in `--data`.
pub fn run(mut arguments: Arguments) -> Result<(), Failure> {
    let (points, seed): (usize, u64) = (arguments.take_or("points", 20)?, arguments.take_or("seed", 1)?);
    let data: String = arguments.take_or("data", "data".to_owned())?;
    arguments.end()?;
    let read = |name: &str| Picture::read(&Path::new(&data).join(name));
    let mut stages =
        Stages { noisy: read("noisy.pgm")?, truth: read("truth.pgm")?, denoised: None, trained: None };

    let good: Point = PARAMS.map(|param| param.4);
    println!("F1 at a good point: {:.3}", stages.f1(&good)?);
    println!("\nF1 with one parameter moved, the others as they were:");
    // The last parameters first: the stages before theirs stay as they are.
    for (p, param) in PARAMS.into_iter().enumerate().rev() {
        let mut line = Vec::new();
        for step in 0..=4 {
            let mut point = good;
            point[p] = at(param, f64::from(step) / 4.0);
            line.push(format!("{:.3} at {:<7.4}", stages.f1(&point)?, point[p]));
        }
        println!("  {:9} {:.3}: {}", param.0, good[p], line.join("  "));
    }

    let mut dice = ChaCha8Rng::seed_from_u64(seed);
    let mut found: Vec<f64> = Vec::new();
    for _ in 0..points {
        found.push(stages.f1(&PARAMS.map(|param| at(param, dice.random())))?);
    }
    found.sort_by(f64::total_cmp);
    let quantile =
        |q: f64| found.get((q * found.len().saturating_sub(1) as f64) as usize).copied().unwrap_or(0.0);
    let [worst, median, upper, best] = [0.0, 0.5, 0.75, 1.0].map(quantile);
    println!(
        "\nF1 at {points} points by chance: worst {worst:.3}, median {median:.3}, upper quartile {upper:.3}, best {best:.3}"
    );
    Ok(())
}

/// The value at a share of the range.
fn at((_, low, high, scale, _): Param, share: f64) -> f64 {
    match scale {
        Scale::Linear => low + (high - low) * share,
        Scale::Log => low * (high / low).powf(share),
        Scale::Whole => (low + ((high - low + 1.0) * share).floor()).min(high),
    }
}

/// The stages, with the last output of the dear ones.
struct Stages {
    noisy: Picture,
    truth: Picture,
    denoised: Option<(Vec<f64>, Picture)>,
    trained: Option<(Vec<f64>, Picture)>,
}

impl Stages {
    /// The three stages one after another, those that changed. Between them pictures lose as much as in their files.
    fn f1(&mut self, point: &Point) -> Result<f64, Failure> {
        let [strength, patch, lr, hidden, threshold, opening, smallest] = *point;
        let denoised = match self.denoised.take().filter(|(key, _)| *key == point[..2]) {
            Some(known) => known,
            None => (
                point[..2].to_vec(),
                non_local_means(&self.noisy, strength as f32, patch as usize)?.rounded(),
            ),
        };
        let trained = match self.trained.take().filter(|(key, _)| *key == point[..4]) {
            Some(known) => known,
            None => {
                let trained = classify(&denoised.1, &self.truth, lr as f32, hidden as usize)?;
                (point[..4].to_vec(), trained.probability.rounded())
            }
        };
        let mask = clean(&trained.1, threshold as f32, opening as usize, smallest as usize);
        (self.denoised, self.trained) = (Some(denoised), Some(trained));
        Ok(score(&mask, &self.truth)?.f1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Phantom, draw};

    #[test]
    fn ranges_are_spread_as_they_say() {
        assert_eq!(
            [0.0, 0.5, 1.0].map(|share| at(("", 0.0, 4.0, Scale::Whole, 0.0), share)),
            [0.0, 2.0, 4.0]
        );
        assert_eq!(at(("", 2.0, 4.0, Scale::Linear, 0.0), 0.25), 2.5);
        assert!((at(("", 0.01, 1.0, Scale::Log, 0.0), 0.5) - 0.1).abs() < 1e-12);
    }

    #[test]
    fn what_stages_remember_changes_nothing() {
        let Phantom { noisy, truth, .. } = draw(64, 2);
        let fresh = || Stages { noisy: noisy.clone(), truth: truth.clone(), denoised: None, trained: None };
        let good = PARAMS.map(|param| param.4);
        let mut used = fresh();
        for (p, value) in [(6, 5.0), (3, 3.0), (0, 0.2), (4, 0.5)] {
            let mut point = good;
            point[p] = value;
            assert_eq!(used.f1(&point).unwrap(), fresh().f1(&point).unwrap());
        }
        assert_eq!(used.f1(&good).unwrap(), fresh().f1(&good).unwrap());
    }

    #[test]
    fn ranges_are_those_of_the_pipeline() {
        let file = include_str!("../pipeline.toml");
        for (name, ..) in PARAMS {
            assert!(file.contains(&format!("\n{name} = {{")), "{name}");
        }
    }
}
