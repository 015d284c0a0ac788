//! The maximiser keeps to its region, finds what brute force finds, and depends on its seed alone.

#![allow(clippy::unwrap_used)] // Helpers of tests may fail loudly, too.

use proptest::prelude::*;
use stagetune::acquisition::{LogEi, MaximiseError, Maximiser, Objective, Region, Surface};
use stagetune::numeric::sobol::Sobol;
use stagetune::space::{Batch, Module, Param, Space};
use stagetune::surrogate::{Family, Fit, GaussianProcess, SurrogateError};

/// −Σ (x − centre)², whose maximum is known in any box.
struct Bowl(Vec<f64>);

impl Objective for Bowl {
    fn values(&self, at: &Batch) -> Result<Vec<f64>, SurrogateError> {
        Ok(at.rows().map(|x| -x.iter().zip(&self.0).map(|(x, c)| (x - c).powi(2)).sum::<f64>()).collect())
    }

    fn values_and_gradients(&self, at: &Batch) -> Result<(Vec<f64>, Batch), SurrogateError> {
        let rows: Vec<Vec<f64>> =
            at.rows().map(|x| x.iter().zip(&self.0).map(|(x, c)| -2.0 * (x - c)).collect()).collect();
        Ok((self.values(at)?, Batch::from_slices(at.dim(), &rows).unwrap()))
    }
}

/// A space with a parameter of every kind, two forbidden regions among them.
fn mixed_space() -> Space {
    let first = Module::new(
        "first",
        [
            Param::float("strength", 1.0, 15.0).unwrap(),
            Param::float("rate", 1e-5, 1e-1).unwrap().log().unwrap(),
            Param::int("batch", 2, 14).unwrap().step(2).unwrap(),
        ],
    )
    .unwrap()
    .forbid("rate > 0.01 and batch < 6")
    .unwrap();
    let second = Module::new(
        "second",
        [
            Param::choice("norm", ["batch", "group", "layer", "none"]).unwrap(),
            Param::bool("augment").unwrap(),
            Param::int("width", 1, 4000).unwrap().log().unwrap(),
        ],
    )
    .unwrap();
    Space::new([first, second]).unwrap().forbid("norm == 'group' and strength > 8").unwrap()
}

fn fitted(n: usize, dim: usize, seed: u64) -> GaussianProcess {
    let mut x = Batch::zeros(n, dim);
    Sobol::new(dim, seed).fill(&mut x).unwrap();
    let wave = |i: usize, v: f64| ((5.0 + i as f64 + (seed % 7) as f64) * v + seed as f64).sin();
    let y: Vec<f64> = x.rows().map(|x| x.iter().enumerate().map(|(i, &v)| wave(i, v)).sum::<f64>()).collect();
    Fit::with_priors(Family::Matern52, dim).run(&x, &y).unwrap().gp
}

fn log_ei(gp: &GaussianProcess) -> Surface<'_, LogEi> {
    Surface::new(gp, LogEi::new(gp.y().iter().copied().fold(f64::INFINITY, f64::min)).unwrap())
}

#[test]
fn in_a_box_with_frozen_coordinates_the_nearest_point_to_the_summit_is_found() {
    let region = Region::cube(4).within(&[0.0, 0.5, 0.0, 0.2], &[1.0, 0.75, 1.0, 0.3]).unwrap();
    let region = region.freeze(2, &[0.1 + 0.2]).unwrap();
    let best =
        Maximiser::default().maximise(&Bowl(vec![0.4, 0.9, 0.9, 0.21]), &region, &Batch::new(4)).unwrap();
    assert_eq!((best.x[1], best.x[2]), (0.75, 0.1 + 0.2));
    assert!((best.x[0] - 0.4).abs() < 1e-4 && (best.x[3] - 0.21).abs() < 1e-4, "{best:?}");
}

#[test]
fn ints_and_choices_end_on_the_best_of_their_values() {
    let space = mixed_space();
    // The summit lies near strength 9, batch 8, norm "layer", augment on, a width far from both ends.
    let mut summit = vec![0.6, 0.3, 0.5, 0.0, 0.0, 1.0, 0.0, 0.75];
    let at = space.grid_code(8, 1234).unwrap();
    summit.push(at);
    let best = Maximiser::default().maximise(&Bowl(summit), &Region::of(&space), &Batch::new(9)).unwrap();
    let point = space.decode(&best.x).unwrap();
    assert_eq!(point.get("norm").unwrap().as_choice(), Some("layer"));
    assert_eq!(point.get("batch").unwrap().as_int(), Some(8));
    assert_eq!(point.get("augment").unwrap().as_bool(), Some(true));
    assert_eq!(point.get("width").unwrap().as_int(), Some(1235));
}

