//! What the engine tunes: the parameters, conditions and cuts of the stages as its space.

use std::ops::Range;

use stagetune::space::{Cost, MAX_FORBIDDEN, Module, ModuleError, Space, SpaceError};

use super::names::{clipped, listed};
use super::pipeline::StageCost;
use super::problem::Findings;
use super::reader::{Section, Text};
use super::stage::{Draft, Wires};

/// More cuts of one parameter than this cut nothing that a search would notice.
const MOST_CUTS: usize = 100;

/// What the engine tunes: one module for each stage, wired alike.
pub(super) fn space(drafts: &[Draft<'_, '_>], wires: &Wires, findings: &mut Findings<'_>) -> Option<Space> {
    let modules: Option<Vec<Module>> =
        drafts.iter().map(|draft| module(draft, findings)).collect::<Vec<_>>().into_iter().collect();
    let modules = modules.filter(|modules| !modules.is_empty())?;
    match Space::new(modules).and_then(|space| space.wired(&wires.after)) {
        Ok(space) => Some(space),
        // Names that are used twice have been reported where they stand.
        Err(SpaceError::DuplicateModule { .. } | SpaceError::DuplicateParam { .. }) => None,
        Err(error) => {
            let (span, help) = match &error {
                SpaceError::Region(_) => (region_span(drafts), "loosen or remove one of the conditions"),
                SpaceError::NoParams => (
                    drafts.last().map(|draft| draft.section.span.clone()),
                    "add [stage.params] and below it what can be tuned, such as `lr = { float = [0.1, 2] }`",
                ),
                _ => (drafts.first().map(|draft| draft.section.span.clone()), "tune less at once"),
            };
            let text = match &error {
                SpaceError::NoParams => "the pipeline has no parameters: there is nothing to tune".to_owned(),
                error => error.to_string(),
            };
            let (message, help) = remedied(&text, help);
            findings.error(&span.unwrap_or(0..0), message, help);
            None
        }
    }
}

/// A stage as the engine knows it.
fn module(draft: &Draft<'_, '_>, findings: &mut Findings<'_>) -> Option<Module> {
    let title = &draft.section.title;
    let params: Option<Vec<_>> = draft.params.iter().map(|(_, param)| param.clone()).collect();
    let cost = match draft.cost {
        StageCost::Given(cost) => Cost::Given(cost),
        StageCost::Measured | StageCost::Reported => Cost::Measured,
    };
    // A name that is none has been reported; the others are worth checking all the same.
    let made = Module::new(draft.name(), params?).and_then(|module| module.cost(cost));
    let mut module = made.ok()?;
    if let Some(node) = draft.section.get("forbid") {
        let what = format!("`forbid` of {title}");
        let texts = findings.read_texts(node, &what, "forbid = [\"lr > 0.05 and batch < 4\"]")?;
        if let Some(more) = texts.get(MAX_FORBIDDEN) {
            findings.error(
                &more.span(),
                format!("{what} has more than {MAX_FORBIDDEN} conditions"),
                "join some of them with `or`",
            );
            return None;
        }
        for text in texts {
            if findings.is_full() {
                return None;
            }
            match module.clone().forbid(text.get_ref()) {
                Ok(forbidding) => module = forbidding,
                Err(error) => report_condition(&error, &text, draft, findings),
            }
        }
    }
    if let Some(node) = draft.section.get("cuts") {
        let section = Section::of(node, format!("`cuts` of {title}"), "`cuts = { lr = [1e-3] }`", findings)?;
        for (span, name, node) in section.in_order() {
            let list = format!("`cuts.{}` of {title}", clipped(name));
            let items = findings.read_list(node, &list, &format!("{} = [1e-3]", clipped(name)))?;
            if items.len() > MOST_CUTS {
                let message = format!("{list} has more than {MOST_CUTS} numbers");
                findings.error(&node.span(), message, "keep the few that matter");
                return None;
            }
            let what = format!("a cut of `{}`", clipped(name));
            let mut thresholds = Vec::new();
            for item in items {
                thresholds.extend(findings.read_number(item, &what).map(|number| (item.span(), number)));
            }
            for (at, threshold) in thresholds {
                match module.clone().cut(name, [threshold]) {
                    Ok(cut) => module = cut,
                    Err(error) => {
                        let inside = matches!(error, ModuleError::CutOutside { .. });
                        let (message, help) = remedied(
                            &error.to_string(),
                            "write a parameter of this stage and numbers inside its range",
                        );
                        findings.error(
                            if inside { &at } else { &span },
                            message.replace("module `", "stage `"),
                            help,
                        );
                    }
                }
            }
        }
    }
    Some(module)
}

/// A condition that cannot be read, at its place.
fn report_condition(error: &ModuleError, text: &Text, draft: &Draft<'_, '_>, findings: &mut Findings<'_>) {
    let ModuleError::Expr(error) = error else {
        let (message, help) =
            remedied(&error.to_string(), "write a condition such as \"lr > 0.05 and batch < 4\"");
        findings.error(&text.span(), message, help);
        return;
    };
    let names: Vec<&str> = draft.params.iter().map(|(name, _)| name.get_ref().as_str()).collect();
    let dashed = names.iter().find(|name| name.contains('-') && text.get_ref().contains(**name));
    let help = match dashed {
        Some(name) => format!("write names with a dash between backticks: `{}`", clipped(name)),
        None => format!(
            "write a condition on parameters of this stage ({}), such as \"lr > 0.05 and batch < 4\"",
            listed(names.iter().copied())
        ),
    };
    let (message, help) = remedied(&error.kind().to_string(), &help);
    findings.error(&findings.inside(text, error.span()), format!("in this condition, {message}"), help);
}

/// The last condition: nothing is left once it is added, or it is as good a place as any.
fn region_span(drafts: &[Draft<'_, '_>]) -> Option<Range<usize>> {
    drafts.iter().rev().find_map(|draft| draft.section.get("forbid")).map(|node| node.span())
}

/// Splits the engine's `what is wrong; what to do`.
pub(super) fn remedied(text: &str, otherwise: &str) -> (String, String) {
    match text.rsplit_once("; ") {
        Some((message, help)) => (message.to_owned(), help.to_owned()),
        None => (text.to_owned(), otherwise.to_owned()),
    }
}
