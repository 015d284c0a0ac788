//! Randomness that does not depend on the number of threads: one stream per part, and lattice noise that is a pure function of place.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What a stream of random numbers is for; streams of one seed are independent.
#[derive(Clone, Copy)]
pub(super) enum Part {
    Regions = 1,
    Axons,
    Vessels,
    Cells,
    Ghosts,
    Fine,
    Coarse,
    Rings,
}

/// The generator of `part`, or of its slice `index`.
pub(super) fn stream(seed: u64, part: Part, index: usize) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(((part as u64) << 48) | index as u64);
    rng
}

/// A standard normal number, by Box and Muller.
pub(super) fn normal(rng: &mut ChaCha8Rng) -> f32 {
    let radius = (-2.0 * (1.0 - rng.random::<f32>()).ln()).sqrt();
    radius * (std::f32::consts::TAU * rng.random::<f32>()).cos()
}

/// A direction, all alike.
pub(super) fn direction(rng: &mut ChaCha8Rng) -> [f32; 3] {
    unit([normal(rng), normal(rng), normal(rng)])
}

/// The vector at length 1; a vector of no length becomes the z axis.
pub(super) fn unit(vector: [f32; 3]) -> [f32; 3] {
    let length = dot(vector, vector).sqrt();
    if length < 1e-6 { [1.0, 0.0, 0.0] } else { vector.map(|part| part / length) }
}

/// The inner product.
pub(super) fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// The cross product.
pub(super) fn cross(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// A smooth random field over space with values in −1..1 and features of size 1.
#[derive(Clone, Copy)]
pub(super) struct Lattice(u64);

impl Lattice {
    /// A field of its own for every draw from `rng`.
    pub(super) fn new(rng: &mut ChaCha8Rng) -> Self {
        Self(rng.next_u64())
    }

    /// The field at a place: random numbers at whole places, smoothly interpolated.
    pub(super) fn at(self, place: [f32; 3]) -> f32 {
        let whole = place.map(f32::floor);
        let [a, b, c] = whole.map(|part| part as i32);
        let mut weight = [0.0; 3];
        for axis in 0..3 {
            weight[axis] = smooth(place[axis] - whole[axis]);
        }
        let mix = |low: f32, high: f32, t: f32| low + (high - low) * t;
        let row = |a: i32, b: i32| mix(self.node(a, b, c), self.node(a, b, c.wrapping_add(1)), weight[2]);
        let plane = |a: i32| mix(row(a, b), row(a, b.wrapping_add(1)), weight[1]);
        mix(plane(a), plane(a.wrapping_add(1)), weight[0])
    }

    /// The number at a node, by the finaliser of SplitMix64.
    fn node(self, a: i32, b: i32, c: i32) -> f32 {
        let mut bits = self.0;
        for part in [a, b, c] {
            bits = (bits ^ u64::from(part as u32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            bits ^= bits >> 29;
        }
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits ^= bits >> 32;
        (bits & 0xff_ffff) as f32 / 8_388_608.0 - 1.0
    }
}

/// The cubic step from 0 to 1, flat at both ends.
pub(super) fn smooth(t: f32) -> f32 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}
