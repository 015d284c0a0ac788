//! The table of stages: how often each ran, what it cost, and what its reuse saved.

use stagetune_pipeline::record::StudyRecord;

use super::colour;
use super::page::section as part;
use super::summary::Summary;
use super::svg::escape;
use crate::format;

/// The part of the page.
pub fn section(record: &StudyRecord, summary: &Summary) -> String {
    let cost = |value: f64| format::cost(value, record.cost_unit);
    let share = |value: f64| if summary.spent > 0.0 { value / summary.spent } else { 0.0 };
    let mut rows = String::new();
    for ((at, stage), sums) in record.stages.iter().enumerate().zip(&summary.stages) {
        let (name, class) = (escape(&stage.name), colour(at));
        let needs = if stage.after.is_empty() {
            String::new()
        } else {
            format!("<small>after {}</small>", escape(&stage.after.join(", ")))
        };
        let share = share(sums.spent());
        rows += &format!(
            "<tr><th scope=\"row\"><i class=\"{class}\"></i>{name} {needs}</th><td>{}</td><td>{}</td><td>{}</td>\
             <td>{}</td><td>{}</td><td>{}</td><td class=\"share\"><b class=\"{class}\" style=\"width:{:.1}%\"></b>{}</td></tr>\n",
            format::count(sums.runs),
            format::count(sums.reuses),
            format::count(sums.failures),
            sums.mean().map_or_else(|| "–".into(), cost),
            cost(sums.spent()),
            cost(sums.saved),
            (share * 100.0).clamp(0.0, 100.0) * 0.6,
            format::percent(share),
        );
    }
    let all =
        |of: fn(&super::summary::StageSums) -> usize| format::count(summary.stages.iter().map(of).sum());
    let body = format!(
        "<div class=\"scroll\"><table class=\"stages\"><thead><tr><th scope=\"col\">stage</th><th scope=\"col\">runs</th>\
         <th scope=\"col\">reuses</th><th scope=\"col\">failures</th><th scope=\"col\">mean cost</th><th scope=\"col\">total cost</th>\
         <th scope=\"col\">saved</th><th scope=\"col\">share of cost</th></tr></thead>\n<tbody>{rows}</tbody>\n\
         <tfoot><tr><th scope=\"row\">all</th><td>{}</td><td>{}</td><td>{}</td><td></td><td>{}</td><td>{}</td><td></td></tr></tfoot>\
         </table></div>\n",
        all(|s| s.runs),
        all(|s| s.reuses),
        all(|s| s.failures),
        cost(summary.spent),
        cost(summary.saved),
    );
    let lead = "The mean is over runs whose output was kept; the total includes failures.";
    part("stages", "Stages", lead, &body)
}
