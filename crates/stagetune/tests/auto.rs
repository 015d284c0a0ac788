//! What `auto` promises: a start by costs, trials that can be paid for, nothing twice, and never a panic on odd options.

// Clippy lets tests unwrap but not the helpers beside them.
#![allow(clippy::unwrap_used)]

use stagetune::space::{Cost, CostModel, Module, Param, Point, Space, Value};
use stagetune::strategy::{Auto, AutoOptions, AutoStart, ModelOptions, Source};
use stagetune::study::{StopRules, Study};
use stagetune::trial::{Failed, Proposed, TrialId};

/// Modules of one or two variables that cost this much.
fn space(modules: &[(Cost, usize)]) -> Space {
    let module = |(m, (cost, variables)): (usize, &(Cost, usize))| {
        let params = (0..*variables).map(|v| Param::float(&format!("x{m}{v}"), 0.0, 1.0).unwrap());
        Module::new(&format!("m{m}"), params).unwrap().cost(*cost).unwrap()
    };
    Space::new(modules.iter().enumerate().map(module)).unwrap()
}

fn given(costs: &[f64]) -> Space {
    let modules: Vec<(Cost, usize)> = costs.iter().map(|cost| (Cost::Given(*cost), 2)).collect();
    space(&modules)
}

fn study(space: &Space, options: AutoOptions, model: CostModel) -> Study {
    let auto = Auto::new(space, options, 5).unwrap();
    Study::new(space.clone(), Box::new(auto)).cost_model(model).unwrap()
}

/// A bowl with its lowest point off the middle.
fn bowl(point: &Point) -> f64 {
    point.values().iter().map(|value| (value.as_float().unwrap() - 0.37).powi(2)).sum()
}

/// Points of so many trials; every module that ran is measured to cost this.
fn drive(study: &mut Study, trials: usize, costs: &[f64]) -> Vec<Point> {
    let step = |_| {
        let trial = study.ask().unwrap();
        let point = trial.point().clone();
        let first = study.proposal(trial.id()).unwrap().why.first_changed.unwrap_or(costs.len());
        let stages = costs.iter().enumerate().map(|(m, cost)| (m >= first).then_some(*cost)).collect();
        let observed = trial.observe(bowl(&point)).unwrap();
        study.tell(observed.measured(stages).unwrap()).unwrap();
        point
    };
    (0..trials).map(step).collect()
}

/// Different values of the first module among the points of the start, and how many points it has.
fn start_of(space: &Space, costs: &[f64]) -> (usize, usize) {
    let mut study = study(space, AutoOptions::default(), CostModel::Previous);
    let points = drive(&mut study, 40, costs);
    let is_design = |i: &usize| {
        let id = TrialId::new(*i as u64);
        study.why(id).unwrap().source == Source::Design
    };
    let length = (0..40).take_while(is_design).count();
    let mut firsts: Vec<String> =
        points[..length].iter().map(|p| format!("{:?}", p.values()[..2].to_vec())).collect();
    firsts.dedup();
    (firsts.len(), length)
}

#[test]
fn the_start_keeps_dear_modules_by_what_they_cost() {
    // Four draws behind each of two, and as many again where a third module is cheaper still.
    assert_eq!(start_of(&given(&[10.0, 1.0]), &[10.0, 1.0]), (2, 8));
    assert_eq!(start_of(&given(&[40.0, 10.0, 1.0]), &[40.0, 10.0, 1.0]), (2, 16));
    // Little to save, little kept; nothing to save, nothing kept.
    assert_eq!(start_of(&given(&[3.0, 1.0]), &[3.0, 1.0]), (3, 6));
    assert_eq!(start_of(&given(&[1.0, 1.0]), &[1.0, 1.0]), (6, 6));
    assert_eq!(start_of(&given(&[1.0]), &[1.0]), (4, 4));
    // A cheap module before a dear one saves nothing.
    assert_eq!(start_of(&given(&[1.0, 10.0]), &[1.0, 10.0]), (6, 6));
}

