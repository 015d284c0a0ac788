//! What pages name in code letters is there: places of the repository, such as `crates/…`, and
//! tests, whose names are sentences.

use super::markdown::Page;
use anyhow::{Context, Result};
use pulldown_cmark::{Event, Parser};
use std::collections::BTreeSet;
use std::path::Path;

/// Beginnings of a place in the repository.
const ROOTS: [&str; 6] = ["crates/", "docs/", "examples/", "experiments/", "fuzz/", "xtask/"];

/// Names with more parts than this are those of tests; options and keys have fewer.
const MOST_PARTS: usize = 4;

/// The names of all functions below a folder.
pub fn functions(folder: &Path) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    let reading = || format!("cannot read {}", folder.display());
    for entry in std::fs::read_dir(folder).with_context(reading)? {
        let path = entry.with_context(reading)?.path();
        if path.is_dir() {
            found.extend(functions(&path)?);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let text = std::fs::read_to_string(&path).with_context(reading)?;
            let names = text.split("fn ").skip(1).filter_map(|rest| rest.split(['(', '<']).next());
            found.extend(names.map(str::to_owned));
        }
    }
    Ok(found)
}

/// The findings about one page: of the book, or of the root.
pub fn check(page: &Page, root: &Path, functions: &BTreeSet<String>) -> Vec<String> {
    let of_ours = page.path.starts_with("docs") || page.path.components().count() == 1;
    // The history names what is gone.
    if !of_ours || page.path == Path::new("CHANGELOG.md") {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for event in Parser::new(&page.text) {
        let Event::Code(words) = event else { continue };
        let gone = is_place(&words) && !root.join(&*words).exists();
        if gone || is_test(&words) && !functions.contains(&*words) {
            findings.push(format!("{}: `{words}` is not in the repository", page.path.display()));
        }
    }
    findings
}

/// Whether these words are one path, and not a pattern or a command.
fn is_place(words: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    ROOTS.iter().any(|root| words.starts_with(root))
        && words.chars().all(plain)
        && !words.split(['/', '.']).any(|part| part == "NAME")
}

/// Whether this is the name of a test.
fn is_test(words: &str) -> bool {
    words.split('_').count() > MOST_PARTS && words.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
}
