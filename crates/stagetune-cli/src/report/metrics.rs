//! The table of metrics: what each stage reported over all trials, and at the best one.

use stagetune::objective::Metric;
use stagetune_pipeline::ledger::Ledger;

use super::colour;
use super::page::section as part;
use super::relation::median;
use super::svg::{escape, shorten};
use crate::format;
use crate::rows::{best, metric as number, other_metrics, stage_numbers};

/// Rows of the table; the rest is for `stagetune export`.
const MOST_ROWS: usize = 200;

/// The part of the page; nothing if no stage reported a number.
pub fn section(ledger: &Ledger) -> String {
    let metrics = ledger.metrics();
    if metrics.is_empty() {
        return String::new();
    }
    let others = other_metrics(ledger);
    let is_objective = |metric: &Metric| !others.contains(metric);
    let rows: String =
        metrics.iter().take(MOST_ROWS).map(|metric| row(ledger, metric, is_objective(metric))).collect();
    let body = format!(
        "<div class=\"scroll\"><table class=\"stages metrics\"><thead><tr><th scope=\"col\">stage</th>\
         <th scope=\"col\">metric</th><th scope=\"col\">trials</th><th scope=\"col\">least</th>\
         <th scope=\"col\">median</th><th scope=\"col\">greatest</th>\
         <th scope=\"col\">best trial</th></tr></thead>\n\
         <tbody>{rows}</tbody></table></div>\n"
    );
    let mut lead =
        String::from("Every number that a stage left in its <code>result.json</code>; ★ is the objective.");
    if metrics.len() > MOST_ROWS {
        lead += &format!(
            " The first {MOST_ROWS} of {} are shown; <code>stagetune export</code> has them all.",
            format::count(metrics.len())
        );
    }
    part("metrics", "Metrics", &lead, &body)
}

fn row(ledger: &Ledger, metric: &Metric, is_objective: bool) -> String {
    let values: Vec<f64> = ledger.trials.iter().filter_map(|trial| number(trial, metric)).collect();
    let least = values.iter().copied().reduce(f64::min);
    let greatest = values.iter().copied().reduce(f64::max);
    let middle = (!values.is_empty()).then(|| median(values.iter().copied()));
    let at_best = best(ledger).and_then(|trial| number(trial, metric));
    let cells: String = [least, middle, greatest, at_best]
        .into_iter()
        .map(|number| format!("<td>{}</td>", number.map_or_else(|| "–".into(), format::number)))
        .collect();
    let stage = metric.stage().unwrap_or_default();
    let class = stage_numbers(ledger).get(stage).map_or_else(String::new, |at| colour(*at));
    format!(
        "<tr><td><i class=\"{class}\"></i>{}</td><th scope=\"row\">{}{}</th><td>{}</td>{cells}</tr>\n",
        escape(&shorten(stage, 40)),
        escape(&shorten(metric.name(), 60)),
        if is_objective { " ★" } else { "" },
        format::count(values.len()),
    )
}
