//! Writing: to standard output, and files that are there as a whole or not at all.

use std::fmt::Arguments;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};

/// Writes to standard output; a full disk or a closed pipe is an error like any other, not a panic.
pub(crate) fn write_out(text: Arguments<'_>) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_fmt(text).and_then(|()| out.flush()).context("cannot write to standard output")
}

/// Writes a file that is there as a whole or not at all: under another name first, then renamed.
pub fn write_whole(path: &Path, content: &[u8]) -> Result<()> {
    let writing = || format!("cannot write {}", path.display());
    let name = path.file_name().with_context(writing)?.to_string_lossy();
    // Two processes in one folder must not share the unfinished file.
    let unfinished = path.with_file_name(format!(".{name}.{}.unfinished", std::process::id()));
    let mut file = std::fs::File::create(&unfinished).with_context(writing)?;
    file.write_all(content).and_then(|()| file.sync_all()).with_context(writing)?;
    std::fs::rename(&unfinished, path).with_context(writing)
}
