//! Boxes, forbidden regions, and answers of every kind.

use super::contestants::{all, study};
use super::{bowl, drive, spaces};
use stagetune::space::CostModel;

#[test]
fn points_stay_in_the_box_and_out_of_forbidden_regions() {
    let space = spaces::mixed();
    for name in all() {
        for seed in 0..3 {
            let points = drive(&mut study(name, &space, seed), 40, |_, point| Some(bowl(&space, point)));
            assert!(points.iter().all(|point| space.allows(point)), "{name}");
        }
    }
}

#[test]
fn spaces_at_the_edge_are_tuned_like_others() {
    for (what, space) in spaces::edges() {
        for name in all() {
            let points = drive(&mut study(name, &space, 1), 30, |_, point| Some(bowl(&space, point)));
            assert!(points.iter().all(|point| space.allows(point)), "{name}: {what}");
        }
    }
}

#[test]
fn failures_are_survived_also_if_nothing_else_ever_happens() {
    let space = spaces::plain();
    for name in all() {
        drive(&mut study(name, &space, 2), 40, |i, point| (i % 3 != 0).then(|| bowl(&space, point)));
        drive(&mut study(name, &space, 3), 30, |i, point| (i > 22).then(|| bowl(&space, point)));
        drive(&mut study(name, &space, 4), 25, |_, _| None);
    }
}

#[test]
fn failures_are_learnt_from() {
    // Half of the space fails. Chance fails half the time; who learns, less.
    let space = spaces::plain();
    for name in all().filter(|name| *name != "random") {
        let mut failures = 0;
        for seed in 0..6 {
            let mut failed = |i: usize, point: &stagetune::space::Point| {
                let fails = point.get("a").unwrap().as_float().unwrap() > 0.5;
                failures += usize::from(fails && i >= 20);
                (!fails).then(|| bowl(&space, point))
            };
            drive(&mut study(name, &space, seed), 60, &mut failed);
        }
        // 240 trials; 120 ± 7.7 by chance.
        assert!(failures < 97, "{name} failed {failures} times of 240");
    }
}

#[test]
fn constant_tiny_huge_and_alternating_values_are_survived() {
    let space = spaces::plain();
    for name in all() {
        drive(&mut study(name, &space, 1), 30, |_, _| Some(0.7));
        drive(&mut study(name, &space, 1), 30, |_, point| Some(1e-12 * bowl(&space, point)));
        drive(&mut study(name, &space, 1), 30, |_, point| Some(1e12 * bowl(&space, point) - 1e15));
        drive(&mut study(name, &space, 1), 30, |i, _| Some(if i % 2 == 0 { -1e90 } else { 1e90 }));
    }
}

#[test]
fn what_a_proposal_expects_to_cost_is_what_it_is_charged_under_both_cost_models() {
    let space = spaces::mixed();
    for model in [CostModel::Previous, CostModel::Cache] {
        for name in all() {
            let mut study = study(name, &space, 7).cost_model(model).unwrap();
            drive(&mut study, 36, |_, point| Some(bowl(&space, point)));
            for charge in study.account().charges() {
                let why = study.why(charge.trial).unwrap();
                assert_eq!(why.expected_cost, charge.cost, "{name}, {model:?}: {why}");
                assert_eq!(why.first_changed, charge.movement.first_changed, "{name}, {model:?}");
            }
        }
    }
}
