//! `stagetune report`: one HTML page about the study.

use super::{Done, ledger_of, say};
use crate::cli::ReportArgs;
use crate::exit::Code;
use crate::{format, report, terminal};
use anyhow::Context;
use std::time::SystemTime;

/// Writes the page.
pub fn run(args: &ReportArgs) -> Done {
    let ledger = ledger_of(&args.file)?;
    let now =
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64());
    let made = report::Made {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        date: format::minute(now).unwrap_or_default(),
        command: format!("stagetune report {} -o {}", args.file.display(), args.output.display()),
    };
    let page = report::html(&ledger, &made);
    if args.output.as_os_str() == "-" {
        terminal::raw(page.as_bytes())?;
    } else {
        std::fs::write(&args.output, page)
            .with_context(|| format!("cannot write {}", args.output.display()))?;
        say!("wrote {}", args.output.display());
    }
    Ok(Code::Done)
}
