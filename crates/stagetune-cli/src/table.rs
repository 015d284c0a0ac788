//! Trials as aligned plain text for a terminal, as wide as it is and not wider.

use anstyle::{AnsiColor, Style};
use stagetune::objective::Metric;
use stagetune::trial::How;
use stagetune_pipeline::ledger::{Ledger, ParamRow, TrialRow, TrialState};

use crate::format::{self, clean};
use crate::rows::{self, other_metrics, paid, ranked, value};
use crate::terminal;

/// Which trials, and how they look.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Which trials.
    pub which: Which,
    /// Columns of the terminal; without a limit if `None`.
    pub width: Option<usize>,
    /// Whether colours are wanted.
    pub colour: bool,
    /// Whether only ASCII may be used.
    pub ascii: bool,
}

/// Which trials to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// All, in the order asked.
    All,
    /// The last so many, in the order asked.
    Last(usize),
    /// The best so many, the best first.
    Best(usize),
}

/// The narrowest and the widest room that is kept for reasons; in between a third of the line.
const REASON: [usize; 2] = [24, 48];

/// Columns of metrics; one trial is shown with all of them.
const MOST_METRICS: usize = 6;

/// Room between columns.
const GAP: &str = "  ";

/// A column: its heading, its cells, and whether they are numbers.
struct Column {
    head: String,
    cells: Vec<String>,
    right: bool,
}

/// The trials that are asked for, in the order shown.
pub fn chosen(ledger: &Ledger, which: Which) -> Vec<&TrialRow> {
    match which {
        Which::All => ledger.trials.iter().collect(),
        Which::Last(n) => ledger.trials.iter().skip(ledger.trials.len().saturating_sub(n)).collect(),
        Which::Best(n) => ranked(ledger).into_iter().take(n).collect(),
    }
}

/// The table, with a line of headings, ending in a line feed; a sentence where there is nothing to show.
pub fn trials(ledger: &Ledger, options: Options) -> String {
    let shown = chosen(ledger, options.which);
    if shown.is_empty() {
        let what = if ledger.trials.is_empty() { "no trials yet" } else { "no trial has a value" };
        return format!("{what}\n");
    }
    let signs = Signs::new(options.ascii);
    let mut columns = vec![
        column("trial", true, shown.iter().map(|trial| trial.trial.to_string())),
        Column {
            head: clean(&ledger.metric.to_string()) + "  ",
            cells: values(ledger, &shown, &signs),
            right: true,
        },
        column("cost", true, shown.iter().map(|trial| format::cost(paid(trial), ledger.cost_unit))),
        column("stages", false, shown.iter().map(|trial| signs.stages(ledger, trial))),
    ];
    let reasons: Vec<String> =
        shown.iter().map(|trial| trial.reason.as_deref().map_or_else(String::new, clean)).collect();
    let failed = reasons.iter().any(|reason| !reason.is_empty());
    let limit = options.width.unwrap_or(usize::MAX);
    let mut used = columns.iter().map(|c| width_of(c) + GAP.len()).sum::<usize>();
    used += if failed { (limit / 3).clamp(REASON[0], REASON[1]) } else { 0 };
    // Metrics have half of the room, and what parameters leave of theirs.
    let metrics = other_metrics(ledger);
    let params: Vec<Column> = ledger.params.iter().map(|param| param_column(param, &shown)).collect();
    let wanted = params.iter().map(|column| width_of(column) + GAP.len()).sum();
    let room = limit.saturating_sub(used);
    let mut left = (room / 2).max(room.saturating_sub(wanted));
    let mut hidden_metrics = metrics.len();
    for column in metric_columns(ledger, &metrics, &shown) {
        if let Some(rest) = left.checked_sub(width_of(&column)) {
            used += width_of(&column) + GAP.len();
            left = rest.saturating_sub(GAP.len());
            columns.push(column);
            hidden_metrics -= 1;
        }
    }
    let mut hidden_params = params.len();
    for column in params {
        // Once one does not fit the later ones are not shown either: the order says which are missing.
        if used + width_of(&column) > limit {
            break;
        }
        used += width_of(&column) + GAP.len();
        columns.push(column);
        hidden_params -= 1;
    }
    if failed {
        columns.push(Column { head: "reason".into(), cells: reasons, right: false });
    }
    let mut out = String::new();
    let heads: Vec<&str> = columns.iter().map(|column| column.head.as_str()).collect();
    let widths: Vec<usize> = columns.iter().map(width_of).collect();
    out += &line(&columns, &heads, &widths, limit, &signs, paint(Style::new().bold(), options.colour));
    for (at, trial) in shown.iter().enumerate() {
        let cells: Vec<&str> =
            columns.iter().map(|column| column.cells.get(at).map_or("", String::as_str)).collect();
        let style = paint(style(ledger, trial), options.colour);
        out += &line(&columns, &cells, &widths, limit, &signs, style);
    }
    if let Some(text) = missing(hidden_metrics, hidden_params) {
        out += &format!("{}\n", cut(&text, limit, &signs));
    }
    out
}

/// The numbers that stages reported beside the objective; where two have one name, the stage is named too.
fn metric_columns(ledger: &Ledger, metrics: &[Metric], shown: &[&TrialRow]) -> Vec<Column> {
    let times = |name: &str| metrics.iter().filter(|metric| metric.name() == name).count();
    let one = |metric: &Metric| {
        let taken = times(metric.name()) > 1 || metric.name() == ledger.metric.name();
        let head = if taken { metric.to_string() } else { metric.name().to_owned() };
        let cell = |trial: &&TrialRow| rows::metric(trial, metric).map_or_else(String::new, format::number);
        column(&head, true, shown.iter().map(cell))
    };
    metrics.iter().take(MOST_METRICS).map(one).collect()
}

