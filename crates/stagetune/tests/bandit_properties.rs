//! Laws of the slowly moving bandit over random trees: T1, T2, T3 and T5 of its analysis.

#![expect(clippy::unwrap_used, reason = "helpers of tests stand outside of what clippy takes for a test")]

use proptest::prelude::*;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stagetune::bandit::{Sign, SlowlyMovingBandit, Tree, draw_signs};

/// The tree of one to three modules with up to three regions each, of height 6 at most.
fn trees_of_modules() -> impl Strategy<Value = Tree> {
    prop::collection::vec((1..4usize, 1..3usize), 1..4).prop_map(|modules| {
        let (regions, depths): (Vec<_>, Vec<_>) = modules.into_iter().unzip();
        Tree::new(&regions, &depths).unwrap()
    })
}

/// Any tree of up to 24 arms and height 6 at most: every level drops some of the cuts between the subtrees of the one below.
fn nested_trees() -> impl Strategy<Value = Tree> {
    // Two masks in one keep three quarters of the cuts, so that many are left at the top.
    let levels = prop::collection::vec((any::<u32>(), any::<u32>()).prop_map(|(a, b)| a | b), 0..6);
    (1..=24usize, levels).prop_map(|(arms, masks)| Tree::from_levels(arms, &sizes(arms, &masks)).unwrap())
}

/// The sizes of the subtrees of each level, where a cut before arm i stays as long as bit i is set.
fn sizes(arms: usize, masks: &[u32]) -> Vec<Vec<usize>> {
    let mut cuts = u32::MAX;
    masks
        .iter()
        .map(|mask| {
            cuts &= mask;
            let mut sizes = vec![1];
            for arm in 1..arms {
                match sizes.last_mut() {
                    Some(size) if cuts >> arm & 1 == 0 => *size += 1,
                    _ => sizes.push(1),
                }
            }
            sizes
        })
        .collect()
}

/// A bandit over a random tree, with random probabilities.
fn bandits() -> impl Strategy<Value = SlowlyMovingBandit> {
    let trees = prop_oneof![trees_of_modules(), nested_trees()];
    (trees, 0.05..2.0f64, any::<u64>()).prop_map(|(tree, eta, seed)| {
        let mut bandit = SlowlyMovingBandit::new(tree, eta).unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        // Cubes make some arms a million times likelier than others.
        let weights: Vec<f64> = (0..bandit.tree().arms()).map(|_| unit(&mut rng).powi(3) + 1e-9).collect();
        let sum: f64 = weights.iter().sum();
        bandit.set_p(&weights.iter().map(|w| w / sum).collect::<Vec<_>>()).unwrap();
        bandit
    })
}

/// The bits of numbers, which tell −0 from 0 and know no tolerance.
fn bits(of: &[f64]) -> Vec<u64> {
    of.iter().map(|x| x.to_bits()).collect()
}

fn unit(rng: &mut impl Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

fn losses(arms: usize, seed: u64, scale: f64, shift: f64) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..arms).map(|_| unit(&mut rng) * scale - shift).collect()
}

/// Σ of the arms of every subtree of level h.
fn masses(tree: &Tree, h: usize, of_arm: impl Fn(usize) -> f64) -> Vec<f64> {
    tree.subtrees(h).map(|subtree| subtree.map(&of_arm).sum()).collect()
}

