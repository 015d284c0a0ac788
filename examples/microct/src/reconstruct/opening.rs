//! The 3-D opening A ∘ B = (A ⊖ B) ⊕ B with a ball B: what the ball cannot enter disappears, the rest keeps its shape.
//!
//! B holds the offsets with dz² + dy² + dx² ≤ r²: 7 voxels (the six neighbours' cross) for r = 1, 33 for r = 2.
//! Borders: what lies outside neither adds nor removes, so that an object cut by a face of the volume is not shaved there.
//! Hence dilation takes the outside as background and erosion takes it as foreground, and erosion is the dilation of
//! the complement: A ⊖ B = (Aᶜ ⊕ B)ᶜ for a symmetric B.

use super::bits::Bits;

/// The opening of `mask` with a ball of `radius` voxels; radius 0 changes nothing.
pub(super) fn open(mask: &Bits, radius: usize) -> Bits {
    if radius == 0 {
        return mask.clone();
    }
    let eroded = dilate(mask.clone().complement(), radius).complement();
    dilate(eroded, radius)
}

/// The dilation of `mask` with a ball of `radius` voxels.
fn dilate(mask: Bits, radius: usize) -> Bits {
    // The ball is a bundle of bars along x: bar k reaches k voxels to both sides, and widening by k is done once.
    let mut result = None::<Bits>;
    let mut bar = mask;
    let reach = isize::try_from(radius).unwrap_or(isize::MAX);
    for half in 0..=radius {
        if half > 0 {
            bar = bar.widened();
        }
        let sum = result.get_or_insert_with(|| bar.clone());
        for dz in -reach..=reach {
            for dy in -reach..=reach {
                if half_length(radius, dz, dy) == Some(half) {
                    sum.add_moved(&bar, dz, dy);
                }
            }
        }
    }
    result.unwrap_or(bar)
}

/// How far the ball reaches along x at (dz, dy); nothing outside the ball.
fn half_length(radius: usize, dz: isize, dy: isize) -> Option<usize> {
    let square = |shift: isize| shift.unsigned_abs().pow(2);
    radius.pow(2).checked_sub(square(dz) + square(dy)).map(usize::isqrt)
}
