//! What stands in `experiments/`: complete, of one piece, and saying what the documents say it does.

use super::files::{by_run, number, parse};
use stagetune_lab::experiment::plan::Plan;
use stagetune_lab::experiment::raw::{file::FILE, place};
use stagetune_lab::experiment::summary::Summary;
use stagetune_lab::experiment::{compare, halves, output};
use std::path::{Path, PathBuf};

fn experiments() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments")
}

/// The panels over test functions. Those over tables, G and H, join once they were run.
const FUNCTIONS: [&str; 12] =
    ["a", "b", "c26", "c44", "c62", "d", "e", "f", "s-ackley", "s-griewank", "s-hartmann", "s-rastrigin"];

/// Variants of a panel in folders of its own, whose story stands beside the plain one.
const VARIANTS: [&str; 2] = ["shifted", "measured"];

/// The folders of all panels that were run, variants included.
fn panels() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = std::fs::read_dir(experiments())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("panel-"))
        .flat_map(|path| {
            let variants = VARIANTS.map(|variant| path.join(variant));
            std::iter::once(path).chain(variants)
        })
        .filter(|path| path.join(FILE).exists())
        .collect();
    folders.sort();
    folders
}

#[test]
fn every_panel_has_its_plan_its_numbers_its_figure_and_its_story() {
    for panel in FUNCTIONS {
        let raw = experiments().join(format!("panel-{panel}")).join(FILE);
        assert!(raw.exists(), "panel {panel} was not run");
    }
    for folder in panels() {
        let name = folder.display();
        let (plan, summary) =
            (Plan::read(&folder.join("plan.toml")).unwrap(), Summary::read(&folder).unwrap());
        assert_eq!(summary.problem, plan.pipeline.problem.name(), "{name}");
        assert_eq!((&summary.split, &summary.costs), (&plan.pipeline.split, &plan.pipeline.costs), "{name}");
        assert_eq!((summary.budget, summary.seed), (plan.budget_cost(), plan.seed), "{name}");
        assert!(summary.optimised && summary.command.contains("stagetune-lab run"), "{name}");
        for entry in plan.entries.iter().filter(|entry| entry.games.is_none()) {
            assert!(summary.strategies.contains_key(&entry.label), "{name}: {}", entry.label);
        }
        assert!(folder.join("figure.svg").is_file(), "{name}");
        let table = plan.pipeline.problem.table().map(|table| table.fingerprint().to_owned());
        assert_eq!(
            summary.table.as_ref().map(|table| table.fingerprint.clone()),
            table,
            "{name}: another table"
        );
        let variant = VARIANTS.into_iter().find(|variant| folder.ends_with(variant));
        let home = if variant.is_some() { folder.join("..") } else { folder.clone() };
        let story = std::fs::read_to_string(home.join("README.md")).unwrap();
        let part = variant.map_or("plan.toml".to_owned(), |variant| format!("{variant}/plan.toml"));
        assert!(
            story.contains("stagetune-lab -- run experiments/") && story.contains(&part),
            "{name}: no command"
        );
    }
}

#[test]
fn summaries_follow_from_the_steps_of_their_runs() {
    for folder in panels() {
        let results = place::raw(&folder).unwrap();
        let (summary, steps) = (Summary::of(&results).unwrap(), output::steps(&results).unwrap());
        let steps = parse(&steps);
        for (label, outcome) in &summary.strategies {
            let runs: Vec<_> = by_run(&steps).into_iter().filter(|run| run[0][1] == *label).collect();
            assert_eq!(runs.len(), outcome.sims, "{}: {label}", folder.display());
            for (i, run) in runs.iter().enumerate() {
                let run: Vec<_> = run.iter().filter(|row| number(row, 4) <= summary.budget + 1e-6).collect();
                assert_eq!(number(run[run.len() - 1], 7), outcome.per_sim.final_regret[i], "{label} {i}");
                for (threshold, regret) in summary.thresholds() {
                    let reached = run.iter().find(|row| number(row, 7) <= regret).map(|row| number(row, 4));
                    assert_eq!(reached, outcome.per_sim.cost_to[threshold][i], "{label} {i} {threshold}");
                }
            }
        }
    }
}

#[test]
fn gp_ei_is_no_worse_than_the_log_ei_of_botorch() {
    for panel in ["panel-a", "panel-s-griewank"] {
        let summary = Summary::read(&experiments().join(panel)).unwrap();
        let versus = compare::compare(&summary, &summary, Some(["botorch-logei", "gp-ei"])).unwrap();
        let regret = versus.rows.iter().find(|row| row.measure == "final_regret").unwrap();
        assert!(versus.paired && regret.sims[0] >= 30, "{panel}: {regret:?}");
        assert_ne!(regret.verdict, "worse", "{panel}: {regret:?}");
    }
}

#[test]
fn the_verdict_of_panel_a_is_the_same_on_disjoint_seeds() {
    let summary = Summary::read(&experiments().join("panel-a")).unwrap();
    let labels: Vec<String> =
        summary.strategies.iter().filter(|(_, o)| o.sims == 100).map(|(label, _)| label.clone()).collect();
    assert!(labels.len() >= 12);
    let halves = halves::hold(&[summary], Some(&labels), "random", None).unwrap();
    assert!(halves.decided_by_both > 100);
    assert_eq!(halves.contradictions, Vec::<String>::new());
    // One in twenty differs by chance; more than one in ten would be more than chance.
    assert!(10 * halves.beyond_intervals.len() <= halves.numbers, "{:?}", halves.beyond_intervals);
}
