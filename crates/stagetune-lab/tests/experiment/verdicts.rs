//! Comparisons, tournaments and halves on made-up summaries whose answers are known.

use serde_json::{Value, json};
use stagetune_lab::experiment::compare::compare;
use stagetune_lab::experiment::summary::Summary;
use stagetune_lab::experiment::{best_of::best_of, halves, tournament};

/// A summary in which these strategies have these final regrets and, for every threshold, these costs.
fn summary(seed: u64, strategies: &[(&str, Vec<f64>, f64)]) -> Summary {
    let outcome = |regrets: &[f64], cost: f64| -> Value {
        let spread = json!({"mean": 0.0, "median": 0.0, "ci95": [0.0, 0.0]});
        let costs = vec![cost; regrets.len()];
        json!({
            "sims": regrets.len(), "cost_to": {}, "cost_to_without_start": {}, "final_regret": spread, "movement_regret": spread,
            "first_module_changes": spread, "trials": spread, "starting_cost": spread, "ask_seconds": {"median": 0.0, "p95": 0.0},
            "per_sim": {
                "sim": (1..=regrets.len()).collect::<Vec<_>>(), "final_regret": regrets, "movement_regret": regrets,
                "cost_to": {"0.10": costs, "0.05": costs, "0.02": costs},
            },
        })
    };
    let all: serde_json::Map<String, Value> = strategies
        .iter()
        .map(|(label, regrets, cost)| ((*label).to_owned(), outcome(regrets, *cost)))
        .collect();
    serde_json::from_value(json!({
        "problem": "toy2", "split": [1, 1], "costs": [10.0, 1.0], "cost_model": "previous", "noise": 0.0, "budget_full_runs": 10.0,
        "budget": 110.0, "start": "uniform-4", "lambda": 0.1, "seed": seed, "command": "", "date": "", "cores": 1, "version": "",
        "optimised": true, "strategies": all,
    }))
    .unwrap()
}

fn regrets(n: usize, of: impl Fn(usize) -> f64) -> Vec<f64> {
    (1..=n).map(of).collect()
}

#[test]
fn lower_is_better_and_few_runs_decide_nothing() {
    // Large differences from run to run, and 0.1 less in every one of them.
    let a = summary(1, &[("x", regrets(8, |run| run as f64), 50.0)]);
    let b = summary(1, &[("x", regrets(8, |run| run as f64 - 0.1), 60.0)]);
    let verdicts = |a: &Summary, b: &Summary| {
        let rows = compare(a, b, None).unwrap().rows;
        rows.iter().map(|row| (row.measure.clone(), row.difference, row.verdict)).collect::<Vec<_>>()
    };
    let forth = verdicts(&a, &b);
    assert_eq!((forth[0].0.as_str(), forth[0].2), ("final_regret", "better"));
    assert!((forth[0].1 + 0.1).abs() < 1e-12);
    assert_eq!((forth[2].0.as_str(), forth[2].1, forth[2].2), ("cost_to_0.10", 10.0, "worse"));
    assert_eq!(verdicts(&b, &a)[0].2, "worse");
    // With other seeds runs are not paired, and such a difference is lost among them.
    let other = summary(2, &[("x", regrets(8, |run| run as f64 - 0.1), 60.0)]);
    assert_eq!(verdicts(&a, &other)[0].2, "unclear");
    let few = |shift: f64| summary(1, &[("x", regrets(4, |run| run as f64 + shift), 50.0)]);
    assert_eq!(verdicts(&few(0.0), &few(-0.1))[0].2, "unclear");
}

#[test]
fn a_tournament_ranks_the_lowest_regret_first() {
    let strategies = [
        ("middle", regrets(6, |_| 0.2), 20.0),
        ("worst", regrets(6, |_| 0.3), 40.0),
        ("best", regrets(6, |_| 0.1), 10.0),
        ("middle-too", regrets(6, |_| 0.2 + 1e-9), 20.0),
    ];
    let held = tournament::hold(&[summary(1, &strategies)], None, "worst", None).unwrap();
    let standings: Vec<(&str, f64)> =
        held.strategies.iter().map(|row| (row.strategy.as_str(), row.average_rank)).collect();
    assert_eq!(standings, [("best", 1.0), ("middle", 2.5), ("middle-too", 2.5), ("worst", 4.0)]);
    let ratios: Vec<f64> = held.strategies.iter().map(|row| row.cost_ratio).collect();
    assert!(
        ratios.iter().zip([0.25, 0.5, 0.5, 1.0]).all(|(got, want)| (got - want).abs() < 1e-12),
        "{ratios:?}"
    );
    let before = |a: &str, b: &str| held.before.contains(&[a.to_owned(), b.to_owned()]);
    assert!(before("best", "middle") && before("best", "worst") && before("middle", "worst"));
    assert!(!before("worst", "best") && !before("middle", "middle-too") && !before("middle-too", "middle"));
    let few: Vec<_> = strategies.iter().map(|(label, r, cost)| (*label, r[..4].to_vec(), *cost)).collect();
    assert!(tournament::hold(&[summary(1, &few)], None, "worst", None).unwrap().before.is_empty());
}

