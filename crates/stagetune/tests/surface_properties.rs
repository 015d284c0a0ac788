//! Gradients of every acquisition function over the cube meet central differences, for random processes, boxes and points.

#![allow(clippy::unwrap_used)] // Helpers of tests may fail loudly, too.

use proptest::prelude::*;
use stagetune::acquisition::{Acquisition, Ei, Gittins, Lcb, LogEi, Mes, Objective, PerCost, Surface};
use stagetune::space::Batch;
use stagetune::surrogate::{Family, GaussianProcess, Hyper};

fn process() -> impl Strategy<Value = GaussianProcess> {
    let family = prop_oneof![
        Just(Family::SquaredExponential),
        Just(Family::Matern32),
        Just(Family::Matern52),
        Just(Family::AdditiveMatern52),
        Just(Family::RoughMatern52),
        Just(Family::AdditiveRoughMatern52)
    ];
    (family, 1usize..5, 2usize..20).prop_flat_map(|(family, dim, n)| {
        (
            prop::collection::vec(-1.2f64..1.0, dim),
            -1.0f64..1.0,
            -6.0f64..-2.0,
            prop::collection::vec(prop::collection::vec(0.0f64..1.0, dim), n),
            prop::collection::vec(-1.5f64..1.5, n),
        )
            .prop_map(move |(lengthscales, signal, noise, rows, y)| {
                let hyper = Hyper {
                    lengthscales: lengthscales.iter().map(|l| l.exp()).collect(),
                    signal_variance: signal.exp(),
                    noise_variance: noise.exp(),
                    mean: 0.1,
                };
                GaussianProcess::new(family, hyper, Batch::from_slices(dim, &rows).unwrap(), y).unwrap()
            })
    })
}

/// Every acquisition function that there is, for values of this process.
fn functions(gp: &GaussianProcess, level: f64) -> Vec<(&'static str, Box<dyn Acquisition>)> {
    let best = gp.y().iter().copied().fold(f64::INFINITY, f64::min);
    vec![
        ("lcb", Box::new(Lcb::new(2.0 * level).unwrap())),
        ("ei", Box::new(Ei::new(best).unwrap())),
        ("log ei", Box::new(LogEi::new(best).unwrap())),
        ("mes", Box::new(Mes::new(vec![best - 0.1, best - level]).unwrap())),
        ("gittins", Box::new(Gittins::new(0.01 + 0.1 * level).unwrap())),
        ("per cost", Box::new(PerCost::cooled(LogEi::new(best).unwrap(), 11.0, level).unwrap())),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn gradients_over_the_cube_meet_central_differences(
        gp in process(),
        level in 0.05f64..1.0,
        corner in prop::collection::vec((0.0f64..0.6, 0.1f64..0.4), 4),
        inside in prop::collection::vec(0.0f64..1.0, 4),
    ) {
        let dim = gp.dim();
        let x: Vec<f64> = (0..dim).map(|d| corner[d].0 + corner[d].1 * inside[d]).collect();
        for (name, function) in functions(&gp, level) {
            let surface = Surface::new(&gp, function);
            let (values, gradients) = surface.values_and_gradients(&Batch::of(dim, &x)).unwrap();
            prop_assert!((values[0] - surface.values(&Batch::of(dim, &x)).unwrap()[0]).abs() <= 1e-9 * values[0].abs().max(1.0));
            for d in 0..dim {
                let h = 1e-5;
                let at = |by: f64| {
                    let mut shifted = x.clone();
                    shifted[d] += by;
                    surface.values(&Batch::of(dim, &shifted)).unwrap()[0]
                };
                // Richardson's combination of two central differences: its own error is far below the 1e-5 asked for.
                let difference = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
                let gradient = gradients.row(0)[d];
                let size = gradient.abs().max(values[0].abs()).max(1e-3);
                prop_assert!((gradient - difference).abs() <= 1e-5 * size, "{name}: {gradient} against {difference}");
            }
        }
    }
}
