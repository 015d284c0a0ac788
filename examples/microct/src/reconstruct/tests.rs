//! Tests of the stage: against an independent library, against brute force, and on objects with known answers.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::bits::Bits;
use super::components::components;
use super::*;
use crate::volume;
use ndarray::{Array4, ArrayRef3, Axis};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::ops::Range;
use std::path::Path;

/// Widths around one and two words, and shapes down to the ball's diameter, the least that the other library takes.
const SIZES: [volume::Size; 7] =
    [(5, 5, 5), (6, 7, 63), (5, 9, 64), (7, 6, 65), (8, 5, 127), (5, 8, 130), (12, 11, 40)];

fn bits(mask: &Array3<bool>) -> Bits {
    let values: Vec<u8> = mask.iter().map(|&set| u8::from(set)).collect();
    Bits::at_least(&values, mask.dim(), 1)
}

fn unpacked(mask: &Bits) -> Array3<bool> {
    let size = mask.size();
    let rows: Vec<&[u64]> = mask.rows().collect();
    Array3::from_shape_fn(size, |(z, y, x)| rows[z * size.1 + y][x / 64] >> (x % 64) & 1 == 1)
}

/// A mask with the given share of set voxels.
fn noise(rng: &mut impl Rng, size: volume::Size, share: f64) -> Array3<bool> {
    Array3::from_shape_fn(size, |_| rng.random_bool(share))
}

fn ball(radius: i64) -> Array3<bool> {
    let side = 2 * radius as usize + 1;
    Array3::from_shape_fn((side, side, side), |(z, y, x)| {
        [z, y, x].iter().map(|&i| (i as i64 - radius).pow(2)).sum::<i64>() <= radius * radius
    })
}

/// Sets a box of voxels; ndarray's own slicing macro holds code that a crate without `unsafe` may not.
fn fill<T: Copy>(volume: &mut Array3<T>, bounds: [Range<usize>; 3], value: T) {
    let [zs, ys, xs] = bounds;
    for ((z, y, x), voxel) in volume.indexed_iter_mut() {
        if zs.contains(&z) && ys.contains(&y) && xs.contains(&x) {
            *voxel = value;
        }
    }
}

fn as_ref(array: &Array3<bool>) -> &ArrayRef3<bool> {
    array
}

#[test]
fn packed_masks_hold_exactly_the_voxels_above_the_threshold() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for size in SIZES.into_iter().chain([(1, 1, 1), (2, 1, 200)]) {
        let values = Array3::from_shape_fn(size, |_| rng.random::<u8>());
        for least in [0, 1, 100, 128, 255] {
            let mask = Bits::at_least(values.as_slice().unwrap(), size, least);
            assert_eq!(unpacked(&mask), values.mapv(|value| value >= least));
            assert_eq!(unpacked(&mask.clone().complement()), values.mapv(|value| value < least));
            assert_eq!(mask.clone().complement().complement(), mask, "bits past the end of a row stay clear");
        }
    }
}

#[test]
fn the_opening_agrees_with_an_independent_library() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for size in SIZES {
        for share in [0.5, 0.8, 0.93, 0.98] {
            let mask = noise(&mut rng, size, share);
            assert_eq!(unpacked(&opening::open(&bits(&mask), 0)), mask);
            for radius in [1, 2] {
                let expected = ndarray_ndimage::binary_opening(as_ref(&mask), as_ref(&ball(radius)), 1);
                let opened = unpacked(&opening::open(&bits(&mask), radius as usize));
                assert_eq!(opened, expected, "radius {radius}, size {size:?}, share {share}");
            }
        }
    }
}

#[test]
fn the_opening_takes_volumes_thinner_than_the_ball() {
    for size in [(1, 1, 1), (1, 3, 2), (2, 1, 70), (1, 200, 1)] {
        for radius in [1, 2] {
            let full = Array3::from_elem(size, true);
            assert_eq!(unpacked(&opening::open(&bits(&full), radius)), full, "outside does not erode");
            let empty = Array3::from_elem(size, false);
            assert_eq!(unpacked(&opening::open(&bits(&empty), radius)), empty);
        }
    }
}

