//! The answer: the best value and its parameters, and what the study cost and saved.

use serde_json::Value;
use stagetune::study::Direction;
use stagetune_pipeline::record::{StudyRecord, TrialRecord};

use super::colour;
use super::summary::{Summary, best, stage_numbers, value};
use super::svg::{escape, shorten};
use crate::format;

/// Past this many characters a heading or a tile is cut; the whole text stands elsewhere on the page.
const LONG: usize = 80;

/// The top of the page.
pub fn headline(record: &StudyRecord, summary: &Summary) -> String {
    let direction = match record.direction {
        Direction::Maximize => "highest",
        Direction::Minimize => "lowest",
    };
    let stopped = record
        .stopped
        .as_deref()
        .map_or_else(String::new, |why| format!(" <span>Stopped: {}</span>", escape(&shorten(why, 300))));
    let best = best(record);
    format!(
        "<header>\n<h1>{}</h1>\n<p class=\"facts\"><span>{direction} <b>{}</b></span> <span>strategy <b>{}</b></span> \
         <span>seed <b>{}</b></span>{stopped}</p>\n<div class=\"tiles\">\n{}{}</div>\n{}{}</header>\n",
        escape(&shorten(&record.study, LONG)),
        escape(&shorten(&record.metric, LONG)),
        escape(&shorten(&record.strategy, LONG)),
        record.seed,
        best_tile(record, best),
        sum_tiles(record, summary),
        best.map_or_else(String::new, |trial| parameters(record, trial)),
        savings(record, summary),
    )
}

fn tile(class: &str, label: &str, value: &str, note: &str) -> String {
    format!(
        "<div class=\"tile {class}\"><p class=\"label\">{}</p><p class=\"value\">{}</p><p class=\"note\">{}</p></div>\n",
        escape(label),
        escape(value),
        escape(note)
    )
}

fn best_tile(record: &StudyRecord, best: Option<&TrialRecord>) -> String {
    let label = format!("best {}", shorten(&record.metric, 40));
    match best.and_then(|trial| Some((trial, value(trial)?))) {
        Some((trial, value)) => {
            tile("best", &label, &format::number(value), &format!("in trial {}", trial.trial))
        }
        None => tile("best", &label, "none yet", "no trial has a value"),
    }
}

fn sum_tiles(record: &StudyRecord, summary: &Summary) -> String {
    let open =
        if summary.open > 0 { format!(", {} open", format::count(summary.open)) } else { String::new() };
    let failed = match summary.failed {
        0 => "none failed".into(),
        failed => format!("{} failed", format::count(failed)),
    };
    let unit = record.cost_unit;
    let factor = summary.factor().filter(|factor| *factor > 1.0);
    let saved = factor.map_or_else(
        || {
            if summary.stages.iter().any(|stage| stage.reuses > 0) {
                "what was reused costs nothing"
            } else {
                "nothing was reused"
            }
            .into()
        },
        |factor| format!("re-running everything: {} × the cost", format::digits(factor, 3)),
    );
    [
        tile("", "trials", &format::count(record.trials.len()), &format!("{failed}{open}")),
        tile("", "cost spent", &format::cost(summary.spent, unit), "for the stages that ran"),
        tile("saved", "cost saved by reuse", &format::cost(summary.saved, unit), &saved),
    ]
    .concat()
}

/// The best trial's parameters by stage, to read and to copy.
fn parameters(record: &StudyRecord, trial: &TrialRecord) -> String {
    let mut groups = String::new();
    for (at, stage) in record.stages.iter().enumerate() {
        let rows: String = record
            .params
            .iter()
            .filter(|param| param.stage == stage.name)
            .filter_map(|param| Some((param, trial.point.get(&param.name)?)))
            .map(|(param, value)| {
                format!(
                    "<div><dt>{}</dt><dd>{}</dd></div>",
                    escape(&param.name),
                    escape(&format::value(value))
                )
            })
            .collect();
        if !rows.is_empty() {
            let (class, name) = (colour(at), escape(&stage.name));
            groups += &format!(
                "<div class=\"group\"><h3><i class=\"{class}\"></i>{name}</h3><dl>{rows}</dl></div>\n"
            );
        }
    }
    let json = serde_json::to_string_pretty(&Value::Object(trial.point.clone())).unwrap_or_default();
    format!(
        "<div class=\"card\"><h2>Parameters of the best trial</h2>\n<div class=\"groups\">{groups}</div>\n\
         <details><summary>All digits, as JSON</summary><button type=\"button\" class=\"copy\" hidden>Copy</button>\
         <pre id=\"best\">{}</pre></details></div>\n",
        escape(&json)
    )
}

/// Two bars: what was spent, and what running every stage of every trial would have cost.
fn savings(record: &StudyRecord, summary: &Summary) -> String {
    let whole = summary.without_reuse();
    if !(whole > 0.0) || !whole.is_finite() {
        return String::new();
    }
    let unit = record.cost_unit;
    let bar = |of: &dyn Fn(usize) -> f64| -> String {
        (0..record.stages.len())
            .map(|at| {
                let (cost, name) = (of(at), record.stages.get(at).map_or("", |stage| stage.name.as_str()));
                let tip = format!("{name}: {}", format::cost(cost, unit));
                let (class, share) = (colour(at), cost / whole * 100.0);
                format!("<i class=\"{class}\" style=\"width:{share:.3}%\" title=\"{}\"></i>", escape(&tip))
            })
            .collect()
    };
    let sums = &summary.stages;
    let spent = bar(&|at| sums.get(at).map_or(0.0, |s| s.spent()));
    let all = bar(&|at| sums.get(at).map_or(0.0, |s| s.spent() + s.saved));
    let names: String = stage_numbers(record)
        .into_iter()
        .map(|(name, at)| (at, name))
        .collect::<std::collections::BTreeMap<_, _>>()
        .into_iter()
        .map(|(at, name)| format!("<li><i class=\"{}\"></i>{}</li>", colour(at), escape(name)))
        .collect();
    format!(
        "<div class=\"card savings\"><h2>What reuse saved</h2>\n\
         <p>spent <b>{}</b></p><div class=\"bar\">{spent}</div>\n\
         <p>running every stage of every trial <b>{}</b></p><div class=\"bar pale\">{all}</div>\n\
         <ul class=\"legend\">{names}</ul></div>\n",
        format::cost(summary.spent, unit),
        format::cost(whole, unit)
    )
}
