//! Hand-computed steps and refusals; the laws that hold for any tree are in `tests/bandit_properties.rs`.

use super::*;
use Sign::{Minus, Plus};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn bandit(regions: &[usize], depths: &[usize], eta: f64) -> SlowlyMovingBandit {
    SlowlyMovingBandit::new(Tree::new(regions, depths).unwrap(), eta).unwrap()
}

fn close(got: &[f64], want: &[f64]) -> bool {
    got.len() == want.len() && got.iter().zip(want).all(|(g, w)| (g - w).abs() < 1e-14)
}

#[test]
fn with_height_one_a_plus_is_exponential_weights_on_twice_the_loss() {
    let mut bandit = bandit(&[2], &[1], 0.5);
    let step = bandit.update(&[1.0, 0.0], &[Plus]).unwrap();
    assert_eq!(step, Step { loss_estimate: vec![2.0, 0.0], level: 1 });
    let e = (-1f64).exp();
    assert!(close(&bandit.p(), &[e / (1.0 + e), 1.0 / (1.0 + e)]));
}

#[test]
fn a_minus_at_the_leaves_changes_nothing_and_holds_the_arm() {
    let mut bandit = bandit(&[2, 2], &[1, 1], 1.0);
    bandit.set_p(&[0.1, 0.2, 0.3, 0.4]).unwrap();
    bandit.place(2, 2).unwrap();
    let step = bandit.update(&[0.3, 0.1, 0.7, 0.9], &[Minus, Plus]).unwrap();
    assert_eq!(step, Step { loss_estimate: vec![0.0; 4], level: 0 });
    assert!(close(&bandit.p(), &[0.1, 0.2, 0.3, 0.4]));
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    assert!((0..50).all(|_| bandit.draw(&mut rng) == 2));
}

#[test]
fn a_minus_at_level_one_moves_mass_within_the_second_module_alone() {
    // Two modules of two regions, η = ln 2, uniform p, losses 0 or ½: exp(−2η·½) = ½, so ℓ̄_1 = −log₂ ¾ for the first pair, 0 for the other.
    let mut bandit = bandit(&[2, 2], &[1, 1], 2f64.ln());
    let step = bandit.update(&[0.5, 0.0, 0.0, 0.0], &[Plus, Minus]).unwrap();
    let bar = -(0.75f64).log2();
    assert_eq!(step.level, 1);
    assert!(close(&step.loss_estimate, &[1.0 - bar, -bar, 0.0, 0.0]));
    assert!(close(&bandit.p(), &[1.0 / 6.0, 1.0 / 3.0, 0.25, 0.25]));
}

#[test]
fn arms_without_mass_stay_so_and_do_no_harm() {
    let mut bandit = bandit(&[2, 2], &[1, 2], 1.0);
    bandit.set_p(&[0.0, 0.0, 0.25, 0.75]).unwrap();
    for sigma in [[Plus, Plus, Plus], [Plus, Plus, Minus], [Plus, Minus, Plus]] {
        let step = bandit.update(&[0.2, 0.4, 0.6, 0.8], &sigma).unwrap();
        assert!(step.loss_estimate.iter().all(|l| l.is_finite()));
        assert_eq!(bandit.log_p()[..2], [f64::NEG_INFINITY; 2]);
        assert!((bandit.p().iter().sum::<f64>() - 1.0).abs() < 1e-15);
    }
    // The position has lost its mass: the draw goes to the nearest subtree that has some.
    bandit.place(0, 0).unwrap();
    assert!(bandit.draw(&mut ChaCha8Rng::seed_from_u64(1)) >= 2);
}

#[test]
fn probabilities_far_below_the_smallest_double_come_back() {
    let mut bandit = bandit(&[2], &[1], 1.0);
    for _ in 0..1000 {
        bandit.update(&[1.0, 0.0], &[Plus]).unwrap();
    }
    assert_eq!(bandit.p()[0], 0.0);
    assert!((bandit.log_p()[0] + 2000.0).abs() < 1e-9);
    for _ in 0..1000 {
        bandit.update(&[0.0, 1.0], &[Plus]).unwrap();
    }
    assert!((bandit.p()[0] - 0.5).abs() < 1e-9);
}

#[test]
fn losses_beyond_all_scale_still_leave_probabilities() {
    let mut bandit = bandit(&[2], &[1], 1.0);
    bandit.update(&[1e200, 1e200], &[Plus]).unwrap();
    assert!(close(&bandit.p(), &[0.5, 0.5]));
}

#[test]
fn plain_losses_are_divided_by_the_chance_of_the_arm() {
    let mut bandit = bandit(&[2], &[1], 1.0);
    bandit.set_p(&[0.25, 0.75]).unwrap();
    assert!(close(&bandit.importance_weighted(0, 0.5).unwrap(), &[2.0, 0.0]));
    bandit.set_p(&[0.0, 1.0]).unwrap();
    assert_eq!(bandit.importance_weighted(0, 0.5), Err(BanditError::Impossible { arm: 0 }));
}

