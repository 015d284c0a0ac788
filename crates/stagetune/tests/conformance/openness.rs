//! Several trials at once.

use super::contestants::{all, study};
use super::{bowl, spaces};
use stagetune::space::Point;

#[test]
fn open_points_are_never_proposed_again() {
    let space = spaces::mixed();
    for name in all() {
        let mut study = study(name, &space, 5);
        let mut open: Vec<stagetune::trial::Proposed> = Vec::new();
        for round in 0..40 {
            let trial = study.ask().unwrap();
            assert!(
                open.iter().all(|other| other.point() != trial.point()),
                "{name} repeats {}",
                trial.point()
            );
            open.push(trial);
            // Between one and six trials are open, and the oldest is not always the first to end.
            if open.len() == 6 {
                for _ in 0..1 + round % 5 {
                    let trial = open.remove(open.len() / 2);
                    let value = bowl(&space, trial.point());
                    study.tell(trial.observe(value).unwrap()).unwrap();
                }
            }
        }
    }
}

#[test]
fn a_finite_space_is_asked_to_its_last_point_and_no_further() {
    use stagetune::space::{Cost, Module, Param, Space};
    let module =
        |name: &str, params: Vec<Param>| Module::new(name, params).unwrap().cost(Cost::Given(1.0)).unwrap();
    let space = Space::new([
        module("first", vec![Param::choice("a", ["x", "y", "z"]).unwrap()]),
        module("second", vec![Param::bool("b").unwrap(), Param::int("c", 1, 4).unwrap()]),
    ])
    .unwrap()
    .forbid("a == \"x\" and b")
    .unwrap();
    for name in all() {
        for told in [0, 8] {
            let mut study = study(name, &space, 6);
            for _ in 0..told {
                let trial = study.ask().unwrap();
                let value = bowl(&space, trial.point());
                study.tell(trial.observe(value).unwrap()).unwrap();
            }
            let mut seen: Vec<Point> = Vec::new();
            // 3 · 2 · 4 points less the 4 that are forbidden.
            for _ in 0..20 {
                let trial = study.ask().unwrap_or_else(|error| panic!("{name}: {error}"));
                assert!(!seen.contains(trial.point()), "{name}");
                seen.push(trial.point().clone());
            }
            let refused = study.ask().unwrap_err().to_string();
            assert!(refused.contains("being tried"), "{name}: {refused}");
        }
    }
}