#[test]
fn components_agree_with_an_independent_library() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let cross = ndarray_ndimage::Kernel3d::Star.generate();
    for size in SIZES.into_iter().chain([(1, 1, 1), (1, 1, 129), (3, 1, 64), (1, 9, 9)]) {
        for share in [0.0, 0.1, 0.3, 0.5, 0.7, 1.0] {
            let mask = noise(&mut rng, size, share);
            let found = components(&bits(&mask));
            let mut labels = Array3::<u32>::zeros(size);
            for (run, &component) in found.runs.iter().zip(&found.component) {
                let (z, y) = (run.row / size.1, run.row % size.1);
                fill(&mut labels, [z..z + 1, y..y + 1, run.start..run.end], component as u32 + 1);
            }
            let (expected, count) = ndarray_ndimage::label::<u32>(as_ref(&mask), &cross);
            assert_eq!(found.count, count);
            assert_eq!(labels.mapv(|label| label > 0), mask);
            // The numbers may differ, the partition may not: each pair of numbers is one to one.
            let mut partner = vec![0; count + 1];
            for (&ours, &theirs) in labels.iter().zip(&expected) {
                let known = &mut partner[ours as usize];
                assert!(*known == 0 || *known == theirs, "one component of ours is two of theirs");
                *known = theirs;
            }
            let first: Vec<u32> = labels.iter().fold(vec![0], |mut seen, &label| {
                if label > *seen.last().unwrap() {
                    seen.push(label);
                }
                seen
            });
            assert_eq!(first.len(), count + 1, "components are numbered by their first voxel");
        }
    }
}

/// Blobs of random probability over noise, and random true cells near them.
fn scene(seed: u64, size: volume::Size, count: u16) -> (Array3<u8>, Array3<u16>) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut probability = Array3::from_shape_fn(size, |_| rng.random_range(0..150_u8));
    let mut cells = Array3::zeros(size);
    for number in 1..=count {
        let at = [size.0, size.1, size.2].map(|side| rng.random_range(0..side as i64));
        let side = [(); 3].map(|()| rng.random_range(1..5_i64));
        let shift = [(); 3].map(|()| rng.random_range(-1..2_i64));
        let inside = |place: [usize; 3], shift: [i64; 3]| {
            (0..3).all(|axis| (place[axis] as i64 - at[axis] - shift[axis]).abs() < side[axis])
        };
        let value = rng.random_range(100..=255);
        for ((z, y, x), cell) in cells.indexed_iter_mut() {
            if inside([z, y, x], [0; 3]) {
                *cell = number;
            }
            if inside([z, y, x], shift) {
                probability[(z, y, x)] = value;
            }
        }
    }
    (probability, cells)
}

const PURITIES: [f64; 6] = [0.0, 0.4, 0.5, 0.6, 0.8, 1.0];
const EXTENTS: [f64; 6] = [0.0, 0.2, 0.45, 0.6, 0.85, 1.0];

#[test]
fn the_grid_equals_one_setting_at_a_time() {
    for (seed, size) in [(4, (16, 30, 70)), (5, (9, 20, 64)), (6, (3, 3, 3)), (7, (1, 1, 1))] {
        let (probability, cells) = scene(seed, size, 40);
        let truth = Truth::new(cells.view());
        let table = grid(probability.view(), &truth, &PURITIES, &[0, 1, 2], &EXTENTS).unwrap();
        let mut entries = table.iter();
        for purity in PURITIES {
            for opening in 0..=2 {
                for extent in EXTENTS {
                    let settings = Settings { purity, opening, extent };
                    let one = reconstruct(probability.view(), &truth, &settings).unwrap();
                    assert_eq!(Some(&one.score.f1()), entries.next(), "{settings:?}");
                }
            }
        }
        assert_eq!(entries.next(), None);
    }
}

/// Matches label volumes straight from the definition.
fn brute_force(found: &Array3<u16>, truth: &Array3<u16>) -> Score {
    let scored = |labels: &Array3<u16>| -> Vec<u16> {
        let most = labels.iter().copied().max().unwrap_or(0);
        (1..=most)
            .filter(|&label| {
                let voxels = labels.indexed_iter().filter(|&(_, &other)| other == label);
                let z: Vec<usize> = voxels.map(|((z, _, _), _)| z).collect();
                !z.is_empty() && z.iter().sum::<usize>() >= labels.dim().0 / 4 * z.len()
            })
            .collect()
    };
    let (ours, theirs) = (scored(found), scored(truth));
    let mut pairs = Vec::new();
    for &one in &ours {
        for &other in &theirs {
            let both = found.iter().zip(truth).map(|(&a, &b)| (a == one, b == other));
            let shared = both.clone().filter(|&(a, b)| a && b).count();
            let union = both.filter(|&(a, b)| a || b).count();
            pairs.push((shared as f64 / union as f64, one, other));
        }
    }
    let (mut free_ours, mut free_theirs, mut matched) = (ours.clone(), theirs.clone(), 0);
    loop {
        let open = pairs.iter().filter(|(_, a, b)| free_ours.contains(a) && free_theirs.contains(b));
        let best = open.max_by(|a, b| a.0.total_cmp(&b.0).then((b.1, b.2).cmp(&(a.1, a.2))));
        let Some(&(_, one, other)) = best.filter(|pair| pair.0 >= OVERLAP) else { break };
        free_ours.retain(|&label| label != one);
        free_theirs.retain(|&label| label != other);
        matched += 1;
    }
    Score { found: ours.len(), truth: theirs.len(), matched }
}

