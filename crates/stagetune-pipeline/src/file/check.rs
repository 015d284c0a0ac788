//! From the text to a checked pipeline, with every problem on the way; no file but the text is looked at.

use std::ops::Range;
use std::path::Path;

use stagetune::space::{MAX_MODULES, MAX_PARAMS, Space};
use stagetune::strategy::configured;
use toml::de::{DeTable, DeValue};

use super::budget::{check_cost, check_price};
use super::command::{self, Command, Scope};
use super::names::{clipped, nearest};
use super::paths::{self, Bounds};
use super::pipeline::{Pipeline, Stage, StageCost, StudyPlan};
use super::problem::Findings;
use super::reader::{Section, Text, described};
use super::space::{remedied, space};
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
        findings.error(&(0..0), "the file is empty", "`stagetune init` writes a file to start from");
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
    let study_section = whole
        .get("study")
        .and_then(|node| Section::of(node, "[study]", "[study] on a line of its own", findings));
    let (plan, outside) = match &study_section {
        Some(section) => study::read(section, findings),
        None if whole.get("study").is_some() || misspelt("study") => (None, Vec::new()),
        None => {
            findings.error(
                &(0..0),
                "the file has no [study]",
                "add `[study]` and below it name, metric and direction; `stagetune init` writes a \
                    file to start from",
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
    let metric_stage = plan.as_ref().and_then(|plan| plan.metric.stage());
    let metric_stage = metric_stage.and_then(|name| drafts.iter().position(|draft| draft.name() == name));
    let metric_stage = metric_stage.unwrap_or(drafts.len().saturating_sub(1));
    let (stages, places) = stages(&drafts, &wires, &bounds, metric_stage, findings);
    let space = space(&drafts, &wires, findings);
    if let (Some(plan), Some(space)) = (&plan, &space) {
        check_strategy(plan, space, &whole, findings);
    }
    if let (Some(plan), Some(section)) = (&plan, &study_section) {
        check_metric(plan, section, &drafts, findings);
    }
    warn(&drafts, &wires, findings);
    if findings.has_errors() {
        return None;
    }
    // What a stage reports may be seconds or anything else, and so may a mixture.
    let all = |is: fn(&StageCost) -> bool| drafts.iter().all(|draft| is(&draft.cost));
    let (measured, given) =
        (all(|cost| *cost == StageCost::Measured), all(|cost| matches!(cost, StageCost::Given(_))));
    if let Some(section) = study_section.as_ref().filter(|_| measured || given) {
        check_price(section, measured, findings);
        if given {
            check_cost(section, all(|cost| *cost == StageCost::Given(0.0)), findings);
        }
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
    let help =
        format!("`stagetune strategies {}` lists the options and what they take", plan.engine_strategy());
    let (message, help) = remedied(&error.to_string(), &help);
    findings.error(&span, message, help);
}

/// Whether the metric's stage is there.
fn check_metric(
    plan: &StudyPlan,
    section: &Section<'_, '_>,
    drafts: &[Draft<'_, '_>],
    findings: &mut Findings<'_>,
) {
    let Some(stage) = plan.metric.stage() else { return };
    let names: Vec<&str> =
        drafts.iter().filter_map(|draft| draft.name.as_ref()).map(|name| name.get_ref().as_ref()).collect();
    if names.contains(&stage) || names.len() < drafts.len() {
        return;
    }
    let span = section.get("metric").map_or(0..0, |node| node.span());
    let last = names.last().copied().unwrap_or("last");
    let nearest = nearest(stage, names.iter().copied())
        .map(|name| format!("did you mean \"{name}.{}\"? ", plan.metric.name()));
    findings.error(
        &span,
        format!("the metric `{}` belongs to a stage `{stage}`, which is not there", plan.metric),
        format!(
            "{}what stands before the first dot is the stage: \"{last}.{}\" is a number of the last one",
            nearest.unwrap_or_default(),
            plan.metric
        ),
    );
}

/// What each `[[stage]]` says on its own.
fn drafts<'t, 'i>(whole: &Section<'t, 'i>, findings: &mut Findings<'_>) -> Vec<Draft<'t, 'i>> {
    let help = "write [[stage]] with two brackets, once for each stage";
    let Some(node) = whole.get("stage") else {
        let last = findings.text().len();
        findings.error(
            &(last..last),
            "the file has no [[stage]]",
            "add `[[stage]]` and below it name, run and [stage.params]; `stagetune init` writes a \
                file to start from",
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
    metric_stage: usize,
    findings: &mut Findings<'_>,
) -> (Vec<Stage>, Vec<Places>) {
    let (mut stages, mut places) = (Vec::new(), Vec::new());
    for (number, draft) in drafts.iter().enumerate() {
        let Some(upstream) = wires.upstream.get(number) else { continue };
        check_ambiguity(draft, upstream.iter().filter_map(|number| drafts.get(number)), findings);
        let scope = Scope::new(number, drafts, upstream);
        let command = command::read(&scope, findings);
        let gives_metric = (number == metric_stage).then_some(number + 1 == drafts.len());
        check_out(draft, gives_metric, command.as_ref(), findings);
        let (inputs, input_places) = paths::inputs(draft, bounds, findings);
        let command = command.unwrap_or_default();
        stages.push(Stage {
            call: None,
            name: draft.name().to_owned(),
            run: command.run,
            inputs,
            env: draft.env.clone(),
            watch_env: draft.watch_env.clone(),
            timeout: draft.timeout,
            grace: draft.grace,
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

/// Who must write a result.json must be told where; `gives_metric` says of the stage of the metric
/// whether it is the last.
fn check_out(
    draft: &Draft<'_, '_>,
    gives_metric: Option<bool>,
    command: Option<&Command>,
    findings: &mut Findings<'_>,
) {
    let Some(command) = command.filter(|command| !command.uses_out && !command.faulty) else { return };
    let span = match (command.spans.first(), command.spans.last()) {
        (Some(first), Some(last)) => first.start..last.end,
        _ => draft.section.span.clone(),
    };
    let title = &draft.section.title;
    let help = "add an argument with `{out}`, such as \"--out\", \"{out}\"";
    if let Some(last) = gives_metric {
        let why = if last { "is the last one" } else { "gives the metric" };
        let message =
            format!("{title} {why} and must write result.json into `{{out}}`, which `run` does not name");
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

/// What works but surprises.
fn warn(drafts: &[Draft<'_, '_>], wires: &Wires, findings: &mut Findings<'_>) {
    if let (Some(draft), Some(upstream)) = (drafts.last(), wires.upstream.last()) {
        let last = drafts.len() - 1;
        for (_, unused) in drafts.iter().enumerate().filter(|(n, _)| *n != last && !upstream.contains(*n)) {
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
