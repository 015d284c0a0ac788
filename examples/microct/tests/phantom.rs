//! The phantom against figures measured on real microCT slices of a mouse brain with annotations by people.

use microct::phantom::{AXON, CELL, ClassStatistics, Phantom, Recipe, generate, statistics};
use std::collections::BTreeSet;

/// A region's real figures: 32 annotated patches of 128 × 128, and the grey levels of a crop of 257 × 257.
struct Real {
    region: &'static str,
    axon: Option<Class>,
    vessel: Class,
    cell: Class,
    /// Percentiles 1, 5, 25, 50, 75, 95 and 99.
    grey: [f64; 7],
}

struct Class {
    fraction: f64,
    /// Components connected by edges, per patch.
    components: f64,
    /// Percentiles 10, 50 and 90 of their areas.
    areas: [f64; 3],
}

const REAL: [Real; 4] = [
    Real {
        region: "ctx",
        axon: None,
        vessel: Class { fraction: 0.0166, components: 13.2, areas: [7.2, 16.0, 33.8] },
        cell: Class { fraction: 0.0260, components: 12.5, areas: [12.0, 29.0, 62.0] },
        grey: [26.0, 69.0, 103.0, 115.0, 126.0, 145.0, 160.0],
    },
    Real {
        region: "str",
        axon: Some(Class { fraction: 0.1727, components: 3.06, areas: [29.9, 272.0, 2582.3] }),
        vessel: Class { fraction: 0.0190, components: 12.0, areas: [5.0, 17.0, 37.6] },
        cell: Class { fraction: 0.0327, components: 11.5, areas: [20.6, 43.0, 79.4] },
        grey: [30.0, 65.0, 105.0, 117.0, 130.0, 165.0, 184.0],
    },
    Real {
        region: "trn",
        axon: Some(Class { fraction: 0.5707, components: 4.16, areas: [2.0, 223.0, 9264.2] }),
        vessel: Class { fraction: 0.0312, components: 24.1, areas: [4.0, 12.0, 32.0] },
        cell: Class { fraction: 0.0249, components: 7.38, areas: [26.0, 55.0, 82.5] },
        grey: [18.0, 69.0, 118.0, 139.0, 155.0, 178.0, 196.0],
    },
    Real {
        region: "zi",
        axon: None,
        vessel: Class { fraction: 0.0593, components: 36.8, areas: [6.0, 14.0, 41.0] },
        cell: Class { fraction: 0.0553, components: 14.6, areas: [23.0, 59.0, 106.5] },
        grey: [4.0, 48.0, 112.0, 133.0, 151.0, 175.0, 193.0],
    },
];

/// Relative tolerances of a fraction, a number of components, and the three percentiles of areas.
struct Tolerance {
    fraction: f64,
    components: f64,
    areas: [f64; 3],
}

/// Numbers and sizes of cells are set; about sixty of them per region leave this much to chance.
const CELLS: Tolerance = Tolerance { fraction: 0.2, components: 0.2, areas: [0.4, 0.2, 0.2] };
/// The length of vessels is set, their directions are not; the smallest sections are 5 voxels, where one more is 20 %.
const VESSELS: Tolerance = Tolerance { fraction: 0.2, components: 0.25, areas: [0.5, 0.25, 0.35] };

fn close(what: &str, found: f64, real: f64, tolerance: f64, failures: &mut Vec<String>) {
    if !((found - real).abs() <= tolerance * real) {
        failures.push(format!("{what} is {found:.4}, really {real:.4} ± {:.0} %", 100.0 * tolerance));
    }
}

fn alike(
    what: &str,
    found: &ClassStatistics,
    real: &Class,
    tolerance: &Tolerance,
    failures: &mut Vec<String>,
) {
    close(&format!("{what} fraction"), found.fraction, real.fraction, tolerance.fraction, failures);
    close(&format!("{what} components"), found.components, real.components, tolerance.components, failures);
    for percentile in 0..3 {
        let named = format!("{what} area, percentile {}", [10, 50, 90][percentile]);
        close(&named, found.areas[percentile], real.areas[percentile], tolerance.areas[percentile], failures);
    }
}

