//! The files that an experiment leaves behind.

use super::curve::{Curve, OPTIMUM, Row};
use super::figure::{self, Letters};
use super::plan::Plan;
use super::raw::place::SUMMARY;
use super::raw::{self, ASK_DIGITS, Results};
use super::record::Record;
use super::store::Store;
use super::summary::Summary;
use crate::write::write_whole;
use anyhow::{Context, Result};
use stagetune::strategy::Source;
use std::fmt::Write;
use std::path::Path;

/// The columns of `curves.csv`.
pub const COLUMNS: &str =
    "problem,strategy,sim,iteration,cost,value,best,regret,movement_regret,first_changed_module,ask_seconds";

/// Writes everything, ordered by strategy as in the plan, then by run.
pub fn write(plan: &Plan, store: &Store, records: &[Record]) -> Result<()> {
    let order =
        |record: &&Record| (plan.entries.iter().position(|entry| entry.label == record.strategy), record.sim);
    let mut records: Vec<&Record> = records.iter().collect();
    records.sort_by_key(order);
    let curves = records.iter().map(|record| Curve::of(plan, record)).collect::<Result<Vec<Curve>>>()?;
    let results = Results::of(plan, &curves, store.part())?;
    // Before the files for people: with it nothing is lost.
    raw::file::put(&store.raw(), results.clone())?;
    unpack(&results, store.folder())?;
    if plan.until.is_some() {
        // Curves of runs that end at different costs would mislead.
        return Ok(());
    }
    store.write("points.csv", points(plan, &records)?.as_bytes())?;
    store.write("curves.csv", table(plan, &curves).as_bytes())?;
    store.write("figure.png", &figure::png(&figure::draw(plan, &curves, Letters::Outlines)?)?)?;
    store.write("figure.svg", figure::draw(plan, &curves, Letters::Text)?.as_bytes())
}

/// Writes what raw results hold for people: `summary.json`, and `steps.csv` where its rows were kept.
pub fn unpack(results: &Results, folder: &Path) -> Result<()> {
    let summary = Summary::of(results)?;
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let text = format!("{}\n", serde_json::to_string_pretty(&summary)?);
    write_whole(&folder.join(SUMMARY), text.as_bytes())?;
    match steps(results) {
        Some(text) => write_whole(&folder.join("steps.csv"), text.as_bytes()),
        None => Ok(()),
    }
}

/// Sixteen digits for the summary and sixteen for the steps, `-` where none were kept: equal for
/// equal numbers, to the last bit.
pub fn digest(results: &Results) -> Result<String> {
    let short = |text: &str| blake3::hash(text.as_bytes()).to_hex().chars().take(16).collect::<String>();
    let summary = short(&serde_json::to_string(&Summary::of(results)?)?);
    Ok(format!("{summary} {}", steps(results).map_or("-".to_owned(), |text| short(&text))))
}

/// `steps.csv`: what the curves of regret need, in a twentieth of the space; its columns are those
/// of `curves.csv`.
pub fn steps(results: &Results) -> Option<String> {
    let problem = &results.about.problem;
    let mut text = format!("{COLUMNS}\n");
    for competitor in &results.competitors {
        for run in &competitor.runs {
            let steps = run.steps.as_ref()?;
            let mut best = f64::INFINITY;
            for (i, value) in steps.value.iter().copied().enumerate() {
                best = best.min(value);
                let row = Row {
                    cost: steps.cost[i],
                    value,
                    best,
                    regret: best - OPTIMUM,
                    movement_regret: steps.movement_regret[i],
                    first_changed_module: steps.first_changed_module[i],
                    ask_seconds: steps.ask_seconds[i],
                };
                let who = (problem.as_str(), competitor.label.as_str(), run.sim);
                line(&mut text, who, steps.iteration[i], &row);
            }
        }
    }
    Some(text)
}

/// Rows of `curves.csv`; numbers have as many digits as it takes to read them back exactly.
fn table(plan: &Plan, curves: &[Curve]) -> String {
    let problem = plan.pipeline.problem.name();
    let mut text = format!("{COLUMNS}\n");
    for curve in curves {
        for (iteration, row) in (1..).zip(&curve.rows) {
            line(&mut text, (problem, &curve.strategy, curve.sim), iteration, row);
        }
    }
    text
}

fn line(text: &mut String, (problem, strategy, sim): (&str, &str, usize), iteration: usize, row: &Row) {
    let Row { cost, value, best, regret, movement_regret, first_changed_module, ask_seconds } = row;
    // Writing into a string does not fail.
    let _ = write!(text, "{problem},{strategy},{sim},{iteration},{cost},{value},{best},{regret},");
    let _ = writeln!(text, "{movement_regret},{first_changed_module},{ask_seconds:.ASK_DIGITS$}");
}

/// `points.csv`: what was tried and what was seen, noise included; enough to work out every other number.
fn points(plan: &Plan, records: &[&Record]) -> Result<String> {
    let problem = plan.pipeline.problem.name();
    let mut text = "problem,strategy,sim,iteration,source,observed".to_owned();
    match plan.pipeline.problem.table() {
        Some(table) => table.params().try_for_each(|param| write!(text, ",{}_index", param.name))?,
        None => (1..=plan.pipeline.problem.dim()).try_for_each(|variable| write!(text, ",x{variable}"))?,
    }
    text.push('\n');
    for record in records {
        for (iteration, trial) in (1..).zip(record.trials()?) {
            let source = if trial.source == Source::Design { "design" } else { "strategy" };
            let (strategy, sim, observed) = (&record.strategy, record.sim, trial.observed);
            write!(text, "{problem},{strategy},{sim},{iteration},{source},{observed}")?;
            for x in plan.pipeline.coordinates(trial.point) {
                write!(text, ",{x}")?;
            }
            text.push('\n');
        }
    }
    Ok(text)
}