#[test]
fn costs_that_are_measured_shape_the_start_once_a_trial_has_shown_them() {
    let measured = space(&[(Cost::Measured, 2), (Cost::Measured, 2)]);
    assert_eq!(start_of(&measured, &[10.0, 1.0]), (2, 8));
    assert_eq!(start_of(&measured, &[1.0, 1.0]), (6, 6));
    let unknown = space(&[(Cost::Unknown, 2), (Cost::Unknown, 2)]);
    let mut study = study(&unknown, AutoOptions::default(), CostModel::Previous);
    for _ in 0..12 {
        let trial = study.ask().unwrap();
        let value = bowl(trial.point());
        study.tell(trial.observe(value).unwrap()).unwrap();
    }
}

#[test]
fn a_start_whose_trials_fail_does_not_repeat_the_module_that_failed() {
    let space = given(&[10.0, 1.0]);
    let mut study = study(&space, AutoOptions::default(), CostModel::Previous);
    let mut firsts: Vec<Vec<Value>> = Vec::new();
    for _ in 0..6 {
        let trial = study.ask().unwrap();
        firsts.push(trial.point().values()[..2].to_vec());
        study.tell(trial.fail("it broke")).unwrap();
    }
    assert!(firsts.windows(2).all(|pair| pair[0] != pair[1]), "{firsts:?}");
    // With one value the model takes over at the end of the start.
    for _ in 0..4 {
        let trial = study.ask().unwrap();
        let value = bowl(trial.point());
        study.tell(trial.observe(value).unwrap()).unwrap();
    }
}

#[test]
fn it_finds_the_bottom_of_a_bowl_and_moves_the_dear_module_rarely() {
    for model in [CostModel::Previous, CostModel::Cache] {
        let space = given(&[10.0, 1.0]);
        let mut study = study(&space, AutoOptions::default(), model);
        let points = drive(&mut study, 45, &[10.0, 1.0]);
        let lowest = points.iter().map(bowl).fold(f64::INFINITY, f64::min);
        assert!(lowest < 0.01, "{model:?}: {lowest}");
        let moves = points.windows(2).filter(|w| w[0].values()[..2] != w[1].values()[..2]).count();
        assert!(moves < 30, "{model:?}: {moves}");
    }
}

#[test]
fn nothing_is_asked_for_twice() {
    for model in [CostModel::Previous, CostModel::Cache] {
        let space = given(&[10.0, 1.0]);
        let points = drive(&mut study(&space, AutoOptions::default(), model), 60, &[10.0, 1.0]);
        for (i, point) in points.iter().enumerate() {
            assert!(!points[..i].contains(point), "{model:?}: trial {i} repeats {point}");
        }
    }
}

#[test]
fn what_the_budget_cannot_pay_for_is_not_proposed_while_something_else_can() {
    let space = given(&[10.0, 1.0]);
    let rules = StopRules { cost: Some(60.0), ..StopRules::default() };
    let mut study = study(&space, AutoOptions::default(), CostModel::Previous).stop(rules).unwrap();
    let mut spent = 0.0;
    while study.stopped().is_none() {
        drive(&mut study, 1, &[10.0, 1.0]);
        spent = study.account().spent();
    }
    assert_eq!(spent, 60.0);
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let space = given(&[10.0, 1.0]);
    let refused = |options: AutoOptions| Auto::new(&space, options, 1).unwrap_err().to_string();
    let auto = AutoOptions::default;
    for exponent in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(refused(AutoOptions { exponent, ..auto() }).contains("exponent"));
    }
    for least_share in [-0.1, 0.0, 1.1, f64::NAN] {
        assert!(refused(AutoOptions { least_share, ..auto() }).contains("least_share"));
    }
    for spread in [0.0, -1.0, f64::NAN] {
        assert!(
            refused(AutoOptions { lengthscale_spread: Some(spread), ..auto() })
                .contains("lengthscale_spread")
        );
    }
    let refit_never = ModelOptions { refit_every: 0, ..ModelOptions::modern() };
    assert!(refused(AutoOptions { model: refit_never, ..auto() }).contains("refit_every"));
}

