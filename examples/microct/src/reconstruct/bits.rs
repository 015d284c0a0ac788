//! Binary volumes with 64 voxels in a word: rows along x are packed, so that neighbours are reached by shifts.

use crate::volume::Size;

/// Gathers eight bytes of 0 or 1 into the eight bits of the top byte when multiplied with.
const GATHER: u64 = 0x0102_0408_1020_4080;

/// A binary volume; bits past the end of a row are always zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bits {
    size: Size,
    /// Words in a row.
    width: usize,
    words: Vec<u64>,
}

impl Bits {
    /// The voxels of `values` (in standard layout) that are at least `least`.
    pub(super) fn at_least(values: &[u8], size: Size, least: u8) -> Self {
        let width = size.2.div_ceil(64);
        let words =
            values.chunks_exact(size.2).flat_map(|row| row.chunks(64).map(|chunk| pack(chunk, least)));
        Self { size, width, words: words.collect() }
    }

    /// Voxels along z, y and x.
    pub(super) fn size(&self) -> Size {
        self.size
    }

    /// The rows in order of z, then y.
    pub(super) fn rows(&self) -> impl Iterator<Item = &[u64]> {
        self.words.chunks_exact(self.width)
    }

    /// Swaps foreground and background.
    pub(super) fn complement(mut self) -> Self {
        self.words.iter_mut().for_each(|word| *word = !*word);
        self.trim();
        self
    }

    /// Every voxel that is set or has a set neighbour along x.
    pub(super) fn widened(&self) -> Self {
        let mut wider = self.clone();
        for (row, out) in self.rows().zip(wider.words.chunks_exact_mut(self.width)) {
            for i in 0..row.len() {
                let before = if i > 0 { row[i - 1] >> 63 } else { 0 };
                let after = row.get(i + 1).map_or(0, |next| next << 63);
                out[i] = row[i] | (row[i] << 1) | before | (row[i] >> 1) | after;
            }
        }
        wider.trim();
        wider
    }

    /// Adds `other` moved by `dz` slices and `dy` rows; what leaves the volume is lost.
    pub(super) fn add_moved(&mut self, other: &Bits, dz: isize, dy: isize) {
        let (depth, height, _) = self.size;
        if dy.unsigned_abs() >= height {
            return;
        }
        let plane = height * self.width;
        let length = plane - dy.unsigned_abs() * self.width;
        let (to, from) = (offset(dy) * self.width, offset(-dy) * self.width);
        for z in offset(dz)..depth.saturating_sub(offset(-dz)) {
            let to = z * plane + to;
            let from = (z + offset(-dz) - offset(dz)) * plane + from;
            for (word, moved) in self.words[to..to + length].iter_mut().zip(&other.words[from..from + length])
            {
                *word |= moved;
            }
        }
    }

    /// Clears the bits past the end of each row.
    fn trim(&mut self) {
        let used = self.size.2 % 64;
        if used != 0 {
            let keep = (1_u64 << used) - 1;
            self.words.chunks_exact_mut(self.width).for_each(|row| {
                if let Some(last) = row.last_mut() {
                    *last &= keep;
                }
            });
        }
    }
}

/// The positive part of a shift: where the range of targets starts.
fn offset(shift: isize) -> usize {
    usize::try_from(shift).unwrap_or(0)
}

/// Up to 64 voxels as one word, the first in the lowest bit.
fn pack(values: &[u8], least: u8) -> u64 {
    let mut word = 0;
    for (i, eight) in values.chunks(8).enumerate() {
        let mut flags = [0_u8; 8];
        flags.iter_mut().zip(eight).for_each(|(flag, &value)| *flag = u8::from(value >= least));
        word |= (u64::from_le_bytes(flags).wrapping_mul(GATHER) >> 56) << (8 * i);
    }
    word
}
