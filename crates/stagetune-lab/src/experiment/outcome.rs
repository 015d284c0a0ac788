//! `stagetune-lab table`: the numbers of an experiment as a table in Markdown.

use super::summary::{CostTo, HoursTo, Outcome, SECONDS_PER_HOUR, Summary, THRESHOLDS, time_unit};
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
    if let Some(table) = &summary.table {
        writeln!(
            text,
            "{} settings, {} best {:.4}, mean {:.4}, worst {:.4}; within 5% of the best: {:.4} or more, a regret of {:.4}\n",
            table.settings,
            table.metric,
            table.best,
            table.mean,
            table.worst,
            table.within_5_percent,
            table.regret_within_5_percent
        )?;
    }
    let (unit, seconds) = time_unit(summary.budget);
    let (extra, rule) = match summary.table {
        Some(_) => (format!(" {unit} to 5% | after the start |"), " --- | --- |"),
        None => (String::new(), ""),
    };
    writeln!(
        text,
        "| strategy | runs |{extra} cost to 0.10 | to 0.05 | to 0.02 | final regret | trials | first module moved | ask |"
    )?;
    writeln!(text, "| --- | --- |{rule} --- | --- | --- | --- | --- | --- | --- |")?;
    for (label, outcome) in shown {
        let cost = |name: &str| match outcome.cost_to.get(name) {
            Some(CostTo { median, reached }) => format!("{:.1} ({:.0}%)", median / full, 100.0 * reached),
            None => "".to_owned(),
        };
        let costs: Vec<String> = THRESHOLDS.iter().map(|(name, _)| cost(name)).collect();
        let hours = |HoursTo { median, ci95, without_start, without_start_ci95, reached }: &HoursTo| {
            let times = SECONDS_PER_HOUR / seconds;
            let range = |[low, high]: [f64; 2]| format!("[{:.2}, {:.2}]", times * low, times * high);
            let share = 100.0 * reached;
            let (with, without) = (range(*ci95), range(*without_start_ci95));
            let (median, without_start) = (times * median, times * without_start);
            format!(" {median:.2} {with} ({share:.0}%) | {without_start:.2} {without} |")
        };
        let hours = outcome.hours_to_within_5_percent.as_ref().map_or_else(String::new, hours);
        let regret = &outcome.final_regret;
        writeln!(
            text,
            "| {label} | {} |{hours} {} | {:.4} [{:.4}, {:.4}] | {:.0} | {:.0} | {} |",
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
