//! Links of the pages that mdBook has built: every relative one leads to a file, and its anchor to
//! an element.

use anyhow::{Context, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// What one page refers to and what it can be referred to by.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// Targets of links and pictures, as they stand.
    pub links: Vec<String>,
    /// Names of elements.
    pub anchors: BTreeSet<String>,
}

/// The findings about a folder of pages.
pub fn check(folder: &Path) -> Result<Vec<String>> {
    let mut pages = BTreeMap::new();
    read(folder, &mut pages)?;
    let mut findings = Vec::new();
    for (path, page) in &pages {
        for link in &page.links {
            if let Some(reason) = reason(link, path, &pages) {
                findings.push(format!("{}: `{link}` {reason}", path.display()));
            }
        }
    }
    Ok(findings)
}

/// Reads every page below a folder.
fn read(folder: &Path, pages: &mut BTreeMap<PathBuf, Page>) -> Result<()> {
    let reading = || format!("cannot read {}", folder.display());
    for entry in std::fs::read_dir(folder).with_context(reading)? {
        let path = entry.with_context(reading)?.path();
        if path.is_dir() {
            read(&path, pages)?;
        } else if path.extension().is_some_and(|ending| ending == "html") {
            let text = std::fs::read_to_string(&path).with_context(reading)?;
            pages.insert(path, page(&text));
        }
    }
    Ok(())
}

/// Why a link of a page leads nowhere, if it does.
fn reason(link: &str, from: &Path, pages: &BTreeMap<PathBuf, Page>) -> Option<&'static str> {
    let (target, anchor) = parts(link)?;
    let folder = from.parent().unwrap_or(Path::new(""));
    let path = if target.is_empty() { from.to_owned() } else { normal(&folder.join(target)) };
    if !path.exists() {
        return Some("leads to no file");
    }
    match pages.get(&path) {
        Some(page) if !anchor.is_empty() && !page.anchors.contains(&anchor) => Some("names no heading there"),
        Some(_) | None => None,
    }
}

/// File and anchor of a link within these pages; `None` for one that leads elsewhere.
pub fn parts(link: &str) -> Option<(String, String)> {
    let scheme = link.split_once(':').is_some_and(|(scheme, _)| scheme.chars().all(char::is_alphabetic));
    if scheme || link.starts_with("//") {
        return None;
    }
    let (target, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = target.split('?').next().unwrap_or(target);
    Some((target.replace("%20", " "), anchor.to_owned()))
}

/// A path without `.` and `..`.
pub fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                normal.pop();
            }
            Component::CurDir => {}
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => normal.push(component),
        }
    }
    normal
}

/// Links and anchors of a page: the attributes of its tags. Scripts hold no tags.
pub fn page(html: &str) -> Page {
    let mut page = Page::default();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let end = rest.find('>').unwrap_or(rest.len());
        let tag = &rest[..end];
        for (name, value) in attributes(tag) {
            match name {
                "href" | "src" => page.links.push(value.replace("&amp;", "&")),
                "id" | "name" => {
                    page.anchors.insert(value.to_owned());
                }
                _ => {}
            }
        }
        rest = &rest[end..];
        if tag.starts_with("script") {
            rest = rest.find("</script").map_or("", |end| &rest[end..]);
        }
    }
    page
}

/// The attributes of a tag that have a value in quotes.
fn attributes(tag: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = tag;
    while let Some((before, after)) = rest.split_once("=\"") {
        let name = before.rsplit(char::is_whitespace).next().unwrap_or(before);
        let (value, behind) = after.split_once('"').unwrap_or((after, ""));
        found.push((name, value));
        rest = behind;
    }
    found
}
