//! The frame of the page, and the order of its parts.

use stagetune_pipeline::record::StudyRecord;

use super::summary::Summary;
use super::svg::escape;
use super::{Made, clock, colour, curve, effects, failures, headline, stages, timeline, trials};

/// The whole page, the answer first.
pub fn page(record: &StudyRecord, made: &Made) -> String {
    let summary = Summary::of(record);
    let name = escape(&record.study);
    let body: String = [
        headline::headline(record, &summary),
        curve::section(record),
        timeline::section(record, &summary),
        clock::section(record),
        stages::section(record, &summary),
        effects::section(record),
        failures::section(record),
        trials::section(record),
        footer(record, made),
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
pub fn legend(record: &StudyRecord, others: &[(&str, &str)]) -> String {
    let stages = record.stages.iter().enumerate().map(|(at, stage)| (colour(at), escape(&stage.name)));
    let others = others.iter().map(|(class, text)| (String::from(*class), escape(text)));
    let items: String = stages
        .chain(others)
        .map(|(class, text)| format!("<li><i class=\"{class}\"></i>{text}</li>"))
        .collect();
    format!("<ul class=\"legend\">{items}</ul>\n")
}

fn footer(record: &StudyRecord, made: &Made) -> String {
    let began = if record.release == made.version {
        String::new()
    } else {
        format!(" The study began with stagetune {}.", escape(&record.release))
    };
    format!(
        "<footer><p>Made by stagetune {} on {} with <code>{}</code>.{began} Everything is in this file; it loads nothing.</p></footer>\n",
        escape(&made.version),
        escape(&made.date),
        escape(&made.command)
    )
}