#[test]
fn every_ingredient_can_be_taken_out_or_put_in() {
    let space = given(&[10.0, 1.0]);
    let auto = AutoOptions::default;
    let without = [
        AutoOptions { start: AutoStart::Spread, ..auto() },
        AutoOptions { freeze: false, ..auto() },
        AutoOptions { exponent: 0.0, ..auto() },
        AutoOptions { kernels: Vec::new(), ..auto() },
        AutoOptions { warping: true, ..auto() },
        AutoOptions { lengthscale_spread: None, ..auto() },
    ];
    let whole = drive(&mut study(&space, auto(), CostModel::Previous), 24, &[10.0, 1.0]);
    for options in without {
        let points = drive(&mut study(&space, options.clone(), CostModel::Previous), 24, &[10.0, 1.0]);
        // A bowl needs no warping: there the same may come out.
        let changes = !options.warping;
        assert!(!changes || points != whole, "{options:?}");
    }
}

#[test]
fn of_a_metric_in_steps_nothing_less_than_half_a_step_is_looked_for() {
    let space = given(&[10.0, 1.0]);
    // The share of trials within 0.05 of a better one in every coordinate: where small gains would be.
    let close = |quantisation: bool| {
        let mut study =
            study(&space, AutoOptions { quantisation, ..AutoOptions::default() }, CostModel::Previous);
        let mut told: Vec<(Point, f64)> = Vec::new();
        let mut close = 0;
        for _ in 0..40 {
            let trial = study.ask().unwrap();
            let point = trial.point().clone();
            let value = (bowl(&point) / 0.1).round() * 0.1;
            let near = |other: &Point| {
                let apart = |(a, b): (&Value, &Value)| (a.as_float().unwrap() - b.as_float().unwrap()).abs();
                other.values().iter().zip(point.values()).map(apart).all(|apart| apart < 0.05)
            };
            close += usize::from(told.iter().any(|(other, lower)| *lower <= value && near(other)));
            study.tell(trial.observe(value).unwrap()).unwrap();
            told.push((point, value));
        }
        close
    };
    let (with, without) = (close(true), close(false));
    assert!(with < without, "{with} and {without} of 40");
}

/// The best of 60 trials of which every seventh fails by chance.
fn best_beside_failures(feasibility: bool, seed: u64) -> f64 {
    let space = given(&[10.0, 1.0]);
    let auto = Auto::new(&space, AutoOptions { feasibility, ..AutoOptions::default() }, seed).unwrap();
    let mut study = Study::new(space, Box::new(auto));
    let mut best = f64::INFINITY;
    for _ in 0..60 {
        let trial = study.ask().unwrap();
        let point = trial.point().clone();
        // As good as chance, and the same for the same point.
        let noise: f64 = point.values().iter().map(|value| value.as_float().unwrap() * 1e4).sum();
        if (noise * 7.0).rem_euclid(7.0) < 1.0 {
            study.tell(trial.fail("broke").after(1)).unwrap();
        } else {
            best = best.min(bowl(&point));
            study.tell(trial.observe(bowl(&point)).unwrap()).unwrap();
        }
    }
    best
}

#[test]
fn failures_by_chance_do_not_hold_it_up() {
    let worst = |odds: bool| (1..=4).map(|seed| best_beside_failures(odds, seed)).fold(0.0, f64::max);
    let (with, without) = (worst(true), worst(false));
    assert!(with < 0.01 && with < without, "{with} and {without}");
}

