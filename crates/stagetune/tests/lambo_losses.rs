//! The losses of LaMBO's arms are the minima they are said to be: a search that looks twenty times as hard hardly finds lower ones.

// Clippy lets tests unwrap and panic but not the helpers beside them.
#![allow(clippy::unwrap_used, clippy::panic)]

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stagetune::acquisition::{Beta, Maximiser};
use stagetune::space::{Cost, CostModel, Module, Param, RunHistory, Space};
use stagetune::strategy::lambo::{Alpha, LossScale};
use stagetune::strategy::{Lambo, LamboOptions, Strategy, View};
use stagetune::trial::{Proposed, Trial, TrialId};

fn space() -> Space {
    let module = |m: usize| {
        let params = [0, 1].map(|i| Param::float(&format!("x{}", 2 * m + i), 0.0, 1.0).unwrap());
        Module::new(&format!("m{m}"), params).unwrap().cost(Cost::Given(1.0)).unwrap()
    };
    Space::new((0..4).map(module)).unwrap()
}

/// Raw losses of the eight arms after 60 random trials of a wavy function.
fn losses(alpha: Alpha, effort: Maximiser, seed: u64) -> Vec<f64> {
    let space = space();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let waves: Vec<f64> = (0..space.dim()).map(|_| 2.0 + 4.0 * rng.random::<f64>()).collect();
    let mut history = RunHistory::new();
    let trials: Vec<Trial> = (0..60)
        .map(|i| {
            let u: Vec<f64> = (0..space.dim()).map(|_| rng.random()).collect();
            let value =
                u.iter().zip(&waves).map(|(u, w)| (w * u + seed as f64).sin()).sum::<f64>() + u[0] * u[5];
            let point = space.decode(&u).unwrap();
            history.record(&space, &point).unwrap();
            Trial::Observed(Proposed::new(TrialId::new(i), point).observe(value).unwrap())
        })
        .collect();
    let view = View {
        space: &space,
        trials: &trials,
        costs: None,
        cost_model: CostModel::Previous,
        history: &history,
        spent: 0.0,
        budget: None,
        most_trials: None,
    };
    let options = LamboOptions { alpha, effort, losses: LossScale::Raw, ..LamboOptions::paper() };
    let proposal = Lambo::new(&space, options, seed).unwrap().propose(&view).unwrap();
    proposal.why.arm.unwrap().losses
}

#[test]
fn a_harder_search_hardly_finds_lower_losses() {
    let hard = Maximiser { raw: 4_096, near_hints: 512, starts: 48, max_evaluations: 200, seed: 0 };
    for alpha in [Alpha::Lcb(Beta::Printed), Alpha::LogEi] {
        // How much lower the hard search gets, in units of the spread between the best and the worst arm.
        let mut gaps: Vec<f64> = Vec::new();
        for seed in 0..12 {
            let quick = losses(alpha.clone(), LamboOptions::paper().effort, seed);
            let slow = losses(alpha.clone(), hard.clone(), seed);
            assert_eq!(quick.len(), 8);
            let low = slow.iter().copied().fold(f64::INFINITY, f64::min);
            let high = slow.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            gaps.extend(quick.iter().zip(&slow).map(|(quick, slow)| (quick - slow) / (high - low)));
        }
        gaps.sort_by(f64::total_cmp);
        let (median, high) = (gaps[gaps.len() / 2], gaps[gaps.len() * 9 / 10]);
        println!("{alpha:?}: {median} {high} {:?}", gaps.last());
        assert!(median < 1e-3 && high < 0.05, "{alpha:?}: median gap {median}, nine of ten below {high}");
    }
}
