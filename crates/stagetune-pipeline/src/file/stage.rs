//! `[[stage]]`: what a stage is called, what it needs and how it is run, apart from its command.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use stagetune::space::{Param, StageSet};
use toml::de::DeValue;

use super::names::{clipped, listed, mended, nearest, stage};
use super::params;
use super::pipeline::{DEAREST, DEFAULT_GRACE, StageCost};
use super::problem::Findings;
use super::reader::{Node, Section, Text, described};
use super::study::{STUDY_KEYS, read_duration};

/// The keys of a stage.
pub(super) const STAGE_KEYS: [&str; 13] = [
    "name",
    "run",
    "inputs",
    "env",
    "watch_env",
    "timeout",
    "grace",
    "retries",
    "cost",
    "after",
    "params",
    "forbid",
    "cuts",
];

/// More retries than this hide a stage that does not work.
const MOST_RETRIES: i128 = 1000;

/// A stage as far as it can be understood on its own.
pub(super) struct Draft<'t, 'i> {
    pub(super) section: Section<'t, 'i>,
    /// Its name, if it has one; what is wrong with it has been reported.
    pub(super) name: Option<Text>,
    pub(super) params: Vec<(Text, Option<Param>)>,
    pub(super) cost: StageCost,
    pub(super) timeout: Option<Duration>,
    pub(super) grace: Duration,
    pub(super) retries: u32,
    pub(super) env: BTreeMap<String, String>,
    pub(super) watch_env: Vec<String>,
}

/// What is known of all stages when one of them is looked at.
pub(super) struct Wires {
    /// The stages that each needs directly.
    pub(super) after: Vec<Vec<usize>>,
    /// The stages that each needs, directly or not.
    ///
    /// Where that could not be read, a stage is taken to need all before it, to say nothing wrong
    /// of its placeholders.
    pub(super) upstream: Vec<StageSet>,
}

impl<'t, 'i> Draft<'t, 'i> {
    /// Reads all but the command and what it needs.
    pub(super) fn read(number: usize, node: &'t Node<'i>, findings: &mut Findings<'_>) -> Option<Self> {
        let example = "[[stage]] and below it the keys of the stage";
        let mut section = Section::of(node, format!("stage {}", number + 1), example, findings)?;
        let name = match section.get("name") {
            Some(node) => findings.read_text(node, "the stage's `name`"),
            None => section
                .needs("name", "placeholders and messages speak of it", "\"prepare\"", findings)
                .and(None),
        };
        if let Some(text) = &name {
            section.title = format!("stage `{}`", clipped(text.get_ref()));
            if let Err(reason) = stage(text.get_ref()) {
                findings.error(
                    &text.span(),
                    format!("the stage's name \"{}\" {reason}", clipped(text.get_ref())),
                    format!("write for example \"{}\"", mended(text.get_ref())),
                );
            }
        }
        section.knows(&STAGE_KEYS, elsewhere, findings);
        let title = section.title.clone();
        let params =
            section.get("params").map(|node| params::read(node, &title, findings)).unwrap_or_default();
        let cost = section.get("cost").map_or(Some(StageCost::Measured), |node| cost(node, &title, findings));
        let timeout = section
            .get("timeout")
            .and_then(|node| read_duration(node, &format!("`timeout` of {title}"), findings));
        let grace = section
            .get("grace")
            .and_then(|node| read_duration(node, &format!("`grace` of {title}"), findings))
            .unwrap_or(DEFAULT_GRACE);
        let retries = section
            .get("retries")
            .and_then(|node| findings.read_whole(node, &format!("`retries` of {title}"), 0..=MOST_RETRIES))
            .and_then(|retries| u32::try_from(retries).ok())
            .unwrap_or(0);
        let env = section.get("env").map(|node| env(node, &title, findings)).unwrap_or_default();
        let watch_env =
            section.get("watch_env").map(|node| watch_env(node, &title, &env, findings)).unwrap_or_default();
        let cost = cost.unwrap_or(StageCost::Measured);
        Some(Self { section, name, params, cost, timeout, grace, retries, env, watch_env })
    }

    /// Its name, or the empty text, which no placeholder can mean.
    pub(super) fn name(&self) -> &str {
        self.name.as_ref().map_or("", |name| name.get_ref())
    }
}

/// Reports names that are used twice.
pub(super) fn check_names(drafts: &[Draft<'_, '_>], findings: &mut Findings<'_>) {
    let mut stages: BTreeMap<&str, usize> = BTreeMap::new();
    let mut params: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
    for draft in drafts {
        if let Some(name) = &draft.name {
            let line = findings.line(name.span().start);
            if let Some(first) = stages.get(name.get_ref().as_str()) {
                findings.error(
                    &name.span(),
                    format!(
                        "two stages are called `{}`: the first one is on line {first}",
                        clipped(name.get_ref())
                    ),
                    "give this one another name",
                );
            } else {
                stages.insert(name.get_ref(), line);
            }
        }
        for (name, _) in &draft.params {
            let line = findings.line(name.span().start);
            if let Some((first, stage)) = params.get(name.get_ref().as_str()) {
                findings.error(
                    &name.span(),
                    format!(
                        "the parameter `{}` is there already: stage `{}` has it on line {first}",
                        clipped(name.get_ref()),
                        clipped(stage)
                    ),
                    format!(
                        "rename one of the two, for example `{}_{}`",
                        mended(draft.name()),
                        clipped(name.get_ref())
                    ),
                );
            } else {
                params.insert(name.get_ref(), (line, draft.name()));
            }
        }
    }
}

