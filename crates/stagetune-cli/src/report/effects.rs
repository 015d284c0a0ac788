//! Parameter effects: the metric against each parameter, with a trend and how strongly they go together.

use std::collections::BTreeSet;

use serde_json::Value;
use stagetune::space::DomainDescription;
use stagetune_pipeline::ledger::{Ledger, ParamRow, TrialRow};

use super::colour;
use super::curve::tip;
use super::metric::{Range, range};
use super::page::section as part;
use super::relation::{LEAST, bins, median, share, spearman, trend};
use super::svg::{Axis, Svg, escape, shorten};
use crate::format;
use crate::rows::{best, ranked, value};

/// The size of one picture.
const WIDTH: f64 = 260.0;
const HEIGHT: f64 = 190.0;

/// Pictures of one page; of more parameters, those that matter most.
const MOST_PICTURES: usize = 60;

/// Dots over all pictures, which keeps the file to a few megabytes.
const ALL_DOTS: usize = 9_000;

/// Values of a choice that have room side by side.
const MOST_VALUES: usize = 12;

/// A parameter with the trials that have a value.
struct Effect<'a> {
    param: &'a ParamRow,
    /// Where the trial stands along the parameter, its value, and the trial; the best first.
    places: Vec<(f64, f64, &'a TrialRow)>,
    share: Option<f64>,
    rho: Option<f64>,
    different: usize,
}

/// The part of the page.
pub fn section(ledger: &Ledger) -> String {
    let heading = "Parameters and the metric";
    let ranked = ranked(ledger);
    if ranked.is_empty() || ledger.params.is_empty() {
        let none = "<p class=\"empty\">No trial has a value to set against a parameter.</p>\n";
        return part("effects", heading, "", none);
    }
    let mut effects: Vec<Effect<'_>> = ledger.params.iter().map(|param| effect(param, &ranked)).collect();
    let left_out = effects.len().saturating_sub(MOST_PICTURES);
    if left_out > 0 {
        effects.sort_by(|a, b| b.share.unwrap_or(-1.0).total_cmp(&a.share.unwrap_or(-1.0)));
        effects.truncate(MOST_PICTURES);
    }
    let range = range(ranked.iter().filter_map(|trial| value(trial)), ledger.direction);
    let dots = (ALL_DOTS / effects.len().max(1)).clamp(60, 700);
    let mut body = String::new();
    for (at, stage) in ledger.stages.iter().enumerate() {
        let figures: String = effects
            .iter()
            .filter(|effect| effect.param.stage == stage.name)
            .map(|effect| figure(ledger, effect, &range, at, dots))
            .collect();
        if !figures.is_empty() {
            let (class, name) = (colour(at), escape(&stage.name));
            body += &format!(
                "<h3><i class=\"{class}\"></i>{name}</h3>\n<div class=\"effects\">{figures}</div>\n"
            );
        }
    }
    if left_out > 0 {
        body += &format!(
            "<p class=\"note\">{} parameters that go along with the metric least are left out.</p>\n",
            left_out
        );
    }
    let lead = "Each dot is a trial with a value, the line a running median, the ring the best trial. \
                The percentage is how much of the variance of the metric's ranks lies between values of the parameter \
                (or bins of them), less what chance would give; ρ is the rank correlation. \
                These are not causal effects: the trials were chosen, not drawn at random, and parameters move together. \
                Parameters of early stages were moved rarely, because that is dear: few different values say little.";
    part("effects", heading, lead, &body)
}

