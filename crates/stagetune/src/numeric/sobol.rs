//! Quasi-random points: Sobol' sequences with Owen's nested uniform scrambling.
//!
//! ```text
//! x_n = ⊕ over bits k of gray(n): v_k,  gray(n) = n ⊕ (n >> 1)          (Antonov & Saleev 1979)
//! m_k = 2a_1 m_{k−1} ⊕ … ⊕ 2^{s−1} a_{s−1} m_{k−s+1} ⊕ 2^s m_{k−s} ⊕ m_{k−s},  v_k = m_k/2^k
//! scrambling: bit k of x is flipped by a coin of its own for every value of the bits before k   (Owen 1995)
//! ```
//!
//! The coins are hashes of (seed, dimension, preceding bits), so that a point needs no memory and any point can be drawn at once.
//! Sobol' points carry 32 bits. Scrambled points carry 52: the 20 below are the coins that the infinite scramble would toss there,
//! which for points that all differ in the first 32 bits are plain random bits. Every value is in [0, 1).
//!
//! There are direction numbers for 128 dimensions. Beyond, each further block of 128 uses the same numbers with scrambles of its own
//! and visits the points in an order of its own, shuffled within every aligned run of 2^k (Burley 2020), so each block alone keeps its balance.
//! A run of 2³² points is followed by one with new scrambles.
//!
//! Glossary: n `index`, v `directions` (as 32-bit fractions), s the degree and a the coefficients of the polynomial, m the direction integers.

use thiserror::Error;

use super::Batch;
use super::joe_kuo::{DIMENSIONS, ROWS};

/// Bits of a Sobol' point.
const BITS: usize = 32;
/// Levels of the scrambling tree that one hash decides: 1 + 2 + … + 32 = 63 coins fit into 64 bits.
const LEVELS_PER_HASH: usize = 6;
/// Bits of a scrambled point beyond those of the sequence: 52 in all, the most that leave every value below 1 exactly.
const EXTRA_BITS: usize = 20;

/// A sequence of points of the unit cube that fills it evenly.
///
/// ```
/// use stagetune::{numeric::sobol::Sobol, space::Batch};
/// let mut points = Batch::zeros(16, 3);
/// Sobol::new(3, 7).fill(&mut points)?;
/// assert_eq!(points.rows().filter(|x| x[2] < 0.25).count(), 4);
/// # Ok::<(), stagetune::numeric::sobol::SobolError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sobol {
    dim: usize,
    seed: Option<u64>,
    index: u64,
    /// v of the dimensions of one block.
    directions: Vec<[u32; BITS]>,
}

/// Why no point was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SobolError {
    /// The place for a point has another dimension than the sequence.
    #[error(
        "the sequence has {expected} dimensions but the point has {found}; make both from the same space"
    )]
    Dimension {
        /// Of the sequence.
        expected: usize,
        /// Of the point.
        found: usize,
    },
}

impl Sobol {
    /// Scrambled points of dimension `dim`: the same for the same seed, and each alone uniform over the cube.
    pub fn new(dim: usize, seed: u64) -> Self {
        Self { dim, seed: Some(seed), index: 0, directions: directions(dim.min(DIMENSIONS)) }
    }

    /// The sequence as published, from the origin on; coordinates past 128 repeat the first ones.
    pub fn unscrambled(dim: usize) -> Self {
        Self { seed: None, ..Self::new(dim, 0) }
    }

    /// How many coordinates a point has.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Passes over `count` points.
    pub fn skip(&mut self, count: u64) {
        self.index = self.index.wrapping_add(count);
    }

