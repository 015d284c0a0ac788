//! Real time: what each worker was doing, side by side, with pauses cut out.
//!
//! Which worker ran a trial is not recorded: a trial goes to the first row that was free when it began.

use std::collections::BTreeMap;

use stagetune::trial::How;
use stagetune_pipeline::ledger::Ledger;

use super::page::section as part;
use super::svg::{Axis, Svg, shorten};
use super::{WIDTHS, colour};
use crate::format;
use crate::rows::stage_numbers;

/// A pause is cut out if it is longer than this share of the time at work, so that it does not hide the work.
const PAUSE: f64 = 0.03;

/// Rows that are drawn; more workers than this are no longer told apart.
const MOST_ROWS: usize = 32;

/// The width of a slice of a row in a picture of many stages, in pixels.
const SLICE: f64 = 3.0;

/// Bars that are drawn one by one; beyond this a row is drawn in slices.
const MOST_BARS: usize = 1_200;

/// A stage of a trial in real time.
struct Bar {
    row: usize,
    /// Among bars of one worker that overlap: branches of a graph that ran side by side.
    lane: usize,
    from: f64,
    to: f64,
    stage: usize,
    how: How,
    trial: u64,
}

/// A stretch without work that is cut out: where it stands on the axis of work, and how long it was.
struct Pause {
    at: f64,
    length: f64,
}

/// The part of the page; nothing where no stage has a time.
pub fn section(ledger: &Ledger) -> String {
    let mut bars = bars(ledger);
    let (Some(first), Some(last)) =
        (bars.iter().map(|bar| bar.from).reduce(f64::min), bars.iter().map(|bar| bar.to).reduce(f64::max))
    else {
        return String::new();
    };
    let pauses = cut_pauses(&mut bars);
    let work = bars.iter().map(|bar| bar.to).fold(0.0, f64::max);
    if !(work > 0.0) {
        return String::new();
    }
    let rows = bars.iter().map(|bar| bar.row + 1).max().unwrap_or(1);
    let pictures: String = WIDTHS
        .into_iter()
        .map(|(class, width)| {
            picture(ledger, &bars, &pauses, [work, rows.min(MOST_ROWS) as f64], class, width)
        })
        .collect();
    let when = match (format::minute(first), format::minute(last)) {
        (Some(first), Some(last)) => format!("From {first} to {last} (UTC), "),
        _ => String::new(),
    };
    let more = if rows > MOST_ROWS { format!(" The first {MOST_ROWS} are shown.") } else { String::new() };
    let workers = if rows == 1 { "one worker".into() } else { format!("{rows} workers side by side") };
    let cut = match pauses.len() {
        0 => String::new(),
        1 => " One pause is cut out.".into(),
        n => format!(" {n} pauses are cut out."),
    };
    let dense = if bars.len() > MOST_BARS { " Heights are shares of the time of each slice." } else { "" };
    let lead = format!("{when}{} at work, {workers}.{cut}{dense}{more}", format::duration(work));
    part("clock", "Real time", &lead, &format!("<figure>{pictures}</figure>\n"))
}

/// Every stage that took time, on the row of a worker that was free.
fn bars(ledger: &Ledger) -> Vec<Bar> {
    let numbers = stage_numbers(ledger);
    let mut trials: Vec<(f64, f64, Vec<Bar>)> = ledger
        .trials
        .iter()
        .filter_map(|trial| {
            let bars: Vec<Bar> = trial
                .stages
                .iter()
                .filter(|s| s.began.is_finite() && s.ended.is_finite() && s.ended >= s.began && s.began > 0.0)
                .filter_map(|s| {
                    let stage = *numbers.get(s.stage.as_str())?;
                    Some(Bar {
                        row: 0,
                        lane: 0,
                        from: s.began,
                        to: s.ended,
                        stage,
                        how: s.how,
                        trial: trial.trial,
                    })
                })
                .collect();
            let from = bars.iter().map(|bar| bar.from).reduce(f64::min)?;
            let to = bars.iter().map(|bar| bar.to).reduce(f64::max)?;
            Some((from, to, bars))
        })
        .collect();
    trials.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut free: Vec<f64> = Vec::new();
    let mut out = Vec::new();
    for (from, to, mut bars) in trials {
        let row = free.iter().position(|free| *free <= from).unwrap_or_else(|| {
            free.push(from);
            free.len() - 1
        });
        if let Some(free) = free.get_mut(row) {
            *free = to;
        }
        let mut lanes: Vec<f64> = Vec::new();
        bars.sort_by(|a, b| a.from.total_cmp(&b.from));
        for bar in &mut bars {
            bar.row = row;
            bar.lane = lanes.iter().position(|free| *free <= bar.from).unwrap_or(lanes.len());
            match lanes.get_mut(bar.lane) {
                Some(free) => *free = bar.to,
                None => lanes.push(bar.to),
            }
        }
        out.append(&mut bars);
    }
    out
}

