//! Which settings of LaMBO are worth having: variants of the paper's settings, each changed in one or a few places, on the same seeds.
//!
//! Scores are mean simple regrets (noise-free, normalised) when the spent cost reaches 20, 30 and 60 runs of the whole pipeline, the starting
//! points counted.

use super::Finding;
use crate::simulate::{Pipeline, Step, in_parallel};
use anyhow::{Context, Result, ensure};
use clap::Args;
use serde::Serialize;
use stagetune::acquisition::Beta;
use stagetune::strategy::lambo::{Alpha, Depths};
use stagetune::strategy::{Design, Lambo, LamboOptions, ModelOptions, Noise, Strategy, by_name};

pub const CLAIM: &str = "the default settings of lambo have a lower mean regret than the paper's after 30 full runs, over all problems";

/// Costs at which regret is read off, in runs of the whole pipeline.
const READINGS: [f64; 3] = [20.0, 30.0, 60.0];

/// Problems, variables of the modules, costs. Shifted ones, since an optimum in the middle flatters bisection.
const PROBLEMS: [(&str, &[usize], &[f64]); 6] = [
    ("hartmann6", &[3, 3], &[10.0, 1.0]),
    ("hartmann6", &[2, 2, 2], &[40.0, 10.0, 1.0]),
    ("levy6@3", &[3, 3], &[10.0, 1.0]),
    ("griewank6@3", &[3, 3], &[10.0, 1.0]),
    ("ackley8@3", &[2, 2, 4], &[40.0, 10.0, 1.0]),
    ("rastrigin6@3", &[3, 3], &[10.0, 1.0]),
];

/// The size of the comparison.
#[derive(Debug, Args)]
pub struct Options {
    /// Runs per problem and variant.
    #[arg(long, default_value_t = 10)]
    runs: u64,
    /// No run is longer than this, whatever it has spent.
    #[arg(long, default_value_t = 200)]
    trials: usize,
    /// Variants, separated by commas; without any, all.
    #[arg(long, value_delimiter = ',')]
    variants: Vec<String>,
    /// Problems of the list to use, by number from 1; without any, all.
    #[arg(long, value_delimiter = ',')]
    problems: Vec<usize>,
}

#[derive(Serialize)]
struct Row {
    variant: String,
    /// Mean regret at each reading, and the standard error of each.
    problems: Vec<Cell>,
    /// Geometric mean over problems of the mean regrets, at each reading.
    overall: Vec<f64>,
}

#[derive(Serialize)]
struct Cell {
    problem: String,
    split: Vec<usize>,
    costs: Vec<f64>,
    regret: Vec<f64>,
    standard_error: Vec<f64>,
    first_module_moves: f64,
    trials: f64,
}

/// What is compared without a choice of variants; the others are there to be asked for.
const VARIANTS: [&str; 10] = [
    "gp-ucb",
    "paper",
    "sqrt",
    "log-ei",
    "nested",
    "modern",
    "modern-sqrt",
    "modern-nested",
    "modern-nested-deep",
    "default",
];

/// Variants that measured no better and are compared on demand.
const MORE: [&str; 8] =
    ["ei", "modern-se", "modern-known-noise", "modern-ei", "no-growth", "no-refresh", "deep", "eta-3"];

/// A variant of LaMBO's settings, or a strategy of the catalogue.
pub(super) fn variant(name: &str, space: &stagetune::space::Space, seed: u64) -> Result<Box<dyn Strategy>> {
    let paper = LamboOptions::paper;
    let nested = Design::Nested { points: 15, every: 3 };
    // Fitted at every iteration, like the default.
    let every = || ModelOptions { refit_share: 0.0, ..ModelOptions::modern() };
    let modern = || LamboOptions { model: every(), alpha: Alpha::LogEi, ..paper() };
    let options = match name {
        "paper" => paper(),
        "sqrt" => LamboOptions { alpha: Alpha::Lcb(Beta::Sqrt), ..paper() },
        "ei" => LamboOptions { alpha: Alpha::Ei, ..paper() },
        "log-ei" => LamboOptions { alpha: Alpha::LogEi, ..paper() },
        "modern" => modern(),
        "modern-se" => LamboOptions {
            model: ModelOptions { family: stagetune::surrogate::Family::SquaredExponential, ..every() },
            ..modern()
        },
        "modern-known-noise" => {
            LamboOptions { model: ModelOptions { noise: Noise::Known(1e-4), ..every() }, ..modern() }
        }
        "modern-ei" => LamboOptions { alpha: Alpha::Ei, ..modern() },
        "modern-sqrt" => LamboOptions { alpha: Alpha::Lcb(Beta::Sqrt), ..modern() },
        "nested" => LamboOptions { design: nested, ..paper() },
        "no-growth" => LamboOptions { growth: None, ..modern() },
        "deep" => LamboOptions { depths: Depths::All(2), ..modern() },
        "eta-3" => LamboOptions { eta: 3.0, ..modern() },
        "no-refresh" => LamboOptions { refresh_every: None, ..modern() },
        "modern-nested" => LamboOptions { design: nested, ..modern() },
        "modern-nested-deep" => LamboOptions { design: nested, depths: Depths::All(2), ..modern() },
        "default" => LamboOptions::default(),
        _ => {
            let known = || {
                format!(
                    "no variant is called `{name}`; there are {}",
                    [&VARIANTS[..], &MORE].concat().join(", ")
                )
            };
            return by_name(name, space, seed).with_context(known);
        }
    };
    Ok(Box::new(Lambo::new(space, options, seed)?))
}

