//! LaMBO's rules, one by one: abandon, refine, refresh, growth, depths, scores, theory mode, other acquisition functions.

// Clippy lets tests unwrap and panic but not the helpers beside them.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;

use stagetune::acquisition::{Acquisition, AcquisitionError, Beta, LogEi};
use stagetune::space::{Cost, Module, Param, Point, Space};
use stagetune::strategy::lambo::{
    Abandon, Alpha, Depths, FirstPartition, LossScale, MakeAcquisition, Situation, Theory,
};
use stagetune::strategy::{ArmChoice, Design, Lambo, LamboOptions, Source};
use stagetune::study::Study;

fn space(costs: &[f64]) -> Space {
    let module = |m: usize| {
        let params = ["a", "b"].map(|name| Param::float(&format!("{name}{m}"), 0.0, 1.0).unwrap());
        Module::new(&format!("m{m}"), params).unwrap().cost(Cost::Given(costs[m])).unwrap()
    };
    Space::new((0..costs.len()).map(module)).unwrap()
}

/// Only the first half of the first variable is any good.
fn sided(point: &Point) -> f64 {
    let at = |name: &str| point.get(name).unwrap().as_float().unwrap();
    (at("a0") - 0.2).powi(2) + 0.3 * (at("b0") - 0.4).powi(2) + 0.1 * (at("a1") - 0.5).powi(2)
}

fn arms(space: &Space, options: LamboOptions, trials: usize, seed: u64) -> Vec<ArmChoice> {
    let mut study = Study::new(space.clone(), Box::new(Lambo::new(space, options, seed).unwrap()));
    let mut arms = Vec::new();
    for _ in 0..trials {
        let trial = study.ask().unwrap();
        arms.extend(study.why(trial.id()).unwrap().arm.clone());
        let value = sided(trial.point());
        study.tell(trial.observe(value).unwrap()).unwrap();
    }
    arms
}

fn paper() -> LamboOptions {
    LamboOptions { design: Design::Uniform(6), ..LamboOptions::paper() }
}

#[test]
fn without_the_rules_the_regions_stay_and_probabilities_drift() {
    let space = space(&[10.0, 1.0]);
    let options = LamboOptions { abandon: None, refresh_every: None, growth: None, ..paper() };
    let arms = arms(&space, options, 60, 1);
    assert!(arms.iter().all(|arm| arm.partition == 0 && arm.depths == [1]));
    assert!(arms.last().unwrap().probabilities[0] != 0.5);
}

#[test]
fn refresh_makes_all_arms_equally_likely_again() {
    let space = space(&[10.0, 3.0, 1.0]);
    let options = LamboOptions { abandon: None, growth: None, refresh_every: Some(7), ..paper() };
    let arms = arms(&space, options, 40, 1);
    for (i, arm) in arms.iter().enumerate() {
        let uniform = arm.probabilities.iter().all(|p| (p - 0.25).abs() < 1e-12);
        if i % 7 == 0 {
            assert!(uniform, "iteration {}", i + 1);
        }
    }
    assert!(arms[6].probabilities.iter().any(|p| (p - 0.25).abs() > 1e-3), "it never moved");
}

#[test]
fn depths_follow_costs_as_the_paper_has_it() {
    let space = space(&[500.0, 20.0, 1e9, 1.0]);
    let options = LamboOptions { depths: Depths::FromCosts, growth: None, ..paper() };
    // ln(0.1 · 500) = 3.9, ln(0.1 · 20) = 0.7, ln(1e8) = 18.4.
    assert_eq!(arms(&space, options, 8, 1)[0].depths, [4, 1, 5]);
}

#[test]
fn a_fine_partition_has_more_arms_up_to_the_limit() {
    let space = space(&[10.0, 1.0]);
    let with = |partition, max_arms| {
        arms(&space, LamboOptions { partition, max_arms, ..paper() }, 8, 1)[0].probabilities.len()
    };
    assert_eq!(with(FirstPartition::Bisect, 64), 2);
    assert_eq!(with(FirstPartition::Diameter(0.75), 64), 4);
    assert_eq!(with(FirstPartition::Diameter(0.4), 64), 16);
    assert_eq!(with(FirstPartition::Diameter(0.01), 10), 8);
}