#[test]
fn the_score_equals_a_brute_force_matching_of_the_labels() {
    let mut matched = 0;
    for seed in 10..30 {
        let (probability, cells) = scene(seed, (12, 18, 24), 14);
        let truth = Truth::new(cells.view());
        for settings in [(0.6, 0, 0.0), (0.6, 0, 0.5), (0.6, 1, 0.3), (0.5, 1, 0.0), (0.6, 2, 0.3)] {
            let settings = Settings { purity: settings.0, opening: settings.1, extent: settings.2 };
            let found = reconstruct(probability.view(), &truth, &settings).unwrap();
            assert_eq!(found.score, brute_force(&found.labels, &cells), "seed {seed}, {settings:?}");
            let numbers: Vec<u16> = found.cells.iter().filter_map(|cell| cell.matched).collect();
            assert_eq!(numbers.len(), found.score.matched);
            matched += found.score.matched;
        }
    }
    assert!(matched > 100, "the scenes hold something to match: {matched}");
}

#[test]
fn competing_objects_are_matched_best_first_and_one_to_one() {
    // A true bar of 30 voxels is found in two pieces of 10 and 19; both overlap enough, the larger is matched.
    let mut cells = Array3::<u16>::zeros((4, 3, 40));
    fill(&mut cells, [2..3, 1..2, 0..30], 9);
    let mut probability = Array3::<u8>::zeros((4, 3, 40));
    fill(&mut probability, [2..3, 1..2, 0..10], 255);
    fill(&mut probability, [2..3, 1..2, 11..30], 255);
    let truth = Truth::new(cells.view());
    let settings = Settings { purity: 0.5, opening: 0, extent: 0.0 };
    let found = reconstruct(probability.view(), &truth, &settings).unwrap();
    assert_eq!(found.score, Score { found: 2, truth: 1, matched: 1 });
    assert_eq!(found.cells.iter().map(|cell| cell.matched).collect::<Vec<_>>(), [None, Some(9)]);
    assert_eq!((found.score.f1(), found.score.precision(), found.score.recall()), (2.0 / 3.0, 0.5, 1.0));
}

/// A cube that is found whole, an oblique line and a speck.
fn cube_line_and_speck() -> (Array3<u8>, Array3<u16>) {
    let mut cells = Array3::<u16>::zeros((16, 20, 70));
    fill(&mut cells, [6..11, 2..7, 60..65], 3);
    let mut probability = cells.mapv(|cell| if cell > 0 { 204 } else { 10 });
    for i in 0..15 {
        fill(&mut probability, [4 + i / 3..4 + i / 3 + 1, i..i + 2, 2 * i..2 * i + 3], 180);
    }
    fill(&mut probability, [12..13, 12..13, 50..57], 255);
    (probability, cells)
}

#[test]
fn the_shape_rule_keeps_the_cube_and_refuses_the_line() {
    let (probability, cells) = cube_line_and_speck();
    let truth = Truth::new(cells.view());
    let settings = Settings { purity: 0.6, opening: 0, extent: 0.4 };
    let found = reconstruct(probability.view(), &truth, &settings).unwrap();
    assert_eq!((found.cells.len(), found.vessels), (1, 1), "the speck of {} voxels is neither", SPECK - 1);
    let cell = &found.cells[0];
    assert_eq!((cell.object.voxels, cell.object.extent()), (125, 1.0));
    assert_eq!(cell.object.centroid(), [8.0, 4.0, 62.0]);
    assert_eq!((cell.probability, cell.matched), (0.8, Some(3)));
    assert_eq!(found.labels, cells.mapv(|cell| u16::from(cell > 0)));
    assert_eq!(found.score.f1(), 1.0);

    let lenient = Settings { extent: 0.0, ..settings };
    let found = reconstruct(probability.view(), &truth, &lenient).unwrap();
    assert_eq!((found.cells.len(), found.vessels), (2, 0));
    assert_eq!(found.score.f1(), 2.0 / 3.0);
}

#[test]
fn a_probability_equal_to_the_purity_belongs_to_the_mask() {
    for value in 0..=255_u8 {
        let purity = f64::from(value) / 255.0;
        assert_eq!(least(purity), value);
        assert_eq!(least((purity + 1e-9).min(1.0)), value.saturating_add(1));
    }
}

