//! `[study]` and `[cache]`: how the study goes.

use std::time::Duration;

use serde_json::{Map, Value};
use stagetune::objective::Metric;
use stagetune::strategy::NAMES;
use stagetune::study::Direction;
use toml::Spanned;
use toml::de::DeValue;

use super::budget::budget;
use super::code::{Argument, code_arguments};
use super::names::{clipped, mended, nearest, study};
use super::pipeline::{Budget, StudyPlan};
use super::problem::Findings;
use super::reader::{Node, Section, Text, described, float, whole};
use super::units::{DURATION_HELP, SIZE_HELP, bytes, duration, seconds};

/// The keys of `[study]`.
pub(super) const STUDY_KEYS: [&str; 11] = [
    "name",
    "metric",
    "direction",
    "strategy",
    "options",
    "seed",
    "budget",
    "give_up_after",
    "patience",
    "notify",
    "outside",
];

/// The keys of `[cache]`.
pub(super) const CACHE_KEYS: [&str; 1] = ["limit"];

/// How many trials may fail from the beginning unless the file says otherwise.
const GIVE_UP_AFTER: usize = 10;

/// How long a fault of the world is waited for unless the file says otherwise: long enough to be
/// told of it and to make room on a disk.
const PATIENCE: Duration = Duration::from_secs(600);

/// The largest number of trials that can be asked for; a study that long has other troubles.
pub(super) const MOST_TRIALS: i128 = 1_000_000_000;

/// The longest metric name; it is a key of a small file.
const LONGEST_METRIC: usize = 256;

/// The most directories outside the study's own; every input is looked for in each.
const MOST_OUTSIDE: usize = 100;

/// The deepest nesting of options.
const DEEPEST_OPTION: usize = 20;

/// The plan of `[study]` and its `outside`, as far as they can be read.
pub(super) fn read(section: &Section<'_, '_>, findings: &mut Findings<'_>) -> (Option<StudyPlan>, Vec<Text>) {
    section.knows(&STUDY_KEYS, elsewhere, findings);
    let name = name(section, findings);
    let metric = metric(section, findings);
    let direction = direction(section, findings);
    let strategy = match section.get("strategy") {
        None => Some("auto".to_owned()),
        Some(node) => strategy(node, findings),
    };
    let options = match section.get("options") {
        None => Some(Map::new()),
        Some(node) => options(node, findings),
    };
    let seed = match section.get("seed") {
        None => Some(0),
        Some(node) => findings
            .read_whole(node, "`seed`", 0..=i128::from(u64::MAX))
            .and_then(|seed| u64::try_from(seed).ok()),
    };
    let budget = match section.get("budget") {
        None => Some(Budget::default()),
        Some(node) => budget(node, findings),
    };
    let give_up_after = match section.get("give_up_after") {
        None => Some(GIVE_UP_AFTER),
        Some(node) => findings
            .read_whole(node, "`give_up_after`", 1..=MOST_TRIALS)
            .and_then(|trials| usize::try_from(trials).ok()),
    };
    let patience = match section.get("patience") {
        None => Some(PATIENCE),
        Some(node) => patience(node, findings),
    };
    let notify = match section.get("notify") {
        None => Some(Vec::new()),
        Some(node) => notify(node, findings),
    };
    let mut outside = section
        .get("outside")
        .and_then(|node| findings.read_texts(node, "`outside`", "outside = [\"../data\"]"))
        .unwrap_or_default();
    if let Some(more) = outside.get(MOST_OUTSIDE) {
        let help = "name a directory that holds them all";
        findings.error(&more.span(), format!("`outside` has more than {MOST_OUTSIDE} directories"), help);
        outside.truncate(MOST_OUTSIDE);
    }
    if budget == Some(Budget::default()) {
        findings.warn(
            &section.span,
            "the study has no budget: it would run until somebody stops it with Ctrl-C",
            "add `budget = { trials = 100 }`, or cost, wall, target or price; the first one reached \
                ends the study, and \
             `budget = \"auto\"` ends it when going on is not worth its cost",
        );
    }
    let plan = || {
        Some(StudyPlan {
            name: name?,
            metric: metric?,
            direction: direction?,
            strategy: strategy?,
            options: options?,
            seed: seed?,
            budget: budget?,
            give_up_after: give_up_after?,
            patience: patience?,
            notify: notify?,
        })
    };
    (plan(), outside)
}

