//! `stagetune strategies`: what can stand behind `strategy = …`.

use super::{Done, print, print_json};
use crate::exit::Code;
use crate::paint::{FAINT, STRONG, paint};
use anyhow::bail;
use stagetune::strategy::{NAMES, describe};
use std::fmt::Write;

/// Lists them, or shows one with its options.
pub fn run(name: Option<&str>, json: bool) -> Done {
    let described: Vec<_> = NAMES.iter().filter_map(|known| describe(known).ok()).collect();
    let chosen: Vec<_> = described.iter().filter(|one| name.is_none_or(|name| name == one.name)).collect();
    if chosen.is_empty() {
        bail!("there is no strategy `{}`; `stagetune strategies` lists them", name.unwrap_or_default());
    }
    if json {
        print_json(&chosen)?;
        return Ok(Code::Done);
    }
    let mut out = String::new();
    let width = chosen.iter().map(|one| one.name.len()).max().unwrap_or(0);
    for one in &chosen {
        let _ = writeln!(
            out,
            "{}{:pad$}  {}",
            paint(STRONG, one.name),
            "",
            one.about,
            pad = width - one.name.len()
        );
        if name.is_some() {
            let _ = writeln!(out, "\n[study.options] with their defaults; `null` is switched off\n");
            for option in &one.options {
                let _ = writeln!(out, "{} = {}", paint(STRONG, &option.name), option.default);
                let _ = writeln!(out, "    {}", option.about);
                let _ = writeln!(out, "    {}", paint(FAINT, format!("takes {}", option.takes)));
            }
        }
    }
    if name.is_none() {
        let _ = writeln!(out, "\n{}", paint(FAINT, "`stagetune strategies NAME` shows the options of one"));
    }
    print(&out)?;
    Ok(Code::Done)
}
