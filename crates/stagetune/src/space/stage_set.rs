//! Sets of stages: which modules run, which are kept, which feed another.

use std::fmt;

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::space::MAX_MODULES;

/// Stages in one word.
const WORD: usize = u64::BITS as usize;

/// A set of stages, by their numbers from 0. Up to 64 stages take no memory beside the set itself.
///
/// It is written as the list of its stages, the lowest first.
///
/// ```
/// use stagetune::space::StageSet;
///
/// let kept = StageSet::first(2);
/// let runs = StageSet::all(5).without(&kept);
/// assert_eq!(runs.iter().collect::<Vec<_>>(), [2, 3, 4]);
/// assert_eq!(runs.lowest(), Some(2));
/// ```
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StageSet {
    /// Stages 0 to 63, a bit for each.
    low: u64,
    /// Stages from 64 on, 64 to a word; the last word is never 0, so that equal sets have equal words.
    high: Vec<u64>,
}

impl StageSet {
    /// No stage.
    pub fn empty() -> Self {
        Self::default()
    }

    /// All of `stages` stages.
    pub fn all(stages: usize) -> Self {
        Self::first(stages)
    }

    /// The first `count` stages.
    pub fn first(count: usize) -> Self {
        let mut high = Vec::new();
        if let Some(beyond) = count.checked_sub(WORD) {
            high.resize(beyond / WORD, u64::MAX);
            if beyond % WORD > 0 {
                high.push(lowest_bits(beyond % WORD));
            }
        }
        Self { low: lowest_bits(count), high }
    }

    /// Whether a stage is in the set.
    pub fn contains(&self, stage: usize) -> bool {
        let word = if stage < WORD { Some(self.low) } else { self.high.get(stage / WORD - 1).copied() };
        word.is_some_and(|word| word >> (stage % WORD) & 1 == 1)
    }

    /// Puts a stage in.
    pub fn insert(&mut self, stage: usize) {
        if let Some(beyond) = stage.checked_sub(WORD)
            && self.high.len() <= beyond / WORD
        {
            self.high.resize(beyond / WORD + 1, 0);
        }
        if let Some(word) = self.word_mut(stage) {
            *word |= 1 << (stage % WORD);
        }
    }

    /// Takes a stage out.
    pub fn remove(&mut self, stage: usize) {
        if let Some(word) = self.word_mut(stage) {
            *word &= !(1 << (stage % WORD));
        }
        self.shorten();
    }

    /// Takes out all stages but the first `count`.
    pub fn truncate(&mut self, count: usize) {
        *self = self.both(&Self::first(count));
    }

    /// The stages, the lowest first.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words().enumerate().flat_map(|(number, mut left)| {
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros() as usize)?;
                left &= left - 1;
                Some(number * WORD + bit)
            })
        })
    }

    /// The lowest stage.
    pub fn lowest(&self) -> Option<usize> {
        self.iter().next()
    }

    /// How many stages there are.
    pub fn len(&self) -> usize {
        self.words().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.low == 0 && self.high.is_empty()
    }

    /// Whether every stage is also in `other`.
    pub fn is_subset(&self, other: &Self) -> bool {
        self.without(other).is_empty()
    }

    /// The stages of either set.
    pub fn union(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a | b)
    }

    /// The stages that are in both sets.
    pub fn both(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a & b)
    }

    /// The stages that are not in `other`.
    pub fn without(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a & !b)
    }

    fn words(&self) -> impl Iterator<Item = u64> + '_ {
        std::iter::once(self.low).chain(self.high.iter().copied())
    }

    fn word_mut(&mut self, stage: usize) -> Option<&mut u64> {
        match stage.checked_sub(WORD) {
            None => Some(&mut self.low),
            Some(beyond) => self.high.get_mut(beyond / WORD),
        }
    }

    fn combine(&self, other: &Self, by: impl Fn(u64, u64) -> u64) -> Self {
        let longest = self.high.len().max(other.high.len());
        let word = |set: &Self, i: usize| set.high.get(i).copied().unwrap_or(0);
        let high = (0..longest).map(|i| by(word(self, i), word(other, i))).collect();
        let mut combined = Self { low: by(self.low, other.low), high };
        combined.shorten();
        combined
    }

    /// Drops words without stages from the end.
    fn shorten(&mut self) {
        while self.high.last() == Some(&0) {
            self.high.pop();
        }
    }
}

