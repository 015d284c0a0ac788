//! One panel: axes with ticks and labels, bands below lines.

use super::axis::Axis;
use super::series::Series;
use super::style::Style;
use super::text;
use std::fmt::Write;

/// A panel to be drawn.
#[derive(Debug)]
pub struct Panel {
    /// What x is, with its unit.
    pub x_label: String,
    /// What y is, with its unit.
    pub y_label: String,
    /// Left to right.
    pub x: Axis,
    /// Bottom to top.
    pub y: Axis,
    /// A vertical line, and what it marks.
    pub marker: Option<(f64, &'static str)>,
    /// One per style.
    pub series: Vec<Series>,
}

impl Panel {
    /// Draws the panel with its upper left corner at a place; `number` makes its clip path's name its own.
    pub fn draw(
        &self,
        svg: &mut String,
        (left, top): (f64, f64),
        size: (f64, f64),
        styles: &[Style],
        number: usize,
    ) {
        let (width, height) = size;
        let px = |x: f64| left + width * self.x.share(x);
        let py = |y: f64| top + height * (1.0 - self.y.share(y));
        let (right, bottom) = (left + width, top + height);

        for (value, label) in self.x.ticks() {
            let x = px(value);
            let _ = writeln!(svg, "<path d=\"M{x:.1} {top}V{bottom}\" stroke=\"#e4e4e4\"/>");
            if let Some(label) = label {
                text(svg, (x, bottom + 18.0), "text-anchor=\"middle\"", &label);
            }
        }
        for (value, label) in self.y.ticks() {
            let y = py(value);
            let shade = if label.is_some() { "#e4e4e4" } else { "#f4f4f4" };
            let _ = writeln!(svg, "<path d=\"M{left} {y:.1}H{right}\" stroke=\"{shade}\"/>");
            if let Some(label) = label {
                text(svg, (left - 6.0, y + 4.0), "text-anchor=\"end\"", &label);
            }
        }
        let _ = writeln!(
            svg,
            "<clipPath id=\"panel{number}\"><rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\"/></clipPath>"
        );
        let _ = writeln!(svg, "<g clip-path=\"url(#panel{number})\">");
        if let Some((value, what)) = self.marker {
            let x = px(value);
            let _ = writeln!(
                svg,
                "<path d=\"M{x:.1} {top}V{bottom}\" stroke=\"#999\" stroke-dasharray=\"3 3\"/>"
            );
            // Beside the line on the side that has room.
            let (at, anchor) = if x < left + 0.7 * width { (x + 4.0, "start") } else { (x - 4.0, "end") };
            let attributes = format!("text-anchor=\"{anchor}\" font-size=\"10\" fill=\"#777\"");
            text(svg, (at, bottom - 6.0), &attributes, what);
        }
        for (series, style) in self.series.iter().zip(styles) {
            let mut band = String::new();
            for (i, point) in series.points.iter().enumerate() {
                let _ = write!(
                    band,
                    "{}{:.1} {:.1}",
                    if i == 0 { 'M' } else { 'L' },
                    px(point.x),
                    py(point.high)
                );
            }
            for point in series.points.iter().rev() {
                let _ = write!(band, "L{:.1} {:.1}", px(point.x), py(point.low));
            }
            let _ = writeln!(svg, "<path d=\"{band}Z\" fill=\"{}\" fill-opacity=\"0.13\"/>", style.colour);
        }
        for (series, style) in self.series.iter().zip(styles) {
            let mut line = String::new();
            for (i, point) in series.points.iter().enumerate() {
                let _ = write!(
                    line,
                    "{}{:.1} {:.1}",
                    if i == 0 { 'M' } else { 'L' },
                    px(point.x),
                    py(point.mean)
                );
            }
            let _ = writeln!(svg, "<path d=\"{line}\" {}/>", style.stroke());
        }
        let _ = writeln!(
            svg,
            "</g>\n<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" fill=\"none\" stroke=\"#555\"/>"
        );
        text(svg, (left + width / 2.0, bottom + 38.0), "text-anchor=\"middle\"", &self.x_label);
        let (x, y) = (left - 48.0, top + height / 2.0);
        let attributes = format!("text-anchor=\"middle\" transform=\"rotate(-90 {x:.1} {y:.1})\"");
        text(svg, (x, y), &attributes, &self.y_label);
    }
}