#[test]
fn only_objects_past_the_first_quarter_count() {
    for (slices, counted) in [(0..4, 0), (1..6, 0), (2..7, 1), (8..12, 1)] {
        let mut cells = Array3::<u16>::zeros((16, 8, 8));
        fill(&mut cells, [slices, 2..5, 2..5], 1);
        let probability = cells.mapv(|cell| 255 * cell as u8);
        let settings = Settings { purity: 0.5, opening: 0, extent: 0.5 };
        let found = reconstruct(probability.view(), &Truth::new(cells.view()), &settings).unwrap();
        assert_eq!(found.score, Score { found: counted, truth: counted, matched: counted });
        assert_eq!(found.cells.len(), 1, "it is found all the same");
        assert_eq!(found.score.f1(), counted as f64, "nothing there gives 0");
    }
}

#[test]
fn settings_out_of_range_and_other_shapes_are_refused_with_the_reason() {
    let cells = Array3::<u16>::zeros((4, 4, 4));
    let truth = Truth::new(cells.view());
    let probability = Array3::<u8>::zeros((4, 4, 4));
    let good = Settings { purity: 0.5, opening: 1, extent: 0.5 };
    for (settings, word) in [
        (Settings { purity: 1.1, ..good }, "purity is 1.1"),
        (Settings { purity: f64::NAN, ..good }, "purity is NaN"),
        (Settings { extent: -0.1, ..good }, "extent is -0.1"),
        (Settings { opening: 3, ..good }, "opening is 3"),
    ] {
        let error = reconstruct(probability.view(), &truth, &settings).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
        let (purity, extent) = ([settings.purity], [settings.extent]);
        let error = grid(probability.view(), &truth, &purity, &[settings.opening], &extent).unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
    }
    let other = Array3::<u8>::zeros((4, 4, 5));
    let error = reconstruct(other.view(), &truth, &good).unwrap_err().to_string();
    assert!(error.contains("(4, 4, 5)") && error.contains("(4, 4, 4)"), "{error}");
}

fn options(folder: &Path) -> Options {
    let (input, truth, out) = (folder.join("unet"), folder.join("data"), folder.join("out"));
    Options { input, truth, purity: 0.6, opening: 0, extent: 0.4, out }
}

fn write_scene(folder: &Path) {
    let (probability, cells) = cube_line_and_speck();
    let vessel = Array3::<u8>::zeros(cells.dim());
    let both: Array4<u8> = ndarray::stack(Axis(0), &[probability.view(), vessel.view()]).unwrap();
    volume::directory(&folder.join("unet")).unwrap();
    volume::directory(&folder.join("data")).unwrap();
    volume::write(&folder.join("unet/probability.npy"), &both).unwrap();
    volume::write(&folder.join("data/cells.npy"), &cells).unwrap();
}

#[test]
fn the_command_writes_result_labels_and_table() {
    let folder = tempfile::tempdir().unwrap();
    write_scene(folder.path());
    run(&options(folder.path())).unwrap();
    let out = folder.path().join("out");
    let result: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(out.join("result.json")).unwrap()).unwrap();
    assert_eq!((result["f1"].as_f64(), result["matched"].as_u64()), (Some(1.0), Some(1)));
    assert_eq!((result["cells"].as_u64(), result["vessels"].as_u64()), (Some(1), Some(1)));
    let labels: Array3<u16> = volume::read(&out.join("cells.npy"), "the labels").unwrap();
    assert_eq!(labels.iter().filter(|&&label| label == 1).count(), 125);
    let table = std::fs::read_to_string(out.join("cells.csv")).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(
        lines,
        ["cell,z,y,x,voxels,extent,probability,scored,matched", "1,8.00,4.00,62.00,125,1.0000,0.8000,true,3"]
    );
}

#[test]
fn the_command_says_what_is_wrong_with_its_files_and_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let options = options(folder.path());
    let failure = || {
        let error = format!("{:#}", run(&options).unwrap_err());
        assert!(!options.out.exists());
        error
    };
    assert!(failure().contains("cannot read the probability maps"));
    write_scene(folder.path());
    let whole = std::fs::read(folder.path().join("unet/probability.npy")).unwrap();
    std::fs::write(folder.path().join("unet/probability.npy"), &whole[..whole.len() / 2]).unwrap();
    assert!(failure().contains("not a whole NumPy file of a 4-D array with elements of type u8"));
    volume::write(&folder.path().join("unet/probability.npy"), &Array4::<u8>::zeros((3, 16, 20, 70)))
        .unwrap();
    assert!(failure().contains("(3, 16, 20, 70)"));
    volume::write(&folder.path().join("unet/probability.npy"), &Array4::<u8>::zeros((2, 16, 20, 71)))
        .unwrap();
    assert!(failure().contains("(16, 20, 71)"));
    std::fs::remove_file(folder.path().join("data/cells.npy")).unwrap();
    assert!(failure().contains("cannot read the true cells"));
}
