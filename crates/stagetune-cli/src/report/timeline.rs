//! Which stage ran and which was reused: a lane for each stage, a column for each trial, and beneath it what each trial cost.

use std::fmt::Write;

use stagetune::trial::How;
use stagetune_pipeline::ledger::{Ledger, TrialRow};

use super::page::{legend, section as part};
use super::svg::{Axis, Svg, shorten};
use super::ticks;
use super::{WIDTHS, colour};
use crate::format;
use crate::rows::stage_numbers;

/// The narrowest column that an eye can tell from its neighbours, in pixels.
const NARROWEST: f64 = 3.0;

/// The widest column; a study of three trials is not a flag.
const WIDEST: f64 = 26.0;

/// Cells of one picture, over all lanes.
const MOST_CELLS: usize = 4_000;

/// The height of the part that shows costs.
const COSTS: f64 = 96.0;

/// What happened to one stage in the trials of one column.
#[derive(Clone, Default)]
struct Cell {
    ran: usize,
    reused: usize,
    failed: usize,
    paid: f64,
    saved: f64,
}

/// The part of the page.
pub fn section(ledger: &Ledger) -> String {
    let heading = "What ran and what was reused";
    if ledger.trials.is_empty() || ledger.stages.is_empty() {
        return part("timeline", heading, "", "<p class=\"empty\">No trial has been asked yet.</p>\n");
    }
    let legend = legend(ledger, &[("reused", "reused (pale)"), ("bad", "failed")]);
    let pictures: String = WIDTHS.into_iter().map(|(class, width)| picture(ledger, class, width)).collect();
    let each = per_column(ledger, WIDTHS[0].1);
    let lead = if each == 1 {
        "A column for each trial, in the order asked. The bars beneath show what it cost; the pale part is what reuse saved it.".into()
    } else {
        format!(
            "Each column stands for {each} or more trials in the order asked; how high it is filled is the share that ran. \
             The bars beneath show the mean cost of a trial; the pale part is what reuse saved."
        )
    };
    part("timeline", heading, &lead, &format!("{legend}<figure>{pictures}</figure>\n"))
}

/// How many trials share a column.
fn per_column(ledger: &Ledger, width: f64) -> usize {
    let columns = ((width - 130.0) / NARROWEST).max(20.0) as usize;
    ledger.trials.len().div_ceil(columns.min((MOST_CELLS / ledger.stages.len().max(1)).max(20)))
}

fn picture(ledger: &Ledger, class: &str, width: f64) -> String {
    let narrow = class == "narrow";
    let names = ledger.stages.iter().map(|stage| stage.name.chars().count().min(16)).max().unwrap_or(0);
    let left = if narrow { 52.0 } else { (24.0 + 7.0 * names as f64).max(76.0) };
    let right = if narrow { 6.0 } else { 84.0 };
    let each = per_column(ledger, width);
    let columns = ledger.trials.len().div_ceil(each);
    let column = ((width - left - right) / columns as f64).min(WIDEST);
    let lane = if ledger.stages.len() > 8 { 16.0 } else { 26.0 };
    let gap = if narrow { 20.0 } else { 7.0 };
    let lanes = ledger.stages.len() as f64 * (lane + gap);
    let height = 8.0 + lanes + 22.0 + COSTS + 42.0;
    let mut svg = Svg::new(width, height, "Which stages ran, by trial");
    let cells = cells(ledger, each);
    for (at, stage) in ledger.stages.iter().enumerate() {
        let top = 8.0 + at as f64 * (lane + gap) + if narrow { 14.0 } else { 0.0 };
        let ran = format!("ran {} ×", format::count((stage.ran + stage.failed) as usize));
        if narrow {
            svg.text("tick", [left, top - 4.0], &format!("{} · {ran}", shorten(&stage.name, 24)));
        } else {
            svg.text("lane end", [left - 10.0, top + lane / 2.0 + 4.5], &shorten(&stage.name, 16));
            svg.text("tick", [left + columns as f64 * column + 8.0, top + lane / 2.0 + 4.0], &ran);
        }
        for (number, row) in cells.iter().enumerate() {
            if let Some(cell) = row.get(at) {
                let tip = cell_tip(ledger, number * each, each, &stage.name, cell);
                draw(&mut svg, cell, at, [left + number as f64 * column, top, column, lane], &tip);
            }
        }
    }
    costs(&mut svg, ledger, &cells, each, [left, 8.0 + lanes + 22.0, column, width - right]);
    let middle = left + columns as f64 * column / 2.0;
    svg.text("title mid", [middle.max(left + 16.0), height - 6.0], "trial");
    svg.finish(class)
}

