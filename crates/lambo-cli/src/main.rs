//! The `lambo` command.

mod export;
mod format;
mod report;
#[cfg(test)]
mod sample;

use std::io::Write;

/// Shows a record that stands in a JSON file: `lambo show RECORD.json html|csv|json|parquet`.
fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, _, file, what] = arguments.as_slice() else { return Ok(()) };
    let record = serde_json::from_slice(&std::fs::read(file)?)?;
    let mut out = std::io::stdout().lock();
    let made = report::Made {
        version: env!("CARGO_PKG_VERSION").into(),
        date: String::new(),
        command: String::new(),
    };
    match what.as_str() {
        "html" => out.write_all(report::html(&record, &made).as_bytes())?,
        "csv" => export::write(&record, export::Format::Csv, &mut out)?,
        "json" => export::write(&record, export::Format::Json, &mut out)?,
        _ => export::write(&record, export::Format::Parquet, &mut out)?,
    }
    Ok(())
}