proptest! {
    #[test]
    fn t1_every_subtree_of_the_moving_level_keeps_its_mass(bandit in bandits(), seed in any::<u64>(), scale in 0.0..4.0f64) {
        let (tree, before) = (bandit.tree(), bandit.p());
        let loss = losses(tree.arms(), seed, scale, scale / 3.0);
        let mut sigma = draw_signs(tree.height(), &mut ChaCha8Rng::seed_from_u64(seed ^ 1));
        // Only a move below the root keeps masses.
        sigma[tree.height() - 1] = Sign::Minus;
        let mut after = bandit.clone();
        let step = after.update(&loss, &sigma).unwrap();
        let raw = |i: usize| before[i] * (-bandit.eta() * step.loss_estimate[i]).exp();
        let p_next = after.p();
        let wanted = masses(tree, step.level, |i| before[i]);
        for (got, want) in masses(tree, step.level, raw).iter().zip(&wanted) {
            prop_assert!((got - want).abs() < 1e-12, "{} is not {}", got, want);
        }
        for (got, want) in masses(tree, step.level, |i| p_next[i]).iter().zip(&wanted) {
            prop_assert!((got - want).abs() < 1e-12, "{} is not {}", got, want);
        }
    }

    #[test]
    fn t2_level_losses_stay_within_their_bounds_and_vanish_above_the_first_minus(bandit in bandits(), seed in any::<u64>()) {
        let tree = bandit.tree();
        let loss = losses(tree.arms(), seed, 1.0, 0.0);
        let sigma = draw_signs(tree.height(), &mut ChaCha8Rng::seed_from_u64(seed ^ 1));
        let rows = bandit.level_losses(&loss, &sigma).unwrap();
        let mut bound = 1.0;
        for (h, row) in rows.iter().enumerate() {
            prop_assert!(row.iter().all(|l| (-1e-12..=bound + 1e-12).contains(l)), "level {}: {:?}", h, row);
            if bound == 0.0 {
                prop_assert!(row.iter().all(|l| *l == 0.0));
            }
            bound *= 1.0 + sigma[h].value();
        }
    }

    #[test]
    fn t5_the_estimate_averages_to_the_loss_over_all_signs(bandit in bandits(), seed in any::<u64>()) {
        let (arms, height) = (bandit.tree().arms(), bandit.tree().height());
        let loss = losses(arms, seed, 1.0, 0.0);
        let mut mean = vec![0.0; arms];
        for bits in 0..1u32 << height {
            let sigma: Vec<Sign> =
                (0..height).map(|h| if bits >> h & 1 == 1 { Sign::Plus } else { Sign::Minus }).collect();
            let estimate = bandit.loss_estimate(&loss, &sigma).unwrap();
            mean.iter_mut().zip(estimate).for_each(|(m, e)| *m += e / f64::from(1u32 << height));
        }
        for (got, want) in mean.iter().zip(&loss) {
            prop_assert!((got - want).abs() < 1e-12, "{} is not {}", got, want);
        }
    }

    #[test]
    fn the_estimate_follows_the_formula_term_by_term(bandit in bandits(), seed in any::<u64>()) {
        let (tree, p, eta) = (bandit.tree(), bandit.p(), bandit.eta());
        let loss = losses(tree.arms(), seed, 1.0, 0.0);
        let sigma = draw_signs(tree.height(), &mut ChaCha8Rng::seed_from_u64(seed ^ 1));
        let (mut bar, mut want) = (loss.clone(), loss.clone());
        for h in 0..tree.height() {
            if h > 0 {
                let factor = 1.0 + sigma[h - 1].value();
                bar = (0..tree.arms()).map(|i| {
                    let subtree = tree.subtree(h, i).unwrap();
                    let mass: f64 = subtree.clone().map(|j| p[j]).sum();
                    -subtree.map(|j| p[j] / mass * (-eta * factor * bar[j]).exp()).sum::<f64>().ln() / eta
                }).collect();
            }
            want.iter_mut().zip(&bar).for_each(|(w, b)| *w += sigma[h].value() * b);
        }
        let got = bandit.loss_estimate(&loss, &sigma).unwrap();
        // Losses double with each level, and 1/η magnifies the rounding of the logarithms.
        for (g, w) in got.iter().zip(&want) {
            prop_assert!((g - w).abs() < 1e-12 * f64::from(1u32 << tree.height()) / eta.min(1.0), "{} is not {}", g, w);
        }
    }

    #[test]
    fn garbage_never_panics(
        regions in prop::collection::vec(any::<usize>(), 0..4), depths in prop::collection::vec(any::<usize>(), 0..4),
        small in prop::collection::vec((1..4usize, 1..4usize), 1..4), eta in any::<f64>(),
        numbers in prop::collection::vec(any::<f64>(), 0..70), arm in any::<usize>(), level in any::<usize>(), seed in any::<u64>(),
    ) {
        let _ = Tree::new(&regions, &depths);
        let (regions, depths): (Vec<_>, Vec<_>) = small.into_iter().unzip();
        let tree = Tree::new(&regions, &depths).unwrap();
        let _ = (tree.subtree(level, arm), tree.regions_of(arm), tree.arm_of(&depths), tree.fork_level(level));
        let Ok(mut bandit) = SlowlyMovingBandit::new(tree, eta.abs()) else { return Ok(()) };
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let arms = bandit.tree().arms();
        let fitted: Vec<f64> = numbers.iter().cycle().take(if numbers.is_empty() { 0 } else { arms }).copied().collect();
        let _ = bandit.set_p(&numbers);
        let _ = bandit.place(arm, level);
        let _ = bandit.importance_weighted(arm % arms, eta);
        for losses in [&numbers, &fitted] {
            let sigma = draw_signs(bandit.tree().height(), &mut rng);
            let _ = bandit.update(losses, &sigma);
            prop_assert!(bandit.draw(&mut rng) < arms);
            let sum: f64 = bandit.p().iter().sum();
            prop_assert!((sum - 1.0).abs() < 1e-9, "{}", sum);
        }
    }

    #[test]
    fn the_tree_of_modules_and_the_same_tree_from_its_levels_make_the_same_bandit(
        tree in trees_of_modules(), eta in 0.05..2.0f64, seed in any::<u64>(),
    ) {
        let levels: Vec<Vec<usize>> =
            (1..tree.height()).map(|h| tree.subtrees(h).map(|subtree| subtree.len()).collect()).collect();
        let general = Tree::from_levels(tree.arms(), &levels).unwrap();
        for h in 0..=tree.height() {
            prop_assert!((0..=tree.arms()).all(|arm| tree.subtree(h, arm) == general.subtree(h, arm)));
        }
        let mut bandits = [tree, general].map(|tree| SlowlyMovingBandit::new(tree, eta).unwrap());
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        for t in 0..20 {
            let (arms, height) = (bandits[0].tree().arms(), bandits[0].tree().height());
            let (of_draw, sigma) = (rng.next_u64(), draw_signs(height, &mut rng));
            let known = losses(arms, rng.next_u64(), 1.0, 0.3);
            let [a, b] = bandits.each_mut().map(|bandit| {
                let arm = bandit.draw(&mut ChaCha8Rng::seed_from_u64(of_draw));
                let loss = if t % 2 == 0 { known.clone() } else { bandit.importance_weighted(arm, known[arm]).unwrap() };
                let rows = bandit.level_losses(&loss, &sigma).unwrap().concat();
                let step = bandit.update(&loss, &sigma).unwrap();
                (arm, step.level, bits(&rows), bits(&step.loss_estimate), bits(bandit.log_p()))
            });
            prop_assert_eq!(a, b);
        }
    }

    #[test]
    fn every_level_divides_the_arms_into_whole_subtrees_of_the_level_below(tree in prop_oneof![trees_of_modules(), nested_trees()]) {
        for h in 0..=tree.height() {
            let mut next = 0;
            for subtree in tree.subtrees(h) {
                prop_assert!(subtree.start == next && subtree.end > next);
                next = subtree.end;
                for arm in subtree.clone() {
                    prop_assert_eq!(tree.subtree(h, arm), Some(subtree.clone()));
                    let below = tree.subtree(h.saturating_sub(1), arm).unwrap();
                    prop_assert!(below.start >= subtree.start && below.end <= subtree.end);
                }
            }
            prop_assert_eq!(next, tree.arms());
        }
        prop_assert_eq!((tree.subtrees(0).len(), tree.subtrees(tree.height()).len()), (tree.arms(), 1));
    }

    #[test]
    fn garbage_levels_never_panic(
        arms in prop_oneof![0..8usize, any::<usize>()],
        levels in prop::collection::vec(prop::collection::vec(prop_oneof![8 => 0..4usize, 1 => any::<usize>()], 0..6), 0..5),
        arm in any::<usize>(), level in any::<usize>(), number in any::<f64>(), seed in any::<u64>(),
    ) {
        match Tree::from_levels(arms, &levels) {
            Err(error) => prop_assert!(!error.to_string().is_empty()),
            Ok(tree) => {
                let _ = (tree.subtree(level, arm), tree.subtrees(level).count());
                prop_assert_eq!((tree.regions_of(arm % arms), tree.arm_of(&[]), tree.fork_level(level)), (None, None, None));
                let mut bandit = SlowlyMovingBandit::new(tree, 0.5).unwrap();
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                for _ in 0..3 {
                    let sigma = draw_signs(bandit.tree().height(), &mut rng);
                    let _ = bandit.update(&vec![number; arms], &sigma);
                    prop_assert!(bandit.draw(&mut rng) < arms);
                }
            }
        }
    }
}