/// A word with its lowest `count` bits set, all of them where that is more than it has.
fn lowest_bits(count: usize) -> u64 {
    if count < WORD { (1 << count) - 1 } else { u64::MAX }
}

impl FromIterator<usize> for StageSet {
    fn from_iter<I: IntoIterator<Item = usize>>(stages: I) -> Self {
        let mut set = Self::empty();
        for stage in stages {
            set.insert(stage);
        }
        set
    }
}

impl fmt::Debug for StageSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl Serialize for StageSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for StageSet {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Stages)
    }
}

/// Reads a list of stages; numbers that no space has are refused before they take memory.
struct Stages;

impl<'de> Visitor<'de> for Stages {
    type Value = StageSet;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of stage numbers below {MAX_MODULES}")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<StageSet, A::Error> {
        let mut set = StageSet::empty();
        while let Some(stage) = list.next_element::<usize>()? {
            if stage >= MAX_MODULES {
                return Err(A::Error::custom(format_args!(
                    "there is no stage {stage}; they are below {MAX_MODULES}"
                )));
            }
            set.insert(stage);
        }
        Ok(set)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_the_set_that_a_tree_of_numbers_is(
            one in prop::collection::btree_set(0..300_usize, 0..40),
            other in prop::collection::btree_set(0..300_usize, 0..40),
            stage in 0..300_usize,
        ) {
            let set = |stages: &BTreeSet<usize>| stages.iter().copied().collect::<StageSet>();
            let (a, b) = (set(&one), set(&other));
            prop_assert_eq!(a.iter().collect::<Vec<_>>(), one.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(a.len(), one.len());
            prop_assert_eq!(a.lowest(), one.first().copied());
            prop_assert_eq!(a.contains(stage), one.contains(&stage));
            prop_assert_eq!(a.is_subset(&b), one.is_subset(&other));
            prop_assert_eq!(a.union(&b), set(&one.union(&other).copied().collect()));
            prop_assert_eq!(a.both(&b), set(&one.intersection(&other).copied().collect()));
            prop_assert_eq!(a.without(&b), set(&one.difference(&other).copied().collect()));
            let (mut fewer, mut expected) = (a.clone(), one.clone());
            fewer.remove(stage);
            expected.remove(&stage);
            prop_assert_eq!(&fewer, &set(&expected));
            fewer.truncate(stage);
            expected.retain(|kept| *kept < stage);
            prop_assert_eq!(&fewer, &set(&expected));
        }
    }

    #[test]
    fn the_first_stages_are_those_below_a_number() {
        for count in [0, 1, 63, 64, 65, 128, 130] {
            assert_eq!(StageSet::first(count), (0..count).collect(), "{count}");
            assert_eq!(StageSet::all(count).len(), count);
        }
        assert!(StageSet::empty().is_empty() && !StageSet::first(65).is_empty());
    }

    #[test]
    fn it_is_written_as_a_list_and_a_stage_that_no_space_has_is_refused() {
        let set: StageSet = [70, 2, 5].into_iter().collect();
        let text = serde_json::to_string(&set).unwrap();
        assert_eq!(text, "[2,5,70]");
        assert_eq!(serde_json::from_str::<StageSet>(&text).unwrap(), set);
        let error = serde_json::from_str::<StageSet>("[3, 18446744073709551615]").unwrap_err().to_string();
        assert!(error.contains("there is no stage"), "{error}");
    }
}
