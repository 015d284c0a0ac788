//! `budget`: when a study ends, and what a unit of cost is worth.

use toml::de::DeValue;

use super::names::clipped;
use super::pipeline::{Budget, Price};
use super::problem::Findings;
use super::reader::{Node, Section, described};
use super::study::{MOST_TRIALS, read_duration, read_seconds};
use super::units::{PRICE_HELP, is_per_time, per_cost};

/// The keys of `budget`.
pub(super) const BUDGET_KEYS: [&str; 5] = ["trials", "cost", "wall", "target", "price"];

/// When to stop, as far as it can be read.
pub(super) fn budget(node: &Node<'_>, findings: &mut Findings<'_>) -> Option<Budget> {
    if let DeValue::String(text) = node.get_ref() {
        if text == "auto" {
            return Some(Budget { price: Some(Price::Auto), ..Budget::default() });
        }
        let message = format!("`budget` is the text \"{}\", which is none", clipped(text));
        findings.error(
            &node.span(),
            message,
            "write `budget = { trials = 100 }`, or \"auto\" to stop when going on is not worth its cost",
        );
        return None;
    }
    let section = Section::of(node, "`budget`", "`budget = { trials = 100 }`", findings)?;
    let elsewhere = |key: &str| match key {
        "time" | "seconds" | "duration" | "timeout" => {
            Some("write `wall` for time on the clock, `cost` for time of stages".to_owned())
        }
        "iterations" | "evaluations" | "n_trials" => Some("write `trials`".to_owned()),
        "value" | "worth" | "rate" => Some(
            "write `price`, what the metric must gain for a unit of cost, such as \"0.01 per hour\""
                .to_owned(),
        ),
        "seed" | "metric" | "direction" | "strategy" => {
            Some(format!("move `{key}` out of `budget`, into [study]"))
        }
        _ => None,
    };
    section.knows(&BUDGET_KEYS, elsewhere, findings);
    let budget = Budget {
        trials: section
            .get("trials")
            .and_then(|node| findings.read_whole(node, "`budget.trials`", 1..=MOST_TRIALS))
            .and_then(|trials| usize::try_from(trials).ok()),
        cost: section.get("cost").and_then(|node| read_seconds(node, "`budget.cost`", findings)),
        wall: section.get("wall").and_then(|node| read_duration(node, "`budget.wall`", findings)),
        target: section.get("target").and_then(|node| findings.read_number(node, "`budget.target`")),
        price: section.get("price").and_then(|node| price(node, findings)),
    };
    let read = [
        budget.trials.is_some(),
        budget.cost.is_some(),
        budget.wall.is_some(),
        budget.target.is_some(),
        budget.price.is_some(),
    ];
    let whole = BUDGET_KEYS.iter().zip(read).all(|(key, read)| read || section.get(key).is_none());
    whole.then_some(budget)
}

/// Warns of a price for something else than what costs are in; `measured` is whether all stages are, or none is.
pub(super) fn check_price(study: &Section<'_, '_>, measured: bool, findings: &mut Findings<'_>) {
    let Some(DeValue::Table(budget)) = study.get("budget").map(|node| node.get_ref()) else { return };
    let price = budget.iter().find(|(key, _)| key.get_ref() == "price").map(|(_, node)| node);
    let Some((node, DeValue::String(text))) = price.map(|node| (node, node.get_ref())) else { return };
    if per_cost(text).is_err() || is_per_time(text) == measured {
        return;
    }
    let (message, help) = if measured {
        (
            "the price is for units while stages are measured in seconds: a second counts as a unit",
            "write it for a time, such as \"0.01 per hour\"",
        )
    } else {
        (
            "the price is for a time while no stage is measured: each unit of its cost counts as a second",
            "write it for units, such as \"0.01 per unit\", or have stages measured",
        )
    };
    findings.warn(&node.span(), message, help);
}

/// Warns of a budget of cost that is a time where all costs are given, and of one that nothing is ever charged to.
pub(super) fn check_cost(study: &Section<'_, '_>, free: bool, findings: &mut Findings<'_>) {
    let Some(DeValue::Table(budget)) = study.get("budget").map(|node| node.get_ref()) else { return };
    let cost = budget.iter().find(|(key, _)| key.get_ref() == "cost").map(|(_, node)| node);
    let Some(node) = cost else { return };
    let (message, help) = if free {
        (
            "the budget of cost is never reached: every stage costs 0",
            "give a stage a cost above zero or have it measured, or write `trials` or `wall` instead",
        )
    } else if matches!(node.get_ref(), DeValue::String(_)) {
        (
            "the budget of cost is a time while no stage is measured: each unit of their costs counts as a second",
            "write it in units, as a number without quotes, or have stages measured; `wall` is for time on the clock",
        )
    } else {
        return;
    };
    findings.warn(&node.span(), message, help);
}

/// What a unit of cost is worth: `"auto"`, a number, or a text such as `0.01 per hour`.
fn price(node: &Node<'_>, findings: &mut Findings<'_>) -> Option<Price> {
    let what = "`budget.price`";
    let price = match node.get_ref() {
        DeValue::String(text) if text == "auto" => return Some(Price::Auto),
        DeValue::String(text) => match per_cost(text) {
            Ok(price) => price,
            Err(reason) => {
                findings.error(&node.span(), format!("{what}: {}", clipped(&reason)), PRICE_HELP);
                return None;
            }
        },
        DeValue::Integer(_) | DeValue::Float(_) => findings.read_number(node, what)?,
        other => {
            let message = format!("{what} is {}, not a price", described(other));
            findings.error(&node.span(), message, PRICE_HELP);
            return None;
        }
    };
    if price > 0.0 {
        return Some(Price::PerCost(price));
    }
    findings.error(
        &node.span(),
        format!("{what} is not above zero, and such a study would never end by it"),
        "write a price above zero, or remove it",
    );
    None
}