#[test]
fn dear_stages_are_not_run_again_for_what_is_known() {
    // The cheap parameters are best at their bounds, so that only the dear one is left to refine.
    let space = space(&[(Cost::Given(20.0), 1), (Cost::Given(1.0), 2)]);
    let mut study = study(&space, AutoOptions::default(), CostModel::Cache)
        .stop(StopRules { cost: Some(600.0), ..StopRules::default() })
        .unwrap();
    let mut firsts: Vec<f64> = Vec::new();
    while study.stopped().is_none() {
        let trial = study.ask().unwrap();
        let at: Vec<f64> = trial.point().values().iter().map(|value| value.as_float().unwrap()).collect();
        study.tell(trial.observe((at[0] - 0.83).powi(2) - at[1] - at[2]).unwrap()).unwrap();
        if !firsts.contains(&at[0]) {
            firsts.push(at[0]);
        }
    }
    firsts.sort_by(f64::total_cmp);
    let near = firsts.windows(2).filter(|pair| pair[1] - pair[0] < 1e-3).count();
    assert!(near <= 2, "{near} of {firsts:?}");
    // The best there is is −2.
    let best = study.account().best().unwrap();
    assert!(best < -1.998, "{best}");
    assert!(study.account().spent() <= 600.0, "{}", study.account().spent());
}

/// How many settings of the first module 60 trials see where it costs a thousand times what the second does.
fn firsts_before_a_free_stage(options: AutoOptions, rules: StopRules) -> usize {
    let costs = [1000.0, 1.0];
    let mut study = study(&given(&costs), options, CostModel::Cache).stop(rules).unwrap();
    let points = drive(&mut study, 60, &costs);
    let mut firsts: Vec<&[Value]> = Vec::new();
    for point in &points {
        let first = &point.values()[..2];
        if !firsts.contains(&first) {
            firsts.push(first);
        }
    }
    firsts.len()
}

#[test]
fn a_last_stage_that_is_nearly_free_does_not_take_all_trials() {
    let auto = AutoOptions::default;
    let petty = AutoOptions { least_share: 1e-3, trial_overhead: false, known_margin: 0.0, ..auto() };
    let both = || StopRules { trials: Some(60), cost: Some(30_000.0), ..StopRules::default() };
    let trials_alone = || StopRules { trials: Some(60), ..StopRules::default() };
    let careless = firsts_before_a_free_stage(petty, both());
    let paced = firsts_before_a_free_stage(auto(), both());
    assert!(paced >= 3 * careless, "{paced} instead of {careless}: the money for 30 is there");
    let fair = firsts_before_a_free_stage(auto(), trials_alone());
    assert!(fair > careless, "{fair} instead of {careless}");
}

/// Stages that cost 100, 10 and 1: a number, then choices of two and of three.
fn choices() -> Space {
    let module = |name: &str, cost: f64, param: Param| {
        Module::new(name, [param]).unwrap().cost(Cost::Given(cost)).unwrap()
    };
    Space::new([
        module("first", 100.0, Param::float("a", 0.0, 1.0).unwrap()),
        module("second", 10.0, Param::choice("b", ["x", "y"]).unwrap()),
        module("third", 1.0, Param::choice("c", ["u", "v", "w"]).unwrap()),
    ])
    .unwrap()
}

#[test]
fn a_start_over_choices_moves_on_and_repeats_nothing() {
    for seed in 0..6 {
        let auto = Auto::new(&choices(), AutoOptions::default(), seed).unwrap();
        let mut study = Study::new(choices(), Box::new(auto));
        let mut seen: Vec<Point> = Vec::new();
        for trial in 0..20 {
            let asked = study.ask().unwrap();
            let point = asked.point().clone();
            assert!(!seen.contains(&point), "seed {seed}: trial {trial} repeats {point}");
            let value = point.values()[0].as_float().unwrap() + seen.len() as f64 * 1e-3;
            study.tell(asked.observe(value).unwrap()).unwrap();
            seen.push(point);
        }
    }
}

