//! The sequence against published points, and its balance after scrambling.

use super::*;

/// Dimensions (from 0) that the published points below show.
const SHOWN: [usize; 7] = [0, 1, 2, 7, 40, 100, 127];

/// Points of the unscrambled sequence as SciPy's `qmc.Sobol(128, scramble=False, bits=32)` gives them.
const PUBLISHED: [(u64, [f64; 7]); 9] = [
    (0, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
    (1, [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]),
    (2, [0.75, 0.25, 0.25, 0.75, 0.25, 0.25, 0.25]),
    (3, [0.25, 0.75, 0.75, 0.25, 0.75, 0.75, 0.75]),
    (5, [0.875, 0.875, 0.125, 0.375, 0.375, 0.125, 0.125]),
    (10, [0.9375, 0.0625, 0.6875, 0.1875, 0.8125, 0.3125, 0.3125]),
    (100, [0.4140625, 0.2578125, 0.7734375, 0.4765625, 0.7109375, 0.0390625, 0.4609375]),
    (
        1000,
        [0.2197265625, 0.0966796875, 0.5185546875, 0.8994140625, 0.9130859375, 0.7685546875, 0.5439453125],
    ),
    (
        65535,
        [
            1.52587890625e-05,
            0.9999847412109375,
            0.5637969970703125,
            0.7276763916015625,
            0.4148712158203125,
            0.6520233154296875,
            0.2404327392578125,
        ],
    ),
];

fn points(sobol: &mut Sobol, len: usize) -> Batch {
    let mut batch = Batch::zeros(len, sobol.dim());
    sobol.fill(&mut batch).unwrap();
    batch
}

#[test]
fn without_scrambling_the_points_are_the_published_ones() {
    for (index, want) in PUBLISHED {
        let mut sobol = Sobol::unscrambled(128);
        sobol.skip(index);
        let batch = points(&mut sobol, 1);
        assert_eq!(SHOWN.map(|d| batch.row(0)[d]), want, "point {index}");
    }
}

#[test]
fn every_coordinate_puts_one_point_into_each_interval() {
    // The (0, m, 1)-net property, also in the shuffled blocks past 128 dimensions and for later runs of 2^m points.
    let m = 7;
    let mut sobol = Sobol::new(300, 42);
    for _ in 0..3 {
        let batch = points(&mut sobol, 1 << m);
        for d in 0..300 {
            let mut cells: Vec<usize> = batch.rows().map(|x| (x[d] * f64::from(1 << m)) as usize).collect();
            cells.sort_unstable();
            assert!(cells.iter().copied().eq(0..1 << m), "dimension {d}");
        }
    }
}

#[test]
fn the_first_two_dimensions_balance_in_every_elementary_rectangle() {
    // They form a (0, 2)-sequence, in each block.
    let m = 8;
    let batch = points(&mut Sobol::new(130, 9), 1 << m);
    for (first, second) in [(0, 1), (128, 129)] {
        for k in 0..=m {
            let mut counts = vec![0; 1 << m];
            for x in batch.rows() {
                let (i, j) = (x[first] * f64::from(1 << k), x[second] * f64::from(1 << (m - k)));
                counts[((i as usize) << (m - k)) | j as usize] += 1;
            }
            assert!(counts.iter().all(|c| *c == 1), "2^{k} by 2^{}", m - k);
        }
    }
}

#[test]
fn mean_variance_and_correlation_are_those_of_uniform_points() {
    let n = 1024;
    let batch = points(&mut Sobol::new(140, 3), n);
    let mean = |f: &dyn Fn(&[f64]) -> f64| batch.rows().map(f).sum::<f64>() / n as f64;
    for d in 0..140 {
        assert!((mean(&|x| x[d]) - 0.5).abs() < 1e-3);
        assert!((mean(&|x| (x[d] - 0.5).powi(2)) - 1.0 / 12.0).abs() < 1e-3);
    }
    for d in 0..12 {
        // Plain random points would give 0.0026 here: coordinates of different blocks are no closer than that to being the same.
        let across = mean(&|x| (x[d] - 0.5) * (x[128 + d] - 0.5));
        assert!(across.abs() < 5.0 * 0.0026, "dimension {d} against {}: {across}", 128 + d);
    }
}

#[test]
fn a_single_scrambled_point_is_uniform_over_seeds() {
    let n = 4000;
    let first: Vec<f64> = (0..n).map(|seed| points(&mut Sobol::new(2, seed), 1).row(0)[1]).collect();
    let mean = first.iter().sum::<f64>() / n as f64;
    assert!((mean - 0.5).abs() < 4.0 * 0.2887 / (n as f64).sqrt(), "{mean}");
    // Bits far down are random too: an eighth of the points has each pattern of bits 49 to 51.
    let low = first.iter().filter(|x| (*x * 2f64.powi(52)) as u64 % 8 == 5).count();
    assert!((400..600).contains(&low), "{low}");
}

#[test]
fn coins_of_the_scramble_depend_on_every_bit_above() {
    // Flipping bit k leaves the bits above as they were, flips bit k and re-tosses what is below.
    for k in 0..BITS {
        let (mut changed, trials) = (0, 200);
        for seed in 0..trials {
            let x = mix(seed) as u32;
            let difference = scramble(x, seed) ^ scramble(x ^ (1 << k), seed);
            assert_eq!(difference >> k, 1);
            changed += (difference & ((1 << k) - 1)).count_ones();
        }
        let expected = trials as f64 * k as f64 / 2.0;
        assert!((f64::from(changed) - expected).abs() <= 5.0 * (expected / 2.0).sqrt(), "bit {k}: {changed}");
    }
}

#[test]
fn the_seed_decides_the_points() {
    let draw = |seed| points(&mut Sobol::new(5, seed), 8);
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
}

#[test]
fn skipping_is_drawing_and_runs_of_2_to_the_32_do_not_repeat() {
    let all = points(&mut Sobol::new(3, 1), 6);
    let mut later = Sobol::new(3, 1);
    later.skip(4);
    assert_eq!(points(&mut later, 2).as_slice(), &all.as_slice()[12..]);
    let mut next_run = Sobol::new(3, 1);
    next_run.skip(1 << 32);
    assert_ne!(points(&mut next_run, 6), all);
}

#[test]
fn a_place_of_another_dimension_is_refused() {
    let refused = Err(SobolError::Dimension { expected: 3, found: 2 });
    assert_eq!(Sobol::new(3, 0).next_into(&mut [0.0; 2]), refused);
    assert_eq!(Sobol::new(3, 0).fill(&mut Batch::zeros(4, 2)), refused);
    assert_eq!(Sobol::new(0, 0).next_into(&mut []), Ok(()));
}
