//! `cargo xtask book`: builds the book of `docs/` into `target/book`, and checks every link and
//! every place that it names.

mod links;
pub mod markdown;
mod places;
#[cfg(test)]
mod tests;

use crate::step;
use crate::tool::Tool;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Without its server, its watcher and its search, the build takes half a minute.
const MDBOOK: Tool = Tool {
    name: "mdbook",
    version: "0.5.4",
    features: &["--no-default-features"],
    without: "run `cargo xtask test --without-book`",
};

/// Where the tests of the command look for the wish to have its reference written anew.
const WRITE: &str = "STAGETUNE_WRITE_REFERENCE";

/// What to do beside building and checking.
#[derive(Debug, Default, clap::Args)]
pub struct Options {
    /// First write the pages anew that come out of the command itself: its command line and its strategies.
    #[arg(long)]
    write: bool,
}

/// Builds the book and checks it, with the pages beside it.
pub fn run(options: &Options) -> Result<()> {
    if options.write {
        let mut test = step::cargo(&["test", "--workspace", "--quiet", "--bin", "stagetune", "reference"]);
        step::run(test.env(WRITE, "1"))?;
    }
    let built = build()?;
    let mut findings = links::check(&built)?;
    let pages = markdown::pages(&step::root())?;
    let functions = places::functions(&step::root().join("crates"))?;
    for page in &pages {
        findings.extend(markdown::check(page, &step::root()));
        findings.extend(places::check(page, &step::root(), &functions));
    }
    findings.extend(pages.iter().filter_map(|page| unlisted(&page.path, &built)));
    for finding in &findings {
        println!("{finding}");
    }
    if !findings.is_empty() {
        bail!("{} links or places lead nowhere, listed above", findings.len());
    }
    println!("{} and {} pages of Markdown: every link resolves", built.display(), pages.len());
    Ok(())
}

/// A page of the book that is not in its table of contents is not built, and nobody would find it.
fn unlisted(page: &Path, built: &Path) -> Option<String> {
    let inside = page.strip_prefix("docs/src").ok().filter(|inside| *inside != Path::new("SUMMARY.md"))?;
    let missing = !built.join(inside).with_extension("html").exists();
    missing.then(|| format!("{}: not in docs/src/SUMMARY.md; add it there", page.display()))
}

/// The folder of the pages, made anew. It is as deep as `docs/src`, so that links to files of the
/// repository resolve from both.
fn build() -> Result<PathBuf> {
    let program = MDBOOK.get()?;
    let built = step::root().join("target/book");
    remove(&built)?;
    let mut mdbook = Command::new(program);
    mdbook.args(["build", "docs", "--dest-dir"]).arg(&built).current_dir(step::root());
    let said = mdbook.output().context("cannot start mdbook")?;
    let words = String::from_utf8_lossy(&said.stderr);
    // A file that an include does not find is only warned of.
    if !said.status.success() || words.contains("ERROR") || words.contains("WARN") {
        bail!("mdbook is not content with docs/:\n{words}");
    }
    Ok(built)
}

fn remove(folder: &Path) -> Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}
