//! The table of stages: how often each ran, what it cost, and what its reuse saved.

use stagetune_pipeline::ledger::{Ledger, StageTally};

use super::colour;
use super::page::section as part;
use super::svg::escape;
use crate::format;

/// The part of the page.
pub fn section(ledger: &Ledger) -> String {
    let cost = |value: f64| format::cost(value, ledger.cost_unit);
    let whole: f64 = ledger.stages.iter().map(|stage| stage.cost).sum();
    let mut rows = String::new();
    for (at, stage) in ledger.stages.iter().enumerate() {
        let (name, class) = (escape(&stage.name), colour(at));
        let needs = if stage.after.is_empty() {
            String::new()
        } else {
            format!("<small>after {}</small>", escape(&stage.after.join(", ")))
        };
        let share = if whole > 0.0 { stage.cost / whole } else { 0.0 };
        let runs = stage.ran + stage.failed;
        let mean = (runs > 0).then(|| stage.cost / runs as f64);
        rows += &format!(
            "<tr><th scope=\"row\"><i class=\"{class}\"></i>{name} {needs}</th><td>{}</td><td>{}</td><td>{}</td>\
             <td>{}</td><td>{}</td><td>{}</td><td class=\"share\"><b class=\"{class}\" style=\"width:{:.1}%\"></b>{}</td></tr>\n",
            count(stage.ran),
            count(stage.reused),
            count(stage.failed),
            mean.map_or_else(|| "–".into(), cost),
            cost(stage.cost),
            cost(stage.saved),
            (share * 100.0).clamp(0.0, 100.0) * 0.6,
            format::percent(share),
        );
    }
    let all = |of: fn(&StageTally) -> u64| count(ledger.stages.iter().map(of).sum());
    let body = format!(
        "<div class=\"scroll\"><table class=\"stages\"><thead><tr><th scope=\"col\">stage</th><th scope=\"col\">runs</th>\
         <th scope=\"col\">reuses</th><th scope=\"col\">failures</th><th scope=\"col\">mean cost</th><th scope=\"col\">total cost</th>\
         <th scope=\"col\">saved</th><th scope=\"col\">share of cost</th></tr></thead>\n<tbody>{rows}</tbody>\n\
         <tfoot><tr><th scope=\"row\">all</th><td>{}</td><td>{}</td><td>{}</td><td></td><td>{}</td><td>{}</td><td></td></tr></tfoot>\
         </table></div>\n",
        all(|s| s.ran),
        all(|s| s.reused),
        all(|s| s.failed),
        cost(ledger.spent),
        cost(ledger.saved),
    );
    let lead = "Mean and total include runs that failed; the last line counts trials that have ended.";
    part("stages", "Stages", lead, &body)
}

fn count(things: u64) -> String {
    format::count(things as usize)
}
