//! One trial as plain text: its values, its stages with every number they reported, what it ran with.

use std::fmt::Write;

use stagetune::trial::How;
use stagetune_pipeline::ledger::{Ledger, StageRow, TrialRow};
use stagetune_pipeline::owner::MOST_NUMBERS;

use crate::format::{self, clean, count, number};
use crate::paint::{BAD, FAINT, GOOD, STRONG, paint};
use crate::rows::{paid, value};

/// The text, ending in a line feed.
pub fn trial(ledger: &Ledger, trial: &TrialRow) -> String {
    let mut out = String::new();
    let head = paint(STRONG, format!("trial {}", trial.trial));
    let _ = match value(trial) {
        Some(value) => {
            let best = if ledger.best_trial() == Some(trial.trial) { " ★" } else { "" };
            let metric = clean(&ledger.metric.to_string());
            writeln!(out, "{head}  {metric} = {}", paint(GOOD, format!("{}{best}", number(value))))
        }
        None => writeln!(out, "{head}  {}", paint(BAD, trial.state.as_str())),
    };
    let mut fact = |name: &str, text: &str| {
        let _ = writeln!(out, "  {name:<8} {text}");
    };
    if let Some(reason) = &trial.reason {
        fact("reason", &clean(reason));
    }
    fact("why", &clean(&trial.why));
    fact("cost", &format::cost(paid(trial), ledger.cost_unit));
    if let Some(owner) = ledger.owner(trial.epoch).map(|row| &row.owner) {
        fact("ran with", &clean(&format!("stagetune {} on {}", owner.release, owner.host)));
        for text in
            [owner.interpreter.clone(), owner.commit.as_ref().map(|commit| format!("commit {commit}"))]
        {
            text.iter().for_each(|text| fact("", &clean(text)));
        }
    }
    for (about, text) in &ledger.notes {
        if *about == Some(trial.trial) {
            fact("note", &clean(text));
        }
    }
    for tally in &ledger.stages {
        let row = trial.stages.iter().find(|row| row.stage == tally.name);
        let _ = writeln!(out, "\n{}  {}", paint(STRONG, clean(&tally.name)), paint(FAINT, what(ledger, row)));
        for param in ledger.params.iter().filter(|param| param.stage == tally.name) {
            if let Some(value) = trial.point.get(&param.param.name) {
                let _ = writeln!(out, "  {} = {}", clean(&param.param.name), clean(&format::value(value)));
            }
        }
        for (name, value) in row.iter().flat_map(|row| &row.metrics) {
            let _ = writeln!(out, "  {} {} {}", paint(FAINT, "reported"), clean(name), number(*value));
        }
        if row.is_some_and(|row| row.metrics.len() >= MOST_NUMBERS) {
            let text = format!("of a stage's numbers {} are kept; others are left out", count(MOST_NUMBERS));
            let _ = writeln!(out, "  {}", paint(FAINT, text));
        }
    }
    out
}

/// What became of a stage, in a line.
fn what(ledger: &Ledger, row: Option<&StageRow>) -> String {
    let Some(row) = row else { return "not reached".into() };
    let cost = format::cost(row.cost, ledger.cost_unit);
    let again = if row.attempts > 1 { format!(", {} attempts", row.attempts) } else { String::new() };
    let word = match row.how {
        How::Ran | How::Failed => "cost",
        How::Reused => "saved",
    };
    format!("{}, {word} {cost}{again}", row.how.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn a_trial_is_shown_with_every_number_and_what_it_ran_with() {
        let mut ledger = sample::study(20);
        ledger.trials[0].stages[1].metrics.insert("a \"quoted\", <script>".into(), 0.25);
        let text = trial(&ledger, &ledger.trials[0]);
        for part in
            ["trial 0  f1 = ", "reported psnr ", "reported loss ", "reported iou ", "lab", "commit 0123abc"]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(text.contains("reported a \"quoted\", <script> 0.25"), "{text}");
        assert!(!text.contains("are left out"));
        let many = (0..MOST_NUMBERS).map(|at| (format!("m{at}"), 1.0));
        ledger.trials[0].stages[1].metrics.extend(many);
        let text = trial(&ledger, &ledger.trials[0]);
        assert!(text.contains("of a stage's numbers 1000 are kept; others are left out"), "{text}");
        let open = trial(&ledger, &ledger.trials[19]);
        assert!(open.starts_with("trial 19  open") && open.contains("unet  not reached"), "{open}");
    }

    #[test]
    fn no_text_of_the_user_steers_the_terminal() {
        let ledger = sample::with_text("a\u{1b}[2J\r\n\u{7}b\u{202e}");
        let text: String = ledger.trials.iter().map(|row| trial(&ledger, row)).collect();
        assert!(!text.contains(['\u{1b}', '\r', '\u{7}', '\u{202e}']));
    }
}