#[test]
fn a_bad_score_steers_the_bandit_away_and_a_score_everywhere_does_not() {
    let module = |name: &str, cost| {
        Module::new(name, [Param::float(&format!("{name}a"), 0.0, 1.0).unwrap()])
            .unwrap()
            .cost(Cost::Given(cost))
            .unwrap()
    };
    let first = module("f", 10.0).cut("fa", [0.5]).unwrap();
    let space = Space::new([first, module("g", 1.0)]).unwrap();
    let share_low = |scores: Vec<(String, f64)>| {
        let mut low = 0;
        for seed in 0..8 {
            let options = LamboOptions { scores: scores.clone(), abandon: None, growth: None, ..paper() };
            let mut study = Study::new(space.clone(), Box::new(Lambo::new(&space, options, seed).unwrap()));
            for i in 0..46 {
                let trial = study.ask().unwrap();
                low += usize::from(i >= 6 && trial.point().get("fa").unwrap().as_float().unwrap() < 0.5);
                // Symmetric: both halves are equally good.
                let value = (trial.point().get("fa").unwrap().as_float().unwrap() - 0.5).abs();
                study.tell(trial.observe(value).unwrap()).unwrap();
            }
        }
        low as f64 / 320.0
    };
    let (never, always) =
        (share_low(vec![("fa < 0.5".into(), 5.0)]), share_low(vec![("fa < 0.5".into(), -5.0)]));
    assert!(never < 0.35 && always > 0.65, "{never} {always}");
    assert!(matches!(
        Lambo::new(&space, LamboOptions { scores: vec![("nonsense < 1".into(), 1.0)], ..paper() }, 1),
        Err(stagetune::strategy::StrategyError::Expr(_))
    ));
}

#[test]
fn theory_mode_sets_depths_and_partitions_from_the_horizon_and_leaves_them() {
    let space = space(&[40.0, 10.0, 1.0]);
    let theory = Some(Theory { horizon: 1000, lipschitz: Some(4.0) });
    let arms = arms(&space, LamboOptions { theory, refresh_every: Some(2), max_arms: 16, ..paper() }, 40, 1);
    // (2/4) · 0.1 · 6.9 = 0.35: halves until the diameter is below; four regions each is what 16 arms allow.
    assert_eq!(arms[0].regions_per_module, [4, 4]);
    assert_eq!(arms[0].depths[0], 3);
    assert!(arms.iter().all(|arm| arm.partition == 0 && arm.depths == arms[0].depths));
    // No refresh: the probabilities are never uniform again.
    assert!(arms[10..].iter().all(|arm| arm.probabilities.iter().any(|p| (p - 1.0 / 16.0).abs() > 1e-9)));
}

#[test]
fn losses_reach_the_bandit_as_asked() {
    let space = space(&[10.0, 1.0]);
    let losses = |scale| {
        let options = LamboOptions { losses: scale, alpha: Alpha::Lcb(Beta::Sqrt), ..paper() };
        arms(&space, options, 30, 3).into_iter().map(|arm| arm.losses).collect::<Vec<_>>()
    };
    assert!(losses(LossScale::Rescale).iter().all(|l| l.contains(&0.0) && l.contains(&1.0)));
    assert!(
        losses(LossScale::Clip { low: 0.0, high: 1.0 }).iter().flatten().all(|l| (0.0..=1.0).contains(l))
    );
    assert!(
        losses(LossScale::Raw).iter().flatten().any(|l| *l < 0.0),
        "a confidence bound goes below the minimum"
    );
}