/// The limit of `[cache]`.
pub(super) fn read_cache(section: &Section<'_, '_>, findings: &mut Findings<'_>) -> Option<u64> {
    section.knows(&CACHE_KEYS, |_| None, findings);
    let node = section.get("limit")?;
    let size = match node.get_ref() {
        DeValue::String(text) => match bytes(text) {
            Ok(size) => size,
            Err(reason) => {
                findings.error(&node.span(), format!("`limit`: {}", clipped(&reason)), SIZE_HELP);
                return None;
            }
        },
        DeValue::Integer(_) => {
            let size = whole_size(node);
            if size.is_none() {
                findings.error(
                    &node.span(),
                    "`limit` is not a number of bytes that a disk can have",
                    SIZE_HELP,
                );
            }
            size?
        }
        other => {
            findings.error(&node.span(), format!("`limit` is {}, not a size", described(other)), SIZE_HELP);
            return None;
        }
    };
    if size == 0 {
        findings.error(
            &node.span(),
            "`limit` is 0: nothing could be kept, and every stage would run for every trial",
            "write a size such as \"20 GB\", or remove `limit` to keep everything",
        );
        return None;
    }
    Some(size)
}

/// A duration that may be nothing.
fn patience(node: &Node<'_>, findings: &mut Findings<'_>) -> Option<Duration> {
    let is_zero = match node.get_ref() {
        DeValue::String(text) => seconds(text) == Ok(0.0),
        DeValue::Integer(number) => whole(number) == Some(0),
        DeValue::Float(number) => float(number) == Some(0.0),
        _ => false,
    };
    if is_zero { Some(Duration::ZERO) } else { read_duration(node, "`patience`", findings) }
}

/// A command with its arguments.
fn notify(node: &Node<'_>, findings: &mut Findings<'_>) -> Option<Vec<String>> {
    let texts = findings.read_texts(node, "`notify`", "notify = [\"notify-send\", \"{text}\"]")?;
    if texts.first().is_none_or(|program| program.get_ref().is_empty()) {
        findings.error(
            &node.span(),
            "`notify` names no program",
            "write for example notify = [\"notify-send\", \"{text}\"], or remove it",
        );
        return None;
    }
    let arguments: Vec<Argument<'_>> = texts
        .iter()
        .map(|text| match text.get_ref().split_once("{text}") {
            Some((before, after)) => Argument::Between(before, after),
            None => Argument::Fixed(text.get_ref()),
        })
        .collect();
    let is_code = code_arguments(&arguments);
    for (text, _) in
        texts.iter().zip(is_code).filter(|(text, is_code)| *is_code && text.get_ref().contains("{text}"))
    {
        findings.error(
            &text.span(),
            "`{text}` is put into code, and it may hold words of a stage, which would be run",
            "hand it over as an argument: [\"sh\", \"-c\", 'echo \"$1\"', \"sh\", \"{text}\"]",
        );
    }
    Some(texts.into_iter().map(Spanned::into_inner).collect())
}

/// Seconds from a number or a text such as `90 min`, above zero.
pub(super) fn read_seconds(node: &Node<'_>, what: &str, findings: &mut Findings<'_>) -> Option<f64> {
    let seconds = match node.get_ref() {
        DeValue::String(text) => match seconds(text) {
            Ok(seconds) => seconds,
            Err(reason) => {
                findings.error(&node.span(), format!("{what}: {}", clipped(&reason)), DURATION_HELP);
                return None;
            }
        },
        DeValue::Integer(_) | DeValue::Float(_) => findings.read_number(node, what)?,
        other => {
            findings.error(
                &node.span(),
                format!("{what} is {}, not a duration", described(other)),
                DURATION_HELP,
            );
            return None;
        }
    };
    if seconds > 0.0 {
        return Some(seconds);
    }
    findings.error(&node.span(), format!("{what} is not above zero"), DURATION_HELP);
    None
}

