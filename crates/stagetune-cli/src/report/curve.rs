//! Best so far against cost: a step line, with every trial as a dot and every failure as a cross.

use std::collections::BTreeSet;

use stagetune::objective::Direction;
use stagetune::trial::How;
use stagetune_pipeline::ledger::{CostUnit, Ledger, TrialRow, TrialState};

use super::metric::{Range, range};
use super::page::{legend, section as part};
use super::svg::{Axis, Svg, escape, shorten};
use super::{WIDTHS, colour};
use crate::format;
use crate::rows::{best, paid, ranked, stage_numbers, value};

/// Dots of one picture; more would only cover each other and make the file heavy.
const MOST_DOTS: usize = 2_500;

/// From this many trials on dots are small, and those that others cover are left out.
const CROWD: usize = 400;

/// The best trials, which are drawn whatever else is left out.
const ALWAYS: usize = 100;

/// A trial that was told, at its place along the costs.
struct Told<'a> {
    trial: &'a TrialRow,
    spent: f64,
}

/// The part of the page.
pub fn section(ledger: &Ledger) -> String {
    let told = told(ledger);
    let heading = "Best so far against cost";
    if told.is_empty() {
        return part("curve", heading, "", "<p class=\"empty\">No trial has been told yet.</p>\n");
    }
    let range = range(told.iter().filter_map(|t| value(t.trial)), ledger.direction);
    let mut notes = Vec::new();
    if range.beyond > 0 {
        let worse = if ledger.direction == Direction::Maximize { "lower" } else { "higher" };
        let count = format::count(range.beyond);
        notes.push(format!("{count} values lie {worse} than the axis and stand at its edge as triangles."));
    }
    let mut pictures = String::new();
    for (class, width) in WIDTHS {
        let (picture, left_out) = picture(ledger, &told, &range, class, width);
        pictures += &picture;
        if left_out > 0 && class == "wide" {
            let count = format::count(left_out);
            notes.push(format!(
                "{count} dots that others would cover are left out; the {ALWAYS} best trials are all there."
            ));
        }
    }
    let dots = legend(ledger, &[("none", "everything reused"), ("cross", "failed")]);
    let body = format!("{dots}<figure>{pictures}</figure>\n<p class=\"note\">{}</p>\n", notes.join(" "));
    let lead = format!(
        "Each dot is a trial, in the colour of the first stage that had to run; the line is the best {} so far.",
        escape(&shorten(&ledger.metric.to_string(), 60))
    );
    part("curve", heading, &lead, &body)
}

/// The trials with a value or a failure, by cost; where nothing cost anything, one after the other.
fn told(ledger: &Ledger) -> Vec<Told<'_>> {
    let mut told: Vec<Told<'_>> = ledger
        .trials
        .iter()
        .filter(|trial| matches!(trial.state, TrialState::Observed | TrialState::Failed))
        .map(|trial| Told { trial, spent: trial.spent.filter(|spent| spent.is_finite()).unwrap_or(0.0) })
        .collect();
    told.sort_by(|a, b| {
        a.spent.total_cmp(&b.spent).then(a.trial.told.unwrap_or(0.0).total_cmp(&b.trial.told.unwrap_or(0.0)))
    });
    if told.last().is_some_and(|last| last.spent <= 0.0) {
        (1..).zip(&mut told).for_each(|(number, told)| told.spent = f64::from(number));
    }
    told
}

