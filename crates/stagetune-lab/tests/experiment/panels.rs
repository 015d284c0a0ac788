//! Every panel at toy size, and what must hold of any experiment's curves.

use super::files::{Line, SIMS, by_run, number, plan, rows, run};
use stagetune::space::CostModel;
use stagetune::strategy::Design;
use stagetune::study::Event;
use stagetune_lab::experiment::output::COLUMNS;
use stagetune_lab::experiment::plan::Plan;
use stagetune_lab::experiment::record::Record;
use stagetune_lab::experiment::start::Start;
use stagetune_lab::experiment::summary::{Summary, THRESHOLDS};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const PANELS: [&str; 12] =
    ["a", "b", "c26", "c44", "c62", "d", "e", "f", "s-hartmann", "s-rastrigin", "s-ackley", "s-griewank"];

fn path(panel: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments").join(format!("panel-{panel}/plan.toml"))
}

/// The plan of a panel with few starting points and a small budget.
fn toy(panel: &str) -> Plan {
    let mut plan = Plan::read(&path(panel)).unwrap();
    plan.start = Design::Uniform(4);
    for entry in &mut plan.entries {
        if let Some(Start::Design(design)) = &mut entry.start {
            *design = Design::Nested { points: 4, every: 2 };
        }
    }
    (plan.budget, plan.trials, plan.sims) = (5.0, Some(10), SIMS);
    // Their games had another start.
    assert_eq!(plan.without_absent_peers().unwrap(), stagetune_lab::peers::NAMES);
    plan
}

/// Everything that must hold whatever was run.
fn check(plan: &Plan, folder: &Path) {
    let (curves, points) = (rows(folder, "curves.csv"), rows(folder, "points.csv"));
    let header = std::fs::read_to_string(folder.join("curves.csv")).unwrap();
    assert!(header.starts_with(&format!("{COLUMNS}\n")));
    assert_eq!(curves.len(), points.len());
    let (curves, points) = (by_run(&curves), by_run(&points));
    assert_eq!(curves.len(), plan.entries.len() * plan.sims);
    let summary = Summary::read(folder).unwrap();
    let mut starts: BTreeSet<(String, String, Vec<Line>)> = BTreeSet::new();
    for (curve, points) in curves.iter().zip(&points) {
        assert_eq!(curve[0][1..3], points[0][1..3]);
        costs_follow_from_points(plan, curve, points);
        curves_are_monotone(plan, curve);
        values_are_those_of_the_points(plan, curve, points);
        points_are_those_of_the_events(folder, points);
        the_summary_counts_what_was_paid_for(plan, &summary, curve);
        let entry = plan.entries.iter().find(|entry| entry.label == curve[0][1]).unwrap();
        if let Start::Design(design) = plan.start_of(entry) {
            let start: Vec<Line> = points[..design.len()].iter().map(|row| row[4..].to_vec()).collect();
            starts.insert((curve[0][2].clone(), plan.start_of(entry).describe(), start));
            assert!(points.iter().skip(design.len()).all(|row| row[4] == "strategy"), "{}", entry.label);
        }
    }
    let kinds: BTreeSet<&String> = starts.iter().map(|(_, kind, _)| kind).collect();
    assert_eq!(
        starts.len(),
        plan.sims * kinds.len(),
        "strategies saw other starting points or noise in the same run"
    );
}

/// What was charged follows from the points, and the points are what the study's events say was asked for.
fn points_are_those_of_the_events(folder: &Path, points: &[Line]) {
    let (label, sim): (&str, usize) = (&points[0][1], points[0][2].parse().unwrap());
    let text = std::fs::read_to_string(folder.join(format!("runs/{label}-{sim:04}.json"))).unwrap();
    let record: Record = serde_json::from_str(&text).unwrap();
    let asked: Vec<_> = record
        .events
        .iter()
        .filter_map(|event| match event {
            Event::Asked { proposal, .. } => Some(proposal.point.values()),
            _ => None,
        })
        .collect();
    assert_eq!(asked.len(), points.len());
    for (values, point) in asked.into_iter().zip(points) {
        let x: Vec<String> = values.iter().map(|value| value.as_float().unwrap().to_string()).collect();
        assert_eq!(x, point[6..]);
    }
}

