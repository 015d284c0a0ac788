//! The table of trials, the best first.

use std::collections::BTreeMap;

use stagetune::objective::Metric;
use stagetune::trial::How;
use stagetune_pipeline::ledger::{Ledger, TrialRow, TrialState};

use super::colour;
use super::page::section as part;
use super::svg::{escape, shorten};
use crate::format;
use crate::rows::{self, other_metrics, paid, ranked, stage_numbers, value};

/// Rows of the table; the rest is for `stagetune export`.
const MOST_ROWS: usize = 200;

/// Columns of metrics; the rest is in the table of metrics and for `stagetune export`.
const MOST_METRICS: usize = 12;

/// Columns of parameters; the rest is for `stagetune export`.
const MOST_PARAMS: usize = 40;

/// The part of the page.
pub fn section(ledger: &Ledger) -> String {
    let heading = "Trials";
    if ledger.trials.is_empty() {
        return part("trials", heading, "", "<p class=\"empty\">None yet.</p>\n");
    }
    let numbers = stage_numbers(ledger);
    let mut metrics = other_metrics(ledger);
    let all_metrics = metrics.len();
    metrics.truncate(MOST_METRICS);
    let params: Vec<&str> =
        ledger.params.iter().map(|param| param.param.name.as_str()).take(MOST_PARAMS).collect();
    let others = ledger.trials.iter().filter(|trial| value(trial).is_none());
    let shown: Vec<&TrialRow> = ranked(ledger).into_iter().chain(others).take(MOST_ROWS).collect();
    let values = format::aligned(&shown.iter().filter_map(|trial| value(trial)).collect::<Vec<_>>());
    let texts = values.into_iter().map(Some).chain(std::iter::repeat(None));
    let rows: String = shown
        .iter()
        .zip(texts)
        .map(|(trial, text)| row(ledger, trial, text, (&metrics, &params), &numbers))
        .collect();
    let names: String = metrics
        .iter()
        .map(ToString::to_string)
        .chain(params.iter().map(ToString::to_string))
        .map(|name| header(&name, ""))
        .collect();
    let head = [
        header("trial", ""),
        header(&ledger.metric.to_string(), ""),
        header("cost", ""),
        header("stages", "plain"),
        names,
    ];
    let body = format!(
        "<div class=\"scroll\"><table class=\"trials sortable\"><thead><tr>{}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n",
        head.concat()
    );
    let mut lead = String::from(
        "The best first; a click on a heading sorts. Filled squares ran, pale ones were reused, crossed ones failed.",
    );
    if ledger.trials.len() > MOST_ROWS || ledger.params.len() > MOST_PARAMS || all_metrics > MOST_METRICS {
        lead += &format!(
            " The {} best of {} trials, {} of {} metrics and {} of {} parameters are shown; <code>stagetune export</code> has them all.",
            format::count(shown.len()),
            format::count(ledger.trials.len()),
            metrics.len(),
            all_metrics,
            params.len(),
            ledger.params.len()
        );
    }
    part("trials", heading, &lead, &body)
}

fn header(name: &str, class: &str) -> String {
    format!("<th scope=\"col\" class=\"{class}\">{}</th>", escape(&shorten(name, 40)))
}

fn row(
    ledger: &Ledger,
    trial: &TrialRow,
    text: Option<String>,
    (metrics, params): (&[Metric], &[&str]),
    numbers: &BTreeMap<&str, usize>,
) -> String {
    let best = ledger.best_trial() == Some(trial.trial);
    let sort = value(trial).map_or_else(String::new, |value| value.to_string());
    let shown = text.unwrap_or_else(|| trial.state.as_str().into());
    let star = if best { " <span class=\"star\">★</span>" } else { "" };
    let class = match (best, trial.state) {
        (true, _) => "best",
        (false, TrialState::Failed) => "failed",
        (false, TrialState::Abandoned | TrialState::Withdrawn) => "aside",
        (false, TrialState::Open | TrialState::Observed) => "",
    };
    let note = trial.reason.as_deref().unwrap_or(&trial.why);
    let reported: String = metrics
        .iter()
        .map(|metric| match rows::metric(trial, metric) {
            Some(number) => format!("<td data-v=\"{number}\">{}</td>", format::number(number)),
            None => "<td></td>".into(),
        })
        .collect();
    let cells: String = params
        .iter()
        .map(|name| {
            let value = trial.point.get(*name);
            let text = value.map_or_else(String::new, format::value);
            let sort = value
                .and_then(serde_json::Value::as_f64)
                .map_or_else(String::new, |x| format!(" data-v=\"{x}\""));
            format!("<td{sort}>{}</td>", escape(&shorten(&text, 40)))
        })
        .collect();
    format!(
        "<tr class=\"{class}\" data-t=\"{}\" title=\"{}\"><th scope=\"row\" data-v=\"{}\">{}{star}</th><td data-v=\"{sort}\">{}</td>\
         <td data-v=\"{}\">{}</td><td class=\"squares\">{}</td>{reported}{cells}</tr>\n",
        trial.trial,
        escape(&shorten(note, 300)),
        trial.trial,
        trial.trial,
        escape(&shown),
        paid(trial),
        format::cost(paid(trial), ledger.cost_unit),
        squares(trial, numbers)
    )
}

fn squares(trial: &TrialRow, numbers: &BTreeMap<&str, usize>) -> String {
    trial
        .stages
        .iter()
        .map(|stage| {
            let colour = numbers.get(stage.stage.as_str()).map_or_else(String::new, |at| colour(*at));
            let (class, what) = match stage.how {
                How::Ran => (colour, "ran"),
                How::Reused => (format!("pale {colour}"), "reused"),
                How::Failed => ("bad".into(), "failed"),
            };
            let name = escape(&shorten(&stage.stage, 40));
            format!(
                "<i class=\"{class}\" role=\"img\" aria-label=\"{name} {what}\" title=\"{name} {what}\"></i>"
            )
        })
        .collect()
}
