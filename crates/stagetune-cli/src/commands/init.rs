//! `stagetune init`: a commented starter file, and the schema beside it.

use super::{Done, say};
use crate::exit::Code;
use anyhow::{Context, bail};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

/// Writes the file, and refuses to replace one.
pub fn run(file: &Path, force: bool) -> Done {
    if file.exists() && !force {
        bail!("{} is there already; name another file, or replace it with --force", file.display());
    }
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let writing = |path: &Path| format!("cannot write {}", path.display());
    fs::create_dir_all(folder.join(".stagetune")).with_context(|| writing(folder))?;
    let schema = folder.join(".stagetune/pipeline.schema.json");
    let text = serde_json::to_string_pretty(&stagetune_pipeline::file::schema())?;
    fs::write(&schema, text).with_context(|| writing(&schema))?;
    let ignore = folder.join(".stagetune/.gitignore");
    if !ignore.exists() {
        fs::write(&ignore, "*\n").with_context(|| writing(&ignore))?;
    }
    let mut out = OpenOptions::new()
        .write(true)
        .create(true)
        .create_new(!force)
        .truncate(force)
        .open(file)
        .with_context(|| writing(file))?;
    out.write_all(stagetune_pipeline::file::starter().as_bytes()).with_context(|| writing(file))?;
    say!(
        "wrote {}: put your commands and parameters in, then `stagetune check {0}` and `stagetune run {0}`",
        file.display()
    );
    Ok(Code::Done)
}
