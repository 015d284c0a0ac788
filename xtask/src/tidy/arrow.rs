//! The arrow between the modules of every crate: who may use whom.
//!
//! A folder that is added, renamed or split is put in its table here; nothing else has to be edited.

use super::Source;

/// The modules of one folder.
pub struct Arrow {
    /// The folder, with a `/` at its end.
    pub folder: &'static str,
    /// How its modules are named from anywhere in the crate.
    root: &'static str,
    /// Each module and those that it may use. Reading downwards, nobody uses what stands below.
    pub modules: &'static [(&'static str, &'static [&'static str])],
}

/// The arrows of all crates, and that of the rooms inside `strategy`.
pub const ARROWS: &[Arrow] = &[
    Arrow { folder: "crates/stagetune/src/", root: "crate::", modules: ENGINE },
    Arrow { folder: "crates/stagetune/src/strategy/", root: "crate::strategy::", modules: STRATEGY },
    Arrow { folder: "crates/stagetune-pipeline/src/", root: "crate::", modules: PIPELINE },
    Arrow { folder: "crates/stagetune-cli/src/", root: "crate::", modules: COMMAND },
    Arrow { folder: "crates/stagetune-lab/src/", root: "crate::", modules: LABORATORY },
    Arrow { folder: "xtask/src/", root: "crate::", modules: XTASK },
];

const ENGINE: &[(&str, &[&str])] = &[
    ("numeric", &[]),
    ("space", &["numeric"]),
    ("trial", &["space", "numeric"]),
    ("objective", &["trial", "space", "numeric"]),
    ("surrogate", &["objective", "trial", "space", "numeric"]),
    ("acquisition", &["surrogate", "objective", "trial", "space", "numeric"]),
    ("bandit", &["space", "numeric"]),
    ("strategy", &["bandit", "acquisition", "surrogate", "objective", "trial", "space", "numeric"]),
    ("forecast", &["strategy", "acquisition", "surrogate", "objective", "trial", "space", "numeric"]),
    (
        "study",
        &[
            "forecast",
            "strategy",
            "bandit",
            "acquisition",
            "surrogate",
            "objective",
            "trial",
            "space",
            "numeric",
        ],
    ),
];

/// What a strategy is, then the parts that strategies share, then the strategies, then the catalogue of them.
const STRATEGY: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("memory", &["error"]),
    ("past", &["error"]),
    ("identity", &["error"]),
    ("view", &["past", "error"]),
    ("why", &["view", "error"]),
    ("descriptor", &["identity", "error"]),
    ("parts", &["why", "view", "past", "memory", "error"]),
    ("lambo", &["parts", "descriptor", "why", "view", "identity", "past", "memory", "error"]),
    ("auto", &["parts", "descriptor", "why", "view", "identity", "past", "memory", "error"]),
    ("rivals", &["parts", "descriptor", "why", "view", "identity", "past", "memory", "error"]),
    ("catalogue", &["rivals", "auto", "lambo", "descriptor", "identity", "error"]),
];

/// The machine, what a study is made of, what people see of it, and the owner that brings all together.
const PIPELINE: &[(&str, &[&str])] = &[
    ("clock", &[]),
    ("stop", &[]),
    ("text", &[]),
    ("host", &[]),
    ("filesystem", &[]),
    ("disk", &["filesystem"]),
    ("sqlite_file", &["disk"]),
    ("state_dir", &["disk"]),
    ("file", &[]),
    ("records", &["disk", "clock"]),
    ("log", &["sqlite_file", "disk", "filesystem", "clock"]),
    ("ledger", &["log"]),
    ("outputs", &["sqlite_file", "disk", "filesystem", "host", "stop"]),
    ("executor", &["outputs", "file", "disk", "host", "text", "clock"]),
    (
        "owner",
        &[
            "executor",
            "outputs",
            "ledger",
            "log",
            "records",
            "file",
            "state_dir",
            "disk",
            "filesystem",
            "host",
            "text",
            "stop",
            "clock",
        ],
    ),
];

/// Words and samples, then views of a ledger, then the arguments, then the commands.
const COMMAND: &[(&str, &[&str])] = &[
    ("exit", &[]),
    ("terminal", &[]),
    ("format", &[]),
    ("sample", &[]),
    ("rows", &["sample"]),
    ("export", &["rows", "sample", "format"]),
    ("report", &["rows", "sample", "format"]),
    ("table", &["rows", "sample", "format", "terminal"]),
    ("cli", &["export", "exit"]),
    ("paint", &["cli", "terminal"]),
    ("reference", &["cli"]),
    ("detail", &["paint", "rows", "sample", "format"]),
    ("progress", &["paint", "format", "terminal"]),
    (
        "commands",
        &[
            "progress", "detail", "paint", "cli", "table", "report", "export", "rows", "sample", "format",
            "terminal", "exit",
        ],
    ),
];

const LABORATORY: &[(&str, &[&str])] = &[
    ("write", &[]),
    ("clock", &[]),
    ("problems", &[]),
    ("suggest", &[]),
    ("provenance", &["clock"]),
    ("reference", &["problems"]),
    ("coarse", &["problems"]),
    ("simulate", &["coarse", "problems"]),
    ("peers", &["simulate", "write"]),
    ("experiment", &["peers", "simulate", "coarse", "problems", "provenance", "write"]),
    ("evidence", &["simulate", "suggest", "provenance", "write"]),
    ("cli", &["evidence", "experiment", "reference", "suggest", "write"]),
];

