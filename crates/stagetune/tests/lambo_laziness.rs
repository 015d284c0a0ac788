//! LaMBO keeps what it may keep: prefixes bit for bit, and moves as rarely as the tree promises (T7).

// Clippy lets tests unwrap and panic but not the helpers beside them.
#![allow(clippy::unwrap_used, clippy::panic)]

use stagetune::acquisition::Maximiser;
use stagetune::space::{Cost, Module, Param, Point, Space};
use stagetune::strategy::lambo::Depths;
use stagetune::strategy::{ArmChoice, Design, Lambo, LamboOptions, ModelOptions};
use stagetune::study::Study;

/// Modules of two floats; the first ones are cut into this many regions, or left to the strategy.
fn space(modules: usize, cuts: &[usize]) -> Space {
    let module = |m: usize| {
        let params = [0, 1].map(|i| Param::float(&format!("x{}", 2 * m + i), -1.0, 2.0).unwrap());
        let module = Module::new(&format!("m{m}"), params).unwrap();
        let module = module.cost(Cost::Given(4f64.powi((modules - m) as i32))).unwrap();
        let regions = cuts.get(m).copied().unwrap_or(0);
        let thresholds = (1..regions).map(|k| -1.0 + 3.0 * k as f64 / regions as f64);
        module.cut(&format!("x{}", 2 * m), thresholds).unwrap()
    };
    Space::new((0..modules).map(module)).unwrap()
}

/// Several bumps, so that regions compete.
fn bumpy(space: &Space, point: &Point) -> f64 {
    let u = space.encode(point).unwrap();
    let waves: f64 = u.iter().enumerate().map(|(i, u)| (7.0 * u + i as f64).sin()).sum();
    0.5 + waves / (2 * u.len()) as f64
}

/// Points of a run with the arm of each iteration after the start.
fn run(space: &Space, options: LamboOptions, trials: usize, seed: u64) -> Vec<(Point, Option<ArmChoice>)> {
    let mut study = Study::new(space.clone(), Box::new(Lambo::new(space, options, seed).unwrap()));
    (0..trials)
        .map(|_| {
            let trial = study.ask().unwrap();
            let point = trial.point().clone();
            let arm = study.why(trial.id()).unwrap().arm.clone();
            study.tell(trial.observe(bumpy(space, &point)).unwrap()).unwrap();
            (point, arm)
        })
        .collect()
}

fn kept(space: &Space, a: &Point, b: &Point, module: usize) -> bool {
    let own = space.module_params(module);
    a.values()[own.clone()] == b.values()[own]
}

#[test]
fn modules_before_the_first_difference_of_two_arms_keep_their_values_bit_for_bit() {
    let (mut agreed, mut moved) = (0, 0);
    for (modules, cuts, seed) in [(2, &[][..], 1), (3, &[][..], 2), (3, &[3, 2][..], 3), (4, &[][..], 4)] {
        let space = space(modules, cuts);
        let steps = run(&space, LamboOptions::paper(), 90, seed);
        for pair in steps.windows(2) {
            let [(a, Some(from)), (b, Some(to))] = pair else { continue };
            if from.partition != to.partition {
                continue;
            }
            let first = from.regions.iter().zip(&to.regions).position(|(a, b)| a != b).unwrap_or(modules - 1);
            assert_eq!(to.first_free, first);
            for m in 0..first {
                assert!(kept(&space, a, b, m), "module {m}: {a} became {b}");
                agreed += 1;
            }
            moved += usize::from(first < modules - 1);
        }
    }
    assert!(agreed > 100 && moved > 20, "a test of nothing: {agreed} kept, {moved} moves");
}

#[test]
fn modules_move_no_more_often_than_two_to_minus_their_fork_level() {
    let shapes: [(usize, &[usize], &[usize]); 6] = [
        (2, &[2], &[1]),
        (2, &[3], &[3]),
        (3, &[2, 2], &[1, 1]),
        (3, &[3, 2], &[1, 2]),
        (4, &[2, 2, 2], &[1, 1, 1]),
        (4, &[2, 1, 3], &[2, 1, 1]),
    ];
    for (modules, cuts, depths) in shapes {
        let space = space(modules, cuts);
        let options = LamboOptions {
            design: Design::Uniform(5),
            depths: Depths::Each(depths.to_vec()),
            abandon: None,
            refresh_every: None,
            growth: None,
            // One fit is enough to move about.
            model: ModelOptions { refit_every: 1_000, ..ModelOptions::paper() },
            effort: Maximiser { raw: 16, near_hints: 4, starts: 1, max_evaluations: 8, seed: 0 },
            ..LamboOptions::paper()
        };
        let mut steps = 0;
        let mut changed = vec![0usize; modules - 1];
        for seed in 0..10 {
            let run = run(&space, options.clone(), 126, seed);
            // The first iteration after the start may go anywhere.
            for pair in run[5..].windows(2) {
                steps += 1;
                for (m, changed) in changed.iter_mut().enumerate() {
                    *changed += usize::from((0..=m).any(|k| !kept(&space, &pair[0].0, &pair[1].0, k)));
                }
            }
        }
        for (m, changed) in changed.iter().enumerate() {
            let level: usize = depths[m..].iter().sum();
            let p = 0.5f64.powi(level as i32);
            // Four standard errors of a share of `steps` coins, were the bound attained.
            let allowed = p + 4.0 * (p * (1.0 - p) / steps as f64).sqrt();
            let share = *changed as f64 / steps as f64;
            assert!(
                share <= allowed,
                "{depths:?}: modules up to {m} moved in {share:.4} of steps, {p} allowed"
            );
        }
        assert!(changed.iter().sum::<usize>() > 0, "nothing ever moved");
    }
}
