//! The report: one HTML file with everything in it, to look at, print and hand on.
//!
//! It loads nothing: styles, script and pictures are inside, and its own policy forbids the rest. It says the same without the script,
//! which only shows tooltips at once, lights up a trial wherever it appears, and sorts the table.

mod clock;
mod curve;
mod effects;
mod failures;
mod headline;
mod metric;
mod metrics;
mod page;
mod relation;
mod stages;
mod svg;
#[cfg(test)]
mod tests;
mod ticks;
mod timeline;
mod trials;

use stagetune_pipeline::ledger::Ledger;

/// How a report came to be, for its last line.
#[derive(Clone, Debug)]
pub struct Made {
    /// The version of stagetune.
    pub version: String,
    /// The date, as it shall be read.
    pub date: String,
    /// The command that wrote it.
    pub command: String,
}

/// The whole page.
pub fn html(ledger: &Ledger, made: &Made) -> String {
    page::page(ledger, made)
}

/// The widths at which a picture is drawn anew, so that letters keep their size: a class of the style sheet, and the width in pixels.
const WIDTHS: [(&str, f64); 3] = [("wide", 1040.0), ("middle", 680.0), ("narrow", 372.0)];

/// How many stages have a colour of their own before the colours begin again.
const COLOURS: usize = 8;

/// The class that carries the colour of a stage.
fn colour(stage: usize) -> String {
    format!("s{}", stage % COLOURS)
}
