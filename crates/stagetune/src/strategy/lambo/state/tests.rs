//! The rules one step at a time, with losses and moves from a script.

use super::*;
use crate::space::{Cost, Module, Param};
use crate::strategy::lambo::{Abandon, Growth};

const SEED: u64 = 3;

fn space(modules: usize) -> Space {
    let module = |m: usize| {
        let params = [0, 1].map(|i| Param::float(&format!("x{}", 2 * m + i), 0.0, 1.0).unwrap());
        Module::new(&format!("m{m}"), params).unwrap().cost(Cost::Given(1.0)).unwrap()
    };
    Space::new((0..modules).map(module)).unwrap()
}

fn quiet() -> LamboOptions {
    LamboOptions { abandon: None, refresh_every: None, growth: None, ..LamboOptions::paper() }
}

fn begin(space: &Space, options: &LamboOptions) -> State {
    let hyper = Hyper { lengthscales: vec![0.3], signal_variance: 1.0, noise_variance: 1e-4, mean: 0.0 };
    State::begin(space, options, &[], &hyper, None, SEED).unwrap().unwrap()
}

/// A step in which the point comes out of the arm drawn.
fn step(state: &mut State, space: &Space, options: &LamboOptions, losses: &[f64], moved: bool) {
    let arm = state.draw(SEED);
    let (lower, upper) = state.regions.corners(space, arm).unwrap();
    let u: Vec<f64> = lower.iter().zip(&upper).map(|(l, h)| 0.5 * (l + h)).collect();
    let told = Told { losses, trial: state.steps, u: &u, from_arm: true, first_moved: moved };
    state.step(space, options, &[], &told, SEED).unwrap();
}

/// What the bandit's step alone makes of p, without the rules.
fn shadow(state: &State, losses: &[f64]) -> Vec<f64> {
    let mut shadow = state.clone();
    shadow.draw(SEED);
    let mut dice = stream(SEED, Purpose::Signs, shadow.steps as u64 + 1);
    let signs = draw_signs(shadow.bandit.tree().height(), &mut dice);
    shadow.bandit.update(losses, &signs).unwrap();
    shadow.bandit.p()
}

/// The arm at the origin is the good one.
fn script(state: &State, space: &Space) -> Vec<f64> {
    let good = |arm: usize| state.regions.corners(space, arm).unwrap().0.iter().all(|l| *l == 0.0);
    (0..state.regions.arms()).map(|arm| if good(arm) { 0.0 } else { 0.8 + 0.2 * arm as f64 / 64.0 }).collect()
}

#[test]
fn an_arm_is_dropped_after_exactly_ten_weak_steps_in_a_row_and_halves_share_its_neighbours_mass() {
    for modules in [2, 3] {
        let space = space(modules);
        let options =
            LamboOptions { abandon: Some(Abandon { below: 0.1, after: 10 }), max_arms: 4096, ..quiet() };
        let mut state = begin(&space, &options);
        let (mut weak, mut drops, mut refinements) = (vec![0; state.regions.arms()], 0, 0);
        for _ in 0..600 {
            let losses = script(&state, &space);
            let p = shadow(&state, &losses);
            let least = 0.1 / state.regions.live() as f64;
            for (arm, weak) in weak.iter_mut().enumerate() {
                *weak = if state.regions.alive()[arm] && p[arm] < least { *weak + 1 } else { 0 };
            }
            let before = state.clone();
            step(&mut state, &space, &options, &losses, false);
            let dropped: Vec<usize> = (0..weak.len()).filter(|arm| weak[*arm] >= 10).collect();
            if dropped.is_empty() {
                assert_eq!(state.regions, before.regions, "nothing was due");
                assert_eq!(state.bandit.p(), p);
                continue;
            }
            drops += 1;
            let (left, parents) = {
                let flags: Vec<bool> = (0..weak.len()).map(|arm| dropped.contains(&arm)).collect();
                before.regions.drop_arms(&flags).unwrap()
            };
            let cells = |regions: &Regions| regions.counts().iter().sum::<usize>();
            let region_gone = cells(&left) < cells(&before.regions);
            let refined = region_gone && refinements < 2;
            refinements += usize::from(refined);
            assert_eq!(cells(&state.regions), if refined { 2 * cells(&left) } else { cells(&left) });
            assert_eq!(state.partition, before.partition + usize::from(region_gone));
            // Mass goes to the arms left in proportion, and is shared evenly among an arm's parts.
            let kept: f64 = (0..left.arms()).filter(|a| left.alive()[*a]).map(|a| p[parents[a]]).sum();
            for arm in (0..state.regions.arms()).filter(|arm| state.regions.alive()[*arm]) {
                let (lower, upper) = state.regions.corners(&space, arm).unwrap();
                let middle: Vec<f64> = lower.iter().zip(&upper).map(|(l, h)| 0.5 * (l + h)).collect();
                let held: Option<Vec<usize>> = left.locate(&space, &middle).into_iter().collect();
                let parent = left.arm_of(&held.unwrap()).unwrap();
                let parts = if refined { 2f64.powi(modules as i32 - 1) } else { 1.0 };
                let expected = p[parents[parent]] / kept / parts;
                assert!((state.bandit.p()[arm] - expected).abs() < 1e-12, "arm {arm}");
            }
            weak = if refined {
                vec![0; state.regions.arms()]
            } else {
                parents.iter().zip(left.alive()).map(|(p, alive)| if *alive { weak[*p] } else { 0 }).collect()
            };
        }
        assert!(drops >= 3, "{drops}");
        assert_eq!((refinements, state.refinements), (2, 2));
    }
}