/// A duration from a number of seconds or a text such as `90 min`.
pub(super) fn read_duration(node: &Node<'_>, what: &str, findings: &mut Findings<'_>) -> Option<Duration> {
    let read = duration(read_seconds(node, what, findings)?);
    if read.is_none() {
        findings.error(
            &node.span(),
            format!("{what} is more than a century"),
            "write a shorter time, or remove it for no limit",
        );
    }
    read
}

/// Bytes given as a bare number.
fn whole_size(node: &Node<'_>) -> Option<u64> {
    let size = node.get_ref().as_integer().and_then(whole)?;
    u64::try_from(size).ok().filter(|size| *size <= i64::MAX as u64)
}

fn name(section: &Section<'_, '_>, findings: &mut Findings<'_>) -> Option<String> {
    let node =
        section.needs("name", "the journal keeps studies apart by their names", "\"my-study\"", findings)?;
    let name = findings.read_text(node, "the study's `name`")?;
    match study(name.get_ref()) {
        Ok(()) => Some(name.into_inner()),
        Err(reason) => {
            findings.error(
                &node.span(),
                format!("the study's name \"{}\" {reason}", clipped(name.get_ref())),
                format!("write for example \"{}\"", mended(name.get_ref())),
            );
            None
        }
    }
}

fn metric(section: &Section<'_, '_>, findings: &mut Findings<'_>) -> Option<Metric> {
    let why = "which number of a stage's result.json is to be optimised?";
    let node = section.needs("metric", why, "\"score\"", findings)?;
    let metric = findings.read_text(node, "`metric`")?.into_inner();
    let problem = if metric.trim().is_empty() {
        "is empty"
    } else if metric.chars().count() > LONGEST_METRIC {
        "is too long"
    } else if metric.chars().any(char::is_control) {
        "contains a control character"
    } else if metric.starts_with('.') || metric.ends_with('.') {
        "has nothing before or after its dot"
    } else {
        return Some(Metric::from(metric));
    };
    findings.error(
        &node.span(),
        format!("`metric` {problem}"),
        "write a key of the last stage's result.json, such as \"score\", or of another stage's, such as \
         \"train.loss\"",
    );
    None
}

fn direction(section: &Section<'_, '_>, findings: &mut Findings<'_>) -> Option<Direction> {
    let why = "is a higher metric better, or a lower one?";
    let node = section.needs("direction", why, "\"maximize\"` or `direction = \"minimize\"", findings)?;
    let text = findings.read_text(node, "`direction`")?;
    match text.get_ref().as_str() {
        "maximize" => return Some(Direction::Maximize),
        "minimize" => return Some(Direction::Minimize),
        _ => {}
    }
    let lower = text.get_ref().to_ascii_lowercase();
    let help = if ["max", "hi", "up"].iter().any(|start| lower.starts_with(start)) {
        "write \"maximize\""
    } else if ["min", "lo", "down"].iter().any(|start| lower.starts_with(start)) {
        "write \"minimize\""
    } else {
        "write \"maximize\" if a higher metric is better, \"minimize\" if a lower one is"
    };
    findings.error(
        &node.span(),
        format!("`direction` is \"{}\", which is none", clipped(text.get_ref())),
        help,
    );
    None
}

