//! Hartmann's function in 3 and 6 dimensions: four Gaussian wells in the unit cube.
//!
//! f(x) = −Σᵢ αᵢ exp(−Σⱼ Aᵢⱼ (xⱼ − Pᵢⱼ)²).
//!
//! Dixon and Szegő, *The global optimization problem: an introduction*, 1978. Minimisers were polished with Newton's
//! method in 40 digits from the published ones.
//!
//! The minimum is global on all of ℝᴰ: beyond the largest (smallest) Pᵢⱼ every well rises as xⱼ moves away, so no
//! point outside the unit cube is lower than its projection onto it.

use super::formula::{Dimensions, Formula};

/// Hartmann's function.
pub struct Hartmann;

const ALPHA: [f64; 4] = [1.0, 1.2, 3.0, 3.2];

const A6: [[f64; 6]; 4] = [
    [10.0, 3.0, 17.0, 3.5, 1.7, 8.0],
    [0.05, 10.0, 17.0, 0.1, 8.0, 14.0],
    [3.0, 3.5, 1.7, 10.0, 17.0, 8.0],
    [17.0, 8.0, 0.05, 10.0, 0.1, 14.0],
];
/// 10⁴ P.
const P6: [[f64; 6]; 4] = [
    [1312.0, 1696.0, 5569.0, 124.0, 8283.0, 5886.0],
    [2329.0, 4135.0, 8307.0, 3736.0, 1004.0, 9991.0],
    [2348.0, 1451.0, 3522.0, 2883.0, 3047.0, 6650.0],
    [4047.0, 8828.0, 8732.0, 5743.0, 1091.0, 381.0],
];
const MINIMISER6: [f64; 6] = [
    0.201_689_511_006_705_4,
    0.150_010_691_823_457_97,
    0.476_873_974_221_897,
    0.275_332_430_494_056_1,
    0.311_651_616_600_113_24,
    0.657_300_534_065_620_3,
];

const A3: [[f64; 3]; 4] = [[3.0, 10.0, 30.0], [0.1, 10.0, 35.0], [3.0, 10.0, 30.0], [0.1, 10.0, 35.0]];
/// 10⁴ P.
const P3: [[f64; 3]; 4] =
    [[3689.0, 1170.0, 2673.0], [4699.0, 4387.0, 7470.0], [1091.0, 8732.0, 5547.0], [381.0, 5743.0, 8828.0]];
const MINIMISER3: [f64; 3] = [0.114_588_876_655_068_97, 0.555_648_894_616_93, 0.852_546_984_686_677_4];

impl Formula for Hartmann {
    fn name(&self) -> &'static str {
        "hartmann"
    }

    fn dimensions(&self) -> Dimensions {
        Dimensions::Only(&[3, 6])
    }

    fn interval(&self) -> (f64, f64) {
        (0.0, 1.0)
    }

    fn value(&self, z: &[f64]) -> f64 {
        match z.len() {
            3 => wells(&A3, &P3, z),
            _ => wells(&A6, &P6, z),
        }
    }

    fn minimiser(&self, dim: usize) -> Vec<f64> {
        if dim == 3 { MINIMISER3.to_vec() } else { MINIMISER6.to_vec() }
    }

    /// Every well is negative and vanishes far away, so 0 bounds f on any box and is the best bound that holds on all.
    fn maximum(&self, _: &[(f64, f64)]) -> f64 {
        0.0
    }
}

fn wells<const D: usize>(a: &[[f64; D]; 4], p: &[[f64; D]; 4], z: &[f64]) -> f64 {
    let depth = |i: usize| -> f64 {
        let distance: f64 =
            (0..D).zip(z).map(|(j, z)| a[i][j] * (z - 1e-4 * p[i][j]) * (z - 1e-4 * p[i][j])).sum();
        ALPHA[i] * (-distance).exp()
    };
    -(0..4).map(depth).sum::<f64>()
}
