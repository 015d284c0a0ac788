//! Just enough SVG: shapes with classes, escaped texts, and axes that know where a value stands.

use std::fmt::Write;

use stagetune_pipeline::text::steers;

use super::ticks::{self, Tick};

/// Escapes a text for HTML and SVG, inside elements and inside quoted attributes; control characters become visible.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(letter),
            // Marks that turn the direction of writing, too, would let one name rearrange the text around it.
            letter if steers(letter) => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}

/// A text cut to so many characters, with an ellipsis where something is missing.
pub fn shorten(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.into();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// A picture under construction.
#[derive(Debug)]
pub struct Svg {
    width: f64,
    height: f64,
    label: String,
    body: String,
}

impl Svg {
    /// An empty picture; `label` is what a screen reader says.
    pub fn new(width: f64, height: f64, label: &str) -> Self {
        Self { width, height, label: escape(label), body: String::new() }
    }

    /// A rectangle with an optional tooltip.
    pub fn rect(&mut self, class: &str, [x, y, w, h]: [f64; 4], tip: Option<&str>) {
        let (x, y, w, h) = (short(x), short(y), short(w.max(0.0)), short(h.max(0.0)));
        self.shape("rect", &format!(r#"class="{class}" x="{x}" y="{y}" width="{w}" height="{h}""#), tip);
    }

    /// A line from one place to another.
    pub fn line(&mut self, class: &str, [x1, y1, x2, y2]: [f64; 4]) {
        let (x1, y1, x2, y2) = (short(x1), short(y1), short(x2), short(y2));
        self.shape("line", &format!(r#"class="{class}" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}""#), None);
    }

    /// A path of straight lines through the places.
    pub fn path(&mut self, class: &str, places: &[[f64; 2]]) {
        let mut d = String::new();
        for (at, [x, y]) in places.iter().enumerate() {
            let _ = write!(d, "{}{} {}", if at == 0 { "M" } else { "L" }, short(*x), short(*y));
        }
        self.shape("path", &format!(r#"class="{class}" d="{d}""#), None);
    }

    /// A dot that stands for a trial.
    pub fn dot(&mut self, class: &str, [x, y]: [f64; 2], r: f64, trial: u64, tip: &str) {
        let (x, y, r) = (short(x), short(y), short(r));
        let attributes = format!(r#"class="{class}" data-t="{trial}" cx="{x}" cy="{y}" r="{r}""#);
        self.shape("circle", &attributes, Some(tip));
    }

    /// A cross or another mark made of strokes that stands for a trial; `d` is relative to the place.
    pub fn mark(&mut self, class: &str, [x, y]: [f64; 2], d: &str, trial: u64, tip: &str) {
        let attributes = format!(r#"class="{class}" data-t="{trial}" d="M{} {}{d}""#, short(x), short(y));
        self.shape("path", &attributes, Some(tip));
    }

    /// A text; the class says how it is anchored (`mid`, `end`).
    pub fn text(&mut self, class: &str, [x, y]: [f64; 2], text: &str) {
        let (x, y) = (short(x), short(y));
        let _ = writeln!(self.body, r#"<text class="{class}" x="{x}" y="{y}">{}</text>"#, escape(text));
    }

    /// A text along the left axis, read from below.
    pub fn upright(&mut self, class: &str, [x, y]: [f64; 2], text: &str) {
        let (x, y) = (short(x), short(y));
        let text = escape(text);
        let _ = writeln!(
            self.body,
            r#"<text class="{class}" transform="translate({x} {y}) rotate(-90)">{text}</text>"#
        );
    }

    /// The element, with a class that says at which widths of the page it is shown.
    pub fn finish(self, class: &str) -> String {
        let Self { width, height, label, body } = self;
        format!(
            r#"<svg class="{class}" viewBox="0 0 {} {}" role="img" aria-label="{label}">
{body}</svg>
"#,
            short(width),
            short(height)
        )
    }

    fn shape(&mut self, name: &str, attributes: &str, tip: Option<&str>) {
        let _ = match tip {
            Some(tip) => writeln!(self.body, "<{name} {attributes}><title>{}</title></{name}>", escape(tip)),
            None => writeln!(self.body, "<{name} {attributes}/>"),
        };
    }
}

/// A coordinate with at most one decimal; what is not finite is the origin, so that a picture is never broken.
fn short(value: f64) -> String {
    if !value.is_finite() {
        return "0".into();
    }
    let tenths = (value * 10.0).round() as i64;
    if tenths % 10 == 0 { (tenths / 10).to_string() } else { format!("{:.1}", tenths as f64 / 10.0) }
}

/// Where values stand on a picture.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The value at the beginning.
    pub low: f64,
    /// The value at the end.
    pub high: f64,
    /// Whether orders of magnitude are equally long.
    pub log: bool,
    /// The coordinates of beginning and end.
    pub span: [f64; 2],
    /// Round values with their labels.
    pub ticks: Vec<Tick>,
}

impl Axis {
    /// An axis from `low` to `high` with about so many ticks; a range that is empty is widened.
    pub fn new(low: f64, high: f64, log: bool, span: [f64; 2], wanted: usize) -> Self {
        let (low, high) = widen(low, high);
        let log = log && low > 0.0;
        let of = if log { ticks::logarithmic } else { ticks::linear };
        Self { low, high, log, span, ticks: of(low, high, wanted) }
    }

    /// The same axis with ticks at whole numbers only.
    pub fn in_whole_numbers(mut self, wanted: usize) -> Self {
        if self.log {
            self.ticks.retain(|(at, _)| at.fract() == 0.0);
        } else {
            self.ticks = ticks::whole(self.low, self.high, wanted);
        }
        self
    }

    /// The same axis with ticks at round durations.
    pub fn in_seconds(mut self, wanted: usize) -> Self {
        self.ticks = ticks::durations(self.low, self.high, wanted);
        self
    }

    /// The coordinate of a value; a value beyond an end stands at that end.
    pub fn at(&self, value: f64) -> f64 {
        let clamped = value.clamp(self.low, self.high);
        let share = if self.log {
            (clamped / self.low).ln() / (self.high / self.low).ln()
        } else {
            (clamped - self.low) / (self.high - self.low)
        };
        self.span[0] + share * (self.span[1] - self.span[0])
    }
}

/// A range that is not empty and whose length is a finite number.
fn widen(low: f64, high: f64) -> (f64, f64) {
    // Far beyond any metric, and far enough from the largest double for differences to be finite.
    const FAR: f64 = 1e300;
    let clean = |value: f64| if value.is_nan() { 0.0 } else { value.clamp(-FAR, FAR) };
    let (low, high) = (clean(low), clean(high));
    // A range narrower than the doubles can divide is no range to look at.
    if high - low > low.abs().max(high.abs()) * 1e-12 && high - low > 1e-300 {
        return (low, high);
    }
    let half = if low == 0.0 { 1.0 } else { (low.abs() * 0.05).max(1e-290) };
    (low - half, low + half)
}
