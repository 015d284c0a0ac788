//! The answer: the best value and its parameters, and what the study cost and saved.

use serde_json::Value;
use stagetune::objective::Direction;
use stagetune_pipeline::ledger::{Ledger, StageTally, TrialRow, TrialState};

use super::colour;
use super::svg::{escape, shorten};
use crate::format;
use crate::rows::{best, stage_numbers, times_dearer, value};

/// Past this many characters a heading or a tile is cut; the whole text stands elsewhere on the page.
const LONG: usize = 80;

/// The top of the page.
pub fn headline(ledger: &Ledger) -> String {
    let direction = match ledger.direction {
        Direction::Maximize => "highest",
        Direction::Minimize => "lowest",
    };
    let stopped = ledger
        .stopped()
        .map_or_else(String::new, |why| format!(" <span>Stopped: {}</span>", escape(&shorten(why, 300))));
    let best = best(ledger);
    format!(
        "<header>\n<h1>{}</h1>\n<p class=\"facts\"><span>{direction} <b>{}</b></span> <span>strategy <b>{}</b></span> \
         <span>seed <b>{}</b></span>{stopped}</p>\n<div class=\"tiles\">\n{}{}</div>\n{}{}</header>\n",
        escape(&shorten(&ledger.study, LONG)),
        escape(&shorten(&ledger.metric.to_string(), LONG)),
        escape(&shorten(&ledger.strategy, LONG)),
        ledger.seed,
        best_tile(ledger, best),
        sum_tiles(ledger),
        best.map_or_else(String::new, |trial| parameters(ledger, trial)),
        savings(ledger),
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

fn best_tile(ledger: &Ledger, best: Option<&TrialRow>) -> String {
    let label = format!("best {}", shorten(&ledger.metric.to_string(), 40));
    match best.and_then(|trial| Some((trial, value(trial)?))) {
        Some((trial, value)) => {
            tile("best", &label, &format::number(value), &format!("in trial {}", trial.trial))
        }
        None => tile("best", &label, "none yet", "no trial has a value"),
    }
}

fn sum_tiles(ledger: &Ledger) -> String {
    let mut states = match ledger.failed {
        0 => String::from("none failed"),
        failed => format!("{} failed", format::count(failed as usize)),
    };
    for state in [TrialState::Abandoned, TrialState::Withdrawn, TrialState::Open] {
        let trials = ledger.count(state);
        if trials > 0 {
            states += &format!(", {} {}", format::count(trials), state.as_str());
        }
    }
    let unit = ledger.cost_unit;
    let factor = times_dearer(ledger).filter(|factor| *factor > 1.0);
    let saved = factor.map_or_else(
        || {
            if ledger.stages.iter().any(|stage| stage.reused > 0) {
                "what was reused costs nothing"
            } else {
                "nothing was reused"
            }
            .into()
        },
        |factor| format!("re-running everything: {} × the cost", format::digits(factor, 3)),
    );
    [
        tile("", "trials", &format::count(ledger.trials.len()), &states),
        tile("", "cost spent", &format::cost(ledger.spent, unit), "for the stages that ran"),
        tile("saved", "cost saved by reuse", &format::cost(ledger.saved, unit), &saved),
    ]
    .concat()
}

/// The best trial's parameters by stage, to read and to copy.
fn parameters(ledger: &Ledger, trial: &TrialRow) -> String {
    let mut groups = String::new();
    for (at, stage) in ledger.stages.iter().enumerate() {
        let rows: String = ledger
            .params
            .iter()
            .filter(|param| param.stage == stage.name)
            .filter_map(|param| Some((param, trial.point.get(&param.param.name)?)))
            .map(|(param, value)| {
                format!(
                    "<div><dt>{}</dt><dd>{}</dd></div>",
                    escape(&param.param.name),
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
fn savings(ledger: &Ledger) -> String {
    let whole = ledger.spent + ledger.saved;
    // Stages of open trials are in the parts already, and not yet in what was spent.
    let parts: f64 = ledger.stages.iter().map(|stage| stage.cost + stage.saved).sum();
    if !(whole > 0.0) || !whole.is_finite() {
        return String::new();
    }
    let unit = ledger.cost_unit;
    let bar = |of: &dyn Fn(&StageTally) -> f64| -> String {
        let stages = ledger.stages.iter().enumerate();
        stages
            .map(|(at, stage)| {
                let cost = of(stage);
                let tip = format!("{}: {}", stage.name, format::cost(cost, unit));
                let (class, share) = (colour(at), cost / whole.max(parts) * 100.0);
                format!("<i class=\"{class}\" style=\"width:{share:.3}%\" title=\"{}\"></i>", escape(&tip))
            })
            .collect()
    };
    let spent = bar(&|stage| stage.cost);
    let all = bar(&|stage| stage.cost + stage.saved);
    let names: String = stage_numbers(ledger)
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
        format::cost(ledger.spent, unit),
        format::cost(whole, unit)
    )
}
