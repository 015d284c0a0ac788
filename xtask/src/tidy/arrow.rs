//! The arrows: which crate may use which, which module of a crate may use which, and what other folders
//! may name of `strategy`.
//!
//! A crate or folder that is added, renamed or split is put in its table here; nothing else has to be
//! edited.

use super::Source;
use super::paths::{Path, paths};

/// A crate, and what it may use.
pub struct Crate {
    /// Its name in manifests.
    pub name: &'static str,
    /// Its folder, with a `/` at its end.
    pub folder: &'static str,
    /// The crates of ours that it may depend on, for its tests as well; they stand above it.
    pub may_use: &'static [&'static str],
    /// The arrow between its modules.
    pub arrow: Arrow,
}

/// The modules of one folder.
pub struct Arrow {
    /// The folder, with a `/` at its end.
    pub folder: &'static str,
    /// The path of its front page from the root of the crate.
    front: &'static [&'static str],
    /// Each module and those that it may use. Reading downwards, nobody uses what stands below.
    pub modules: &'static [(&'static str, &'static [&'static str])],
    /// What modules may use from the front page, and the module that it belongs to. Any other item is
    /// used from its module.
    names: &'static [(&'static str, &'static str)],
}

/// What is defined on the front page itself, and what all may use from there.
const FRONT: &str = "the front page";

/// All crates.
pub const CRATES: &[Crate] = &[
    Crate {
        name: "stagetune",
        folder: "crates/stagetune/",
        may_use: &[],
        arrow: Arrow { folder: ENGINE_FOLDER, front: &[], modules: ENGINE, names: &[] },
    },
    Crate {
        name: "stagetune-pipeline",
        folder: "crates/stagetune-pipeline/",
        may_use: &["stagetune"],
        arrow: Arrow { folder: "crates/stagetune-pipeline/src/", front: &[], modules: PIPELINE, names: &[] },
    },
    Crate {
        name: "stagetune-cli",
        folder: "crates/stagetune-cli/",
        may_use: &["stagetune", "stagetune-pipeline"],
        arrow: Arrow { folder: "crates/stagetune-cli/src/", front: &[], modules: COMMAND, names: &[] },
    },
    Crate {
        name: "stagetune-lab",
        folder: "crates/stagetune-lab/",
        may_use: &["stagetune", "stagetune-pipeline"],
        arrow: Arrow { folder: "crates/stagetune-lab/src/", front: &[], modules: LABORATORY, names: &[] },
    },
    Crate {
        name: "quickstart",
        folder: "examples/quickstart/",
        may_use: &[],
        arrow: Arrow {
            folder: "examples/quickstart/src/",
            front: &[],
            modules: QUICKSTART,
            names: &[("Failure", FRONT)],
        },
    },
    Crate {
        name: "microct",
        folder: "examples/microct/",
        may_use: &[],
        arrow: Arrow {
            folder: "examples/microct/src/",
            front: &[],
            modules: MICROCT,
            names: &[("parse_day", FRONT)],
        },
    },
    Crate {
        name: "xtask",
        folder: "xtask/",
        may_use: &[],
        arrow: Arrow { folder: "xtask/src/", front: &[], modules: XTASK, names: &[] },
    },
    Crate {
        name: "stagetune-fuzz",
        folder: "fuzz/",
        may_use: &["stagetune", "stagetune-pipeline"],
        arrow: Arrow { folder: "fuzz/targets/", front: &[], modules: FUZZ, names: &[] },
    },
];

/// The rooms inside `strategy`.
const STRATEGIES: Arrow = Arrow {
    folder: "crates/stagetune/src/strategy/",
    front: &["strategy"],
    modules: STRATEGY,
    names: STRATEGY_NAMES,
};

/// The arrows of all crates, and that of the rooms inside `strategy`.
pub fn arrows() -> impl Iterator<Item = &'static Arrow> {
    CRATES.iter().map(|known| &known.arrow).chain([&STRATEGIES])
}

const ENGINE_FOLDER: &str = "crates/stagetune/src/";

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
    ("catalogue", &["rivals", "auto", "lambo", "parts", "descriptor", "identity", "error"]),
];

/// What every strategy is or says stands on the front page. A strategy is used from its own room.
const STRATEGY_NAMES: &[(&str, &str)] = &[
    ("Strategy", FRONT),
    ("Proposal", FRONT),
    // An unknown name is answered with all that there are.
    ("NAMES", FRONT),
    ("StrategyError", "error"),
    ("Memory", "memory"),
    ("Past", "past"),
    ("Identity", "identity"),
    ("View", "view"),
    ("ArmChoice", "why"),
    ("Belief", "why"),
    ("Source", "why"),
    ("Why", "why"),
    ("Design", "parts"),
    ("ModelOptions", "parts"),
    ("Lambo", "lambo"),
    ("LamboOptions", "lambo"),
];

/// What other folders of the engine may name of `strategy`: parts, and what every strategy is; never one
/// of them.
const OF_STRATEGY: &[(&str, &[&str])] = &[
    ("forecast", &["parts", "ModelOptions", "StrategyError", "View"]),
    (
        "study",
        &[
            "parts",
            "Identity",
            "Proposal",
            "Strategy",
            "StrategyError",
            "View",
            "Why",
            "by_name",
            "complete_options",
            "configured",
            "differing_option",
        ],
    ),
];

