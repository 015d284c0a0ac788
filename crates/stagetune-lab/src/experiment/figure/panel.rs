//! One panel: axes with ticks and labels, bands below lines.

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, Font, PLAIN};
use super::series::Series;
use super::style::Style;
use std::fmt::Write;

/// A panel to be drawn.
#[derive(Debug)]
pub struct Panel<'a> {
    /// What x is, with its unit.
    pub x_label: &'a str,
    /// What y is, with its unit.
    pub y_label: &'a str,
    /// Left to right.
    pub x: Axis,
    /// Bottom to top.
    pub y: Axis,
    /// A vertical line, and what it marks.
    pub marker: (f64, &'static str),
    /// A horizontal line, and what it marks.
    pub level: Option<(f64, &'static str)>,
    /// One per style.
    pub series: Vec<&'a Series>,
}

impl Panel<'_> {
    /// Draws the panel with its upper left corner at a place; `number` makes its clip path's name its own.
    pub fn draw(
        &self,
        canvas: &mut Canvas,
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
            canvas.shape(format_args!("<path d=\"M{x:.1} {top}V{bottom}\" stroke=\"#e4e4e4\"/>"));
            if let Some(label) = label {
                canvas.text((x, bottom + 18.0), Font { anchor: Anchor::Middle, ..PLAIN }, &label);
            }
        }
        for (value, label) in self.y.ticks() {
            let y = py(value);
            let shade = if label.is_some() { "#e4e4e4" } else { "#f4f4f4" };
            canvas.shape(format_args!("<path d=\"M{left} {y:.1}H{right}\" stroke=\"{shade}\"/>"));
            if let Some(label) = label {
                canvas.text((left - 6.0, y + 4.0), Font { anchor: Anchor::End, ..PLAIN }, &label);
            }
        }
        canvas.shape(format_args!("<clipPath id=\"panel{number}\"><rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\"/></clipPath>"
        ));
        canvas.shape(format_args!("<g clip-path=\"url(#panel{number})\">"));
        let (value, what) = self.marker;
        let x = px(value);
        canvas.shape(format_args!(
            "<path d=\"M{x:.1} {top}V{bottom}\" stroke=\"#999\" stroke-dasharray=\"3 3\"/>"
        ));
        // Beside the line on the side that has room.
        let (at, anchor) =
            if x < left + 0.7 * width { (x + 4.0, Anchor::Start) } else { (x - 4.0, Anchor::End) };
        canvas.text((at, bottom - 6.0), Font { size: 10.0, colour: "#777", anchor, upwards: false }, what);
        if let Some((value, what)) = self.level {
            let y = py(value);
            canvas.shape(format_args!(
                "<path d=\"M{left} {y:.1}H{right}\" stroke=\"#999\" stroke-dasharray=\"3 3\"/>"
            ));
            let font = Font { size: 10.0, colour: "#777", anchor: Anchor::End, upwards: false };
            canvas.text((right - 4.0, y - 4.0), font, what);
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
            canvas
                .shape(format_args!("<path d=\"{band}Z\" fill=\"{}\" fill-opacity=\"0.13\"/>", style.colour));
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
            canvas.shape(format_args!("<path d=\"{line}\" {}/>", style.stroke()));
        }
        canvas.shape(format_args!("</g>\n<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" fill=\"none\" stroke=\"#555\"/>"
        ));
        let middle = Font { anchor: Anchor::Middle, ..PLAIN };
        canvas.text((left + width / 2.0, bottom + 38.0), middle, self.x_label);
        canvas.text((left - 48.0, top + height / 2.0), Font { upwards: true, ..middle }, self.y_label);
    }
}