#[test]
fn its_statistics_are_those_of_real_tissue() {
    let found = statistics(&generate(&Recipe::default()).unwrap());
    let mut failures = Vec::new();
    assert_eq!(found.len(), REAL.len());
    for (found, real) in found.iter().zip(&REAL) {
        let region = real.region;
        assert_eq!(found.region, region);
        alike(&format!("{region} cell"), &found.cell, &real.cell, &CELLS, &mut failures);
        alike(&format!("{region} vessel"), &found.vessel, &real.vessel, &VESSELS, &mut failures);
        match &real.axon {
            None => assert_eq!(found.axon.fraction, 0.0, "{region} has no axons"),
            Some(axon) => {
                close(
                    &format!("{region} axon fraction"),
                    found.axon.fraction,
                    axon.fraction,
                    0.05,
                    &mut failures,
                );
                // A region shows about two bundles, so their number and sizes hold within a factor of two or so.
                let ratio = found.axon.components / axon.components;
                assert!((0.45..2.2).contains(&ratio), "{region} axon components: {:?}", found.axon);
                let ratio = found.axon.areas[2] / axon.areas[2];
                assert!((0.4..2.5).contains(&ratio), "{region} axon areas: {:?}", found.axon);
            }
        }
        // The extreme percentiles are those of single vessels and clip at black.
        for (percentile, tolerance) in [10.0, 10.0, 6.0, 5.0, 6.0, 6.0, 7.0].into_iter().enumerate() {
            let difference = found.grey[percentile] - real.grey[percentile];
            if !(difference.abs() <= tolerance) {
                failures.push(format!("{region} grey: {:?}, really {:?}", found.grey, real.grey));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn small(seed: u64) -> Recipe {
    Recipe { seed, size: (20, 90, 100), ..Recipe::default() }
}

#[test]
fn the_same_seed_makes_the_same_bytes_on_any_number_of_threads() {
    let on = |threads: usize| -> Phantom {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| generate(&small(7)).unwrap())
    };
    let one = on(1);
    assert_eq!(one, on(3));
    assert_eq!(one, generate(&small(7)).unwrap());
    let other = generate(&small(8)).unwrap();
    assert_ne!(one.grey, other.grey);
    assert_ne!(one.cells, other.cells);
}

#[test]
fn every_cell_is_one_piece_and_the_cells_are_all_of_their_class() {
    for seed in 1..6 {
        let Phantom { classes, cells, .. } = generate(&small(seed)).unwrap();
        assert!(classes.iter().zip(&cells).all(|(class, cell)| (*class == CELL) == (*cell > 0)));
        let numbers: BTreeSet<u16> = cells.iter().copied().filter(|cell| *cell > 0).collect();
        assert!(numbers.len() > 15, "{} cells", numbers.len());
        assert!(numbers.iter().copied().eq(1..=numbers.len() as u16), "numbers leave no gap");
        let mut pieces = 0;
        let mut open = cells.clone();
        for (start, &cell) in cells.indexed_iter().filter(|(_, cell)| **cell > 0) {
            pieces += usize::from(open[start] > 0);
            let mut stack = vec![start];
            while let Some((z, y, x)) = stack.pop() {
                if let Some(voxel) = open.get_mut((z, y, x)).filter(|voxel| **voxel == cell) {
                    *voxel = 0;
                    stack.extend([(z + 1, y, x), (z, y + 1, x), (z, y, x + 1), (z.wrapping_sub(1), y, x)]);
                    stack.extend([(z, y.wrapping_sub(1), x), (z, y, x.wrapping_sub(1))]);
                }
            }
        }
        assert_eq!(pieces, numbers.len(), "seed {seed}");
    }
}

#[test]
fn cells_are_darker_and_axons_brighter_than_what_surrounds_them() {
    let Phantom { grey, classes, .. } = generate(&small(1)).unwrap();
    let mean = |of: u8| {
        let levels: Vec<f64> = grey
            .iter()
            .zip(&classes)
            .filter(|(_, class)| **class == of)
            .map(|(level, _)| f64::from(*level))
            .collect();
        levels.iter().sum::<f64>() / levels.len() as f64
    };
    assert!(mean(0) - mean(CELL) > 25.0, "{} against {}", mean(CELL), mean(0));
    assert!(mean(AXON) - mean(0) > 15.0, "{} against {}", mean(AXON), mean(0));
}

#[test]
fn odd_sizes_work() {
    for size in [(1, 1, 1), (5, 300, 7), (1, 2, 64), (70, 1, 1), (3, 3, 3)] {
        let phantom = generate(&Recipe { size, ..Recipe::default() }).unwrap();
        assert_eq!(phantom.grey.dim(), size);
        assert_eq!(phantom.cells.dim(), size);
        assert!(statistics(&phantom).iter().all(|region| region.cell.fraction.is_finite()));
    }
}

#[test]
fn a_recipe_that_cannot_be_made_is_refused_with_its_reason() {
    let refusal = |recipe: Recipe| generate(&recipe).unwrap_err().to_string();
    for size in [(0, 192, 192), (64, 192, 0), (usize::MAX, 2, 2), (4096, 4096, 4096)] {
        assert!(refusal(Recipe { size, ..Recipe::default() }).contains("at least 1"));
    }
    assert!(refusal(Recipe { noise: f32::NAN, ..small(1) }).contains("noise"));
    assert!(refusal(Recipe { correlation: 0.0, ..small(1) }).contains("correlation"));
    assert!(refusal(Recipe { contrast_spread: -0.1, ..small(1) }).contains("contrast spread"));
    assert!(refusal(Recipe { rings: f32::INFINITY, ..small(1) }).contains("rings"));
}