fn effect<'a>(param: &'a ParamRow, ranked: &[&'a TrialRow]) -> Effect<'a> {
    let places: Vec<(f64, f64, &TrialRow)> = ranked
        .iter()
        .filter_map(|trial| {
            Some((along(&param.param.domain, trial.point.get(&param.param.name)?)?, value(trial)?, *trial))
        })
        .collect();
    let (x, y): (Vec<f64>, Vec<f64>) = places.iter().map(|(x, y, _)| (*x, *y)).unzip();
    let pairs: Vec<(f64, f64)> = places.iter().map(|(x, y, _)| (*x, *y)).collect();
    let numeric =
        matches!(param.param.domain, DomainDescription::Float { .. } | DomainDescription::Int { .. });
    let groups = if numeric { bins(&x) } else { x.iter().map(|x| *x as usize).collect() };
    let different = x.iter().map(|x| x.to_bits()).collect::<BTreeSet<_>>().len();
    Effect { param, places, share: share(&groups, &y), rho: spearman(&pairs).filter(|_| numeric), different }
}

/// Where a value stands along its parameter: a number, or the number of a choice.
fn along(domain: &DomainDescription, value: &Value) -> Option<f64> {
    match domain {
        DomainDescription::Float { .. } | DomainDescription::Int { .. } => {
            value.as_f64().filter(|x| x.is_finite())
        }
        DomainDescription::Choice { values } => {
            let text = value.as_str()?;
            values.iter().position(|choice| choice == text).map(|at| at as f64)
        }
        DomainDescription::Bool => value.as_bool().map(|yes| f64::from(u8::from(yes))),
    }
}

fn figure(ledger: &Ledger, effect: &Effect<'_>, range: &Range, stage: usize, dots: usize) -> String {
    let Effect { param, share, .. } = effect;
    let meter = share.map_or_else(String::new, |share| {
        format!(
            "<span class=\"meter\"><b class=\"{}\" style=\"width:{:.0}%\"></b></span>",
            colour(stage),
            share * 100.0
        )
    });
    format!(
        "<figure class=\"effect\"><figcaption><b>{}</b>{meter}<small>{}</small></figcaption>\n{}</figure>\n",
        escape(&param.param.name),
        escape(&caption(effect)),
        picture(ledger, effect, range, stage, dots)
    )
}

/// Two lines: how strongly the parameter goes along with the metric, and how much that rests on.
fn caption(effect: &Effect<'_>) -> String {
    let (n, values) = (effect.places.len(), effect.different);
    let strength = match effect.share {
        _ if values == 1 => "never moved".into(),
        None if n < LEAST => "too few trials to tell".into(),
        None => "no relation to tell".into(),
        Some(share) => {
            let word = match share {
                s if s < 0.05 => "hardly related",
                s if s < 0.2 => "weakly related",
                s if s < 0.5 => "related",
                _ => "strongly related",
            };
            format!("{word}: {}", format::percent(share))
        }
    };
    let rho = effect.rho.map_or_else(String::new, |rho| format!(", ρ = {rho:+.2}").replace('-', "−"));
    let values = if values == 1 { "one value".into() } else { format!("{} values", format::count(values)) };
    let trials = if n == 1 { "one trial".into() } else { format!("{} trials", format::count(n)) };
    format!("{strength}{rho}\n{values} in {trials}")
}

fn picture(ledger: &Ledger, effect: &Effect<'_>, range: &Range, stage: usize, dots: usize) -> String {
    let (top, floor) = (12.0, HEIGHT - 26.0);
    let y = range.axis([floor, top], 4);
    let left = 12.0 + 6.4 * y.ticks.iter().map(|(_, text)| text.chars().count()).max().unwrap_or(1) as f64;
    let right = WIDTH - 14.0;
    let mut svg = Svg::new(WIDTH, HEIGHT, &format!("{} against {}", ledger.metric, effect.param.param.name));
    for (at, text) in &y.ticks {
        svg.line("grid", [left, y.at(*at), right, y.at(*at)]);
        svg.text("tick end", [left - 6.0, y.at(*at) + 4.0], text);
    }
    svg.line("axis", [left, floor, right, floor]);
    let (x, names) = axis(&effect.param.param.domain, [left + 8.0, right - 4.0]);
    for (at, text) in &x.ticks {
        svg.line("nick", [x.at(*at), floor, x.at(*at), floor + 4.0]);
        svg.text("tick mid", [x.at(*at), floor + 17.0], text);
    }
    let strip = names.map(|names| (x.span[1] - x.span[0]) / names.max(1) as f64);
    let spread = |trial: u64| strip.map_or(0.0, |width| jitter(trial) * width * 0.5);
    // The best are drawn last, on top of the others; of very many, the best tenth and an even selection of the rest.
    let stride = effect.places.len().div_ceil(dots).max(1);
    let chosen = effect.places.iter().enumerate().filter(|(at, _)| *at < dots / 10 || at % stride == 0);
    for (_, (px, py, trial)) in chosen.collect::<Vec<_>>().into_iter().rev() {
        let place = [x.at(*px) + spread(trial.trial), y.at(*py)];
        let edge = if range.leaves_out(*py) { " far" } else { "" };
        svg.dot(
            &format!("dot small {}{edge}", colour(stage)),
            place,
            2.8,
            trial.trial,
            &effect_tip(ledger, effect, trial),
        );
    }
    match strip {
        Some(width) => medians(&mut svg, effect, [&x, &y], width),
        None => {
            let pairs: Vec<(f64, f64)> = effect.places.iter().map(|(px, py, _)| (*px, *py)).collect();
            let line: Vec<[f64; 2]> =
                trend(&pairs, 24).into_iter().map(|(px, py)| [x.at(px), y.at(py)]).collect();
            if line.len() > 1 {
                svg.path("trend", &line);
            }
        }
    }
    let best =
        best(ledger).and_then(|best| effect.places.iter().find(|(_, _, trial)| trial.trial == best.trial));
    if let Some((px, py, trial)) = best {
        let place = [x.at(*px) + spread(trial.trial), y.at(*py)];
        svg.dot("ring", place, 5.5, trial.trial, &effect_tip(ledger, effect, trial));
    }
    svg.finish("effect")
}

/// The axis of a parameter; for choices also how many stand side by side.
fn axis(domain: &DomainDescription, span: [f64; 2]) -> (Axis, Option<usize>) {
    let named = |names: Vec<String>| {
        let count = names.len();
        let room = ((span[1] - span[0]) / 6.6 / count.max(1) as f64) as usize;
        let mut axis = Axis::new(-0.5, count as f64 - 0.5, false, span, 1);
        let shown = names.into_iter().enumerate().filter(|_| count <= MOST_VALUES);
        axis.ticks = shown.map(|(at, name)| (at as f64, shorten(&name, room.max(3)))).collect();
        (axis, Some(count))
    };
    match domain {
        DomainDescription::Float { low, high, log } => (Axis::new(*low, *high, *log, span, 4), None),
        DomainDescription::Int { low, high, log, .. } => {
            (Axis::new(*low as f64, *high as f64, *log, span, 5).in_whole_numbers(5), None)
        }
        DomainDescription::Choice { values } => named(values.clone()),
        DomainDescription::Bool => named(vec!["false".into(), "true".into()]),
    }
}

/// A short line at the median of each choice that has some trials.
fn medians(svg: &mut Svg, effect: &Effect<'_>, [x, y]: [&Axis; 2], width: f64) {
    let choices: BTreeSet<usize> = effect.places.iter().map(|(at, ..)| *at as usize).collect();
    for choice in choices {
        let of_choice =
            || effect.places.iter().filter(|(at, ..)| *at as usize == choice).map(|(_, value, _)| *value);
        if of_choice().count() >= 3 {
            let (cx, cy) = (x.at(choice as f64), y.at(median(of_choice())));
            svg.path("trend", &[[cx - width * 0.32, cy], [cx + width * 0.32, cy]]);
        }
    }
}

/// A number of [−0.5, 0.5) that is always the same for a trial.
fn jitter(trial: u64) -> f64 {
    // Multiples of the golden ratio fill an interval evenly.
    (trial as f64 * 0.618_033_988_749_895).fract() - 0.5
}

fn effect_tip(ledger: &Ledger, effect: &Effect<'_>, trial: &TrialRow) -> String {
    let name = &effect.param.param.name;
    let at = trial.point.get(name).map_or_else(String::new, format::value);
    let first = tip(ledger, trial);
    let head: Vec<&str> = first.lines().take(2).collect();
    format!("{}\n{} = {}", head.join("\n"), shorten(name, 40), shorten(&at, 60))
}
