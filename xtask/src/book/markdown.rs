//! Links of Markdown files, as a host of repositories shows them: every relative one leads to a
//! file, and its anchor to a heading.

use super::links::{normal, parts};
use anyhow::{Context, Result};
use pulldown_cmark::{Event, Parser, Tag, TagEnd};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The folders whose pages are checked, beside the pages of the root.
const FOLDERS: [&str; 3] = ["docs", "examples", "experiments"];

/// One file.
#[derive(Debug)]
pub struct Page {
    /// Its path from the root.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

/// Every page of the root and of the folders, in order.
pub fn pages(root: &Path) -> Result<Vec<Page>> {
    let mut found = Vec::new();
    collect(root, Path::new(""), false, &mut found)?;
    for folder in FOLDERS {
        collect(root, Path::new(folder), true, &mut found)?;
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn collect(root: &Path, folder: &Path, deep: bool, found: &mut Vec<Page>) -> Result<()> {
    let reading = || format!("cannot read {}", root.join(folder).display());
    for entry in std::fs::read_dir(root.join(folder)).with_context(reading)? {
        let entry = entry.with_context(reading)?;
        let path = folder.join(entry.file_name());
        if entry.path().is_dir() && deep {
            collect(root, &path, deep, found)?;
        } else if path.extension().is_some_and(|ending| ending == "md") {
            let text = std::fs::read_to_string(entry.path()).with_context(reading)?;
            found.push(Page { path, text });
        }
    }
    Ok(())
}

/// The findings about one page.
pub fn check(page: &Page, root: &Path) -> Vec<String> {
    let folder = page.path.parent().unwrap_or(Path::new(""));
    let mut findings = Vec::new();
    for event in Parser::new(&page.text) {
        let link = match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => dest_url,
            _ => continue,
        };
        let Some((target, anchor)) = parts(&link) else { continue };
        let path = if target.is_empty() { page.path.clone() } else { normal(&folder.join(&target)) };
        let found = root.join(&path);
        let problem = if !found.exists() {
            "leads to no file"
        } else if anchor.is_empty() || !target.is_empty() && !target.ends_with(".md") {
            continue;
        } else {
            let text = std::fs::read_to_string(&found).unwrap_or_default();
            // What a page includes is not in its own text; the built page is checked whole.
            if text.contains("{{#include") || anchors(&text).contains(&anchor) {
                continue;
            }
            "names no heading there"
        };
        findings.push(format!("{}: `{link}` {problem}", page.path.display()));
    }
    findings
}

/// The anchors of the headings of a page.
fn anchors(text: &str) -> BTreeSet<String> {
    let (mut found, mut heading) = (BTreeSet::new(), None::<String>);
    for event in Parser::new(text) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                found.extend(heading.take().map(|words| slug(&words)));
            }
            Event::Text(words) | Event::Code(words) => {
                if let Some(heading) = &mut heading {
                    heading.push_str(&words);
                }
            }
            _ => {}
        }
    }
    found
}

/// The anchor of a heading: its letters in lower case, with a dash for each space.
pub fn slug(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}
