//! CSV after RFC 4180, with line feeds as line ends; numbers read back as the same doubles.

use std::io::{BufWriter, Result, Write};

use super::columns::{Cells, Column};
use crate::format;

/// Writes a row of names and a row for each trial.
pub fn write(columns: &[Column], out: &mut dyn Write) -> Result<()> {
    let mut out = BufWriter::new(out);
    row(&mut out, columns.iter().map(|column| quoted(&column.name)))?;
    let rows = columns.first().map_or(0, |column| len(&column.cells));
    for at in 0..rows {
        row(&mut out, columns.iter().map(|column| cell(&column.cells, at)))?;
    }
    out.flush()
}

fn row(out: &mut dyn Write, cells: impl Iterator<Item = String>) -> Result<()> {
    for (at, cell) in cells.enumerate() {
        let comma = if at > 0 { "," } else { "" };
        write!(out, "{comma}{cell}")?;
    }
    writeln!(out)
}

fn len(cells: &Cells) -> usize {
    match cells {
        Cells::Int(cells) => cells.len(),
        Cells::Double(cells) | Cells::Time(cells) => cells.len(),
        Cells::Bool(cells) => cells.len(),
        Cells::Text(cells) => cells.len(),
    }
}

/// The text of a cell; empty where the value is missing.
fn cell(cells: &Cells, at: usize) -> String {
    fn get<T>(cells: &[Option<T>], at: usize) -> Option<&T> {
        cells.get(at).and_then(Option::as_ref)
    }
    match cells {
        Cells::Int(cells) => get(cells, at).map(i64::to_string),
        // `{:?}` is the shortest text that reads back as the same double, with an exponent where digits would be many.
        Cells::Double(cells) => get(cells, at).map(|value| format!("{value:?}")),
        Cells::Bool(cells) => get(cells, at).map(bool::to_string),
        // An empty text is quoted, which tells it from a missing one.
        Cells::Text(cells) => get(cells, at).map(|text| quoted(text)),
        Cells::Time(cells) => get(cells, at).and_then(|seconds| format::timestamp(*seconds)),
    }
    .unwrap_or_default()
}

fn quoted(text: &str) -> String {
    let plain = !text.is_empty()
        && !text.contains([',', '"', '\n', '\r'])
        && !text.starts_with(' ')
        && !text.ends_with(' ');
    if plain { text.into() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}
