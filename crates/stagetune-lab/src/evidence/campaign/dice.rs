//! Numbers that look random and are the same for the same case.

/// Steele, Lea & Flood's SplitMix64.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// The dice of one case of one kind.
    pub fn of(seed: u64, kind: &str, case: u64) -> Self {
        let hash = blake3::hash(format!("{seed} {kind} {case}").as_bytes());
        Self(hash.as_bytes().iter().take(8).fold(0, |all, byte| all << 8 | u64::from(*byte)))
    }

    /// A whole number below a limit, which is not 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % limit.max(1)
    }

    /// Whether one of so many happens.
    pub fn one_in(&mut self, many: u64) -> bool {
        self.below(many) == 0
    }

    /// An index below a length.
    pub fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// One of these.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.index(from.len()))
    }
}