/// Runs every variant on every problem with the same seeds.
pub fn run(options: &Options, seed: u64) -> Result<Finding> {
    ensure!(options.runs > 1, "--runs {}: a standard error needs two", options.runs);
    ensure!(
        options.problems.iter().all(|p| (1..=PROBLEMS.len()).contains(p)),
        "--problems: there are {}",
        PROBLEMS.len()
    );
    let names: Vec<&str> = match options.variants.as_slice() {
        [] => VARIANTS.to_vec(),
        names => names.iter().map(String::as_str).collect(),
    };
    let chosen = |p: &usize| options.problems.is_empty() || options.problems.contains(&(p + 1));
    let seeds: Vec<u64> = (0..options.runs).map(|run| seed.wrapping_add(run)).collect();
    let mut rows: Vec<Row> = Vec::new();
    for name in names {
        let mut cells = Vec::new();
        for p in (0..PROBLEMS.len()).filter(chosen) {
            let (problem, split, costs) = PROBLEMS[p];
            cells.push(cell(options, name, &Pipeline::new(problem, split, costs, 0.01)?, &seeds)?);
        }
        let overall = (0..READINGS.len())
            .map(|r| {
                (cells.iter().map(|cell| cell.regret[r].max(1e-12).ln()).sum::<f64>() / cells.len() as f64)
                    .exp()
            })
            .collect();
        eprintln!("settings: {name}: {overall:.4?}");
        rows.push(Row { variant: name.to_owned(), problems: cells, overall });
    }
    let at_30 = |name: &str| rows.iter().find(|row| row.variant == name).map(|row| row.overall[1]);
    let holds = matches!((at_30("default"), at_30("paper")), (Some(ours), Some(theirs)) if ours < theirs);
    Finding::new(
        holds,
        &serde_json::json!({
            "noise": 0.01, "runs": options.runs, "longest": options.trials, "read_at_full_runs": READINGS, "rows": rows,
        }),
    )
}

fn cell(options: &Options, name: &str, pipeline: &Pipeline, seeds: &[u64]) -> Result<Cell> {
    let space = pipeline.space()?;
    let full: f64 = pipeline.costs.iter().sum();
    let budget = READINGS[READINGS.len() - 1] * full;
    let label = format!("{name} on {} {:?}", pipeline.problem.name(), pipeline.split);
    let runs = in_parallel(&label, seeds, |seed| {
        let steps = pipeline.run_until(variant(name, &space, seed)?, options.trials, budget, seed)?;
        let regrets = READINGS.map(|full_runs| regret_at(&steps, &pipeline.costs, full_runs * full));
        let moves = steps.iter().filter(|step| step.movement.first_changed == Some(0)).count();
        Ok((regrets, moves as f64, steps.len() as f64))
    })?;
    let count = runs.len() as f64;
    let mean = |r: usize| runs.iter().map(|run| run.0[r]).sum::<f64>() / count;
    let standard_error = |r: usize| {
        let variance = runs.iter().map(|run| (run.0[r] - mean(r)).powi(2)).sum::<f64>() / (count - 1.0);
        (variance / count).sqrt()
    };
    Ok(Cell {
        problem: pipeline.problem.name().to_owned(),
        split: pipeline.split.clone(),
        costs: pipeline.costs.clone(),
        regret: (0..READINGS.len()).map(mean).collect(),
        standard_error: (0..READINGS.len()).map(standard_error).collect(),
        first_module_moves: runs.iter().map(|run| run.1).sum::<f64>() / count,
        trials: runs.iter().map(|run| run.2).sum::<f64>() / count,
    })
}

/// The lowest value among the trials whose cost fits; 1, the worst there is, before the first.
fn regret_at(steps: &[Step], costs: &[f64], budget: f64) -> f64 {
    let mut spent = 0.0;
    let mut best = 1.0f64;
    for step in steps {
        spent += step.movement.cost(costs).unwrap_or(f64::INFINITY);
        if spent > budget {
            break;
        }
        best = best.min(step.value);
    }
    best
}