/// Moves the bars to an axis that begins at 0 and has no long pauses; answers those that it cut out.
fn cut_pauses(bars: &mut [Bar]) -> Vec<Pause> {
    let mut order: Vec<usize> = (0..bars.len()).collect();
    order.sort_by(|a, b| bars[*a].from.total_cmp(&bars[*b].from));
    let mut gaps = Vec::new();
    let (mut busy, mut end) = (0.0, f64::NEG_INFINITY);
    for at in &order {
        let (from, to) = (bars[*at].from, bars[*at].to);
        if end.is_finite() && from > end {
            gaps.push((end, from));
        }
        busy += (to - from.max(end)).max(0.0);
        end = end.max(to);
    }
    let least = busy * PAUSE;
    gaps.retain(|(from, to)| to - from > least && to - from > 1.0);
    let mut pauses = Vec::new();
    let start = order.first().map_or(0.0, |at| bars[*at].from);
    let (mut gaps, mut cut) = (gaps.into_iter().peekable(), start);
    for at in order {
        while let Some((from, to)) = gaps.next_if(|(_, to)| *to <= bars[at].from) {
            pauses.push(Pause { at: from - cut, length: to - from });
            cut += to - from;
        }
        bars[at].from -= cut;
        bars[at].to -= cut;
    }
    pauses
}

fn picture(
    ledger: &Ledger,
    bars: &[Bar],
    pauses: &[Pause],
    [work, rows]: [f64; 2],
    class: &str,
    width: f64,
) -> String {
    let row = if rows > 8.0 { 14.0 } else { 24.0 };
    let left = 76.0;
    let (left, right, top) = (if class == "narrow" { 24.0 } else { left }, 16.0, 22.0);
    let floor = top + rows * (row + 5.0);
    let wanted = (width / 120.0) as usize;
    let x = Axis::new(0.0, work, false, [left, width - right], wanted).in_seconds(wanted);
    let mut svg = Svg::new(width, floor + 44.0, "What each worker did, in real time");
    for (at, text) in &x.ticks {
        svg.line("grid", [x.at(*at), top, x.at(*at), floor]);
        svg.text("tick mid", [x.at(*at), floor + 17.0], text);
    }
    for worker in 0..rows as usize {
        let name =
            if class == "narrow" { (worker + 1).to_string() } else { format!("worker {}", worker + 1) };
        svg.text("tick end", [left - 8.0, top + worker as f64 * (row + 5.0) + row / 2.0 + 4.0], &name);
    }
    let place = |bar: &Bar| top + bar.row as f64 * (row + 5.0);
    let shown = || bars.iter().filter(|bar| (bar.row as f64) < rows);
    if bars.len() <= MOST_BARS {
        let lanes = bars.iter().map(|bar| bar.lane + 1).max().unwrap_or(1) as f64;
        for bar in shown() {
            let (from, to) = (x.at(bar.from), x.at(bar.to));
            let box_ = [from, place(bar) + bar.lane as f64 * row / lanes, (to - from).max(0.6), row / lanes];
            svg.rect(&format!("cell {}", shade(bar)), box_, Some(&tip(ledger, bar)));
        }
    } else {
        for ((at, slice), shares) in slices(bars, &x, rows) {
            let from = x.span[0] + slice as f64 * SLICE;
            let mut bottom = top + at as f64 * (row + 5.0) + row;
            for (class, share) in shares {
                bottom -= share * row;
                svg.rect(&format!("cell {class}"), [from, bottom, SLICE, share * row], None);
            }
        }
    }
    let mut free = left;
    for pause in pauses {
        svg.line("pause", [x.at(pause.at), top - 4.0, x.at(pause.at), floor]);
        // A label stands only where the one before it leaves room.
        let text = format!("{} pause", format::duration(pause.length));
        let half = 3.3 * text.chars().count() as f64;
        let middle = x.at(pause.at).clamp(left + half, width - right - half);
        if middle - half >= free {
            svg.text("tick mid", [middle, top - 8.0], &text);
            free = middle + half + 8.0;
        }
    }
    svg.line("axis", [left, floor, width - right, floor]);
    svg.text("title mid", [(left + width - right) / 2.0, floor + 36.0], "time at work");
    svg.finish(class)
}

/// For each row and slice of the axis: what shares of its time went into what.
fn slices(bars: &[Bar], x: &Axis, rows: f64) -> BTreeMap<(usize, usize), BTreeMap<String, f64>> {
    let mut out: BTreeMap<(usize, usize), BTreeMap<String, f64>> = BTreeMap::new();
    let most = ((x.span[1] - x.span[0]) / SLICE) as usize;
    for bar in bars.iter().filter(|bar| (bar.row as f64) < rows) {
        let [from, to] = [bar.from, bar.to].map(|t| (x.at(t) - x.span[0]) / SLICE);
        for slice in from as usize..=(to as usize).min(most) {
            let share = to.min(slice as f64 + 1.0) - from.max(slice as f64);
            // What takes less than a hundredth of a slice cannot be seen.
            if share > 0.0 {
                *out.entry((bar.row, slice)).or_default().entry(shade(bar)).or_default() += share;
            }
        }
    }
    for shares in out.values_mut() {
        shares.retain(|_, share| *share > 0.01);
        // Branches that ran side by side fill more than the slice; they share it.
        let all: f64 = shares.values().sum();
        shares.values_mut().for_each(|share| *share /= all.max(1.0));
    }
    out
}

fn shade(bar: &Bar) -> String {
    match bar.how {
        How::Ran => colour(bar.stage),
        How::Reused => format!("pale {}", colour(bar.stage)),
        How::Failed => "bad".into(),
    }
}

fn tip(ledger: &Ledger, bar: &Bar) -> String {
    let stage = ledger.stages.get(bar.stage).map_or("", |stage| stage.name.as_str());
    let what = match bar.how {
        How::Ran => "ran",
        How::Reused => "reused",
        How::Failed => "failed",
    };
    format!("Trial {}\n{} {what}, {}", bar.trial, shorten(stage, 40), format::duration(bar.to - bar.from))
}
