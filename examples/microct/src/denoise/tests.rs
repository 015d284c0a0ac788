//! Tests of denoising: against the formula written out, on flat fields and edges, and on one and two threads.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::means::{decay, non_local_means};
use super::*;
use crate::volume::{self, Size};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const PLAIN: Settings = Settings { strength: 5.0, contrast: 1.0 };

/// A field of `level` with roughly normal noise of the given standard deviation.
fn noisy(seed: u64, size: Size, level: impl Fn(usize) -> f64, deviation: f64) -> Array3<u8> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Array3::from_shape_fn(size, |(_, _, x)| {
        // A sum of twelve uniform variables has variance 1.
        let normal = (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
        (level(x) + deviation * normal).round() as u8
    })
}

fn mean_and_deviation(levels: impl Iterator<Item = u8>) -> (f64, f64) {
    let levels: Vec<f64> = levels.map(f64::from).collect();
    let mean = levels.iter().sum::<f64>() / levels.len() as f64;
    let variance = levels.iter().map(|level| (level - mean).powi(2)).sum::<f64>() / levels.len() as f64;
    (mean, variance.sqrt())
}

/// The formula, voxel by voxel and pair by pair.
fn textbook(volume: &Array3<u8>, h: f64, sigma: f64, search: [usize; 3]) -> Vec<f64> {
    let size: [i64; 3] = [volume.dim().0, volume.dim().1, volume.dim().2].map(|side| side as i64);
    let level = |place: [i64; 3]| {
        let [z, y, x]: [usize; 3] = std::array::from_fn(|axis| place[axis].clamp(0, size[axis] - 1) as usize);
        f64::from(volume[(z, y, x)])
    };
    let cube = |reach: [i64; 3]| {
        let axis = |reach: i64| -reach..=reach;
        axis(reach[0])
            .flat_map(move |z| axis(reach[1]).flat_map(move |y| axis(reach[2]).map(move |x| [z, y, x])))
    };
    let plus = |one: [i64; 3], other: [i64; 3]| std::array::from_fn(|axis| one[axis] + other[axis]);
    let mean = |i: [i64; 3]| {
        let (mut weighted, mut weights) = (0.0, 0.0);
        for offset in cube(search.map(|reach| reach as i64)) {
            let j: [i64; 3] = plus(i, offset);
            if (0..3).any(|axis| !(0..size[axis]).contains(&j[axis])) {
                continue;
            }
            let squares = cube([1; 3]).map(|step| (level(plus(i, step)) - level(plus(j, step))).powi(2));
            let w = (-(squares.sum::<f64>() / 27.0 - 2.0 * sigma * sigma).max(0.0) / (h * h)).exp();
            weighted += w * level(j);
            weights += w;
        }
        weighted / weights
    };
    volume.indexed_iter().map(|((z, y, x), _)| mean([z as i64, y as i64, x as i64])).collect()
}

#[test]
fn means_equal_the_formula_written_out() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    // Several tiles along z and y, sizes thinner than the window, and a single voxel.
    for size in [(10, 27, 9), (3, 4, 17), (1, 1, 1), (1, 7, 2), (9, 1, 1)] {
        let volume = Array3::from_shape_fn(size, |(z, y, x)| {
            let tissue = if (z + y / 3 + x) % 7 < 3 { 60 } else { 110 };
            tissue + rng.random_range(0..25_u8)
        });
        for (h, sigma, search) in [(5.0, 4.0, [2, 3, 3]), (12.0, 0.0, [1, 2, 4]), (1.0, 7.0, [2, 2, 2])] {
            let found = non_local_means(volume.view(), h as f32, sigma as f32, search);
            let expected = textbook(&volume, h, sigma, search);
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(expected) {
                let gap = (f64::from(*found) - expected).abs();
                assert!(gap < 2e-3, "{found} is not {expected}: size {size:?}, h {h}, sigma {sigma}");
            }
        }
    }
}

#[test]
fn the_fast_exponential_is_close_to_the_true_one() {
    assert_eq!((decay(0.0), decay(-3.0)), (1.0, 1.0));
    for i in 0..4000 {
        let t = f64::from(i) * 0.005;
        let gap = f64::from(decay(t as f32)) - (-t).exp();
        assert!(gap.abs() < 3e-6, "{gap} at {t}");
    }
}

#[test]
fn a_constant_volume_is_left_as_it_is() {
    for size in [(1, 1, 1), (2, 3, 1), (9, 30, 12)] {
        for level in [0, 1, 77, 255] {
            let volume = Array3::from_elem(size, level);
            for contrast in [1.0, 2.0] {
                assert_eq!(denoise(volume.view(), &Settings { contrast, ..PLAIN }).unwrap(), volume);
            }
        }
    }
}

