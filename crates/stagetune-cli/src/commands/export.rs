//! `stagetune export`: all trials for other programs.

use super::{Done, ledger_of};
use crate::cli::ExportArgs;
use crate::exit::Code;
use crate::export::{self, Format};
use crate::terminal;
use anyhow::Context;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;

/// Writes them to a file or to standard output.
pub fn run(args: &ExportArgs) -> Done {
    let ledger = ledger_of(&args.file)?;
    let format = match (args.format, args.output.as_deref()) {
        (Some(format), _) => format,
        (None, Some(path)) if path.as_os_str() != "-" => by_name(path).with_context(|| {
            format!(
                "{} ends in no format that is known; give one with --format csv, json or parquet",
                path.display()
            )
        })?,
        _ => Format::Csv,
    };
    match args.output.as_deref().filter(|path| path.as_os_str() != "-") {
        // A table may hold words of stages.
        None if format != Format::Parquet && io::stdout().is_terminal() => {
            let mut table = Vec::new();
            export::write(&ledger, format, &mut table)?;
            terminal::say(&String::from_utf8_lossy(&table))?;
        }
        None => export::write(&ledger, format, &mut io::stdout().lock())?,
        Some(path) => {
            let writing = || format!("cannot write {}", path.display());
            let mut out = BufWriter::new(File::create(path).with_context(writing)?);
            export::write(&ledger, format, &mut out).with_context(writing)?;
            out.flush().with_context(writing)?;
            terminal::warn(&format!("wrote {} trials to {}", ledger.trials.len(), path.display()));
        }
    }
    Ok(Code::Done)
}

fn by_name(path: &Path) -> Option<Format> {
    match path.extension()?.to_str()? {
        "csv" => Some(Format::Csv),
        "json" => Some(Format::Json),
        "parquet" => Some(Format::Parquet),
        _ => None,
    }
}
