//! Tests of the test functions: known values, exact minima, shifts and names.

use super::{FORMULAS, Problem, ProblemError};
use proptest::prelude::*;

const NAMES: [&str; 9] = [
    "hartmann6",
    "hartmann3",
    "ackley8",
    "rastrigin6",
    "griewank6",
    "levy6",
    "rosenbrock4",
    "michalewicz5",
    "styblinski4",
];

fn problem(name: &str) -> Problem {
    name.parse().unwrap()
}

#[test]
fn published_minima_are_met() {
    let published = [-3.32237, -3.86278, 0.0, 0.0, 0.0, 0.0, 0.0, -4.687658, -156.664663];
    for (name, minimum) in NAMES.into_iter().zip(published) {
        assert!((problem(name).minimum() - minimum).abs() < 5e-6, "{name}: {}", problem(name).minimum());
    }
}

#[test]
fn hand_computed_values_are_met() {
    let close = |name: &str, x: &[f64], value: f64| {
        let got = problem(name).evaluate(x).unwrap();
        assert!((got - value).abs() < 1e-12 * value.abs().max(1.0), "{name}: {got} is not {value}");
    };
    // cos 2π = 1 at the integers, so only the funnel and the bowl remain.
    close("ackley2", &[1.0, 1.0], 20.0 - 20.0 * (-0.2f64).exp());
    close("rastrigin3", &[1.0, -2.0, 3.0], 14.0);
    close("rastrigin1", &[0.5], 20.25);
    close("griewank1", &[std::f64::consts::PI], std::f64::consts::PI.powi(2) / 4000.0 + 2.0);
    close("rosenbrock2", &[-1.0, 2.0], 104.0);
    // w = 1.5: sin²(1.5π) = 1, and in one dimension the last term is (1/2)²(1 + sin² 3π) = 1/4.
    close("levy1", &[3.0], 1.25);
    close("michalewicz1", &[std::f64::consts::FRAC_PI_2], -(std::f64::consts::FRAC_PI_4.sin().powi(20)));
}

#[test]
fn a_shift_moves_the_minimiser_off_the_centre_and_keeps_it_inside() {
    for name in NAMES {
        let (plain, shifted) = (problem(name), problem(&format!("{name}@7")));
        let (low, high) = shifted.interval(0);
        assert!(shifted.minimiser().iter().all(|x| (low..=high).contains(x)), "{name}");
        assert!(shifted.minimiser().iter().zip(plain.minimiser()).all(|(a, b)| a != b), "{name}");
        assert_eq!(shifted.minimum(), plain.minimum(), "{name}");
        let there = shifted.evaluate(shifted.minimiser()).unwrap();
        // x* + δ − δ is x* up to one rounding, and f is flat to first order there.
        assert!((there - shifted.minimum()).abs() < 1e-12, "{name}: {there}");
    }
}

#[test]
fn equal_seeds_give_equal_shifts_and_others_differ() {
    assert_eq!(problem("ackley8@7").delta(), problem("ackley8@7").delta());
    assert_ne!(problem("ackley8@7").delta(), problem("ackley8@8").delta());
    assert!(problem("ackley8").delta().iter().all(|&delta| delta == 0.0));
}

#[test]
fn separable_maxima_are_the_known_ones() {
    // Each coordinate of Rastrigin's function peaks near ±4.523, at 40.3533.
    assert!((problem("rastrigin6").maximum() / 6.0 - 40.353_29).abs() < 1e-5);
    assert!(problem("michalewicz5").maximum().abs() < 1e-12);
    assert_eq!(problem("rosenbrock2").maximum(), 100.0 * 105.0 * 105.0 + 81.0);
}

#[test]
fn a_wrong_name_says_what_would_be_right() {
    let complaint = |name: &str| name.parse::<Problem>().unwrap_err().to_string();
    assert!(complaint("ackly8").contains("hartmann, ackley, rastrigin"));
    assert!(complaint("hartmann5").contains("3 or 6"));
    assert!(complaint("rosenbrock1").contains("2 to "));
    for name in
        ["", "8", "ackley", "ackley8@", "ackley8@x", "ackley8@+7", "ackley-8", "ackley8 ", "ackley8.5"]
    {
        assert!(
            complaint(name).contains("ackley8@7") || complaint(name).contains("no test function"),
            "{name}"
        );
    }
    assert!(matches!("ackley0".parse::<Problem>(), Err(ProblemError::UnknownDimension { dim: 0, .. })));
    assert!("ackley99999999999999999999".parse::<Problem>().is_err());
}

#[test]
fn a_draw_is_its_seed_and_needs_one() {
    let (a, b, c) = (problem("gp2@1"), problem("gp2@1"), problem("gp2@2"));
    assert_eq!((a.minimum(), a.minimiser()), (b.minimum(), b.minimiser()));
    assert_ne!(a.minimum(), c.minimum());
    assert!(a.delta().iter().all(|&delta| delta == 0.0));
    assert_eq!(a.normalise(a.evaluate(a.minimiser()).unwrap()), 0.0);
    assert!("gp2".parse::<Problem>().unwrap_err().to_string().contains("gp2@7"));
    assert!("gp99@1".parse::<Problem>().unwrap_err().to_string().contains("1 to 10"));
}

#[test]
fn a_point_of_the_wrong_length_is_refused() {
    let error = problem("levy6").evaluate(&[0.0; 5]).unwrap_err();
    assert_eq!(error.to_string(), "levy6 takes 6 coordinates, not 5");
}

proptest! {
    #[test]
    fn no_point_leaves_the_stated_range(
        which in 0..FORMULAS.len(), seed in proptest::option::of(0u64..50), u in prop::collection::vec(0.0..=1.0, 6),
    ) {
        let base = format!("{}6", FORMULAS[which].name());
        let problem = problem(&seed.map_or(base.clone(), |seed| format!("{base}@{seed}")));
        let value = problem.normalise(problem.evaluate(&problem.from_unit(&u)).unwrap());
        prop_assert!((0.0..=1.0).contains(&value), "{value}");
    }

    #[test]
    fn no_neighbour_of_the_minimiser_is_lower(
        which in 0..FORMULAS.len(), seed in 0u64..50, step in prop::collection::vec(-1.0..=1.0, 6), scale in -6.0..0.0,
    ) {
        let problem = problem(&format!("{}6@{seed}", FORMULAS[which].name()));
        let (low, high) = problem.interval(0);
        let moved = |(x, s): (&f64, &f64)| x + s * (high - low) * 10f64.powf(scale);
        let x: Vec<f64> = problem.minimiser().iter().zip(&step).map(moved).collect();
        prop_assert!(problem.evaluate(&x).unwrap() >= problem.minimum() - 1e-12);
    }
}
