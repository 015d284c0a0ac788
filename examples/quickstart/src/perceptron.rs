//! A perceptron with one hidden layer, trained by stochastic gradient descent.
//!
//! ```text
//! a_j = tanh(Σ_i w_ji x_i + b_j),  p = 1/(1 + exp(−Σ_j v_j a_j − c))
//! loss = −y ln p − (1 − y) ln(1 − p),  ∂loss/∂logit = p − y
//! ```
//!
//! Glossary: x features, a hidden values, p probability, y truth (0 or 1), η `rate`.

use crate::features::FEATURES;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Features of a pixel, and whether it is one of a cell.
pub type Sample = ([f32; FEATURES], bool);

/// The network.
#[derive(Clone, Debug)]
pub struct Perceptron {
    hidden: Vec<Unit>,
    bias: f32,
}

/// A hidden unit: weights of the features, bias, weight of its own value.
#[derive(Clone, Copy, Debug)]
struct Unit {
    weights: [f32; FEATURES],
    bias: f32,
    out: f32,
}

impl Perceptron {
    /// With small weights by chance.
    pub fn new(hidden: usize, dice: &mut ChaCha8Rng) -> Self {
        let mut weight = || dice.random::<f32>() - 0.5;
        let unit = |_| Unit { weights: std::array::from_fn(|_| weight()), bias: weight(), out: weight() };
        Self { hidden: (0..hidden).map(unit).collect(), bias: 0.0 }
    }

    /// The probability that a pixel is one of a cell.
    pub fn probability(&self, x: &[f32; FEATURES]) -> f32 {
        let logit = self.hidden.iter().map(|unit| unit.out * unit.value(x)).sum::<f32>() + self.bias;
        1.0 / (1.0 + (-logit).exp())
    }

    /// One step down the slope of a sample's loss.
    pub fn step(&mut self, (x, truth): &Sample, rate: f32) {
        let slope = rate * (self.probability(x) - f32::from(u8::from(*truth)));
        for unit in &mut self.hidden {
            let a = unit.value(x);
            let inner = slope * unit.out * (1.0 - a * a);
            unit.out -= slope * a;
            unit.bias -= inner;
            unit.weights.iter_mut().zip(x).for_each(|(w, x)| *w -= inner * x);
        }
        self.bias -= slope;
    }

    /// The mean loss.
    pub fn loss(&self, samples: &[Sample]) -> f64 {
        let loss = |(x, truth): &Sample| {
            let p = f64::from(self.probability(x)).clamp(1e-7, 1.0 - 1e-7);
            if *truth { -p.ln() } else { -(1.0 - p).ln() }
        };
        samples.iter().map(loss).sum::<f64>() / samples.len().max(1) as f64
    }
}

impl Unit {
    fn value(&self, x: &[f32; FEATURES]) -> f32 {
        (self.weights.iter().zip(x).map(|(w, x)| w * x).sum::<f32>() + self.bias).tanh()
    }
}

/// Trains on the samples in an order by chance, so many times each.
pub fn train(samples: &[Sample], hidden: usize, rate: f32, epochs: usize, seed: u64) -> Perceptron {
    let mut dice = ChaCha8Rng::seed_from_u64(seed);
    let mut network = Perceptron::new(hidden, &mut dice);
    for _ in 0..epochs * samples.len() {
        let sample = &samples[dice.random_range(0..samples.len())];
        network.step(sample, rate);
    }
    network
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points of a square that belong to the class inside a circle: no line parts them.
    fn circle() -> Vec<Sample> {
        let mut dice = ChaCha8Rng::seed_from_u64(1);
        let mut point = || {
            let (a, b) = (4.0 * dice.random::<f32>() - 2.0, 4.0 * dice.random::<f32>() - 2.0);
            ([a, b, 0.0, 0.0, 0.0], a.hypot(b) < 1.2)
        };
        (0..600).map(|_| point()).collect()
    }

    #[test]
    fn training_lowers_the_loss_and_learns_what_no_line_parts() {
        let samples = circle();
        let untrained = train(&samples, 8, 0.05, 0, 2).loss(&samples);
        let trained = train(&samples, 8, 0.05, 60, 2);
        assert!(trained.loss(&samples) < 0.3 * untrained);
        assert!(trained.probability(&[0.0; 5]) > 0.9);
        assert!(trained.probability(&[1.9, 1.9, 0.0, 0.0, 0.0]) < 0.1);
    }

    #[test]
    fn a_step_goes_down_the_slope_of_the_loss() {
        let mut dice = ChaCha8Rng::seed_from_u64(3);
        let network = Perceptron::new(4, &mut dice);
        let sample = ([0.3, -0.7, 0.2, 0.9, -0.1], true);
        let mut after = network.clone();
        after.step(&sample, 1e-3);
        // Moving the bias alone by δ changes the loss by (p − y) δ.
        let p = network.probability(&sample.0);
        assert!((after.bias - network.bias - 1e-3 * (1.0 - p)).abs() < 1e-7);
        assert!(after.loss(&[sample]) < network.loss(&[sample]));
    }

    #[test]
    fn the_same_seed_trains_the_same_network() {
        let samples = circle();
        let p = |seed| train(&samples, 3, 0.1, 2, seed).probability(&[0.5; 5]);
        assert_eq!(p(4), p(4));
        assert_ne!(p(4), p(5));
    }
}
