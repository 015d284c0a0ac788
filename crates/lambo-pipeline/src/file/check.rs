//! From the text to a checked pipeline, with every problem on the way; no file but the text is looked at.

use std::ops::Range;
use std::path::Path;

use lambo::space::{Cost, MAX_FORBIDDEN, MAX_MODULES, MAX_PARAMS, Module, ModuleError, Space, SpaceError};
use lambo::strategy::configured;
use toml::de::{DeTable, DeValue};

use super::command::{self, Command, Scope};
use super::names::{clipped, nearest};
use super::paths::{self, Bounds};
use super::pipeline::{Pipeline, Stage, StageCost, StudyPlan};
use super::problem::Findings;
use super::reader::{Section, Text, described};
use super::stage::{Draft, Wires, check_names, wire};
use super::study;
use super::syntax;

/// The keys of the file.
pub(super) const FILE_KEYS: [&str; 3] = ["study", "cache", "stage"];

/// The largest file in bytes: a thousand stages fit, and nothing takes long.
pub(super) const MOST_BYTES: usize = 1_000_000;

/// A pipeline, and where in the file the things stand that only the disk can tell about.
#[derive(Debug)]
pub(super) struct Checked {
    pub(super) pipeline: Pipeline,
    pub(super) bounds: Bounds,
    pub(super) places: Vec<Places>,
}

/// Where the parts of a stage stand.
#[derive(Debug)]
pub(super) struct Places {
    pub(super) inputs: Vec<Range<usize>>,
    pub(super) arguments: Vec<Range<usize>>,
    pub(super) directories_in_code: Vec<Range<usize>>,
}

/// Checks a text; `None` if there was an error, which the findings hold.
pub(super) fn check(file: &Path, root: &Path, findings: &mut Findings<'_>) -> Option<Checked> {
    let text = findings.text();
    if text.len() > MOST_BYTES {
        findings.error(
            &(0..0),
            format!("the file has {} bytes, more than {MOST_BYTES}", text.len()),
            "keep data in files of their own and name them in `inputs`",
        );
        return None;
    }
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        findings.error(&(0..0), "the file is empty", "`lambo init` writes a file to start from");
        return None;
    }
    let (document, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        syntax::report(&errors, findings);
        return None;
    }
    let whole = Section { title: "the file".to_owned(), span: 0..0, entries: document.get_ref() };
    whole.knows(&FILE_KEYS, elsewhere, findings);
    // Whoever wrote `[studdy]` is told so, and not that `[study]` is missing.
    let misspelt = |name: &str| {
        let typed = whole.entries.keys().map(|key| key.get_ref().as_ref()).take(MOST_COMPARED);
        typed.into_iter().any(|key| !FILE_KEYS.contains(&key) && nearest(key, [name]).is_some())
    };
    let (plan, outside) = match whole.get("study") {
        Some(node) => Section::of(node, "[study]", "[study] on a line of its own", findings)
            .map_or((None, Vec::new()), |section| study::read(&section, findings)),
        None if misspelt("study") => (None, Vec::new()),
        None => {
            findings.error(
                &(0..0),
                "the file has no [study]",
                "add `[study]` and below it name, metric and direction; `lambo init` writes a file to start from",
            );
            (None, Vec::new())
        }
    };
    let cache_limit = whole
        .get("cache")
        .and_then(|node| Section::of(node, "[cache]", "[cache] on a line of its own", findings))
        .and_then(|section| study::read_cache(&section, findings));
    let bounds = Bounds::new(root, &outside, findings);

    let drafts =
        if whole.get("stage").is_none() && misspelt("stage") { Vec::new() } else { drafts(&whole, findings) };
    if !few_params(&drafts, findings) {
        return None;
    }
    check_names(&drafts, findings);
    let wires = wire(&drafts, findings);
    let (stages, places) = stages(&drafts, &wires, &bounds, findings);
    let space = space(&drafts, &wires, findings);
    if let (Some(plan), Some(space)) = (&plan, &space) {
        check_strategy(plan, space, &whole, findings);
    }
    warn(&drafts, &wires, findings);
    if findings.has_errors() {
        return None;
    }
    let pipeline = Pipeline {
        file: file.to_owned(),
        root: bounds.root.clone(),
        study: plan?,
        stages,
        space: space?,
        cache_limit,
    };
    Some(Checked { pipeline, bounds, places })
}

