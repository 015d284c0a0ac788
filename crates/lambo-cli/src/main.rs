//! The `lambo` command.

mod export;
mod format;
mod report;
#[cfg(test)]
mod sample;
mod table;

use std::io::Write;

use table::Which;

/// Shows a record that stands in a JSON file: `lambo show RECORD.json html|csv|json|parquet|all|last|best`.
fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, _, file, what] = arguments.as_slice() else { return Ok(()) };
    let bytes = std::fs::read(file)?;
    let record = serde_json::from_slice(&bytes)?;
    let mut out = std::io::stdout().lock();
    let rows = |which| {
        table::trials(&record, table::Options { which, width: Some(120), colour: true, ascii: false })
    };
    match what.as_str() {
        "html" => {
            let made = report::Made {
                version: env!("CARGO_PKG_VERSION").into(),
                date: format::bytes(bytes.len() as u64),
                command: arguments.join(" "),
            };
            out.write_all(report::html(&record, &made).as_bytes())?;
        }
        "csv" => export::write(&record, export::Format::Csv, &mut out)?,
        "json" => export::write(&record, export::Format::Json, &mut out)?,
        "parquet" => export::write(&record, export::Format::Parquet, &mut out)?,
        "last" => out.write_all(rows(Which::Last(20)).as_bytes())?,
        "best" => out.write_all(rows(Which::Best(20)).as_bytes())?,
        _ => out.write_all(rows(Which::All).as_bytes())?,
    }
    Ok(())
}
