//! One step of the slowly moving bandit.

use divan::Bencher;
use stagetune::bandit::{Sign, SlowlyMovingBandit, Tree};

/// Modules of two regions each: every level has half of the subtrees of the one below.
#[divan::bench(args = [8, 64, 4096])]
fn update_on_modules(bencher: Bencher, arms: usize) {
    let modules = arms.ilog2() as usize;
    update(bencher, Tree::new(&vec![2; modules], &vec![1; modules]).unwrap());
}

/// The same with every cut one arm earlier: no level is even, and each keeps its own list of ends.
#[divan::bench(args = [8, 64, 4096])]
fn update_on_an_uneven_tree(bencher: Bencher, arms: usize) {
    let sizes = |h: u32| {
        let mut sizes = vec![1 << h; arms >> h];
        sizes[0] -= 1;
        sizes[(arms >> h) - 1] += 1;
        sizes
    };
    let levels: Vec<Vec<usize>> = (1..arms.ilog2()).map(sizes).collect();
    update(bencher, Tree::from_levels(arms, &levels).unwrap());
}

/// The costliest update of all, whose signs visit every level.
fn update(bencher: Bencher, tree: Tree) {
    let losses: Vec<f64> = (0..tree.arms()).map(|i| (i * 7 % 11) as f64 / 11.0).collect();
    let signs = vec![Sign::Plus; tree.height()];
    let bandit = SlowlyMovingBandit::new(tree, 0.5).unwrap();
    // Each update starts afresh: after many of the same, all mass is on one arm.
    bencher.with_inputs(|| bandit.clone()).bench_local_values(|mut bandit| {
        let step = bandit.update(&losses, &signs).unwrap();
        (bandit, step)
    });
}
