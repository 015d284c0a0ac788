//! Training: random crops, weighted cross-entropy, Adam with steps that shrink to nothing.

use super::crops::Crops;
use super::net::{MULTIPLE, Net};
use crate::parts::{self, FEWEST_SLICES};
use anyhow::{Result, ensure};
use burn::module::Module;
use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::activation::log_softmax;
use burn::tensor::{Device, Tensor};
use ndarray::Array3;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// What a training depends on, beside the data.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Step length of Adam at the beginning; it falls to 0 along a line.
    pub lr: f64,
    /// Crops per step.
    pub batch: usize,
    /// Crops in all: the same work whatever the batch.
    pub crops: usize,
    /// What weights and crops come from.
    pub seed: u64,
}

/// Crops of a training of the usual length.
pub const CROPS: usize = 1536;
/// Crops that the loss on other slices is measured on.
const VALIDATED: usize = 64;
/// The largest batch and number of crops: beyond them memory and patience end.
const MOST_TOGETHER: usize = 256;
const MOST_CROPS: usize = 1_000_000;

impl Settings {
    /// Refuses settings out of range.
    pub fn check(&self) -> Result<()> {
        ensure!(
            self.lr.is_finite() && self.lr > 0.0,
            "--lr is {:?}; give a learning rate above 0, such as 0.01",
            self.lr
        );
        ensure!(
            (1..=MOST_TOGETHER).contains(&self.batch),
            "--batch is {}; give 1 to {MOST_TOGETHER} crops",
            self.batch
        );
        ensure!((1..=MOST_CROPS).contains(&self.crops), "--crops is {}; give 1 to {MOST_CROPS}", self.crops);
        Ok(())
    }
}

/// A training that went wrong: numbers that are none any more.
#[derive(Clone, Debug, PartialEq)]
pub struct Diverged(pub(super) String);

impl std::error::Error for Diverged {}

impl std::fmt::Display for Diverged {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the training diverged: {}; try a smaller learning rate", self.0)
    }
}

/// A trained network and how it got there.
#[derive(Debug)]
pub struct Trained {
    /// The network, without anything that only training needs.
    pub net: Net,
    /// The loss at every step.
    pub losses: Vec<f32>,
    /// The loss on slices that were not trained on.
    pub validation: f32,
}

impl Trained {
    /// The mean loss over the last quarter of the steps.
    pub fn training_loss(&self) -> f32 {
        let last = &self.losses[self.losses.len() - self.losses.len().div_ceil(4)..];
        last.iter().sum::<f32>() / last.len() as f32
    }
}

/// Trains a network on the first slices of a volume; see [`parts`].
pub fn train(volume: &Array3<u8>, truth: &Array3<u8>, settings: &Settings) -> Result<Trained> {
    settings.check()?;
    let (depth, height, width) = volume.dim();
    ensure!(
        height >= MULTIPLE && width >= MULTIPLE,
        "slices of {height} × {width} voxels are too small to train on; give at least {MULTIPLE} × {MULTIPLE}"
    );
    ensure!(
        depth >= FEWEST_SLICES,
        "{depth} slices cannot be shared out for training, validation and scoring; give at least {FEWEST_SLICES}"
    );
    let slices = parts::trained(depth);
    let last = slices.end.saturating_sub(1);
    let crops = Crops::new(volume, truth, slices)?;
    ensure!(
        crops.has_cells(),
        "the annotation has no cell in slices 0 to {last}, which are trained on: there is nothing to learn; give another one"
    );
    let device = Device::flex().autodiff();
    let mut net = Net::new(settings.seed, &device);
    let mut adam = AdamConfig::new().init();
    let mut rng = dice(settings.seed, 1);
    let steps = settings.crops.div_ceil(settings.batch);
    let mut losses = Vec::with_capacity(steps);
    for step in 0..steps {
        let (pictures, weights) = crops.batch(settings.batch, &mut rng, &device);
        let loss = cross_entropy(net.forward(pictures), weights);
        losses.push(finite(loss.clone(), settings, step, steps)?);
        let gradients = GradientsParams::from_grads(loss.backward(), &net);
        // The steps shrink to nothing, which a short training needs to settle.
        let left = 1.0 - step as f64 / steps as f64;
        net = adam.step(settings.lr * left, net, gradients);
    }
    let net = net.valid();
    // Always the same crops, so that validation losses of different settings compare.
    let (pictures, weights) = Crops::new(volume, truth, parts::validated(depth))?.batch(
        VALIDATED,
        &mut dice(0, 2),
        &Device::flex(),
    );
    let validation = finite(cross_entropy(net.forward(pictures), weights), settings, steps, steps)?;
    Ok(Trained { net, losses, validation })
}

/// −Σ w log p over voxels, with weights w that add up to 1.
fn cross_entropy(scores: Tensor<4>, weights: Tensor<4>) -> Tensor<1> {
    (log_softmax(scores, 1) * weights).sum().neg()
}

/// The loss as a number, if it is one.
fn finite(loss: Tensor<1>, settings: &Settings, step: usize, steps: usize) -> Result<f32> {
    let value: f32 =
        loss.try_into_scalar().map_err(|error| anyhow::anyhow!("the loss cannot be read: {error:?}"))?;
    if !value.is_finite() {
        let Settings { lr, batch, .. } = settings;
        // Debug writes 1e30, where Display would write all zeros.
        let what =
            format!("the loss is {value} after {step} of {steps} steps with --lr {lr:?} and --batch {batch}");
        return Err(Diverged(what).into());
    }
    Ok(value)
}

fn dice(seed: u64, stream: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(stream);
    rng
}
