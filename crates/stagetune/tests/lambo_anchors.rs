//! LaMBO's own options beside the paper's: losses at the price of what has to run, and arms that are solved beside every prefix at hand.

// Clippy lets tests unwrap and panic but not the helpers beside them.
#![allow(clippy::unwrap_used, clippy::panic)]

use proptest::prelude::*;
use stagetune::space::{Cost, CostModel, Module, Param, Point, Space};
use stagetune::strategy::lambo::{Alpha, Anchors, LossScale};
use stagetune::strategy::{Design, Lambo, LamboOptions, Proposal, Strategy as _};
use stagetune::study::{Event, Study};

const GITTINS: Alpha = Alpha::GittinsPerCost { lambda: 0.1, decay: 0.5 };

/// The price that a proposal remembers, if it fell.
fn price(proposal: &Proposal) -> Option<f64> {
    proposal.memory.as_ref()?.read::<serde_json::Value>().unwrap()["lambda"].as_f64()
}

fn space() -> Space {
    let module = |name: &str, cost: f64, params: Vec<Param>| {
        Module::new(name, params).unwrap().cost(Cost::Given(cost)).unwrap()
    };
    let float = |name: &str| Param::float(name, 0.0, 1.0).unwrap();
    Space::new([
        module("first", 40.0, vec![float("a"), Param::int("n", 1, 5).unwrap()]),
        module("second", 10.0, vec![float("b")]),
        module("third", 1.0, vec![float("c")]),
    ])
    .unwrap()
    .forbid("a > 0.9 and b < 0.2")
    .unwrap()
}

fn options(alpha: Alpha, anchors: Anchors) -> LamboOptions {
    LamboOptions { design: Design::Nested { points: 6, every: 3 }, alpha, anchors, ..LamboOptions::default() }
}

fn wavy(space: &Space, point: &Point) -> f64 {
    let u = space.encode(point).unwrap();
    u.iter().enumerate().map(|(i, u)| (5.0 * u + i as f64).sin()).sum()
}

fn study(options: LamboOptions, cost_model: CostModel, seed: u64) -> Study {
    let space = space();
    let lambo = Lambo::new(&space, options, seed).unwrap();
    Study::new(space, Box::new(lambo)).cost_model(cost_model).unwrap()
}

/// Asks and tells; numbers in `broken` fail.
fn run(study: &mut Study, trials: usize, broken: &[usize]) -> Vec<Point> {
    let space = study.space().clone();
    (0..trials)
        .map(|number| {
            let trial = study.ask().unwrap();
            let point = trial.point().clone();
            match broken.contains(&number) {
                true => study.tell(trial.fail("broke")).unwrap(),
                false => study.tell(trial.observe(wavy(&space, &point)).unwrap()).unwrap(),
            }
            point
        })
        .collect()
}

#[test]
fn prices_that_make_no_sense_are_refused_by_name() {
    let refused =
        |alpha: Alpha| Lambo::new(&space(), options(alpha, Anchors::Prefixes), 1).unwrap_err().to_string();
    for lambda in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = refused(Alpha::GittinsPerCost { lambda, decay: 0.5 });
        assert!(error.contains("`alpha`") && error.contains("lambda"), "{error}");
    }
    for decay in [0.0, -0.5, 1.5, f64::NAN] {
        let error = refused(Alpha::GittinsPerCost { lambda: 0.1, decay });
        assert!(error.contains("`alpha`") && error.contains("decay"), "{error}");
    }
    let clip = LossScale::Clip { low: 0.0, high: 1.0 };
    let clipped = LamboOptions { losses: clip, ..options(Alpha::EiPerCost, Anchors::Prefixes) };
    assert!(Lambo::new(&space(), clipped, 1).unwrap_err().to_string().contains("no range to clip"));
}

#[test]
fn what_is_said_to_be_kept_is_kept_bit_for_bit() {
    let space = space();
    for alpha in [Alpha::EiPerCost, GITTINS] {
        let mut study = study(options(alpha.clone(), Anchors::Prefixes), CostModel::Previous, 3);
        let points = run(&mut study, 50, &[]);
        let (mut kept, mut moved) = (0, 0);
        let ids: Vec<_> = study.trials().map(|trial| trial.id()).collect();
        for (pair, id) in points.windows(2).zip(&ids[1..]) {
            let Some(arm) = &study.why(*id).unwrap().arm else { continue };
            let own = 0..space.module_params(arm.first_free).start;
            assert_eq!(pair[0].values()[own.clone()], pair[1].values()[own]);
            *(if arm.first_free > 0 { &mut kept } else { &mut moved }) += 1;
        }
        assert!(kept > 5 && moved > 2, "{alpha:?}: {kept} kept, {moved} moved");
    }
}

