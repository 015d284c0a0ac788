//! The files that an experiment leaves behind.

use super::curve::Curve;
use super::figure::{self, Letters};
use super::plan::Plan;
use super::record::Record;
use super::store::Store;
use super::summary::Summary;
use anyhow::Result;
use stagetune::strategy::Source;
use std::fmt::Write;

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
    let summary = Summary::of(plan, &curves)?;
    store.write("summary.json", format!("{}\n", serde_json::to_string_pretty(&summary)?).as_bytes())?;
    if plan.until.is_some() {
        // Curves of runs that end at different costs would mislead.
        return Ok(());
    }
    store.write("points.csv", points(plan, &records)?.as_bytes())?;
    store.write("curves.csv", table(plan, &curves, |_, _| true)?.as_bytes())?;
    // What the curves of regret need, in a twentieth of the space.
    let step = |curve: &Curve, i: usize| {
        let better = |before: usize| curve.rows[before].best > curve.rows[i].best;
        i.checked_sub(1).is_none_or(better) || i + 1 == curve.rows.len()
    };
    store.write("steps.csv", table(plan, &curves, step)?.as_bytes())?;
    store.write("figure.png", &figure::png(&figure::draw(plan, &curves, Letters::Outlines)?)?)?;
    store.write("figure.svg", figure::draw(plan, &curves, Letters::Text)?.as_bytes())
}

/// Rows of `curves.csv`; numbers have as many digits as it takes to read them back exactly.
fn table(plan: &Plan, curves: &[Curve], keep: impl Fn(&Curve, usize) -> bool) -> Result<String> {
    let problem = plan.pipeline.problem.name();
    let mut text = format!("{COLUMNS}\n");
    for curve in curves {
        for (i, row) in curve.rows.iter().enumerate().filter(|(i, _)| keep(curve, *i)) {
            let (strategy, sim, iteration) = (&curve.strategy, curve.sim, i + 1);
            write!(text, "{problem},{strategy},{sim},{iteration},{},{},{},", row.cost, row.value, row.best)?;
            let (regret, movement, first) = (row.regret, row.movement_regret, row.first_changed_module);
            writeln!(text, "{regret},{movement},{first},{:.6}", row.ask_seconds)?;
        }
    }
    Ok(text)
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
