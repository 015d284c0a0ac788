//! The network: a U-Net with two poolings, small enough to be trained in seconds on a CPU.
//!
//! Three slices come in, with 8, 16 and 32 channels on the way down, and back by 2 × 2 transposed convolutions, each joined by what the same
//! level had on the way down; a 1 × 1 convolution gives the classes. A level is a block of two 3 × 3 convolutions with rectifiers, but for the finest, the dearest,
//! which has one.

use burn::module::{Module, Param};
use burn::nn::conv::{Conv2d, Conv2dConfig, ConvTranspose2d, ConvTranspose2dConfig};
use burn::nn::{Initializer, PaddingConfig2d};
use burn::tensor::activation::relu;
use burn::tensor::module::max_pool2d;
use burn::tensor::ops::MaxPoolOptions;
use burn::tensor::{Device, Tensor, TensorData};
use rand::SeedableRng;
use rand::distr::{Distribution, Open01};
use rand_chacha::ChaCha8Rng;

/// Background, axon, vessel, cell.
pub const CLASSES: usize = 4;
/// The slices that the network sees of each one: itself and its neighbours.
pub const SLICES: usize = 3;
/// Heights and widths must be multiples of this: two poolings halve them.
pub const MULTIPLE: usize = 4;
/// Channels at each level.
const CHANNELS: [usize; 3] = [8, 16, 32];

/// A U-Net.
#[derive(Module, Debug)]
pub struct Net {
    down1: Conv2d,
    down2: Block,
    bottom: Block,
    up2: ConvTranspose2d,
    join2: Block,
    up1: ConvTranspose2d,
    join1: Conv2d,
    head: Conv2d,
}

/// Two convolutions.
#[derive(Module, Debug)]
struct Block {
    first: Conv2d,
    second: Conv2d,
}

impl Net {
    /// A network whose weights depend on the seed alone; biases are 0.
    pub fn new(seed: u64, device: &Device) -> Self {
        let mut dice = Dice(ChaCha8Rng::seed_from_u64(seed));
        let [a, b, c] = CHANNELS;
        Self {
            down1: convolution(SLICES, a, 3, &mut dice, device),
            down2: Block::new(a, b, &mut dice, device),
            bottom: Block::new(b, c, &mut dice, device),
            up2: transposed(c, b, &mut dice, device),
            join2: Block::new(2 * b, b, &mut dice, device),
            up1: transposed(b, a, &mut dice, device),
            join1: convolution(2 * a, a, 3, &mut dice, device),
            head: convolution(a, CLASSES, 1, &mut dice, device),
        }
    }

    /// From pictures (batch, slice, y, x) to scores of the classes (batch, class, y, x).
    pub fn forward(&self, pictures: Tensor<4>) -> Tensor<4> {
        let fine = relu(self.down1.forward(pictures));
        let middle = self.down2.forward(halve(fine.clone()));
        let coarse = self.bottom.forward(halve(middle.clone()));
        let middle = self.join2.forward(Tensor::cat(vec![self.up2.forward(coarse), middle], 1));
        let fine = relu(self.join1.forward(Tensor::cat(vec![self.up1.forward(middle), fine], 1)));
        self.head.forward(fine)
    }
}

impl Block {
    fn new(from: usize, to: usize, dice: &mut Dice, device: &Device) -> Self {
        Self { first: convolution(from, to, 3, dice, device), second: convolution(to, to, 3, dice, device) }
    }

    fn forward(&self, x: Tensor<4>) -> Tensor<4> {
        relu(self.second.forward(relu(self.first.forward(x))))
    }
}

/// Weights come from dice of our own: the framework's are shared by all threads of a process, and trainings that run side by side would
/// depend on each other.
struct Dice(ChaCha8Rng);

impl Dice {
    /// Normal numbers of variance 2 / `fan_in` (He et al. 2015), which keeps the size of activations through rectifiers.
    fn weights(&mut self, shape: [usize; 4], fan_in: usize, device: &Device) -> Param<Tensor<4>> {
        let scale = (2.0 / fan_in as f64).sqrt();
        let mut normal = || {
            let (u, v): (f64, f64) = (Open01.sample(&mut self.0), Open01.sample(&mut self.0));
            ((-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos() * scale) as f32
        };
        let numbers: Vec<f32> = (0..shape.iter().product()).map(|_| normal()).collect();
        Param::from_data(TensorData::new(numbers, shape), device)
    }
}

fn convolution(from: usize, to: usize, size: usize, dice: &mut Dice, device: &Device) -> Conv2d {
    let mut layer = Conv2dConfig::new([from, to], [size, size])
        .with_padding(PaddingConfig2d::Same)
        .with_initializer(Initializer::Zeros)
        .init(device);
    layer.weight = dice.weights([to, from, size, size], from * size * size, device);
    layer
}

fn transposed(from: usize, to: usize, dice: &mut Dice, device: &Device) -> ConvTranspose2d {
    let mut layer = ConvTranspose2dConfig::new([from, to], [2, 2])
        .with_stride([2, 2])
        .with_initializer(Initializer::Zeros)
        .init(device);
    layer.weight = dice.weights([from, to, 2, 2], from, device);
    layer
}

fn halve(x: Tensor<4>) -> Tensor<4> {
    max_pool2d(x, MaxPoolOptions::new([2, 2]))
}
