//! The page that a figure is drawn on: SVG whose letters are text for readers, or outlines for the PNG.
//!
//! Outlines come from a font that is part of the program, so that a PNG looks the same everywhere, and `resvg` need not bring its shaping of
//! all the world's scripts, which takes more than a minute to build.

use anyhow::{Context, Result};
use std::fmt::Write;
use ttf_parser::{Face, OutlineBuilder};

/// A subset of DejaVu Sans: Latin, Greek, super- and subscripts, a few signs. Its licence is in the same folder.
const FONT: &[u8] = include_bytes!("../../../assets/DejaVuSans-subset.ttf");

/// What letters are drawn as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Letters {
    /// Text, which can be searched and copied; it is set in the fonts that the reader has.
    Text,
    /// Outlines of our own font.
    Outlines,
}

/// A page.
pub struct Canvas {
    /// What is drawn so far.
    pub svg: String,
    /// The font, if letters are outlines.
    face: Option<Face<'static>>,
}

/// How a text looks.
#[derive(Clone, Copy, Debug)]
pub struct Font {
    /// In pixels.
    pub size: f64,
    /// Hexadecimal.
    pub colour: &'static str,
    /// Which part of the text is at its place.
    pub anchor: Anchor,
    /// Whether it runs upwards.
    pub upwards: bool,
}

/// Which part of a text is at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Its beginning.
    Start,
    /// Its middle.
    Middle,
    /// Its end.
    End,
}

/// Plain text from left to right.
pub const PLAIN: Font = Font { size: 12.0, colour: "#222", anchor: Anchor::Start, upwards: false };

impl Canvas {
    /// An empty page.
    pub fn new(letters: Letters, width: f64, height: f64) -> Result<Self> {
        let face = match letters {
            Letters::Text => None,
            Letters::Outlines => Some(Face::parse(FONT, 0).context("the font of figures is damaged")?),
        };
        let svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"DejaVu Sans, Verdana, sans-serif\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
        );
        Ok(Self { svg, face })
    }

    /// Draws a shape, given as an SVG element.
    pub fn shape(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing into a string does not fail.
        let _ = writeln!(self.svg, "{element}");
    }

    /// Writes a text with its anchor at a place.
    pub fn text(&mut self, (x, y): (f64, f64), font: Font, content: &str) {
        let Font { size, colour, anchor, upwards } = font;
        let Some(face) = &self.face else {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let turn =
                if upwards { format!(" transform=\"rotate(-90 {x:.1} {y:.1})\"") } else { String::new() };
            let content = escape(content);
            return self.shape(format_args!(
                "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" fill=\"{colour}\" text-anchor=\"{anchor}\"{turn}>{content}</text>"
            ));
        };
        let outline = Outline::of(face, content);
        let scale = size / f64::from(face.units_per_em());
        let shift = match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -outline.width / 2.0,
            Anchor::End => -outline.width,
        };
        let turn = if upwards { "rotate(-90) " } else { "" };
        let path = outline.path;
        self.shape(format_args!(
            "<path fill=\"{colour}\" transform=\"translate({x:.1} {y:.1}) {turn}scale({scale} -{scale}) translate({shift:.1} 0)\" d=\"{path}\"/>"
        ));
    }

    /// The finished SVG.
    pub fn finish(mut self) -> String {
        self.svg.push_str("</svg>\n");
        self.svg
    }
}

/// Letters side by side, as a path in the units of the font.
struct Outline {
    path: String,
    width: f64,
}

impl Outline {
    fn of(face: &Face<'_>, content: &str) -> Self {
        let mut outline = Self { path: String::new(), width: 0.0 };
        for letter in content.chars() {
            // A letter that the font lacks shows as the font's empty box.
            let glyph = face.glyph_index(letter).unwrap_or_default();
            face.outline_glyph(glyph, &mut outline);
            outline.width += f64::from(face.glyph_hor_advance(glyph).unwrap_or(0));
        }
        outline
    }

    /// Writes a command with its points, which are relative to the letter.
    fn add(&mut self, command: char, points: &[(f32, f32)]) {
        self.path.push(command);
        for (x, y) in points {
            let _ = write!(self.path, "{} {} ", f64::from(*x) + self.width, y);
        }
    }
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.add('M', &[(x, y)]);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.add('L', &[(x, y)]);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.add('Q', &[(x1, y1), (x, y)]);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.add('C', &[(x1, y1), (x2, y2), (x, y)]);
    }

    fn close(&mut self) {
        self.path.push('Z');
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_has_every_letter_that_figures_use() {
        let face = Face::parse(FONT, 0).unwrap();
        for letter in ('!'..='~').chain("−λ’‘–×±≤".chars()) {
            assert!(face.glyph_index(letter).is_some(), "{letter}");
        }
    }

    #[test]
    fn a_label_cannot_break_the_page() {
        let mut canvas = Canvas::new(Letters::Text, 10.0, 10.0).unwrap();
        canvas.text((0.0, 0.0), PLAIN, "<a & \"b\">");
        assert!(canvas.finish().contains(">&lt;a &amp; &quot;b&quot;&gt;</text>"));
    }
}
