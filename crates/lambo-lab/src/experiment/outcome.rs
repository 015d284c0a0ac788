//! `lambo-lab table`: the numbers of an experiment as a table in Markdown.

use super::summary::{CostTo, Outcome, Summary, THRESHOLDS};
use anyhow::{Context, Result};
use std::fmt::Write;

/// A table of these labels, or of all, the lowest regret first.
pub fn markdown(summary: &Summary, labels: Option<&[String]>) -> Result<String> {
    let mut shown: Vec<(&str, &Outcome)> = Vec::new();
    match labels {
        Some(labels) => {
            for label in labels {
                let outcome = summary.strategies.get(label);
                let name = summary.name();
                shown.push((label, outcome.with_context(|| format!("{name} has no strategy {label}"))?));
            }
        }
        None => {
            shown.extend(summary.strategies.iter().map(|(label, outcome)| (label.as_str(), outcome)));
            shown.sort_by(|(_, a), (_, b)| a.final_regret.mean.total_cmp(&b.final_regret.mean));
        }
    }
    let full: f64 = summary.costs.iter().sum();
    let mut text =
        format!("{}, {} full runs, seed {}\n\n", summary.name(), summary.budget_full_runs, summary.seed);
    text.push_str("| strategy | runs | cost to 0.10 | to 0.05 | to 0.02 | final regret | trials | first module moved | ask |\n");
    text.push_str("| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (label, outcome) in shown {
        let cost = |name: &str| match outcome.cost_to.get(name) {
            Some(CostTo { median, reached }) => format!("{:.1} ({:.0}%)", median / full, 100.0 * reached),
            None => "".to_owned(),
        };
        let costs: Vec<String> = THRESHOLDS.iter().map(|(name, _)| cost(name)).collect();
        let regret = &outcome.final_regret;
        writeln!(
            text,
            "| {label} | {} | {} | {:.4} [{:.4}, {:.4}] | {:.0} | {:.0} | {} |",
            outcome.sims,
            costs.join(" | "),
            regret.mean,
            regret.ci95[0],
            regret.ci95[1],
            outcome.trials.mean,
            outcome.first_module_changes.mean,
            duration(outcome.ask_seconds.median)
        )?;
    }
    text.push('\n');
    Ok(text)
}

/// Seconds for people.
fn duration(seconds: f64) -> String {
    if seconds >= 1.0 {
        format!("{seconds:.1} s")
    } else if seconds >= 1e-3 {
        format!("{:.1} ms", seconds * 1e3)
    } else {
        "under 1 ms".to_owned()
    }
}