/// Who needs whom: `after` where it is given, the stage before where it is not.
pub(super) fn wire(drafts: &[Draft<'_, '_>], findings: &mut Findings<'_>) -> Wires {
    let names: Vec<&str> = drafts.iter().map(Draft::name).collect();
    let mut wires = Wires { after: Vec::new(), upstream: Vec::new() };
    for (number, draft) in drafts.iter().enumerate() {
        let before = findings.count();
        let after: Vec<usize> = match draft.section.get("after") {
            None => number.checked_sub(1).into_iter().collect(),
            Some(node) => after(number, node, drafts, &names, findings),
        };
        let mut upstream: StageSet = after.iter().copied().collect();
        for above in after.iter().filter_map(|needed| wires.upstream.get(*needed)) {
            upstream = upstream.union(above);
        }
        let is_sure = findings.count() == before && !findings.is_full();
        if !is_sure {
            upstream = StageSet::first(number);
        }
        wires.after.push(after);
        wires.upstream.push(upstream);
    }
    wires
}

fn after(
    number: usize,
    node: &Node<'_>,
    drafts: &[Draft<'_, '_>],
    names: &[&str],
    findings: &mut Findings<'_>,
) -> Vec<usize> {
    let title = drafts.get(number).map_or("", |draft| &draft.section.title);
    let earlier = names.get(..number).unwrap_or(&[]);
    let example = match earlier.last() {
        Some(name) => format!("after = [\"{}\"]", clipped(name)),
        None => "after = []".to_owned(),
    };
    let Some(texts) = findings.read_texts(node, &format!("`after` of {title}"), &example) else {
        return Vec::new();
    };
    let mut read = Vec::new();
    for text in texts {
        if findings.is_full() {
            break;
        }
        let (span, name) = (text.span(), text.get_ref().as_str());
        let shown = clipped(name);
        match names.iter().position(|known| *known == name && !name.is_empty()) {
            Some(needed) if read.contains(&needed) => {
                findings.error(
                    &span,
                    format!("`after` of {title} names `{shown}` twice"),
                    "remove one of the two",
                );
            }
            Some(needed) if needed < number => read.push(needed),
            Some(needed) if needed == number => findings.error(
                &span,
                format!("{title} cannot come after itself"),
                format!("remove it, or write an earlier stage: {}", listed(earlier.iter().copied())),
            ),
            Some(needed) => {
                let circle = names.get(number).is_some_and(|own| names_in_after(drafts.get(needed), own));
                if circle {
                    findings.error(
                        &span,
                        format!("{title} and stage `{shown}` each come after the other"),
                        "remove one of the two: stages cannot run in a circle",
                    );
                } else {
                    findings.error(
                        &span,
                        format!("{title} comes after `{shown}`, which is further down in the file"),
                        format!(
                            "move the [[stage]] of `{shown}` above this one: stages stand in an \
                            order in which they can run"
                        ),
                    );
                }
            }
            None => {
                let help = match nearest(name, earlier.iter().copied()) {
                    Some(meant) => format!("did you mean \"{}\"?", clipped(meant)),
                    None if earlier.is_empty() => "write `after = []`: this is the first stage".to_owned(),
                    None => format!("write an earlier stage: {}", listed(earlier.iter().copied())),
                };
                findings.error(
                    &span,
                    format!("`after` of {title} names `{shown}`, but there is no such stage"),
                    help,
                );
            }
        }
    }
    read.sort_unstable();
    read
}

/// Whether a stage's own `after` names another.
fn names_in_after(draft: Option<&Draft<'_, '_>>, name: &str) -> bool {
    match draft.and_then(|draft| draft.section.get("after")).map(|node| node.get_ref()) {
        Some(DeValue::Array(items)) => items.iter().any(|item| item.get_ref().as_str() == Some(name)),
        _ => false,
    }
}

