//! A study for other programs: CSV, JSON and Parquet, one row for each trial.

mod columns;
mod csv;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(test)]
mod tests;

use std::io::Write;

use anyhow::Result;
use serde_json::Value;
use stagetune_pipeline::ledger::Ledger;

use crate::rows;

/// What to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Text with a row for each trial, after a row with the names of the columns.
    Csv,
    /// The whole ledger, with everything that is known of each trial and stage.
    Json,
    /// Typed columns for data frames and databases.
    Parquet,
}

/// Writes the study; what a value is missing for stays empty.
pub fn write(ledger: &Ledger, format: Format, out: &mut dyn Write) -> Result<()> {
    match format {
        Format::Csv => csv::write(&columns::table(ledger)?, out)?,
        Format::Json => {
            serde_json::to_writer_pretty(&mut *out, &whole(ledger)?)?;
            out.write_all(b"\n")?;
        }
        Format::Parquet => write_parquet(ledger, out)?,
    }
    out.flush()?;
    Ok(())
}

/// The ledger as JSON, and beside each trial what it ran with.
fn whole(ledger: &Ledger) -> serde_json::Result<Value> {
    let mut facts = serde_json::to_value(ledger)?;
    if let Some(trials) = facts.get_mut("trials") {
        let rows: Vec<_> = ledger.trials.iter().map(|trial| rows::trial_facts(ledger, trial)).collect();
        *trials = serde_json::to_value(rows)?;
    }
    Ok(facts)
}

#[cfg(feature = "parquet")]
fn write_parquet(ledger: &Ledger, out: &mut dyn Write) -> Result<()> {
    parquet::write(&ledger.study, &columns::table(ledger)?, out)
}

#[cfg(not(feature = "parquet"))]
fn write_parquet(_: &Ledger, _: &mut dyn Write) -> Result<()> {
    anyhow::bail!(
        "this stagetune was built without Parquet; \
         build it with `cargo build --release -p stagetune-cli --features parquet`, or export CSV or JSON"
    )
}