#[test]
fn a_refinement_stays_within_the_limit_of_arms() {
    let space = space(3);
    let options = LamboOptions { abandon: Some(Abandon { below: 0.1, after: 10 }), max_arms: 6, ..quiet() };
    let mut state = begin(&space, &options);
    for _ in 0..300 {
        let losses = script(&state, &space);
        step(&mut state, &space, &options, &losses, false);
        assert!(state.regions.arms() <= 6);
    }
    assert!(state.refinements > 0);
}

#[test]
fn the_first_module_sinks_after_six_moves_in_twenty_steps_and_not_after_five() {
    let space = space(2);
    let options = LamboOptions { growth: Some(Growth { every: 20, more_than: 5 }), ..quiet() };
    for moves in [0, 5, 6, 20] {
        let mut state = begin(&space, &options);
        for round in 1..=3 {
            for i in 0..20 {
                let depth = state.bandit.tree().depths()[0];
                step(&mut state, &space, &options, &[0.3, 0.4], i < moves);
                assert!(i == 19 || state.bandit.tree().depths()[0] == depth, "only at a look");
            }
            assert_eq!(
                state.bandit.tree().depths(),
                [1 + if moves > 5 { round } else { 0 }],
                "{moves} moves"
            );
        }
    }
}

#[test]
fn every_twenty_fifth_step_makes_live_arms_equally_likely_and_no_other() {
    let space = space(3);
    let options = LamboOptions { refresh_every: Some(25), ..quiet() };
    let mut state = begin(&space, &options);
    for i in 1..=100 {
        let losses = script(&state, &space);
        let p = shadow(&state, &losses);
        step(&mut state, &space, &options, &losses, false);
        let expected = if i % 25 == 0 { vec![0.25; 4] } else { p };
        assert!(state.bandit.p().iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-15), "step {i}");
    }
}

#[test]
fn modules_past_the_limit_of_arms_move_freely_and_those_without_parameters_have_no_level() {
    let many = space(9);
    let state = begin(&many, &LamboOptions { max_arms: 20, ..quiet() });
    assert_eq!((state.regions.counts(), state.free), (vec![2; 4], 4));

    let named =
        |name: &str, params: Vec<Param>| Module::new(name, params).unwrap().cost(Cost::Given(1.0)).unwrap();
    let float = |name: &str| vec![Param::float(name, 0.0, 1.0).unwrap()];
    let gaps = Space::new([
        named("load", vec![]),
        named("first", float("a")),
        named("middle", vec![]),
        named("second", float("b")),
        named("third", float("c")),
        named("save", vec![]),
    ])
    .unwrap();
    let state = begin(&gaps, &quiet());
    assert_eq!((state.first_module(), state.free), (1, 4));
    assert_eq!(state.bandit.tree().depths(), [1, 1]);
    assert_eq!(state.regions.partitions().iter().map(Partition::module).collect::<Vec<_>>(), [1, 3]);
}