/// The machine, what a study is made of, what people see of it, and the owner that brings all together.
const PIPELINE: &[(&str, &[&str])] = &[
    ("clock", &[]),
    ("stop", &[]),
    ("text", &[]),
    ("host", &[]),
    ("filesystem", &[]),
    ("regular", &[]),
    ("disk", &["filesystem", "regular"]),
    ("sqlite_file", &["disk"]),
    ("state_dir", &["disk"]),
    ("file", &[]),
    ("records", &["disk", "clock"]),
    ("log", &["sqlite_file", "disk", "filesystem", "regular", "clock"]),
    ("ledger", &["log"]),
    ("outputs", &["sqlite_file", "disk", "filesystem", "regular", "host", "stop"]),
    ("executor", &["outputs", "file", "disk", "regular", "host", "text", "clock"]),
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
            "regular",
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
    ("packed", &[]),
    ("problems", &["packed", "write"]),
    ("suggest", &[]),
    ("provenance", &["clock"]),
    ("reference", &["problems"]),
    ("coarse", &["problems"]),
    ("simulate", &["coarse", "problems"]),
    ("peers", &["simulate", "packed", "write"]),
    ("experiment", &["peers", "simulate", "coarse", "problems", "provenance", "packed", "write"]),
    ("evidence", &["simulate", "suggest", "provenance", "write"]),
    ("cli", &["evidence", "experiment", "reference", "suggest", "problems", "write"]),
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

/// Pictures and arguments, then the parts of stages, then the stages.
const QUICKSTART: &[(&str, &[&str])] = &[
    ("picture", &[]),
    ("arguments", &[]),
    ("morphology", &[]),
    ("features", &["picture"]),
    ("perceptron", &["features"]),
    ("data", &["features", "arguments", "picture"]),
    ("denoise", &["data", "arguments", "picture"]),
    ("train", &["data", "perceptron", "features", "arguments", "picture"]),
    ("clean", &["morphology", "arguments", "picture"]),
    ("survey", &["clean", "train", "denoise", "data", "arguments", "picture"]),
];

/// Volumes, then the stages, then tables of what the stages come to.
const MICROCT: &[(&str, &[&str])] = &[
    ("volume", &[]),
    ("parts", &[]),
    ("phantom", &["volume"]),
    ("picture", &["phantom", "volume"]),
    ("denoise", &["volume"]),
    ("unet", &["parts", "volume"]),
    ("reconstruct", &["parts", "volume"]),
    ("table", &["reconstruct", "unet", "denoise", "volume"]),
    ("measure", &["table", "volume"]),
];

/// Each target is a program of its own.
const FUZZ: &[(&str, &[&str])] = &[
    ("expressions_meaning", &[]),
    ("expressions", &["expressions_meaning"]),
    ("journal", &[]),
    ("pipeline_file", &[]),
    ("result_json", &[]),
];

/// Front pages name every module of their folder.
const FRONT_PAGES: [&str; 3] = ["lib", "main", "mod"];

/// The room of the rivals: no file in it uses another.
const RIVALS: [&str; 2] = ["strategy", "rivals"];

/// The uses in one file that go against an arrow.
pub fn check(source: &Source) -> Vec<String> {
    let module = |known: &Crate| source.path.strip_prefix(known.arrow.folder)?.strip_suffix(".rs");
    let Some(module) = CRATES.iter().find_map(module) else { return Vec::new() };
    let mut home: Vec<&str> = module.split('/').collect();
    home.pop_if(|last| *last == "mod");
    let paths = paths(&home, &source.text);
    let mut findings: Vec<String> = arrows().flat_map(|arrow| against(arrow, source, &paths)).collect();
    if source.path.starts_with(ENGINE_FOLDER) {
        findings.extend(rivals_that_meet(source, &home, &paths));
        findings.extend(strategies_by_name(source, &home, &paths));
    }
    // One use of several items of a module says so once.
    findings.dedup();
    findings
}

/// The uses in one file that go against one arrow.
fn against(arrow: &Arrow, source: &Source, paths: &[Path<'_>]) -> Vec<String> {
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
    let of_front = |name: &str| arrow.names.iter().find(|(known, _)| *known == name).map(|(_, of)| *of);
    let mut findings = Vec::new();
    for (line, name) in named_in(arrow.front, paths) {
        let used = of_front(name).unwrap_or(name);
        if used != FRONT && used != module && !allowed.contains(&used) {
            findings.push(format!(
                "{}:{line}: `{module}` must not use `{used}`; items are used from their module, \
                 and the arrow allows {allowed:?}",
                source.path
            ));
        }
    }
    findings
}

/// The rivals that a rival uses.
fn rivals_that_meet(source: &Source, home: &[&str], paths: &[Path<'_>]) -> Vec<String> {
    let Some([own, ..]) = home.strip_prefix(&RIVALS) else { return Vec::new() };
    let others = named_in(&RIVALS, paths).filter(|(_, name)| name != own);
    let finding = |(line, name)| {
        format!("{}:{line}: a rival must not use `{name}`; what rivals share is in `parts`", source.path)
    };
    others.map(finding).collect()
}

/// What a folder names of `strategy` that it should not know.
fn strategies_by_name(source: &Source, home: &[&str], paths: &[Path<'_>]) -> Vec<String> {
    let Some((folder, allowed)) = OF_STRATEGY.iter().find(|(folder, _)| home.first() == Some(folder)) else {
        return Vec::new();
    };
    let others = named_in(&["strategy"], paths).filter(|(_, name)| !allowed.contains(name));
    let finding = |(line, name)| {
        format!(
            "{}:{line}: `{folder}` must not name `{name}` of `strategy`; it may name {allowed:?}",
            source.path
        )
    };
    others.map(finding).collect()
}

/// The names that paths have behind that of a front page, each with its line; `*` where all of it is
/// taken.
fn named_in<'a>(
    front: &'static [&'static str],
    paths: &'a [Path<'_>],
) -> impl Iterator<Item = (usize, &'a str)> {
    paths.iter().filter_map(move |path| {
        let behind = path.names.strip_prefix(front)?;
        Some((path.line, behind.first().copied().unwrap_or("*")))
    })
}