    /// Writes the next point.
    pub fn next_into(&mut self, point: &mut [f64]) -> Result<(), SobolError> {
        if point.len() != self.dim {
            return Err(SobolError::Dimension { expected: self.dim, found: point.len() });
        }
        let (run, n) = (self.index >> BITS, self.index as u32);
        for (block, coordinates) in point.chunks_mut(DIMENSIONS).enumerate() {
            let seed = self.seed.map(|seed| hash(hash(seed, run), block as u64));
            let n = match seed {
                Some(seed) if block > 0 => scramble(n, hash(seed, u64::MAX)),
                _ => n,
            };
            let gray = n ^ (n >> 1);
            for (d, (x, v)) in coordinates.iter_mut().zip(&self.directions).enumerate() {
                let bits = combine(gray, v);
                *x = match seed {
                    None => f64::from(bits) / 2f64.powi(BITS as i32),
                    Some(seed) => scrambled_fraction(bits, hash(seed, d as u64)),
                };
            }
        }
        self.index = self.index.wrapping_add(1);
        Ok(())
    }

    /// Overwrites every point of `batch` with the next ones.
    pub fn fill(&mut self, batch: &mut Batch) -> Result<(), SobolError> {
        if batch.dim() != self.dim {
            return Err(SobolError::Dimension { expected: self.dim, found: batch.dim() });
        }
        (0..batch.len()).try_for_each(|i| self.next_into(batch.row_mut(i)))
    }
}

/// The direction numbers of the first `count` dimensions, as fractions of 2³².
fn directions(count: usize) -> Vec<[u32; BITS]> {
    let van_der_corput = std::array::from_fn(|k| 1 << (BITS - 1 - k));
    let from_row = |&(polynomial, initial): &(u16, &[u16])| {
        let s = initial.len();
        let mut v = [0u32; BITS];
        for k in 0..BITS {
            v[k] = match initial.get(k) {
                Some(m) => u32::from(*m) << (BITS - 1 - k),
                // In fractions the recurrence's powers of two cancel, save for the shift of the last term.
                None => (1..s)
                    .filter(|i| polynomial >> (s - i) & 1 == 1)
                    .fold(v[k - s] ^ (v[k - s] >> s), |sum, i| sum ^ v[k - i]),
            };
        }
        v
    };
    std::iter::once(van_der_corput).chain(ROWS.iter().map(from_row)).take(count).collect()
}

/// ⊕ of the direction numbers that `gray` selects.
fn combine(mut gray: u32, v: &[u32; BITS]) -> u32 {
    let mut x = 0;
    while gray != 0 {
        x ^= v[gray.trailing_zeros() as usize];
        gray &= gray - 1;
    }
    x
}

/// Flips every bit of `x` by a coin that depends on `seed` and the bits above it.
fn scramble(x: u32, seed: u64) -> u32 {
    let mut flips = 0;
    for level in (0..BITS).step_by(LEVELS_PER_HASH) {
        // The bits above this group, with a leading 1 so that prefixes of different length differ.
        let prefix = (1u64 << level) | (u64::from(x) >> (BITS - level));
        let coins = hash(seed, prefix);
        // Nodes of the group's own tree are numbered as in a heap: root 1, children 2i and 2i + 1.
        let mut node = 1u64;
        for bit in (0..BITS - level).rev().take(LEVELS_PER_HASH) {
            flips |= ((coins >> node & 1) as u32) << bit;
            node = 2 * node + u64::from(x >> bit & 1);
        }
    }
    x ^ flips
}

/// The scrambled point as a number of [0, 1) with 52 bits.
fn scrambled_fraction(bits: u32, seed: u64) -> f64 {
    let low = hash(seed, (1 << BITS) | u64::from(bits)) >> (64 - EXTRA_BITS);
    let all = u64::from(scramble(bits, seed)) << EXTRA_BITS | low;
    all as f64 / 2f64.powi((BITS + EXTRA_BITS) as i32)
}

/// Mixes a word into a seed: the output function of SplitMix64 (Steele et al. 2014), once for each.
fn hash(seed: u64, word: u64) -> u64 {
    mix(mix(seed).wrapping_add(word))
}

fn mix(word: u64) -> u64 {
    let z = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests;
