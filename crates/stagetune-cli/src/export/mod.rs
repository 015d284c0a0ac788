//! A study for other programs: CSV, JSON and Parquet, one row for each trial.

mod columns;
mod csv;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(test)]
mod tests;

use std::io::Write;

use anyhow::Result;
use stagetune_pipeline::record::StudyRecord;

/// What to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Text with a row for each trial, after a row with the names of the columns.
    Csv,
    /// The whole record, with everything that is known of each stage.
    Json,
    /// Typed columns for data frames and databases.
    Parquet,
}

/// Writes the study; what a value is missing for stays empty.
pub fn write(record: &StudyRecord, format: Format, out: &mut dyn Write) -> Result<()> {
    match format {
        Format::Csv => csv::write(&columns::table(record)?, out)?,
        Format::Json => {
            serde_json::to_writer_pretty(&mut *out, record)?;
            out.write_all(b"\n")?;
        }
        Format::Parquet => write_parquet(record, out)?,
    }
    out.flush()?;
    Ok(())
}

#[cfg(feature = "parquet")]
fn write_parquet(record: &StudyRecord, out: &mut dyn Write) -> Result<()> {
    parquet::write(&record.study, &columns::table(record)?, out)
}

#[cfg(not(feature = "parquet"))]
fn write_parquet(_: &StudyRecord, _: &mut dyn Write) -> Result<()> {
    anyhow::bail!(
        "this stagetune was built without Parquet; \
         build it with `cargo build --release -p stagetune-cli --features parquet`, or export CSV or JSON"
    )
}