fn param_column(param: &ParamRow, shown: &[&TrialRow]) -> Column {
    let values = || shown.iter().map(|trial| trial.point.get(&param.param.name));
    let number = !values().flatten().any(serde_json::Value::is_string);
    column(&param.param.name, number, values().map(|value| value.map_or_else(String::new, format::value)))
}

/// What the table has no room for, in a sentence.
fn missing(metrics: usize, params: usize) -> Option<String> {
    let say = |count: usize, what: &str| match count {
        0 => None,
        1 => Some(format!("1 more {what}")),
        more => Some(format!("{more} more {what}s")),
    };
    let parts: Vec<String> =
        [say(metrics, "metric"), say(params, "parameter")].into_iter().flatten().collect();
    let verb = if metrics + params == 1 { "does" } else { "do" };
    let hint = "see `--trial N` or `export`";
    (!parts.is_empty()).then(|| format!("{} {verb} not fit; {hint}", parts.join(" and ")))
}

/// What marks what, in Unicode or in ASCII.
struct Signs {
    best: char,
    ran: char,
    reused: char,
    failed: char,
    waiting: char,
    cut: &'static str,
    ascii: bool,
}

impl Signs {
    fn new(ascii: bool) -> Self {
        if ascii {
            Self { best: '*', ran: '#', reused: '-', failed: 'x', waiting: '.', cut: "...", ascii }
        } else {
            Self { best: '★', ran: '■', reused: '□', failed: '✗', waiting: '·', cut: "…", ascii }
        }
    }

    /// A sign for each stage of the pipeline, in order.
    fn stages(&self, ledger: &Ledger, trial: &TrialRow) -> String {
        ledger
            .stages
            .iter()
            .map(|facts| match trial.stages.iter().rfind(|stage| stage.stage == facts.name).map(|s| s.how) {
                Some(How::Ran) => self.ran,
                Some(How::Reused) => self.reused,
                Some(How::Failed) => self.failed,
                None => self.waiting,
            })
            .collect()
    }
}

fn values(ledger: &Ledger, shown: &[&TrialRow], signs: &Signs) -> Vec<String> {
    let numbers: Vec<f64> = shown.iter().filter_map(|trial| value(trial)).collect();
    let mut texts = format::aligned(&numbers).into_iter();
    let word = |trial: &TrialRow| value(trial).is_none().then(|| trial.state.as_str());
    shown
        .iter()
        .map(|trial| {
            let text = word(trial).map_or_else(|| texts.next().unwrap_or_default(), String::from);
            // Every row has room for the sign, so that the numbers stay aligned.
            let sign = if ledger.best_trial() == Some(trial.trial) { signs.best } else { ' ' };
            format!("{text} {sign}")
        })
        .collect()
}

fn style(ledger: &Ledger, trial: &TrialRow) -> Style {
    match trial.state {
        _ if ledger.best_trial() == Some(trial.trial) => {
            Style::new().fg_color(Some(AnsiColor::Green.into())).bold()
        }
        TrialState::Failed => Style::new().fg_color(Some(AnsiColor::Red.into())),
        TrialState::Open | TrialState::Abandoned | TrialState::Withdrawn => Style::new().dimmed(),
        TrialState::Observed => Style::new(),
    }
}

fn paint(style: Style, colour: bool) -> Style {
    if colour { style } else { Style::new() }
}

fn column(head: &str, right: bool, cells: impl Iterator<Item = String>) -> Column {
    Column { head: clean(head), cells: cells.map(|cell| clean(&cell)).collect(), right }
}

fn width_of(column: &Column) -> usize {
    column.cells.iter().chain([&column.head]).map(|cell| width(cell)).max().unwrap_or(0)
}

fn line(
    columns: &[Column],
    cells: &[&str],
    widths: &[usize],
    limit: usize,
    signs: &Signs,
    style: Style,
) -> String {
    let mut text = String::new();
    for (at, ((column, cell), room)) in columns.iter().zip(cells).zip(widths).enumerate() {
        let gap = if at > 0 { GAP } else { "" };
        let blank = " ".repeat(room.saturating_sub(width(cell)));
        text += gap;
        text += &if column.right { format!("{blank}{cell}") } else { format!("{cell}{blank}") };
    }
    let mut text = cut(text.trim_end(), limit, signs);
    if signs.ascii {
        text = text.replace('µ', "u").replace('∞', "inf");
    }
    format!("{}\n", terminal::styled(style, text))
}

fn cut(text: &str, limit: usize, signs: &Signs) -> String {
    if width(text) <= limit {
        return text.into();
    }
    let mut room = limit.saturating_sub(width(signs.cut));
    let mut out = String::new();
    for letter in text.chars() {
        match room.checked_sub(letter_width(letter)) {
            Some(rest) => room = rest,
            None => break,
        }
        out.push(letter);
    }
    out + signs.cut
}

fn width(text: &str) -> usize {
    text.chars().map(letter_width).sum()
}

/// How many columns of a terminal a letter takes: marks none, East Asian letters and pictures two.
fn letter_width(letter: char) -> usize {
    match letter as u32 {
        0x0300..=0x036f | 0x200b..=0x200f | 0x20d0..=0x20ff | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f | 0x2e80..=0xa4cf | 0xac00..=0xd7a3 | 0xf900..=0xfaff | 0xfe30..=0xfe6f => 2,
        0xff00..=0xff60 | 0xffe0..=0xffe6 | 0x1f300..=0x1faff | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests;