#[test]
fn on_a_plateau_it_keeps_looking_where_it_has_not_been() {
    let space = given(&[10.0, 1.0]);
    let mut study = study(&space, AutoOptions::default(), CostModel::Previous);
    let mut seen: Vec<Point> = Vec::new();
    for _ in 0..60 {
        let trial = study.ask().unwrap();
        let point = trial.point().clone();
        assert!(!seen.contains(&point));
        study.tell(trial.observe(0.5).unwrap()).unwrap();
        seen.push(point);
    }
    let mut firsts: Vec<String> = seen.iter().map(|p| format!("{:?}", &p.values()[..2])).collect();
    firsts.dedup();
    assert!(firsts.len() >= 10, "{} settings of the first module", firsts.len());
}

/// Settings of the first module among trials that fail at `finished` wherever it is below a half; the others have a value.
fn with_failures(space: &Space, trials: usize, finished: usize, workers: usize) -> Vec<(f64, bool)> {
    let mut study = study(space, AutoOptions::default(), CostModel::Cache);
    let mut told = Vec::new();
    for _ in 0..trials / workers {
        let open: Vec<_> = (0..workers).map(|_| study.ask().unwrap()).collect();
        for trial in open {
            let (x, value) = (trial.point().values()[0].as_float().unwrap(), bowl(trial.point()));
            let fails = x < 0.5;
            told.push((x, fails));
            match fails {
                true => study.tell(trial.fail("too low").after(finished)).unwrap(),
                false => study.tell(trial.observe(value).unwrap()).unwrap(),
            }
        }
    }
    told
}

#[test]
fn a_draw_behind_which_trials_fail_is_given_up() {
    let three = given(&[100.0, 10.0, 1.0]);
    // The last stage fails for what the first was given: two tries are enough.
    let all_low =
        |told: &[(f64, bool)]| told.chunk_by(|a, b| a.0 == b.0).filter(|c| c[0].1).map(<[_]>::len).max();
    assert!(all_low(&with_failures(&three, 12, 2, 1)).unwrap_or(0) <= 2);
    // The first stage itself fails: one is enough, also with two workers once the failure is told.
    assert!(all_low(&with_failures(&three, 12, 0, 1)).unwrap_or(0) <= 1);
    assert!(all_low(&with_failures(&three, 12, 0, 2)).unwrap_or(0) <= 2);
    // A stage without parameters fails for what the one before it made.
    let between = space(&[(Cost::Given(50.0), 1), (Cost::Given(5.0), 0), (Cost::Given(1.0), 1)]);
    assert!(all_low(&with_failures(&between, 8, 1, 1)).unwrap_or(0) <= 1);
}

#[test]
fn the_start_stays_short_with_ten_modules_of_very_different_costs() {
    let costs: Vec<f64> = (0..10).map(|m| 10f64.powi(9 - m)).collect();
    let space = given(&costs);
    let mut study = study(&space, AutoOptions::default(), CostModel::Previous);
    drive(&mut study, 30, &costs);
    let id = TrialId::new(26);
    assert_eq!(study.why(id).unwrap().source, Source::Model);
}

/// Which modules differ from the trial before, in the first trials of a graph.
fn moves(costs: &[f64], after: &[Vec<usize>], trials: usize) -> Vec<Vec<usize>> {
    let space = given(costs).wired(after).unwrap();
    let points = drive(&mut study(&space, AutoOptions::default(), CostModel::Previous), trials, costs);
    let moved =
        |pair: &[Point], m: usize| pair[0].values()[2 * m..2 * m + 2] != pair[1].values()[2 * m..2 * m + 2];
    points.windows(2).map(|pair| (0..costs.len()).filter(|&m| moved(pair, m)).collect()).collect()
}