#[test]
fn any_acquisition_function_can_take_the_place_of_the_confidence_bound() {
    struct Greedy;
    impl MakeAcquisition for Greedy {
        fn make(&self, situation: &Situation<'_>) -> Result<Box<dyn Acquisition>, AcquisitionError> {
            assert!(situation.t >= 1 && situation.params == 4 && situation.gp.len() >= 6);
            Ok(Box::new(LogEi::new(situation.lowest)?))
        }
    }
    let space = space(&[10.0, 1.0]);
    let custom = arms(&space, LamboOptions { alpha: Alpha::Custom(Arc::new(Greedy)), ..paper() }, 20, 3);
    let named = arms(&space, LamboOptions { alpha: Alpha::LogEi, ..paper() }, 20, 3);
    assert_eq!(custom, named);
}

#[test]
fn the_start_is_what_was_asked_for_and_the_same_for_every_strategy() {
    let space = space(&[10.0, 3.0, 1.0]);
    let points = |strategy: Box<dyn stagetune::strategy::Strategy>| -> Vec<Point> {
        let mut study = Study::new(space.clone(), strategy);
        (0..12)
            .map(|_| {
                let trial = study.ask().unwrap();
                assert_eq!(study.why(trial.id()).unwrap().source, Source::Design);
                let point = trial.point().clone();
                study.tell(trial.observe(sided(&point)).unwrap()).unwrap();
                point
            })
            .collect()
    };
    let lambo = |design| {
        points(Box::new(Lambo::new(&space, LamboOptions { design, ..LamboOptions::paper() }, 9).unwrap()))
    };
    assert_eq!(
        lambo(Design::Uniform(15)),
        points(stagetune::strategy::by_name("gp-ucb", &space, 9).unwrap())
    );
    let nested = lambo(Design::Nested { points: 12, every: 2 });
    let own = |point: &Point, m: usize| point.values()[space.module_params(m)].to_vec();
    for k in 1..12 {
        assert_eq!(own(&nested[k], 0) == own(&nested[k - 1], 0), k % 4 != 0, "point {k}");
        assert_eq!(own(&nested[k], 1) == own(&nested[k - 1], 1), k % 2 != 0, "point {k}");
        assert_ne!(own(&nested[k], 2), own(&nested[k - 1], 2));
    }
}

#[test]
fn options_that_make_no_sense_are_refused_by_name() {
    let space = space(&[10.0, 1.0]);
    let refused = |options: LamboOptions| Lambo::new(&space, options, 1).unwrap_err().to_string();
    assert!(refused(LamboOptions { depths: Depths::All(65), ..paper() }).contains("levels"));
    let clip = LossScale::Clip { low: 0.0, high: 1.0 };
    assert!(
        refused(LamboOptions { losses: clip, alpha: Alpha::LogEi, ..paper() }).contains("no range to clip")
    );
    assert!(
        refused(LamboOptions { losses: LossScale::Clip { low: 1.0, high: 0.0 }, ..paper() })
            .contains("`losses`")
    );
    assert!(refused(LamboOptions { eta: 0.0, ..paper() }).contains("`eta`"));
    assert!(refused(LamboOptions { lambda: f64::NAN, ..paper() }).contains("`lambda`"));
    assert!(refused(LamboOptions { refresh_every: Some(0), ..paper() }).contains("`refresh_every`"));
    assert!(refused(LamboOptions { depths: Depths::Each(vec![1, 2]), ..paper() }).contains("`depths`"));
    assert!(refused(LamboOptions { design: Design::Uniform(0), ..paper() }).contains("`design`"));
    assert!(
        refused(LamboOptions { abandon: Some(Abandon { below: 1.5, after: 3 }), ..paper() })
            .contains("`abandon.below`")
    );
    assert!(
        refused(LamboOptions { theory: Some(Theory { horizon: 1, lipschitz: None }), ..paper() })
            .contains("`theory`")
    );
    assert!(
        refused(LamboOptions { partition: FirstPartition::Diameter(f64::NAN), ..paper() })
            .contains("`partition`")
    );
}