#[test]
fn t3_far_moves_are_rare() {
    t3(Tree::new(&[2, 3, 2], &[1, 2, 1]).unwrap());
}

#[test]
fn t3_far_moves_are_rare_on_uneven_trees_as_well() {
    t3(Tree::from_levels(6, &[vec![1, 2, 3], vec![3, 3]]).unwrap());
    t3(Tree::from_levels(9, &[vec![1, 1, 7], vec![2, 7], vec![2, 7]]).unwrap());
}

fn t3(tree: Tree) {
    // P(A_h(i_t) = A_h(i_{t−1})) ≥ 1 − 2^{−(h+1)}, with four standard errors of slack.
    let steps = 8000;
    let mut bandit = SlowlyMovingBandit::new(tree.clone(), 0.3).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let mut stayed = vec![0; tree.height()];
    let mut last = bandit.draw(&mut rng);
    for t in 0..steps {
        // Losses that turn around keep every arm alive.
        let loss: Vec<f64> =
            (0..tree.arms()).map(|i| unit(&mut rng) * f64::from((i + t / 50) as u32 % 2)).collect();
        let sigma = draw_signs(tree.height(), &mut rng);
        bandit.update(&loss, &sigma).unwrap();
        let arm = bandit.draw(&mut rng);
        for h in 0..tree.height() {
            stayed[h] += i32::from(tree.subtree(h, arm) == tree.subtree(h, last));
        }
        last = arm;
    }
    for (h, count) in stayed.iter().enumerate() {
        let moves = 0.5f64.powi(h as i32 + 1);
        let slack = 4.0 * (moves * (1.0 - moves) / steps as f64).sqrt();
        assert!(f64::from(*count) / steps as f64 >= 1.0 - moves - slack, "level {h}: {count} of {steps}");
    }
}
