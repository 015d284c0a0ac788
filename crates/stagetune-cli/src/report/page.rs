//! The frame of the page, and the order of its parts.

use stagetune_pipeline::ledger::Ledger;

use super::svg::{escape, shorten};
use super::{Made, clock, colour, curve, effects, failures, headline, metrics, stages, timeline, trials};
use crate::format;

/// The whole page, the answer first.
pub fn page(ledger: &Ledger, made: &Made) -> String {
    let name = escape(&ledger.study);
    let body: String = [
        headline::headline(ledger),
        curve::section(ledger),
        timeline::section(ledger),
        clock::section(ledger),
        stages::section(ledger),
        metrics::section(ledger),
        effects::section(ledger),
        failures::section(ledger),
        trials::section(ledger),
        footer(ledger, made),
    ]
    .concat();
    format!(
        r#"<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<meta name="generator" content="stagetune {version}">
<title>{name} · stagetune</title>
<style>
{css}</style>
</head>
<body>
<main>
{body}</main>
<div id="tip" role="status" hidden></div>
<script>
{js}</script>
</body>
</html>
"#,
        version = escape(&made.version),
        css = include_str!("page.css"),
        js = include_str!("page.js"),
    )
}

/// A part of the page with its heading and a sentence that says how to read it.
pub fn section(id: &str, heading: &str, lead: &str, body: &str) -> String {
    let lead = if lead.is_empty() { String::new() } else { format!("<p class=\"lead\">{lead}</p>\n") };
    format!("<section id=\"{id}\">\n<h2>{heading}</h2>\n{lead}{body}</section>\n")
}

/// The stages with their colours, and what else the picture shows.
pub fn legend(ledger: &Ledger, others: &[(&str, &str)]) -> String {
    let stages = ledger.stages.iter().enumerate().map(|(at, stage)| (colour(at), escape(&stage.name)));
    let others = others.iter().map(|(class, text)| (String::from(*class), escape(text)));
    let items: String = stages
        .chain(others)
        .map(|(class, text)| format!("<li><i class=\"{class}\"></i>{text}</li>"))
        .collect();
    format!("<ul class=\"legend\">{items}</ul>\n")
}

/// Groups of trials that ran with the same; of more the last are left out.
const MOST_GROUPS: usize = 12;

fn footer(ledger: &Ledger, made: &Made) -> String {
    let began = if ledger.release == made.version {
        String::new()
    } else {
        format!(" The study began with stagetune {}.", escape(&ledger.release))
    };
    format!(
        "<footer>{}<p>Made by stagetune {} on {} with <code>{}</code>.{began} \
         Everything is in this file; it loads nothing.</p></footer>\n",
        provenance(ledger),
        escape(&made.version),
        escape(&made.date),
        escape(&made.command)
    )
}

/// What the trials ran with, those that ran with the same together.
fn provenance(ledger: &Ledger) -> String {
    let mut groups: Vec<(String, usize)> = Vec::new();
    for trial in &ledger.trials {
        let Some(owner) = ledger.owner(trial.epoch).map(|row| &row.owner) else { continue };
        let interpreter = owner.interpreter.as_ref().map_or_else(String::new, |text| format!(", {text}"));
        let commit = owner.commit.as_ref().map_or_else(String::new, |text| format!(", commit {text}"));
        let text = format!("stagetune {} on {}{interpreter}{commit}", owner.release, owner.host);
        match groups.iter_mut().find(|(known, _)| *known == text) {
            Some((_, trials)) => *trials += 1,
            None => groups.push((text, 1)),
        }
    }
    let sentence = |(text, trials): &(String, usize)| {
        let who =
            if *trials == 1 { "One trial".into() } else { format!("{} trials", format::count(*trials)) };
        format!("{who} ran with {}.", escape(&shorten(text, 400)))
    };
    let sentences: Vec<String> = groups.iter().take(MOST_GROUPS).map(sentence).collect();
    if sentences.is_empty() { String::new() } else { format!("<p>{}</p>", sentences.join(" ")) }
}