#[test]
fn in_a_graph_the_start_moves_one_branch_at_a_time() {
    // Two dear branches that meet in a cheap module: each is kept for four trials, and one stays when the other moves.
    let meeting = moves(&[10.0, 10.0, 1.0], &[vec![], vec![], vec![0, 1]], 8);
    assert_eq!(
        meeting,
        [vec![2], vec![2], vec![2], vec![0, 2], vec![1, 2], vec![2], vec![2]].map(|moved| moved.to_vec())
    );
    // Two cheap modules behind a dear one take turns.
    let parting = moves(&[10.0, 1.0, 1.0], &[vec![], vec![0], vec![0]], 5);
    assert_eq!(parting, [vec![1], vec![2], vec![1], vec![0, 1, 2]].map(|moved| moved.to_vec()));
}

/// Which modules differ from trial to trial where the last trial failed like this and no other did.
fn after_a_failure(
    costs: &[f64],
    after: &[Vec<usize>],
    trials: usize,
    fail: impl Fn(Proposed) -> Failed,
) -> Vec<bool> {
    let space = given(costs).wired(after).unwrap();
    let mut study = study(&space, AutoOptions::default(), CostModel::Cache);
    let mut points: Vec<Point> = Vec::new();
    for i in 0..=trials {
        let trial = study.ask().unwrap();
        points.push(trial.point().clone());
        if i + 1 == trials {
            study.tell(fail(trial)).unwrap();
        } else {
            let value = bowl(trial.point());
            study.tell(trial.observe(value).unwrap()).unwrap();
        }
    }
    let values = |point: &Point, m: usize| point.values()[space.module_params(m)].to_vec();
    (0..costs.len()).map(|m| values(&points[trials - 1], m) != values(&points[trials], m)).collect()
}

#[test]
fn in_a_graph_what_failed_is_drawn_anew_before_what_was_only_kept_for_long() {
    let join = [vec![], vec![], vec![0, 1]];
    let after = |finished: usize| move |trial: Proposed| trial.fail("broke").after(finished);
    // The second source broke; the first one stays.
    assert_eq!(after_a_failure(&[1.0; 3], &join, 1, after(1)), [false, true, true]);
    // It broke while the first was still at work, which a count of what had finished does not tell.
    let beside = |trial: Proposed| trial.fail("broke").broken_in(1);
    assert_eq!(after_a_failure(&[1.0; 3], &join, 1, beside), [false, true, true]);
    assert_eq!(after_a_failure(&[1.0; 3], &join, 1, after(0)), [true, false, true]);
    // All stages of a diamond finished and there is no value: the last one is to blame, not the first.
    let diamond = [vec![], vec![0], vec![0], vec![1, 2]];
    let moved = after_a_failure(&[100.0, 10.0, 10.0, 1.0], &diamond, 1, after(4));
    assert_eq!(moved, [false, false, false, true]);
}

#[test]
fn in_a_graph_a_branch_that_breaks_again_and_again_is_the_one_that_moves() {
    let space = given(&[1.0; 3]).wired(&[vec![], vec![], vec![0, 1]]).unwrap();
    let mut study = study(&space, AutoOptions::default(), CostModel::Cache);
    let mut firsts: Vec<Vec<Value>> = Vec::new();
    for _ in 0..6 {
        let trial = study.ask().unwrap();
        firsts.push(trial.point().values()[space.module_params(0)].to_vec());
        study.tell(trial.fail("broke").broken_in(0)).unwrap();
    }
    assert!(firsts.windows(2).all(|pair| pair[0] != pair[1]), "{firsts:?}");
}

#[test]
fn in_a_graph_every_branch_moves_during_the_start() {
    let mut after = vec![Vec::new(); 5];
    after.push((0..5).collect());
    let moved = moves(&[10.0, 10.0, 10.0, 10.0, 10.0, 1.0], &after, 9);
    for m in 0..5 {
        assert!(moved.iter().skip(1).any(|modules| modules.contains(&m)), "{m}: {moved:?}");
    }
}
