//! The arrow between the engine's modules: who may use whom.

use super::Source;

/// Each module of the engine and the modules that it may use. Reading downwards, nobody uses what stands below.
pub const ARROW: [(&str, &[&str]); 8] = [
    ("numeric", &[]),
    ("space", &["numeric"]),
    ("trial", &["space", "numeric"]),
    ("surrogate", &["trial", "space", "numeric"]),
    ("acquisition", &["surrogate", "trial", "space", "numeric"]),
    ("bandit", &["space", "numeric"]),
    ("strategy", &["bandit", "acquisition", "surrogate", "trial", "space", "numeric"]),
    ("study", &["strategy", "bandit", "acquisition", "surrogate", "trial", "space", "numeric"]),
];

const ENGINE: &str = "crates/stagetune/src/";

/// The uses in one file that go against the arrow.
pub fn check(source: &Source) -> Vec<String> {
    let Some(inside) = source.path.strip_prefix(ENGINE).filter(|path| path.ends_with(".rs")) else {
        return Vec::new();
    };
    let module = inside.split('/').next().unwrap_or(inside).trim_end_matches(".rs");
    // The front page names every module.
    if module == "lib" {
        return Vec::new();
    }
    let Some((_, allowed)) = ARROW.iter().find(|(name, _)| *name == module) else {
        return vec![format!(
            "{}:1: module `{module}` is not on the arrow; add it to ARROW in the tidy check",
            source.path
        )];
    };
    let against = |used: &String| used != module && !allowed.contains(&used.as_str());
    used_modules(&source.text)
        .into_iter()
        .filter(|(_, used)| against(used))
        .map(|(line, used)| {
            format!("{}:{line}: `{module}` must not use `{used}`; the arrow allows {allowed:?}", source.path)
        })
        .collect()
}

/// Whatever the code names through `crate::`, and every engine module that it climbs to through `super::`, with the line.
///
/// An item that the front page re-exports counts under its own name: it belongs to a module, and is to be used from there.
fn used_modules(text: &str) -> Vec<(usize, String)> {
    let code = without_comments(text);
    let mut used = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let line = code[..at].matches('\n').count() + 1;
        let rest = &code[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            Some(group) => used.extend(group_heads(group).into_iter().map(|head| (line, head))),
            None => used.push((line, leading_name(rest))),
        }
    }
    for (at, _) in code.match_indices("super::") {
        let head = leading_name(&code[at + "super::".len()..]);
        if ARROW.iter().any(|(name, _)| *name == head) {
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

/// Comments may link to any module; lines are kept so that numbers stay right.
fn without_comments(text: &str) -> String {
    let code = |line: &str| line.split_once("//").map_or(line, |(code, _)| code).to_owned();
    text.lines().map(code).collect::<Vec<_>>().join("\n")
}