/// More cuts of one parameter than this cut nothing that a search would notice.
const MOST_CUTS: usize = 100;

/// How many keys of a file are looked at for a misspelt one.
const MOST_COMPARED: usize = 100;

/// Whether there are not more parameters than can be tuned; nothing else is worth saying before that.
fn few_params(drafts: &[Draft<'_, '_>], findings: &mut Findings<'_>) -> bool {
    let params: Vec<&Text> = drafts.iter().flat_map(|draft| &draft.params).map(|(name, _)| name).collect();
    if let Some(more) = params.get(MAX_PARAMS) {
        findings.error(
            &more.span(),
            format!(
                "the pipeline has {} parameters; {MAX_PARAMS} is the most that can be tuned",
                params.len()
            ),
            "fix the values of most of them in `run`: beyond a few dozen, tuning learns little",
        );
        return false;
    }
    true
}

/// Whether the strategy can be made for this space with these options.
fn check_strategy(plan: &StudyPlan, space: &Space, whole: &Section<'_, '_>, findings: &mut Findings<'_>) {
    let Err(error) = configured(plan.engine_strategy(), space, &plan.options, plan.seed) else { return };
    let study = whole.get("study");
    let options = study.and_then(|study| study.get_ref().as_table()?.get("options"));
    let span = options.or(study).map_or(0..0, |node| node.span());
    let help = format!("`lambo strategies {}` lists the options and what they take", plan.engine_strategy());
    let (message, help) = remedied(&error.to_string(), &help);
    findings.error(&span, message, help);
}

/// What each `[[stage]]` says on its own.
fn drafts<'t, 'i>(whole: &Section<'t, 'i>, findings: &mut Findings<'_>) -> Vec<Draft<'t, 'i>> {
    let help = "write [[stage]] with two brackets, once for each stage";
    let Some(node) = whole.get("stage") else {
        let last = findings.text().len();
        findings.error(
            &(last..last),
            "the file has no [[stage]]",
            "add `[[stage]]` and below it name, run and [stage.params]; `lambo init` writes a file to start from",
        );
        return Vec::new();
    };
    let items = match node.get_ref() {
        DeValue::Array(items) => items,
        DeValue::Table(_) => {
            findings.error(&node.span(), "[stage] is one table, not a list of stages", help);
            return Vec::new();
        }
        other => {
            findings.error(
                &node.span(),
                format!("`stage` is {}, not a list of stages", described(other)),
                help,
            );
            return Vec::new();
        }
    };
    if items.is_empty() {
        findings.error(&node.span(), "the pipeline has no stages", help);
    }
    if items.len() > MAX_MODULES {
        findings.error(
            &node.span(),
            format!("the pipeline has {} stages, more than {MAX_MODULES}", items.len()),
            "put commands that always run together into one stage",
        );
        return Vec::new();
    }
    items.iter().enumerate().filter_map(|(number, item)| Draft::read(number, item, findings)).collect()
}

/// The stages with their commands and inputs.
fn stages(
    drafts: &[Draft<'_, '_>],
    wires: &Wires,
    bounds: &Bounds,
    findings: &mut Findings<'_>,
) -> (Vec<Stage>, Vec<Places>) {
    let (mut stages, mut places) = (Vec::new(), Vec::new());
    for (number, draft) in drafts.iter().enumerate() {
        let Some(upstream) = wires.upstream.get(number) else { continue };
        check_ambiguity(draft, upstream.iter().filter_map(|&number| drafts.get(number)), findings);
        let scope = Scope::new(number, drafts, upstream);
        let command = command::read(&scope, findings);
        check_out(draft, number + 1 == drafts.len(), command.as_ref(), findings);
        let (inputs, input_places) = paths::inputs(draft, bounds, findings);
        let command = command.unwrap_or_default();
        stages.push(Stage {
            name: draft.name().to_owned(),
            run: command.run,
            inputs,
            env: draft.env.clone(),
            watch_env: draft.watch_env.clone(),
            timeout: draft.timeout,
            retries: draft.retries,
            cost: draft.cost,
            after: wires.after.get(number).cloned().unwrap_or_default(),
            params: draft.params.iter().map(|(name, _)| name.get_ref().clone()).collect(),
        });
        places.push(Places {
            inputs: input_places,
            arguments: command.spans,
            directories_in_code: command.directories_in_code,
        });
    }
    (stages, places)
}