fn cost(node: &Node<'_>, title: &str, findings: &mut Findings<'_>) -> Option<StageCost> {
    let what = format!("`cost` of {title}");
    let help = "write \"measured\" for the seconds that it takes, \"reported\" for the key `cost` \
        of its result.json, or a number";
    match node.get_ref() {
        DeValue::String(text) => match text.as_ref() {
            "measured" => return Some(StageCost::Measured),
            "reported" => return Some(StageCost::Reported),
            text => {
                let help = match nearest(text, ["measured", "reported"]) {
                    Some(meant) => format!("did you mean \"{meant}\"?"),
                    None if text.trim().parse::<f64>().is_ok() => {
                        format!("remove the quotes: {}", text.trim())
                    }
                    None => help.to_owned(),
                };
                findings.error(&node.span(), format!("{what} is \"{}\", which is none", clipped(text)), help);
            }
        },
        DeValue::Integer(_) | DeValue::Float(_) => {
            let cost = findings.read_number(node, &what)?;
            if (0.0..=DEAREST).contains(&cost) {
                return Some(StageCost::Given(cost));
            }
            if cost < 0.0 {
                findings.error(&node.span(), format!("{what} is negative"), "write a number of at least 0");
            } else {
                let message = format!("{what} is {cost:e}, and sums of such costs would not be exact");
                findings.error(&node.span(), message, format!("write at most {DEAREST:e}, in a larger unit"));
            }
        }
        other => findings.error(&node.span(), format!("{what} is {}, which is none", described(other)), help),
    }
    None
}

fn env(node: &Node<'_>, title: &str, findings: &mut Findings<'_>) -> BTreeMap<String, String> {
    let mut read = BTreeMap::new();
    let Some(section) =
        Section::of(node, format!("`env` of {title}"), "`env = { NAME = \"value\" }`", findings)
    else {
        return read;
    };
    for (span, name, value) in section.in_order() {
        check_variable(name, &span, findings);
        if let Some(value) = findings.read_text(value, &format!("the variable `{}`", clipped(name))) {
            if value.get_ref().contains("{out}") {
                findings.warn(
                    &value.span(),
                    format!(
                        "the variable `{}` gets the text {{out}} as it stands: placeholders are \
                        filled in `run` only",
                        clipped(name)
                    ),
                    "give it as an argument: `run = [\"env\", \"NAME={out}\", …]`",
                );
            }
            read.insert(name.to_owned(), value.into_inner());
        }
    }
    read
}

fn watch_env(
    node: &Node<'_>,
    title: &str,
    env: &BTreeMap<String, String>,
    findings: &mut Findings<'_>,
) -> Vec<String> {
    let what = format!("`watch_env` of {title}");
    let mut read = BTreeSet::new();
    let example = "watch_env = [\"CUDA_VISIBLE_DEVICES\"]";
    for text in findings.read_texts(node, &what, example).unwrap_or_default() {
        let (span, name) = (text.span(), text.into_inner());
        check_variable(&name, &span, findings);
        if env.contains_key(&name) {
            findings.error(
                &span,
                format!("the variable `{}` is set by `env` and watched as well", clipped(&name)),
                "remove it from one of the two: what `env` sets is always the same",
            );
        } else if !read.insert(name.clone()) {
            findings.error(
                &span,
                format!("{what} names `{}` twice", clipped(&name)),
                "remove one of the two",
            );
        }
        if findings.is_full() {
            break;
        }
    }
    read.into_iter().collect()
}

/// A name that an environment can hold.
fn check_variable(name: &str, span: &std::ops::Range<usize>, findings: &mut Findings<'_>) {
    let shown = clipped(name);
    if name.is_empty() {
        findings.error(span, "the name of a variable is empty", "write its name, such as OMP_NUM_THREADS");
    } else if let Some((before, _)) = name.split_once('=') {
        findings.error(
            span,
            format!("the name of the variable `{shown}` contains `=`"),
            format!("write the name alone, `{}`; `env = {{ NAME = \"value\" }}` sets one", clipped(before)),
        );
    } else if name.contains('\0') {
        findings.error(span, format!("the name of the variable `{shown}` contains NUL"), "remove it");
    } else if let Some(bare) = name.strip_prefix('$') {
        findings.error(
            span,
            format!("the name of the variable `{shown}` starts with `$`"),
            format!("write the name alone, `{}`", clipped(bare)),
        );
    }
}

/// Where a key that is not one of a stage belongs.
fn elsewhere(key: &str) -> Option<String> {
    Some(match key {
        "command" | "cmd" | "args" | "argv" | "exec" => {
            "write `run = [\"program\", \"argument\", …]`".to_owned()
        }
        "depends" | "depends_on" | "needs" | "requires" => "write `after = [\"…\"]`".to_owned(),
        "parameters" | "param" => "write [stage.params]".to_owned(),
        "deps" | "files" | "input" => {
            "write `inputs = [\"…\"]` for files, `after = [\"…\"]` for stages".to_owned()
        }
        "outputs" | "output" | "out" => {
            "remove it: a stage writes into the directory `{out}`, and all of it is kept".to_owned()
        }
        "float" | "int" | "choice" | "bool" => {
            "write it in a parameter: `name = { float = [0.1, 2] }` below [stage.params]".to_owned()
        }
        "shell" => "remove it: `run` is started without a shell".to_owned(),
        "limit" => "write it below [cache]".to_owned(),
        key if STUDY_KEYS.contains(&key) => format!("`{key}` belongs to [study]: move it there"),
        _ => return None,
    })
}
