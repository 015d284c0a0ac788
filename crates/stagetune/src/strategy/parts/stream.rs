//! Random numbers: one stream for each purpose and step, so that no decision shifts the dice of another.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// What random numbers are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Points of the starting design: the same for every strategy with the same seed.
    Design = 0,
    /// Points by chance.
    Chance = 1,
    /// Starts of the fit.
    Fit = 2,
    /// Raw points of the maximiser.
    Maximise = 3,
    /// The arm drawn.
    Draw = 4,
    /// The signs of the bandit's levels.
    Signs = 5,
    /// Coordinates on which regions are bisected.
    Partition = 6,
    /// Samples that an acquisition function needs.
    Acquisition = 7,
    /// Starts of the fits of stage costs, and samples of them.
    Costs = 8,
    /// Starts of the fit of the feasibility model.
    Feasibility = 9,
}

/// The generator for a purpose at a step.
pub(crate) fn stream(seed: u64, purpose: Purpose, step: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    // Steps stay far below 2⁵⁶; were they not to, streams would coincide, which is harmless.
    rng.set_stream(((purpose as u64) << 56) ^ step);
    rng
}

/// A seed for a purpose at a step, for parts that make their own generator.
pub(crate) fn seed_of(seed: u64, purpose: Purpose, step: u64) -> u64 {
    use rand::RngExt;
    stream(seed, purpose, step).random()
}