#[test]
fn with_a_cache_arms_go_back_to_prefixes_of_good_points() {
    let space = space();
    let mut back = 0;
    for seed in 0..4 {
        let mut study = study(options(Alpha::EiPerCost, Anchors::Prefixes), CostModel::Cache, seed);
        let points = run(&mut study, 50, &[]);
        let first = |point: &Point| point.values()[space.module_params(0)].to_vec();
        for i in 7..points.len() {
            let again = points[..i - 1].iter().any(|point| first(point) == first(&points[i]));
            back += usize::from(again && first(&points[i]) != first(&points[i - 1]));
        }
    }
    assert!(back > 0, "nobody ever went back");
}

#[test]
fn without_prices_every_prefix_means_the_previous_point() {
    let points = |anchors| run(&mut study(options(Alpha::LogEi, anchors), CostModel::Cache, 5), 20, &[9]);
    assert_eq!(points(Anchors::Prefixes), points(Anchors::Previous));
}

#[test]
fn where_nobody_knows_costs_early_modules_are_kept_as_the_regions_allow() {
    let module = |name: &str| Module::new(name, [Param::float(name, 0.0, 1.0).unwrap()]).unwrap();
    let space = Space::new([module("a"), module("b"), module("c")]).unwrap();
    let points = |anchors| {
        let lambo = Lambo::new(&space, options(GITTINS, anchors), 6).unwrap();
        run(&mut Study::new(space.clone(), Box::new(lambo)), 24, &[])
    };
    assert_eq!(points(Anchors::Prefixes), points(Anchors::Previous));
}

#[test]
fn the_price_falls_and_a_price_that_is_none_is_foreign() {
    let mut live = study(options(GITTINS, Anchors::Prefixes), CostModel::Previous, 2);
    run(&mut live, 40, &[]);
    let prices: Vec<f64> = live.trials().filter_map(|trial| price(live.proposal(trial.id())?)).collect();
    assert!(prices.first().is_some_and(|price| *price == 0.05), "{prices:?}");
    assert!(prices.windows(2).all(|pair| pair[1] < pair[0]), "{prices:?}");

    let text: Vec<String> = live.events().iter().map(|event| serde_json::to_string(event).unwrap()).collect();
    let broken: Vec<Event> = text
        .iter()
        .map(|line| serde_json::from_str(&line.replace("\"lambda\":0.05", "\"lambda\":-1.0")).unwrap())
        .collect();
    let error =
        study(options(GITTINS, Anchors::Prefixes), CostModel::Previous, 2).replay(broken).unwrap_err();
    assert!(error.to_string().contains("lambda"), "{error}");
}

#[test]
fn losses_as_gaps_are_between_0_and_1_and_0_for_the_best_arm() {
    let gaps = LamboOptions { losses: LossScale::Gap, ..options(GITTINS, Anchors::Prefixes) };
    let mut study = study(gaps, CostModel::Previous, 4);
    run(&mut study, 25, &[]);
    let mut between = 0;
    for trial in study.trials() {
        let Some(arm) = &study.why(trial.id()).unwrap().arm else { continue };
        assert!(arm.losses.iter().all(|loss| (0.0..=1.0).contains(loss)) && arm.losses.contains(&0.0));
        between += arm.losses.iter().filter(|loss| **loss > 0.0 && **loss < 1.0).count();
    }
    assert!(between > 0, "they are as coarse as rescaled ones");
}

#[test]
fn anchors_are_part_of_what_it_is() {
    let identity = |anchors| Lambo::new(&space(), options(GITTINS, anchors), 1).unwrap().identity();
    assert_ne!(identity(Anchors::Previous), identity(Anchors::Prefixes));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn any_run_proposes_allowed_points_and_is_repeated_by_its_replay(
        alpha in prop_oneof![Just(Alpha::EiPerCost), (1e-12..10.0f64, 0.1..=1.0f64).prop_map(|(lambda, decay)| Alpha::GittinsPerCost { lambda, decay })],
        anchors in prop_oneof![Just(Anchors::Previous), Just(Anchors::Prefixes)],
        losses in prop_oneof![Just(LossScale::Rescale), Just(LossScale::Gap), Just(LossScale::Raw)],
        cost_model in prop_oneof![Just(CostModel::Previous), Just(CostModel::Cache)],
        abandons in any::<bool>(),
        broken in prop::collection::vec(0usize..24, 0..6),
        seed in 0u64..1_000,
    ) {
        let mut options = LamboOptions { losses, ..options(alpha, anchors) };
        if !abandons {
            options.abandon = None;
        }
        let mut live = study(options.clone(), cost_model, seed);
        let points = run(&mut live, 24, &broken);
        prop_assert!(points.iter().all(|point| live.space().allows(point)));
        let replayed = study(options, cost_model, seed).replay(live.events().to_vec());
        prop_assert_eq!(replayed.unwrap().ask().unwrap(), live.ask().unwrap());
    }
}