#[test]
fn the_noise_of_a_flat_field_is_estimated_and_removed() {
    for deviation in [3.0, 8.0] {
        let volume = noisy(2, (12, 40, 40), |_| 120.0, deviation);
        let estimate = sigma(volume.view());
        assert!((estimate / deviation - 1.0).abs() < 0.1, "{estimate} is not near {deviation}");
        let (mean, spread) = mean_and_deviation(denoise(volume.view(), &PLAIN).unwrap().into_iter());
        assert!((mean - 120.0).abs() < 0.5 && spread < deviation / 3.0, "{mean} ± {spread}");
    }
}

#[test]
fn an_edge_survives_and_more_strength_smooths_more() {
    let volume = noisy(3, (10, 32, 40), |x| if x < 20 { 80.0 } else { 140.0 }, 6.0);
    let denoised = denoise(volume.view(), &PLAIN).unwrap();
    let column = |x: usize| mean_and_deviation(denoised.index_axis(ndarray::Axis(2), x).iter().copied());
    assert!(
        (column(19).0 - 80.0).abs() < 3.0 && (column(20).0 - 140.0).abs() < 3.0,
        "{:?} {:?}",
        column(19),
        column(20)
    );
    assert!(column(10).1 < 3.0);
    let spread = |strength: f64| {
        let denoised = denoise(volume.view(), &Settings { strength, ..PLAIN }).unwrap();
        mean_and_deviation(denoised.index_axis(ndarray::Axis(2), 10).iter().copied()).1
    };
    assert!(spread(1.0) > spread(5.0) && spread(5.0) >= spread(15.0));
}

#[test]
fn contrast_stretches_about_the_median_and_clamps() {
    // Three far levels in blocks, the middle one most common, so that nothing is averaged across.
    let volume = Array3::from_shape_fn((4, 8, 40), |(_, _, x)| [100, 100, 20, 200][x / 10]);
    let stretched = denoise(volume.view(), &Settings { strength: 1.0, contrast: 1.5 }).unwrap();
    assert_eq!(
        stretched,
        volume.mapv(|level| match level {
            20 => 0,
            200 => 250,
            level => level,
        })
    );
    assert_eq!(median(volume.view()), 100);
}

#[test]
fn one_thread_and_two_give_the_same_bits() {
    let volume = noisy(4, (19, 50, 33), |x| 60.0 + 3.0 * x as f64, 7.0);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| non_local_means(volume.view(), 5.0, 7.0, [1, 2, 3]))
    };
    let bits = |levels: Vec<f32>| levels.into_iter().map(f32::to_bits).collect::<Vec<_>>();
    assert_eq!(bits(on(1)), bits(on(2)));
}

#[test]
fn settings_out_of_range_are_refused_with_the_reason() {
    let volume = Array3::<u8>::zeros((2, 2, 2));
    for strength in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = denoise(volume.view(), &Settings { strength, ..PLAIN }).unwrap_err().to_string();
        assert!(error.contains(&format!("strength is {strength}")), "{error}");
    }
    for contrast in [0.0, 0.9, -1.0, f64::NAN, f64::INFINITY] {
        let error = denoise(volume.view(), &Settings { contrast, ..PLAIN }).unwrap_err().to_string();
        assert!(error.contains(&format!("contrast is {contrast}")), "{error}");
    }
    let error = denoise(Array3::<u8>::zeros((0, 2, 2)).view(), &PLAIN).unwrap_err().to_string();
    assert!(error.contains("no voxels"), "{error}");
}

#[test]
fn the_command_takes_a_directory_or_a_file_and_never_overwrites_its_input() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("data"), folder.path().join("out"));
    let options = |input: &std::path::Path, out: &std::path::Path| Options {
        input: input.to_owned(),
        strength: 5.0,
        contrast: 1.2,
        out: out.to_owned(),
    };
    let error = format!("{:#}", run(&options(&data, &out)).unwrap_err());
    assert!(error.contains("cannot read the volume"), "{error}");
    volume::directory(&data).unwrap();
    let volume = noisy(5, (6, 12, 12), |_| 90.0, 5.0);
    volume::write(&data.join("volume.npy"), &volume).unwrap();
    let expected = denoise(volume.view(), &Settings { strength: 5.0, contrast: 1.2 }).unwrap();
    for input in [data.clone(), data.join("volume.npy")] {
        run(&options(&input, &out)).unwrap();
        let written: Array3<u8> = volume::read(&out.join("volume.npy"), "the result").unwrap();
        assert_eq!(written, expected);
        std::fs::remove_dir_all(&out).unwrap();
    }
    let error = run(&options(&data, &data)).unwrap_err().to_string();
    assert!(error.contains("would overwrite"), "{error}");
    let whole = std::fs::read(data.join("volume.npy")).unwrap();
    std::fs::write(data.join("volume.npy"), &whole[..whole.len() - 5]).unwrap();
    let error = format!("{:#}", run(&options(&data, &out)).unwrap_err());
    assert!(error.contains("not a whole NumPy file") && !out.exists(), "{error}");
}
