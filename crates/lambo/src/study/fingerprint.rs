//! A space as text: equal texts mean that the trials of one study are trials of the other.

use std::fmt::Write;

use crate::space::{Cost, Domain, Param, Space};

/// One line for each module, parameter, cut and forbidden region.
pub(super) fn fingerprint(space: &Space) -> String {
    let mut lines = Vec::new();
    for (m, module) in space.modules().iter().enumerate() {
        let cost = match module.cost_kind() {
            Cost::Given(cost) => format!("{cost:?}"),
            Cost::Measured => "measured".into(),
            Cost::Unknown => "unknown".into(),
        };
        lines.push(format!("module {}, cost {cost}", module.name()));
        lines.extend(module.params().iter().map(param));
        lines.extend(space.cuts(m).iter().map(|cut| format!("cut {cut}")));
    }
    lines.extend(space.forbidden().iter().map(|condition| format!("forbid {}", condition.source().trim())));
    lines.join("\n")
}

/// The first line of each text that the other does not have in its place.
pub(super) fn first_difference(a: &str, b: &str) -> (String, String) {
    let (mut a, mut b) = (a.lines(), b.lines());
    loop {
        let (a, b) = (a.next(), b.next());
        if a != b || a.is_none() {
            let line = |line: Option<&str>| line.map_or("at its end".into(), |line| format!("`{line}`"));
            return (line(a), line(b));
        }
    }
}

fn param(param: &Param) -> String {
    let name = param.name();
    match param.domain() {
        Domain::Float(range) => {
            format!("param {name}, float {:?} to {:?}{}", range.low(), range.high(), log(range.is_log()))
        }
        Domain::Int(range) => {
            let (low, high, step) = (range.low(), range.high(), range.step());
            format!("param {name}, int {low} to {high} step {step}{}", log(range.is_log()))
        }
        Domain::Choice(values) => {
            let mut text = format!("param {name}, choice");
            for value in values.iter() {
                // Writing to a string cannot fail.
                let _ = write!(text, " {value:?}");
            }
            text
        }
        Domain::Bool => format!("param {name}, bool"),
    }
}

fn log(is_log: bool) -> &'static str {
    if is_log { " log" } else { "" }
}