fn values_are_those_of_the_points(plan: &Plan, curve: &[Line], points: &[Line]) {
    let problem = &plan.pipeline.problem;
    for (row, point) in curve.iter().zip(points) {
        let x: Vec<f64> = (6..point.len()).map(|column| number(point, column)).collect();
        assert_eq!(number(row, 5), problem.normalise(problem.evaluate(&x).unwrap()), "{row:?}");
        // Noise, but not a hundred standard deviations of it.
        assert!((number(point, 5) - number(row, 5)).abs() <= 100.0 * plan.pipeline.noise, "{point:?}");
    }
}

/// A trial that goes past the budget was not paid for.
fn the_summary_counts_what_was_paid_for(plan: &Plan, summary: &Summary, curve: &[Line]) {
    let outcome = &summary.strategies[&curve[0][1]];
    let run = outcome.per_sim.sim.iter().position(|sim| sim.to_string() == curve[0][2]).unwrap();
    let paid: Vec<&Line> = curve.iter().filter(|row| number(row, 4) <= plan.budget_cost() + 1e-6).collect();
    assert_eq!(outcome.per_sim.final_regret[run], number(paid[paid.len() - 1], 7));
    for (name, regret) in THRESHOLDS {
        let cost = paid.iter().find(|row| number(row, 7) <= regret).map(|row| number(row, 4));
        assert_eq!(outcome.per_sim.cost_to[name][run], cost);
    }
}

/// Γ from the points and the plan's costs alone, with texts compared as they stand.
fn costs_follow_from_points(plan: &Plan, curve: &[Line], points: &[Line]) {
    let mut spent = 0.0;
    let mut seen: BTreeSet<Vec<String>> = BTreeSet::new();
    for (t, (row, point)) in curve.iter().zip(points).enumerate() {
        let x = &point[6..];
        let previous = t.checked_sub(1).map(|t| &points[t][6..]);
        let (mut end, mut first) = (0, 0);
        for (m, (width, cost)) in plan.pipeline.split.iter().zip(&plan.pipeline.costs).enumerate() {
            end += width;
            let last = m + 1 == plan.pipeline.split.len();
            let runs = match plan.cost_model {
                CostModel::Previous => last || previous.is_none_or(|previous| previous[..end] != x[..end]),
                CostModel::Cache => !seen.contains(&x[..end]),
            };
            seen.insert(x[..end].to_vec());
            if runs {
                spent += cost;
                first = if first == 0 { m + 1 } else { first };
            }
        }
        assert!((number(row, 4) - spent).abs() < 1e-9, "{row:?}: {spent} was spent");
        assert_eq!(row[9], first.to_string(), "{row:?}");
    }
    // The trial that reaches the budget is the last one.
    let before_last = curve.len().checked_sub(2).map_or(0.0, |t| number(&curve[t], 4));
    assert!(before_last < plan.budget_cost());
    let ended = number(&curve[curve.len() - 1], 4) >= plan.budget_cost() || plan.trials == Some(curve.len());
    assert!(ended, "a run ended for no reason");
}

fn curves_are_monotone(plan: &Plan, curve: &[Line]) {
    let (mut cost, mut best, mut movement) = (0.0, f64::INFINITY, 0.0);
    for (t, row) in (1..).zip(curve) {
        assert_eq!(row[3], t.to_string());
        let (gamma, value) = (number(row, 4) - cost, number(row, 5));
        assert!(gamma > 0.0 || plan.cost_model == CostModel::Cache && gamma == 0.0);
        assert!((0.0..=1.0).contains(&value), "{row:?}");
        best = value.min(best);
        assert_eq!((number(row, 6), number(row, 7)), (best, best));
        movement += value + plan.lambda * gamma;
        assert!((number(row, 8) - movement).abs() < 1e-9);
        cost = number(row, 4);
    }
    assert_eq!(curve[0][9], "1");
}