fn strategy(node: &Node<'_>, findings: &mut Findings<'_>) -> Option<String> {
    let text: Spanned<String> = findings.read_text(node, "`strategy`")?;
    let known = || NAMES.into_iter();
    if known().any(|name| name == text.get_ref()) {
        return Some(text.into_inner());
    }
    let help = match nearest(text.get_ref(), known()) {
        Some(meant) => format!("did you mean \"{meant}\"?"),
        None => format!("write \"auto\" if in doubt; there are {}", names(known())),
    };
    findings.error(&node.span(), format!("there is no strategy \"{}\"", clipped(text.get_ref())), help);
    None
}

fn names(known: impl Iterator<Item = &'static str>) -> String {
    known.map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}

fn options(node: &Node<'_>, findings: &mut Findings<'_>) -> Option<Map<String, Value>> {
    let section = Section::of(node, "`options`", "[study.options] and below it one option a line", findings)?;
    let mut read = Map::new();
    let mut whole = true;
    for (_, key, node) in section.in_order() {
        match json(node, key, 0, findings) {
            Some(value) => {
                read.insert(key.to_owned(), value);
            }
            None => whole = false,
        }
    }
    whole.then_some(read)
}

/// A value of TOML as one of JSON.
fn json(node: &Node<'_>, option: &str, depth: usize, findings: &mut Findings<'_>) -> Option<Value> {
    let span = node.span();
    let option = clipped(option);
    if depth > DEEPEST_OPTION {
        findings.error(&span, format!("the option `{option}` is nested too deeply"), "write it flatter");
        return None;
    }
    match node.get_ref() {
        DeValue::String(text) => Some(Value::from(text.as_ref())),
        DeValue::Boolean(flag) => Some(Value::from(*flag)),
        DeValue::Integer(digits) => {
            let read = whole(digits).and_then(|whole| i64::try_from(whole).ok());
            if read.is_none() {
                findings.error(
                    &span,
                    format!("the option `{option}` is a larger number than any option takes"),
                    "write a number below 9e18",
                );
            }
            read.map(Value::from)
        }
        DeValue::Float(digits) => {
            let read = float(digits).filter(|x| x.is_finite());
            if read.is_none() {
                let message = format!(
                    "the option `{option}` is {}, which is no finite number",
                    clipped(digits.as_str())
                );
                findings.error(&span, message, "write a finite number such as 0.5");
            }
            read.map(Value::from)
        }
        DeValue::Datetime(_) => {
            findings.error(
                &span,
                format!("the option `{option}` is a date, which no option takes"),
                "write a number, or a text in quotes",
            );
            None
        }
        DeValue::Array(items) => {
            let read: Vec<_> = items.iter().map(|item| json(item, &option, depth + 1, findings)).collect();
            read.into_iter().collect::<Option<Vec<_>>>().map(Value::from)
        }
        DeValue::Table(entries) => {
            let read: Vec<_> = entries
                .iter()
                .map(|(key, item)| {
                    json(item, &option, depth + 1, findings).map(|value| (key.get_ref().to_string(), value))
                })
                .collect();
            read.into_iter().collect::<Option<Map<_, _>>>().map(Value::Object)
        }
    }
}

/// Where a key that is not one of `[study]` belongs.
fn elsewhere(key: &str) -> Option<String> {
    match key {
        "trials" | "cost" | "wall" | "target" | "price" => {
            Some(format!("write it in the budget: `budget = {{ {key} = … }}`"))
        }
        "objective" => Some(
            "write `metric = \"…\"`, a key of the last stage's result.json or `stage.key` of another's"
                .to_owned(),
        ),
        "goal" | "mode" => Some("write `direction = \"maximize\"` or `direction = \"minimize\"`".to_owned()),
        "run" | "inputs" | "params" | "timeout" | "grace" | "retries" | "env" | "after" | "forbid"
        | "cuts" => Some(format!("`{key}` belongs to a stage: move it below a [[stage]]")),
        "stage" | "stages" => Some("write [[stage]] on a line of its own, once for each stage".to_owned()),
        "limit" => Some("write it below [cache]".to_owned()),
        _ => None,
    }
}
