//! Failures, those with the same reason together.

use std::collections::BTreeMap;

use stagetune_pipeline::ledger::{Ledger, TrialRow, TrialState};

use super::page::section as part;
use super::svg::{escape, shorten};
use crate::format;

/// Groups that are shown.
const MOST_GROUPS: usize = 30;

/// Trials that are named in a group.
const NAMED: usize = 12;

/// The longest reason that is shown whole.
const LONGEST: usize = 1_500;

/// The part of the page; nothing if nothing failed.
pub fn section(ledger: &Ledger) -> String {
    let mut groups: BTreeMap<String, Vec<&TrialRow>> = BTreeMap::new();
    for trial in ledger.trials.iter().filter(|trial| trial.state == TrialState::Failed) {
        groups.entry(kind(reason(trial))).or_default().push(trial);
    }
    let mut groups: Vec<Vec<&TrialRow>> = groups.into_values().collect();
    groups.sort_by_key(|trials| std::cmp::Reverse(trials.len()));
    let failures: usize = groups.iter().map(Vec::len).sum();
    if failures == 0 {
        return String::new();
    }
    let rows: String = groups.iter().take(MOST_GROUPS).map(|trials| row(trials)).collect();
    let more = groups.len().saturating_sub(MOST_GROUPS);
    let more = if more > 0 {
        format!("<p class=\"note\">{more} rarer reasons are left out.</p>\n")
    } else {
        String::new()
    };
    let lead = format!(
        "{} of {} trials failed. Reasons that differ only in numbers stand together.",
        format::count(failures),
        format::count(ledger.trials.len())
    );
    part("failures", "Failures", &lead, &format!("<ol class=\"failures\">{rows}</ol>\n{more}"))
}

fn row(trials: &[&TrialRow]) -> String {
    let named: Vec<String> = trials.iter().take(NAMED).map(|trial| trial.trial.to_string()).collect();
    let rest = trials.len().saturating_sub(NAMED);
    let rest = if rest > 0 { format!(" and {} more", format::count(rest)) } else { String::new() };
    let which = if trials.len() == 1 { "trial" } else { "trials" };
    let text = trials.first().map_or("", |trial| reason(trial));
    format!(
        "<li><b>{} ×</b><div><pre>{}</pre><small>{which} {}{rest}</small></div></li>\n",
        format::count(trials.len()),
        escape(&shorten(text, LONGEST)),
        named.join(", ")
    )
}

fn reason(trial: &TrialRow) -> &str {
    trial.reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty()).unwrap_or("no reason given")
}

/// A reason without its numbers.
fn kind(reason: &str) -> String {
    let mut out = String::new();
    for letter in reason.chars() {
        let letter = if letter.is_ascii_digit() { '#' } else { letter };
        if !(letter == '#' && out.ends_with('#')) {
            out.push(letter);
        }
    }
    out
}
