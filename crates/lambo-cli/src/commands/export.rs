//! `lambo export`: all trials for other programs.

use super::{Done, record_of};
use crate::cli::ExportArgs;
use crate::exit::Code;
use crate::export::{self, Format};
use anyhow::Context;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Writes them to a file or to standard output.
pub fn run(args: &ExportArgs) -> Done {
    let record = record_of(&args.file)?;
    let format = args.format.or_else(|| by_name(args.output.as_deref()?)).unwrap_or(Format::Csv);
    match args.output.as_deref().filter(|path| path.as_os_str() != "-") {
        None => export::write(&record, format, &mut io::stdout().lock())?,
        Some(path) => {
            let writing = || format!("cannot write {}", path.display());
            let mut out = BufWriter::new(File::create(path).with_context(writing)?);
            export::write(&record, format, &mut out).with_context(writing)?;
            out.flush().with_context(writing)?;
            eprintln!("wrote {} trials to {}", record.trials.len(), path.display());
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