fn picture(ledger: &Ledger, told: &[Told<'_>], range: &Range, class: &str, width: f64) -> (String, usize) {
    let height = if class == "narrow" { 300.0 } else { 380.0 };
    let [top, bottom, right] = [22.0, 46.0, 16.0];
    let failures = told.iter().any(|t| value(t.trial).is_none());
    let floor = height - bottom - if failures { 26.0 } else { 0.0 };
    // Room for the best value's label between it and the edge.
    let inset = if ledger.direction == Direction::Minimize { [26.0, 6.0] } else { [6.0, 10.0] };
    let mut y = range.axis([floor - inset[0], top + inset[1]], 5);
    if told.iter().all(|t| value(t.trial).is_none()) {
        y.ticks.clear();
        y.ticks.push((0.5, "no value".into()));
    }
    let left = 30.0 + 6.8 * y.ticks.iter().map(|(_, text)| text.chars().count()).max().unwrap_or(1) as f64;
    let end = told.last().map_or(1.0, |last| last.spent);
    let costless = told.iter().all(|t| paid(t.trial) == 0.0);
    let wanted = (width / 130.0) as usize;
    let mut x = Axis::new(0.0, end, false, [left, width - right], wanted);
    let unit = match ledger.cost_unit {
        _ if costless => "trials told",
        CostUnit::Seconds => "cost spent: time of the stages that ran",
        CostUnit::Units => "cost spent, in units of the pipeline",
    };
    if ledger.cost_unit == CostUnit::Seconds && !costless {
        x = x.in_seconds(wanted);
    }
    if costless {
        x = x.in_whole_numbers(wanted);
    }
    let mut svg = Svg::new(width, height, &format!("Best {} so far against cost", ledger.metric));
    for (at, text) in &y.ticks {
        svg.line("grid", [left, y.at(*at), width - right, y.at(*at)]);
        svg.text("tick end", [left - 7.0, y.at(*at) + 4.0], text);
    }
    for (at, text) in &x.ticks {
        svg.line("grid", [x.at(*at), top, x.at(*at), height - bottom]);
        svg.text("tick mid", [x.at(*at), height - bottom + 18.0], text);
    }
    svg.line("axis", [left, height - bottom, width - right, height - bottom]);
    svg.text("title mid", [(left + width - right) / 2.0, height - 8.0], unit);
    svg.upright("title mid", [13.0, (top + floor) / 2.0], &shorten(&ledger.metric.to_string(), 40));
    if failures {
        svg.text("tick end", [left - 7.0, height - bottom - 7.0], "failed");
    }
    svg.path("step", &steps(ledger.direction, told, &x, &y, end));
    let left_out = dots(&mut svg, ledger, told, [&x, &y], range, height - bottom - 11.0);
    if let Some((trial, best)) = best(ledger).and_then(|trial| Some((trial, value(trial)?))) {
        let spent = told.iter().find(|t| t.trial.trial == trial.trial).map_or(end, |t| t.spent);
        let place = [x.at(spent), y.at(best)];
        svg.dot("ring", place, 8.0, trial.trial, &tip(ledger, trial));
        let above = ledger.direction == Direction::Maximize;
        let anchor = if place[0] > (left + width) / 2.0 { "callout end" } else { "callout" };
        let dy = if above { -13.0 } else { 22.0 };
        svg.text(
            anchor,
            [place[0], place[1] + dy],
            &format!("{} in trial {}", format::number(best), trial.trial),
        );
    }
    (svg.finish(class), left_out)
}

/// The corners of the best-so-far line.
fn steps(direction: Direction, told: &[Told<'_>], x: &Axis, y: &Axis, end: f64) -> Vec<[f64; 2]> {
    let mut best = None::<f64>;
    let mut corners = Vec::new();
    for told in told {
        let Some(value) = value(told.trial) else { continue };
        if let Some(before) = best {
            if !direction.is_better(value, before) {
                continue;
            }
            corners.push([x.at(told.spent), y.at(before)]);
        }
        corners.push([x.at(told.spent), y.at(value)]);
        best = Some(value);
    }
    corners.extend(best.map(|best| [x.at(end), y.at(best)]));
    corners
}

/// Draws the dots and crosses; answers how many were left out because others cover them.
fn dots(
    svg: &mut Svg,
    ledger: &Ledger,
    told: &[Told<'_>],
    [x, y]: [&Axis; 2],
    range: &Range,
    failed_at: f64,
) -> usize {
    let top: BTreeSet<u64> = ranked(ledger).into_iter().take(ALWAYS).map(|trial| trial.trial).collect();
    let numbers = stage_numbers(ledger);
    let radius = if told.len() > CROWD { 2.5 } else { 4.0 };
    let most = (MOST_DOTS as f64 * (x.span[1] / 1040.0).min(1.0)) as usize;
    let height = |t: &Told<'_>| value(t.trial).map_or(failed_at, |value| y.at(value));
    // One dot for each cell of a third of a dot's width: nobody could tell more of them apart.
    let mut seen = BTreeSet::new();
    let mut fresh = |t: &Told<'_>| seen.insert([x.at(t.spent), height(t)].map(|c| (c / radius * 1.5) as i64));
    let apart: Vec<bool> = told.iter().map(|t| fresh(t) || told.len() <= CROWD).collect();
    // Of those that stand apart every so many, from the first to the last.
    let stride = apart.iter().filter(|apart| **apart).count().div_ceil(most.max(1)).max(1);
    let (mut number, mut left_out) = (0, 0);
    for (t, apart) in told.iter().zip(apart) {
        number += usize::from(apart);
        if !(apart && number % stride == 0 || top.contains(&t.trial.trial)) {
            left_out += 1;
            continue;
        }
        let shown = value(t.trial);
        let place = [x.at(t.spent), height(t)];
        let first = t.trial.stages.iter().find(|stage| stage.how != How::Reused);
        let class =
            first.and_then(|stage| numbers.get(stage.stage.as_str())).map_or("none".into(), |s| colour(*s));
        let tip = tip(ledger, t.trial);
        match shown {
            None => svg.mark("cross", place, "m-3.5-3.5l7 7m0-7l-7 7", t.trial.trial, &tip),
            Some(value) if range.leaves_out(value) => {
                let d = if value < range.low { "m-4-6h8l-4 6z" } else { "m-4 6h8l-4-6z" };
                svg.mark(&format!("edge {class}"), place, d, t.trial.trial, &tip);
            }
            Some(_) => svg.dot(&format!("dot {class}"), place, radius, t.trial.trial, &tip),
        }
    }
    left_out
}

/// What a tooltip says of a trial.
pub fn tip(ledger: &Ledger, trial: &TrialRow) -> String {
    let outcome = match (trial.state, value(trial)) {
        (_, Some(value)) => format!("{} {}", shorten(&ledger.metric.to_string(), 30), format::number(value)),
        (TrialState::Open | TrialState::Observed, None) => trial.state.as_str().into(),
        (TrialState::Failed | TrialState::Abandoned | TrialState::Withdrawn, None) => {
            let reason = shorten(trial.reason.as_deref().unwrap_or("no reason given"), 100);
            format!("{}: {reason}", trial.state.as_str())
        }
    };
    let ran: Vec<String> =
        trial.stages.iter().filter(|s| s.how != How::Reused).map(|s| shorten(&s.stage, 30)).collect();
    let ran = if ran.is_empty() { "everything reused".into() } else { format!("ran {}", ran.join(", ")) };
    format!("Trial {}\n{outcome}\ncost {}\n{ran}", trial.trial, format::cost(paid(trial), ledger.cost_unit))
}