#[test]
fn every_panel_runs_at_toy_size_and_its_numbers_follow_from_its_points() {
    for panel in PANELS {
        let plan = toy(panel);
        let folder = run(&plan, &format!("panel-{panel}"), 2);
        check(&plan, &folder);
        let svg = std::fs::read_to_string(folder.join("figure.svg")).unwrap();
        assert_eq!(plan.rows.len(), 4);
        for (row, label) in plan.rows.iter().flat_map(|row| row.show.iter().map(move |label| (row, label))) {
            let competes = plan.entries.iter().any(|entry| entry.label == *label);
            assert_eq!(svg.contains(&format!(">{label}</text>")), competes, "{panel}: {label}");
            assert!(svg.contains(&format!(">{}</text>", row.title)), "{}", row.title);
        }
        assert_eq!(svg.contains("cumulative movement regret"), panel == "d");
        let png = std::fs::read(folder.join("figure.png")).unwrap();
        assert!(png.starts_with(b"\x89PNG") && png.len() > 20_000, "{panel}: {} bytes", png.len());
    }
}

#[test]
fn every_panel_has_a_shifted_twin() {
    for panel in PANELS {
        let plain = Plan::read(&path(panel)).unwrap();
        let shifted = Plan::read(&path(&format!("{panel}/shifted")).canonicalize().unwrap()).unwrap();
        let (a, b) = (&plain.pipeline, &shifted.pipeline);
        assert_eq!(format!("{}@1", a.problem.name()), b.problem.name());
        assert_eq!((&a.split, &a.costs, plain.budget), (&b.split, &b.costs, shifted.budget));
        // The same competitors, but for what panel A and its twin alone have.
        let labels = |plan: &Plan| plan.entries.iter().map(|e| e.label.clone()).collect::<BTreeSet<String>>();
        assert!(labels(&plain).is_superset(&labels(&shifted)));
        assert!(["a", "s-hartmann"].contains(&panel) || labels(&plain) == labels(&shifted));
    }
}

#[test]
fn a_cache_a_draw_and_costs_that_must_be_learned_keep_their_accounts() {
    let text = "problem = 'gp3@4'\nsplit = [1, 1, 1]\ncosts = [5, 2, 1]\ncost_model = 'cache'\nbudget = 5\ntrials = 12\n\
                start = { nested = { points = 4, every = 2 } }\nsims = 2\nstrategies = ['random', 'gp-ucb', 'lambo']\n";
    let given = plan(text);
    check(&given, &run(&given, "cache", 2));

    let learned = plan(&format!("cost_spread = 0.5\n{text}"));
    let folder = run(&learned, "learned", 2);
    let curves = rows(&folder, "curves.csv");
    for curve in by_run(&curves) {
        let name = format!("runs/{}-{:0>4}.json", curve[0][1], curve[0][2]);
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        let file: serde_json::Value = serde_json::from_str(&text).unwrap();
        let told = file["events"].as_array().unwrap().iter().filter(|event| event["event"] == "ended");
        let charged = told.map(|event| event["cost"].as_f64().unwrap());
        let (mut spent, mut costs) = (0.0, Vec::new());
        for (row, cost) in curve.iter().zip(charged.collect::<Vec<f64>>()) {
            spent += cost;
            costs.push(cost);
            assert!((number(row, 4) - spent).abs() < 1e-9, "{row:?}: the study was told {spent}");
        }
        assert!(costs.iter().any(|cost| (cost - costs[0]).abs() > 1e-3), "costs do not vary");
    }
}
