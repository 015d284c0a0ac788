//! One panel: axes with ticks and labels, bands below lines.

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, Font, PLAIN};
use super::series::Series;
use super::style::Style;

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
        canvas.shape(format_args!(
            "<clipPath id=\"panel{number}\"><rect x=\"{left}\" y=\"{top}\" \
            width=\"{width}\" height=\"{height}\"/></clipPath>"
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
            let high = series.points.iter().map(|point| (px(point.x), py(point.high)));
            let low = series.points.iter().rev().map(|point| (px(point.x), py(point.low)));
            let band = trace(high.chain(low));
            canvas
                .shape(format_args!("<path d=\"{band}Z\" fill=\"{}\" fill-opacity=\"0.13\"/>", style.colour));
        }
        for (series, style) in self.series.iter().zip(styles) {
            let line = trace(series.points.iter().map(|point| (px(point.x), py(point.mean))));
            canvas.shape(format_args!("<path d=\"{line}\" {}/>", style.stroke()));
        }
        canvas.shape(format_args!(
            "</g>\n<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" \
            height=\"{height}\" fill=\"none\" stroke=\"#555\"/>"
        ));
        let middle = Font { anchor: Anchor::Middle, ..PLAIN };
        canvas.text((left + width / 2.0, bottom + 38.0), middle, self.x_label);
        canvas.text((left - 48.0, top + height / 2.0), Font { upwards: true, ..middle }, self.y_label);
    }
}

/// A path through points, to a tenth of a pixel: steps from each to the next, and one for several
/// on a straight line, in half the space of places.
fn trace(points: impl Iterator<Item = (f64, f64)>) -> String {
    let tenths = |x: f64| (10.0 * x).round() as i64;
    let mut points = points.map(|(x, y)| (tenths(x), tenths(y)));
    let Some((mut x, mut y)) = points.next() else { return String::new() };
    let mut steps: Vec<(i64, i64)> = Vec::new();
    let mut path = format!("M{} {}", in_pixels(x), in_pixels(y));
    for (next_x, next_y) in points {
        let (dx, dy) = (next_x - x, next_y - y);
        (x, y) = (next_x, next_y);
        match steps.last_mut() {
            Some((a, b)) if *a * dy == *b * dx && *a * dx + *b * dy >= 0 => (*a, *b) = (*a + dx, *b + dy),
            _ => steps.push((dx, dy)),
        }
    }
    for (i, step) in steps.iter().enumerate() {
        path.push_str(if i == 0 { "l" } else { "" });
        for (j, number) in [step.0, step.1].into_iter().enumerate() {
            // A sign parts numbers, too.
            let apart = i + j > 0 && number >= 0;
            path.push_str(if apart { " " } else { "" });
            path.push_str(&in_pixels(number));
        }
    }
    path
}

/// Tenths of a pixel as short as SVG has them: `12`, `.5`, `-3.4`.
fn in_pixels(tenths: i64) -> String {
    let (sign, size) = (if tenths < 0 { "-" } else { "" }, tenths.unsigned_abs());
    match (size / 10, size % 10) {
        (whole, 0) => format!("{sign}{whole}"),
        (0, tenth) => format!("{sign}.{tenth}"),
        (whole, tenth) => format!("{sign}{whole}.{tenth}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_told_in_steps_and_a_straight_line_in_one() {
        let path = |points: &[(f64, f64)]| trace(points.iter().copied());
        assert_eq!(path(&[(66.0, 80.04), (66.5, 80.0), (67.0, 80.0), (70.0, 79.6)]), "M66 80l1 0 3-.4");
        // There and back is no straight line, and a pause is no corner.
        assert_eq!(path(&[(0.0, 0.0), (1.0, 1.0), (1.0, 1.0), (0.0, 0.0)]), "M0 0l1 1-1-1");
        assert_eq!([path(&[]), path(&[(1.25, -0.3)])], ["", "M1.3 -.3"]);
    }
}
