//! Which slices a network is trained on, which it is validated on, and which its cells are scored on.

use std::ops::Range;

/// The fewest slices that can be shared out.
pub const FEWEST_SLICES: usize = 8;

/// The first 3/16 of the slices are annotated for training, but for one of the first quarter at least.
pub fn trained(depth: usize) -> Range<usize> {
    0..(depth * 3 / 16).min(scored_from(depth).saturating_sub(1))
}

/// The next slices, up to a quarter, are annotated for validation.
pub fn validated(depth: usize) -> Range<usize> {
    trained(depth).end..scored_from(depth)
}

/// The first slice of the rest, where objects whose centroid is there are scored.
pub fn scored_from(depth: usize) -> usize {
    depth / 4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slice_is_trained_on_validated_on_or_scored() {
        assert_eq!((trained(64), validated(64), scored_from(64)), (0..12, 12..16, 16));
        for depth in FEWEST_SLICES..200 {
            let (trained, validated) = (trained(depth), validated(depth));
            assert!(!trained.is_empty() && !validated.is_empty(), "{depth}");
            assert_eq!((trained.start, trained.end, validated.end), (0, validated.start, scored_from(depth)));
            assert!(scored_from(depth) < depth);
        }
    }
}
