//! Places of the repository that pages name in code letters: `crates/…` and the like are there.

use super::markdown::Page;
use pulldown_cmark::{Event, Parser};
use std::path::Path;

/// Beginnings of a place in the repository.
const ROOTS: [&str; 6] = ["crates/", "docs/", "examples/", "experiments/", "fuzz/", "xtask/"];

/// The findings about one page: of the book, or of the root.
pub fn check(page: &Page, root: &Path) -> Vec<String> {
    let of_ours = page.path.starts_with("docs") || page.path.components().count() == 1;
    // The history names what is gone.
    if !of_ours || page.path == Path::new("CHANGELOG.md") {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for event in Parser::new(&page.text) {
        let Event::Code(words) = event else { continue };
        if is_place(&words) && !root.join(&*words).exists() {
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