#[test]
fn the_same_experiment_does_not_count_twice() {
    let one = || summary(1, &[("x", regrets(6, |run| run as f64), 1.0)]);
    let refused = tournament::hold(&[one(), one()], None, "x", None).unwrap_err().to_string();
    assert!(refused.contains("same experiment"), "{refused}");
    let two = summary(2, &[("x", regrets(6, |run| run as f64), 1.0)]);
    assert!(tournament::hold(&[one(), two], None, "x", None).is_ok());
}

#[test]
fn halves_that_disagree_contradict_each_other() {
    // `x` wins the odd runs and loses the even ones.
    let turncoat = [
        ("x", regrets(12, |run| if run % 2 == 1 { 0.1 } else { 0.3 }), 10.0),
        ("y", regrets(12, |_| 0.2), 10.0),
    ];
    let held = halves::hold(&[summary(1, &turncoat)], None, "x", None).unwrap();
    assert_eq!((held.decided_by_both, held.contradictions.as_slice()), (1, &["x and y".to_owned()][..]));
    assert_eq!(held.beyond_intervals.len(), 2, "{:?}", held.beyond_intervals);
    let steady = [("x", regrets(12, |_| 0.1), 10.0), ("y", regrets(12, |_| 0.2), 10.0)];
    let held = halves::hold(&[summary(1, &steady)], None, "x", None).unwrap();
    assert_eq!((held.decided_by_both, held.contradictions.len(), held.beyond_intervals.len()), (1, 0, 0));
}

#[test]
fn the_best_rival_is_chosen_problem_by_problem_and_runs_of_the_same_rules_are_one_problem() {
    let nothing = || regrets(6, |_| 0.0);
    // The newcomer was run later, under the same rules; full runs cost 11.
    let old = summary(1, &[("dear", nothing(), 88.0), ("cheap", nothing(), 22.0), ("other", nothing(), 1.0)]);
    let new = summary(1, &[("me", nothing(), 11.0)]);
    let second =
        summary(2, &[("dear", nothing(), 44.0), ("cheap", nothing(), 88.0), ("me", nothing(), 55.0)]);
    let rivals = ["dear", "cheap"].map(str::to_owned);
    let whole = second.clone();
    let found = best_of(&[old.clone(), new, second], "me", &rivals).unwrap();
    let chosen: Vec<(&str, f64)> = found.problems.iter().map(|p| (p.rival.as_str(), p.ratio.ratio)).collect();
    assert_eq!(chosen.iter().map(|c| c.0).collect::<Vec<_>>(), ["cheap", "dear"]);
    assert!((chosen[0].1 - 0.5).abs() < 1e-12 && (chosen[1].1 - 1.25).abs() < 1e-12);
    assert!(
        (found.problems[0].cost - 1.0).abs() < 1e-12 && (found.problems[0].rival_cost - 2.0).abs() < 1e-12
    );
    assert!((found.all.ratio - (0.5f64 * 1.25).sqrt()).abs() < 1e-12 && found.all.problems == 2);
    // Beside one rival throughout: 1/8 and 5/4, or 1/2 and 5/8.
    let one = found.one_rival.unwrap();
    assert_eq!(one.rival, "cheap");
    assert!((one.all.ratio - (0.5f64 * 0.625).sqrt()).abs() < 1e-12);
    // Equal in every run, so that 1.25 is certain, and more than a tenth.
    assert_eq!(found.worse.len(), 1);
    // Nobody to compare with, too few runs in common, and the same runs twice.
    assert!(best_of(std::slice::from_ref(&old), "me", &rivals).is_err());
    let few = summary(1, &[("me", regrets(4, |_| 0.0), 11.0)]);
    assert!(best_of(&[old.clone(), few], "me", &rivals).is_err());
    let error = best_of(&[old.clone(), old], "other", &rivals).unwrap_err().to_string();
    assert!(error.contains("two experiments"), "{error}");
    let twice = ["dear", "me"].map(str::to_owned);
    assert!(best_of(std::slice::from_ref(&whole), "me", &twice).is_err());
    let unknown = ["dear", "nobody"].map(str::to_owned);
    assert!(best_of(&[whole], "me", &unknown).unwrap_err().to_string().contains("nobody"));
}