/// A placeholder must not mean both a parameter and a stage.
fn check_ambiguity<'d, 't: 'd, 'i: 't + 'd>(
    draft: &Draft<'_, '_>,
    upstream: impl Iterator<Item = &'d Draft<'t, 'i>>,
    findings: &mut Findings<'_>,
) {
    let names: Vec<&str> = upstream.map(Draft::name).collect();
    for (param, _) in &draft.params {
        if names.contains(&param.get_ref().as_str()) {
            findings.error(
                &param.span(),
                format!(
                    "`{{{0}}}` could be this parameter or the output of stage `{0}`",
                    clipped(param.get_ref())
                ),
                format!("rename the parameter, for example `{}_value`", clipped(param.get_ref())),
            );
        }
    }
}

/// Who must write a result.json must be told where.
fn check_out(draft: &Draft<'_, '_>, last: bool, command: Option<&Command>, findings: &mut Findings<'_>) {
    let Some(command) = command.filter(|command| !command.uses_out && !command.faulty) else { return };
    let span = match (command.spans.first(), command.spans.last()) {
        (Some(first), Some(last)) => first.start..last.end,
        _ => draft.section.span.clone(),
    };
    let title = &draft.section.title;
    let help = "add an argument with `{out}`, such as \"--out\", \"{out}\"";
    if last {
        let message = format!(
            "{title} is the last one and must write result.json into `{{out}}`, which `run` does not name"
        );
        findings.error(&span, message, help);
    } else if draft.cost == StageCost::Reported {
        let message =
            format!("{title} reports its cost in the result.json of `{{out}}`, which `run` does not name");
        findings.error(&span, message, help);
    } else {
        findings.warn(
            &span,
            format!("{title} never uses `{{out}}`: nothing that it makes can be kept"),
            help,
        );
    }
}

/// What the engine tunes: one module for each stage, wired alike.
fn space(drafts: &[Draft<'_, '_>], wires: &Wires, findings: &mut Findings<'_>) -> Option<Space> {
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
            super::names::listed(names.iter().copied())
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
fn remedied(text: &str, otherwise: &str) -> (String, String) {
    match text.rsplit_once("; ") {
        Some((message, help)) => (message.to_owned(), help.to_owned()),
        None => (text.to_owned(), otherwise.to_owned()),
    }
}

/// What works but surprises.
fn warn(drafts: &[Draft<'_, '_>], wires: &Wires, findings: &mut Findings<'_>) {
    if let (Some(draft), Some(upstream)) = (drafts.last(), wires.upstream.last()) {
        let last = drafts.len() - 1;
        for (_, unused) in drafts.iter().enumerate().filter(|(n, _)| *n != last && !upstream.contains(n)) {
            let name = clipped(unused.name());
            findings.warn(
                &unused.section.span,
                format!("the last stage does not need stage `{name}`: it runs for nothing"),
                format!("add \"{name}\" to `after` of {}, or remove the stage", draft.section.title),
            );
        }
    }
    let given = |draft: &&Draft<'_, '_>| matches!(draft.cost, StageCost::Given(_));
    let first_given = drafts.iter().find(given);
    if let Some(draft) = first_given.filter(|_| drafts.iter().any(|draft| draft.cost == StageCost::Measured))
    {
        let span = draft.section.get("cost").map_or(draft.section.span.clone(), |node| node.span());
        findings.warn(
            &span,
            format!(
                "{} has a given cost while others are measured in seconds: the two are added up",
                draft.section.title
            ),
            "give this cost in seconds too, or give all of them",
        );
    }
}

/// Where a key that is not one of the file belongs.
fn elsewhere(key: &str) -> Option<String> {
    Some(match key {
        "stages" => "write [[stage]], once for each stage".to_owned(),
        "params" | "parameters" => "write [stage.params] below the [[stage]] that it belongs to".to_owned(),
        "budget" | "options" => format!("write [study.{key}], or `{key} = {{ … }}` below [study]"),
        key if study::STUDY_KEYS.contains(&key) => format!("move `{key}` below [study]"),
        key if super::stage::STAGE_KEYS.contains(&key) => format!("move `{key}` below a [[stage]]"),
        "limit" => "write it below [cache]".to_owned(),
        _ => return None,
    })
}
