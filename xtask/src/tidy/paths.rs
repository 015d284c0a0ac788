//! The paths that a file names: `use` trees are flattened, `self` and `super` are climbed.

/// A path from the root of its crate.
#[derive(Debug, PartialEq, Eq)]
pub struct Path<'a> {
    /// The line of its last name.
    pub line: usize,
    /// Its names; `*` stands for all of a module.
    pub names: Vec<&'a str>,
}

/// A name, `::` or one sign of the code.
struct Token<'a> {
    line: usize,
    word: &'a str,
}

/// Every path of a file that begins with `crate`, `self` or `super`; `file` is the module that the file
/// is.
pub fn paths<'a>(file: &[&'a str], text: &'a str) -> Vec<Path<'a>> {
    let tokens = tokens(text);
    let word = |at: usize| tokens.get(at).map_or("", |token| token.word);
    let before = |at: usize, back: usize| at.checked_sub(back).map_or("", word);
    let (mut found, mut home, mut braces, mut at) = (Vec::new(), file.to_vec(), Vec::new(), 0);
    while at < tokens.len() {
        let begins = matches!(word(at), "crate" | "self" | "super") && matches!(word(at + 1), "::" | "as");
        // `pub(in crate::space)` uses nothing.
        if begins && (before(at, 1), before(at, 2)) != ("in", "(") {
            let mut leaves = Vec::new();
            at = flatten(&tokens, at, Vec::new(), &mut leaves);
            found
                .extend(leaves.into_iter().map(|(line, leaf)| Path { line, names: from_root(&home, &leaf) }));
            continue;
        }
        match word(at) {
            "{" => {
                let opens_module = before(at, 2) == "mod";
                if opens_module {
                    home.push(before(at, 1));
                }
                braces.push(opens_module);
            }
            "}" if braces.pop() == Some(true) => {
                home.pop();
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Adds the paths of the tree that begins at a token, each behind `path` and with its line; where the
/// tree ends.
fn flatten<'a>(
    tokens: &[Token<'a>],
    mut at: usize,
    mut path: Vec<&'a str>,
    leaves: &mut Vec<(usize, Vec<&'a str>)>,
) -> usize {
    let word = |at: usize| tokens.get(at).map_or("", |token| token.word);
    let line = |at: usize| tokens.get(at).map_or(1, |token| token.line);
    if word(at) == "{" {
        at += 1;
        while !matches!(word(at), "}" | "") {
            at = flatten(tokens, at, path.clone(), leaves);
            // `as name`, if it stands there.
            while !matches!(word(at), "," | "}" | "") {
                at += 1;
            }
            at += usize::from(word(at) == ",");
        }
        return at + 1;
    }
    if !word(at).starts_with(|c| is_of_name(c) || c == '*') {
        // The end of a path such as `crate::f::<T>`.
        leaves.push((line(at), path));
        return at;
    }
    path.push(word(at));
    if word(at + 1) == "::" {
        return flatten(tokens, at + 2, path, leaves);
    }
    leaves.push((line(at), path));
    at + 1
}

/// A path as it is written, from the root of the crate.
fn from_root<'a>(home: &[&'a str], written: &[&'a str]) -> Vec<&'a str> {
    let mut path = if written.first() == Some(&"crate") { Vec::new() } else { home.to_vec() };
    for name in written {
        match *name {
            "crate" | "self" => {}
            "super" => {
                path.pop();
            }
            name => path.push(name),
        }
    }
    path
}

/// The code of a file; comments and literals, which may name any module, are left out.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let (mut tokens, mut rest, mut line) = (Vec::new(), text, 1);
    while let Some(first) = rest.chars().next() {
        let left_out = left_out(rest);
        let length = match left_out {
            0 if is_of_name(first) => rest.find(|c| !is_of_name(c)).unwrap_or(rest.len()),
            0 if rest.starts_with("::") => 2,
            0 => first.len_utf8(),
            length => length,
        };
        let (word, after) = rest.split_at(length);
        if left_out == 0 && !first.is_whitespace() {
            tokens.push(Token { line, word });
        }
        line += word.matches('\n').count();
        rest = after;
    }
    tokens
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length of the comment or literal that a text begins with; 0 if it begins with neither.
fn left_out(text: &str) -> usize {
    let until = |end: &str, from: usize| {
        text.get(from..).and_then(|rest| rest.find(end)).map_or(text.len(), |at| from + at + end.len())
    };
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    if text.starts_with("/*") {
        return comment(text);
    }
    if text.starts_with('"') {
        return quoted(text, '"');
    }
    let inside = |prefix: &str| text.strip_prefix(prefix).map(|rest| rest.trim_start_matches('#'));
    for prefix in ["r", "br", "cr"] {
        if let Some(rest) = inside(prefix).filter(|rest| rest.starts_with('"')) {
            let begin = text.len() - rest.len();
            return until(&format!("\"{}", "#".repeat(begin - prefix.len())), begin + 1);
        }
    }
    // A lifetime has no quote behind it.
    let mut after = text.strip_prefix('\'').unwrap_or_default().chars();
    match (after.next(), after.next()) {
        (Some('\\'), _) | (Some(_), Some('\'')) => quoted(text, '\''),
        _ => 0,
    }
}

/// The length of a literal between quotes.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if c == quote && !escaped {
            return at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    text.len()
}

/// The length of a comment that may hold others.
fn comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while let Some(next) = text[at..].find(['/', '*']) {
        at += next;
        let step = match text.get(at..at + 2) {
            Some("/*") => 1,
            Some("*/") => -1,
            _ => 0,
        };
        depth += step;
        at += if step == 0 { 1 } else { 2 };
        if step < 0 && depth == 0 {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::paths;

    fn named(text: &str) -> Vec<String> {
        paths(&["room", "file"], text).iter().map(|path| path.names.join("::")).collect()
    }

    #[test]
    fn a_tree_of_uses_is_flattened_with_groups_in_groups_and_other_names() {
        let tree = "use crate::{a::{self, b::{c as d, e}, f::*}, g as h};\nuse {crate::i, std::j};";
        assert_eq!(named(tree), ["a", "a::b::c", "a::b::e", "a::f::*", "g", "i"]);
        assert_eq!(named("use crate :: a\n  :: b;\nuse crate::{};"), ["a::b"]);
        assert_eq!(named("fn f() -> crate::a::B { crate::c::<u8>(crate::d!()) }"), ["a::B", "c", "d"]);
        assert_eq!(named("use crate as all;"), [""]);
    }

    #[test]
    fn self_and_super_are_climbed_from_where_they_stand() {
        let text = "use super::a;\nuse self::b;\n\
                    mod tests { mod deep { use super::super::*; } use super::c; }\n\
                    fn f() { if x { y } }\nuse super::super::d;\nuse super::super::super::e;";
        let found = ["room::a", "room::file::b", "room::file::*", "room::file::c", "d", "e"];
        assert_eq!(named(text), found);
    }

    #[test]
    fn comments_literals_and_visibility_name_nothing() {
        for text in [
            "// crate::a",
            "/* /* */ crate::a */",
            "f(\"crate::a // \\\" crate::b\")",
            "f(r#\"crate::a \" crate::b\"#, br\"crate::c\\\")",
            "('\"', '\\'', \"crate::a\")",
            "pub(in crate::a) fn f(self) { self.a(self as u8) }",
        ] {
            assert!(named(text).iter().all(|name| name == "room::file"), "{text}: {:?}", named(text));
        }
        assert_eq!(named("fn f<'a>(x: &'a str) { \"//\"; crate::b(\"\n\", '\"', crate::c) }"), ["b", "c"]);
    }

    #[test]
    fn a_path_has_the_line_of_its_last_name() {
        let lines =
            paths(&[], "/*\n*/ use crate::{\n    a,\n    b::{\n        c\n    },\n};\n\"\n\"; crate::d");
        assert_eq!(lines.iter().map(|path| path.line).collect::<Vec<_>>(), [3, 5, 9]);
    }
}