/// One row of cells for each column of the picture.
fn cells(ledger: &Ledger, each: usize) -> Vec<Vec<Cell>> {
    let numbers = stage_numbers(ledger);
    let column = |trials: &[TrialRow]| {
        let mut row = vec![Cell::default(); ledger.stages.len()];
        for stage in trials.iter().flat_map(|trial| &trial.stages) {
            let Some(cell) = numbers.get(stage.stage.as_str()).and_then(|at| row.get_mut(*at)) else {
                continue;
            };
            let cost = if stage.cost.is_finite() { stage.cost.max(0.0) } else { 0.0 } / trials.len() as f64;
            match stage.how {
                How::Ran => (cell.ran, cell.paid) = (cell.ran + 1, cell.paid + cost),
                How::Failed => (cell.failed, cell.paid) = (cell.failed + 1, cell.paid + cost),
                How::Reused => (cell.reused, cell.saved) = (cell.reused + 1, cell.saved + cost),
            }
        }
        row
    };
    ledger.trials.chunks(each.max(1)).map(column).collect()
}

/// Fills a cell from below: what ran, what failed, what was reused; what was never reached stays empty.
fn draw(svg: &mut Svg, cell: &Cell, stage: usize, [x, y, w, h]: [f64; 4], tip: &str) {
    let all = cell.ran + cell.failed + cell.reused;
    if all == 0 {
        return;
    }
    let inner = if w >= 5.0 { w - 1.5 } else { w };
    let colour = colour(stage);
    let mut bottom = y + h;
    for (count, class) in
        [(cell.ran, colour.clone()), (cell.failed, "bad".into()), (cell.reused, format!("pale {colour}"))]
    {
        if count > 0 {
            let part = h * count as f64 / all as f64;
            bottom -= part;
            svg.rect(&format!("cell {class}"), [x, bottom, inner, part], Some(tip));
        }
    }
    if cell.failed == all && w >= 11.0 {
        let (cx, cy, r) = (x + inner / 2.0, y + h / 2.0, 3.0);
        svg.line("strike", [cx - r, cy - r, cx + r, cy + r]);
        svg.line("strike", [cx - r, cy + r, cx + r, cy - r]);
    }
}

fn cell_tip(ledger: &Ledger, first: usize, each: usize, stage: &str, cell: &Cell) -> String {
    let trials = ledger.trials.get(first..(first + each).min(ledger.trials.len())).unwrap_or_default();
    let stage = shorten(stage, 40);
    let (Some(one), Some(last)) = (trials.first(), trials.last()) else { return stage };
    let cost = |value| format::cost(value, ledger.cost_unit);
    if trials.len() > 1 {
        let mut tip = format!("Trials {} to {}\n{stage}: ran {}", one.trial, last.trial, cell.ran);
        let _ = write!(tip, ", reused {}, failed {}", cell.reused, cell.failed);
        return tip;
    }
    let what = match (cell.ran, cell.reused, cell.failed) {
        (_, _, 1..) => format!("failed after {}", cost(cell.paid)),
        (1.., ..) => format!("ran, {}", cost(cell.paid)),
        _ => format!("reused, saved {}", cost(cell.saved)),
    };
    format!("Trial {}\n{stage}: {what}", one.trial)
}

/// A bar for each column: what was paid, stage on stage, and above it what reuse saved.
fn costs(
    svg: &mut Svg,
    ledger: &Ledger,
    cells: &[Vec<Cell>],
    each: usize,
    [left, top, column, right]: [f64; 4],
) {
    let sum = |row: &[Cell]| row.iter().map(|cell| cell.paid + cell.saved).sum::<f64>();
    let dearest = cells.iter().map(|row| sum(row)).fold(0.0, f64::max);
    let floor = top + COSTS;
    let mut y = Axis::new(0.0, dearest, false, [floor, top], 3);
    if ledger.cost_unit == stagetune_pipeline::ledger::CostUnit::Seconds {
        y = y.in_seconds(3);
    }
    if !(dearest > 0.0) {
        y.ticks = vec![(y.low, "no cost".into())];
    }
    let end = left + cells.len() as f64 * column;
    for (at, text) in &y.ticks {
        svg.line("grid", [left, y.at(*at), end.max(left + 60.0).min(right), y.at(*at)]);
        svg.text("tick end", [left - 7.0, y.at(*at) + 4.0], text);
    }
    let inner = if column >= 5.0 { column - 1.5 } else { column };
    for (number, row) in cells.iter().enumerate() {
        let x = left + number as f64 * column;
        let mut total = 0.0;
        let paid = row.iter().enumerate().map(|(at, cell)| (cell.paid, colour(at)));
        let saved = [(row.iter().map(|cell| cell.saved).sum(), "saved".into())];
        for (cost, class) in paid.chain(saved) {
            if cost > 0.0 && dearest > 0.0 {
                let (from, to) = (y.at(total), y.at(total + cost));
                svg.rect(&format!("cell {class}"), [x, to, inner, from - to], None);
                total += cost;
            }
        }
    }
    svg.line("axis", [left, floor, end, floor]);
    // Numbers of trials stand under the middle of their columns; between whole numbers is no trial.
    let last = ledger.trials.len().saturating_sub(1) as f64;
    let wanted = (((end - left) / 70.0) as usize).clamp(1, 14);
    for (at, _) in ticks::whole(0.0, last, wanted) {
        let x = left + ((at / each as f64).floor() + 0.5) * column;
        let number = ledger.trials.get(at as usize).map_or(0, |trial| trial.trial);
        svg.text("tick mid", [x, floor + 17.0], &number.to_string());
    }
}