const XTASK: &[(&str, &[&str])] = &[
    ("step", &[]),
    ("tool", &["step"]),
    ("deny", &["tool", "step"]),
    ("book", &["tool", "step"]),
    ("evidence", &["step"]),
    ("fuzz", &["step"]),
    ("tidy", &["step"]),
    ("quickstart", &["step"]),
    ("peers", &["evidence", "step"]),
    ("microct", &["quickstart", "step"]),
    ("test", &["book", "deny", "fuzz", "quickstart", "tidy", "step"]),
];

/// Front pages name every module of their folder.
const FRONT_PAGES: [&str; 3] = ["lib", "main", "mod"];

/// The folder of the rivals: no file in it uses another.
const RIVALS: &str = "crates/stagetune/src/strategy/rivals/";

/// The uses in one file that go against an arrow.
pub fn check(source: &Source) -> Vec<String> {
    if !source.path.ends_with(".rs") {
        return Vec::new();
    }
    let mut findings: Vec<String> = ARROWS.iter().flat_map(|arrow| against(arrow, source)).collect();
    findings.extend(rivals_that_meet(source));
    findings
}

/// The uses in one file that go against one arrow.
fn against(arrow: &Arrow, source: &Source) -> Vec<String> {
    let Some(inside) = source.path.strip_prefix(arrow.folder) else { return Vec::new() };
    let module = inside.split('/').next().unwrap_or(inside).trim_end_matches(".rs");
    if FRONT_PAGES.contains(&module) {
        return Vec::new();
    }
    let Some((_, allowed)) = arrow.modules.iter().find(|(name, _)| *name == module) else {
        return vec![format!(
            "{}:1: module `{module}` is not on the arrow of {}; add it to the table in the tidy check",
            source.path, arrow.folder
        )];
    };
    let is_against = |used: &String| used != module && !allowed.contains(&used.as_str());
    used_modules(arrow, &source.text)
        .into_iter()
        .filter(|(_, used)| is_against(used))
        .map(|(line, used)| {
            format!("{}:{line}: `{module}` must not use `{used}`; the arrow allows {allowed:?}", source.path)
        })
        .collect()
}

/// The rivals that a rival uses.
fn rivals_that_meet(source: &Source) -> Vec<String> {
    let own = source.path.strip_prefix(RIVALS).filter(|file| *file != "mod.rs");
    let Some(own) = own else { return Vec::new() };
    let code = code_of(&source.text);
    let mut findings = Vec::new();
    for path in ["super::", "rivals::"] {
        for (at, _) in code.match_indices(path) {
            let head = leading_name(&code[at + path.len()..]);
            if head.is_empty() || format!("{head}.rs") == own {
                continue;
            }
            let line = code[..at].matches('\n').count() + 1;
            findings.push(format!(
                "{}:{line}: a rival must not use `{head}`; what rivals share is in `parts`",
                source.path
            ));
        }
    }
    findings
}

/// Every module that the code names through the root of the arrow or climbs to through `super::`, with the
/// line.
///
/// At the root of a crate whatever is named counts: an item that the front page re-exports belongs to a
/// module, and is to be used from there. The front page of an inner folder may re-export.
fn used_modules(arrow: &Arrow, text: &str) -> Vec<(usize, String)> {
    let code = code_of(text);
    let is_module = |head: &str| arrow.modules.iter().any(|(name, _)| *name == head);
    let counts = |head: &String| arrow.root == "crate::" || is_module(head);
    let mut used = Vec::new();
    for (at, _) in code.match_indices(arrow.root) {
        let line = code[..at].matches('\n').count() + 1;
        let rest = &code[at + arrow.root.len()..];
        let heads = match rest.strip_prefix('{') {
            Some(group) => group_heads(group),
            None => vec![leading_name(rest)],
        };
        used.extend(heads.into_iter().filter(counts).map(|head| (line, head)));
    }
    for (at, _) in code.match_indices("super::") {
        let head = leading_name(&code[at + "super::".len()..]);
        if is_module(&head) {
            used.push((code[..at].matches('\n').count() + 1, head));
        }
    }
    used
}

/// The first names in `{a::b, c::{d, e}}`, given what follows the opening brace.
fn group_heads(group: &str) -> Vec<String> {
    let (mut heads, mut depth, mut at_head) = (Vec::new(), 0usize, true);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => at_head = true,
            c if at_head && !c.is_whitespace() => {
                heads.push(leading_name(&group[at..]));
                at_head = false;
            }
            _ => {}
        }
    }
    heads
}

fn leading_name(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// The code of a file without comments and strings, which may name any module; lines are kept so that numbers
/// stay right.
fn code_of(text: &str) -> String {
    text.lines().map(code_of_line).collect::<Vec<_>>().join("\n")
}

fn code_of_line(line: &str) -> String {
    let line = line.split_once("//").map_or(line, |(code, _)| code);
    let (mut code, mut in_string, mut escaped) = (String::new(), false, false);
    for c in line.chars() {
        if c == '"' && !escaped {
            in_string = !in_string;
        } else if !in_string {
            code.push(c);
        }
        escaped = c == '\\' && !escaped;
    }
    code
}