#[test]
fn nothing_allowed_and_odd_input_are_typed_errors() {
    let space = mixed_space();
    let nowhere = Region::of(&space).freeze(0, &[0.9]).unwrap().freeze(3, &[0.0, 1.0, 0.0, 0.0]).unwrap();
    let bowl = Bowl(vec![0.5; 9]);
    let found = Maximiser::default().maximise(&bowl, &nowhere, &Batch::new(9));
    assert!(matches!(found, Err(MaximiseError::Forbidden(_))), "{found:?}");
    let between =
        Region::of(&space).within(&[0.0; 9], &[1.0, 1.0, 0.01, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]).unwrap();
    let found = Maximiser::default().maximise(&bowl, &between, &Batch::new(9));
    assert_eq!(found, Err(MaximiseError::NothingAllowed));
    let found = Maximiser::default().maximise(&bowl, &Region::of(&space), &Batch::from_rows(&[[0.5]]));
    assert_eq!(found, Err(MaximiseError::WrongDimension { expected: 9, found: 1 }));
    let found = Maximiser::default().maximise(&bowl, &Region::cube(0), &Batch::new(0));
    assert_eq!(found, Err(MaximiseError::NoCoordinates));
    // Frozen where no value has its code: between two ints, at no choice, at two.
    for (first, values) in [(2, &[0.333][..]), (3, &[0.0; 4]), (3, &[1.0, 1.0, 0.0, 0.0]), (7, &[0.5])] {
        let off = Region::of(&space).freeze(first, values).unwrap();
        let found = Maximiser::default().maximise(&bowl, &off, &Batch::new(9));
        assert_eq!(found, Err(MaximiseError::NothingAllowed), "{values:?} at {first}");
    }
    assert!(Region::cube(2).within(&[0.5, 0.0], &[0.4, 1.0]).is_err());
    assert!(Region::cube(2).within(&[f64::NAN, 0.0], &[0.4, 1.0]).is_err());
    assert!(Region::cube(2).freeze(1, &[0.5, 0.5]).is_err());
}

#[test]
fn one_and_two_threads_give_the_same_point_to_the_bit() {
    let space = mixed_space();
    let gp = fitted(60, 9, 3);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let hints = Batch::of(9, gp.x().row(0));
        pool.install(|| Maximiser::default().maximise(&log_ei(&gp), &Region::of(&space), &hints).unwrap())
    };
    assert_eq!(run(1), run(2));
}

#[test]
fn brute_force_finds_next_to_nothing_better() {
    // The small version of `cargo xtask evidence maximiser`, where brute force is independent of the maximiser and 200,000 points wide.
    let problems = 12;
    let close = (0..problems)
        .filter(|&seed| {
            let gp = fitted(60, 6, seed);
            let surface = log_ei(&gp);
            let incumbent = (0..60).min_by(|&a, &b| gp.y()[a].total_cmp(&gp.y()[b])).unwrap();
            let hints = Batch::of(6, gp.x().row(incumbent));
            let ours = Maximiser { seed, ..Maximiser::default() }
                .maximise(&surface, &Region::cube(6), &hints)
                .unwrap();
            let brute =
                Maximiser { raw: 8_192, near_hints: 0, starts: 64, max_evaluations: 400, seed: seed + 1 };
            let brute = brute.maximise(&surface, &Region::cube(6), &Batch::new(6)).unwrap();
            ours.value >= brute.value + 0.99_f64.ln()
        })
        .count();
    assert!(close + 1 >= problems as usize, "only {close} of {problems} problems within 1% of brute force");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn no_seed_leaves_the_region(
        seed in any::<u64>(),
        corners in prop::collection::vec((0.0f64..0.5, 0.5f64..=1.0), 9),
        summit in prop::collection::vec(-0.5f64..1.5, 9),
        frozen in 0usize..9,
        hint in prop::collection::vec(0.0f64..1.0, 9),
    ) {
        let space = mixed_space();
        let (lower, upper): (Vec<f64>, Vec<f64>) = corners.into_iter().unzip();
        // Codes of grids and choices need whole sides.
        let whole = |i: usize| i >= 2;
        let lower: Vec<f64> = lower.iter().enumerate().map(|(i, &v)| if whole(i) { 0.0 } else { v }).collect();
        let upper: Vec<f64> = upper.iter().enumerate().map(|(i, &v)| if whole(i) { 1.0 } else { v }).collect();
        let mut kept = hint.clone();
        space.snap(&mut kept).unwrap();
        prop_assume!(space.allows_coded(&kept));
        let region = Region::of(&space).freeze(0, &kept[..frozen.min(3)]).unwrap().within(&lower, &upper).unwrap();
        let maximiser = Maximiser { raw: 64, near_hints: 16, starts: 4, max_evaluations: 20, seed };
        let found = maximiser.maximise(&Bowl(summit), &region, &Batch::of(9, &hint)).unwrap();
        prop_assert!(region.contains(&found.x));
        prop_assert_eq!(&found.x[..frozen.min(3)], &kept[..frozen.min(3)]);
        let mut snapped = found.x.clone();
        space.snap(&mut snapped).unwrap();
        prop_assert_eq!(&snapped, &found.x, "ints and choices are at their codes");
        prop_assert!(space.allows(&space.decode(&found.x).unwrap()));
    }
}