#[test]
fn draws_follow_the_probabilities_within_the_open_subtree() {
    let mut bandit = bandit(&[2, 2], &[1, 1], 1.0);
    bandit.set_p(&[0.6, 0.1, 0.1, 0.2]).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let mut counts = [0; 4];
    for _ in 0..6000 {
        bandit.place(3, 1).unwrap();
        counts[bandit.draw(&mut rng)] += 1;
    }
    assert_eq!(counts[..2], [0, 0]);
    // One third of 6000, with a standard deviation of 36.5.
    assert!((counts[2] - 2000i32).abs() < 150, "{counts:?}");
}

#[test]
fn nonsense_is_refused_and_leaves_the_state_alone() {
    let tree = Tree::new(&[2], &[1]).unwrap();
    for eta in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(SlowlyMovingBandit::new(tree.clone(), eta), Err(BanditError::Eta { .. })));
    }
    let mut bandit = bandit(&[2], &[1], 1.0);
    let before = bandit.clone();
    assert!(matches!(bandit.update(&[1.0], &[Plus]), Err(BanditError::Arms { .. })));
    assert!(matches!(bandit.update(&[1.0, 1.0], &[]), Err(BanditError::Signs { .. })));
    assert!(matches!(bandit.update(&[1.0, f64::NAN], &[Plus]), Err(BanditError::Loss { arm: 1, .. })));
    assert!(matches!(bandit.update(&[1.0, f64::MAX], &[Plus]), Err(BanditError::Overflow { arm: 1 })));
    assert!(matches!(bandit.set_p(&[0.5, 0.6]), Err(BanditError::Sum { .. })));
    assert!(matches!(bandit.set_p(&[1.5, -0.5]), Err(BanditError::Probability { arm: 0, .. })));
    assert!(matches!(bandit.place(2, 0), Err(BanditError::NoSuchArm { arm: 2, last: 1 })));
    assert!(matches!(bandit.importance_weighted(9, 0.0), Err(BanditError::NoSuchArm { .. })));
    assert_eq!(bandit, before);
}

#[test]
fn a_refresh_among_some_arms_leaves_the_others_impossible() {
    let mut bandit = bandit(&[2, 2], &[1, 1], 1.0);
    bandit.place(3, 1).unwrap();
    bandit.refresh_among(&[true, false, true, true]).unwrap();
    assert!(close(&bandit.p(), &[1.0 / 3.0, 0.0, 1.0 / 3.0, 1.0 / 3.0]));
    assert_eq!((bandit.arm(), bandit.level()), (3, 1));
    let before = bandit.clone();
    assert_eq!(bandit.refresh_among(&[false; 4]), Err(BanditError::NoMass));
    let refused = bandit.refresh_among(&[true; 3]);
    assert_eq!(refused, Err(BanditError::Arms { what: "weights", found: 3, arms: 4 }));
    assert_eq!(bandit, before);
}

#[test]
fn a_replanted_bandit_has_the_new_trees_arms_and_its_old_rate() {
    let old = bandit(&[2], &[1], 0.25);
    let tree = Tree::new(&[3], &[2]).unwrap();
    let weights = [1000.0, f64::NEG_INFINITY, 1000.0 + 3f64.ln()];
    let new = old.clone().replant(tree.clone(), &weights, 2, 9).unwrap();
    // The weights are far beyond exp; a logarithm near 1000 is known to 1e-13.
    assert!(new.p().iter().zip([0.25, 0.0, 0.75]).all(|(p, want)| (p - want).abs() < 1e-12));
    assert_eq!((new.eta(), new.arm(), new.level(), new.tree()), (0.25, 2, 2, &tree));
    let replant = |weights: &[f64], arm| old.clone().replant(tree.clone(), weights, arm, 0);
    assert_eq!(replant(&[f64::NEG_INFINITY; 3], 0), Err(BanditError::NoMass));
    assert_eq!(replant(&[0.0; 3], 3), Err(BanditError::NoSuchArm { arm: 3, last: 2 }));
    assert!(matches!(replant(&[0.0, f64::NAN, 0.0], 0), Err(BanditError::Weight { arm: 1, .. })));
    assert!(matches!(replant(&[f64::INFINITY, 0.0, 0.0], 0), Err(BanditError::Weight { arm: 0, .. })));
    assert!(matches!(replant(&[0.0; 2], 0), Err(BanditError::Arms { .. })));
}

#[test]
fn the_learning_rate_can_change_but_not_to_nonsense() {
    let mut bandit = bandit(&[2], &[1], 0.25);
    bandit.set_eta(0.5).unwrap();
    assert_eq!(bandit.set_eta(0.0), Err(BanditError::Eta { eta: 0.0 }));
    assert_eq!(bandit.eta(), 0.5);
}
