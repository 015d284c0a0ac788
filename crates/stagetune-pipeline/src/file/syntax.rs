//! What is not TOML: the parser's complaints, each with what to write.

use std::ops::Range;

use toml::de::Error;

use super::names::clipped;
use super::problem::Findings;

/// Reports the first of the parser's errors: the later ones mostly follow from it.
pub(super) fn report(errors: &[Error], findings: &mut Findings<'_>) {
    let first = errors.iter().min_by_key(|error| error.span().map_or(usize::MAX, |span| span.start));
    let Some(error) = first else { return };
    let text = findings.text();
    let span = error.span().unwrap_or_else(|| deepest_line(text));
    let (message, help) = explain(error.message(), text, &span);
    findings.error(&span, message, help);
    let given_twice = |error: &&Error| error.message() == "duplicate key" && errors.len() <= 10;
    for error in errors.iter().filter(given_twice).filter(|_| error.message() == "duplicate key") {
        let span = error.span().unwrap_or(span.clone());
        let (message, help) = explain(error.message(), text, &span);
        findings.error(&span, message, help);
    }
}

/// The line with the most dots and brackets: the parser does not say where it gave up on nesting.
fn deepest_line(text: &str) -> Range<usize> {
    let mut start = 0;
    let mut deepest = (0, 0..0);
    for line in text.split_inclusive('\n') {
        let depth = line.bytes().filter(|b| b".[{".contains(b)).count();
        if depth > deepest.0 {
            deepest = (depth, start..start + line.trim_end().len());
        }
        start += line.len();
    }
    deepest.1
}

/// What is wrong, and what to write.
fn explain(message: &str, text: &str, span: &Range<usize>) -> (String, String) {
    let line = line_at(text, span.start);
    let typed = text.get(span.clone()).unwrap_or("");
    let rest = text.get(span.start..).unwrap_or("");
    let before = text.get(..span.start).unwrap_or("");
    let said = |message: &str, help: &str| (message.to_owned(), help.to_owned());
    let has = |part: &str| message.contains(part);
    if line.trim_start().starts_with("<<<<<<<") || line.starts_with("=======") || line.starts_with(">>>>>>>")
    {
        return said("this line is left over from a merge", "settle the conflict and remove its marks");
    }
    if has("recursion") || has("recurse") {
        return said(
            "lists, tables or dotted keys are nested too deeply for TOML",
            "the deepest thing of a pipeline file is a list in a parameter: `lr = { float = [0.1, 2] }`",
        );
    }
    if has("duplicate key") {
        let header = line.trim_start().starts_with('[');
        return match (header, typed) {
            (true, "stage") => said(
                "`stage` is there already, as something else than a list of stages",
                "write [[stage]] with two brackets, once for each stage",
            ),
            (true, _) => (
                format!("the table [{}] is there already", clipped(typed)),
                "write all its keys in one place".to_owned(),
            ),
            (false, _) => {
                (format!("the key `{}` is there already", clipped(typed)), "remove one of the two".to_owned())
            }
        };
    }
    if rest.starts_with(['“', '”', '‘', '’', '«', '„', '`']) || typed.contains(['“', '”', '‘', '’'])
    {
        return said("these quotes are not those of TOML", "write straight double quotes: \"…\"");
    }
    if has("string values must be quoted") || has("invalid boolean") || has("missing value") {
        return value_without_quotes(typed, line);
    }
    if has("escape") || has("unicode hexadecimal") {
        return said(
            "after `\\` in a text follows n, t, \", \\ or the number of a character, such as u00e9",
            "write `\\\\` for a backslash, or put the text in single quotes, where it stands for itself: 'C:\\data'",
        );
    }
    if has("basic string") || has("literal string") || has("multi-line") {
        let control = rest.chars().next().is_some_and(|c| c.is_control() && c != '\n' && c != '\r');
        return if control {
            said(
                "a text contains a control character",
                "remove it, or write its number, such as \\u0009 for a tab",
            )
        } else {
            said("a text has no end on its line", "close it with the quote that it starts with")
        };
    }
    if has("carriage return")
        || has("control character")
        || rest.starts_with(|c: char| c.is_control() && c != '\n')
    {
        return said("there is a control character here", "remove it; a line ends with a line feed");
    }
    if has("leading zero") {
        return said("a number starts with 0", "remove the zeros; large numbers are written 15000 or 15_000");
    }
    if has("mantissa") || has("fraction") || has("exponent") || has("integer") || has("float") {
        return said(
            "this is not a number as TOML writes it",
            "write digits on both sides of the point: 0.1, 1.0, 1e-3",
        );
    }
    if has("missing comma")
        || has("missing key for inline")
        || has("unclosed array,")
        || has("unclosed inline")
    {
        let broken = line.trim_start().starts_with('[') || line.contains(" = ") && before.ends_with('\n');
        return if broken || rest.trim().is_empty() || has("unclosed") {
            said("a list or a table further up has no end", "close it with `]` or `}` before this place")
        } else {
            said("a comma is missing", "write `,` before this")
        };
    }
    if has("unclosed table") || has("unclosed array table") {
        return said(
            "a header is not closed",
            "write [study] with one bracket on each side, [[stage]] with two",
        );
    }
    if line.trim_start().starts_with('{') {
        return said(
            "this looks like JSON",
            "write TOML: `[study]` on a line of its own, then `name = \"…\"`",
        );
    }
    if rest.starts_with(':') {
        return said("`:` does not give a key its value in TOML", "write `=`: `name = \"…\"`");
    }
    if rest.starts_with("//") {
        return said("a comment starts with `#` in TOML", "write `#` instead of `//`");
    }
    if rest.starts_with([',', ';']) {
        return said("nothing separates the lines of a table in TOML", "remove this at the end of the line");
    }
    if has("unexpected key or value") {
        let quote = before.ends_with('"') || before.ends_with('\'');
        return if quote {
            said(
                "the text ended before this",
                "write `\\\"` for a quote inside a text, or put the text in single quotes",
            )
        } else {
            said("the line should end before this", "write one key on each line")
        };
    }
    if has("key with no value") {
        return said(
            "this line gives no key a value",
            "write `key = value`, such as `name = \"my-study\"`; `#` starts a comment",
        );
    }
    if has("unquoted key")
        || has("invalid key")
        || has("key-value")
        || has("keys cannot be empty")
        || has("extra `=`")
    {
        return said(
            "this cannot be part of a key",
            "write letters, digits, `_` and `-` before the `=`, such as `name = \"my-study\"`; `#` starts a comment",
        );
    }
    if has("time") || has("date") {
        return said("this is not a value of TOML", "durations are texts with a unit: \"10 min\", \"2 h\"");
    }
    (format!("this is not TOML: {message}"), "compare with the file that `stagetune init` writes".to_owned())
}

/// A value that is neither a number, nor in quotes, nor `true` or `false`.
fn value_without_quotes(typed: &str, line: &str) -> (String, String) {
    let shown = clipped(typed.trim());
    let lower = shown.to_ascii_lowercase();
    let help = match lower.as_str() {
        "" => {
            return (
                "the key has no value".to_owned(),
                format!("write one after the `=`: {} \"…\"", clipped(line.trim())),
            );
        }
        "true" | "yes" | "on" => "write `true`".to_owned(),
        "false" | "no" | "off" => "write `false`".to_owned(),
        "none" | "null" | "nil" => "remove the key: what is not given is not there".to_owned(),
        text if text.ends_with('%') => "write a share as a number, such as 0.9 for 90%".to_owned(),
        text if text.contains(['(', '^', '*'])
            || (text.starts_with(|c: char| c.is_ascii_digit()) && text.contains('/')) =>
        {
            "write the value itself, such as 0.5, 1e-5 or a text in quotes: nothing is computed".to_owned()
        }
        _ => format!("put a text in quotes: \"{}\"", shown.trim_matches(['"', '\''])),
    };
    (format!("`{shown}` is no value of TOML"), help)
}

fn line_at(text: &str, at: usize) -> &str {
    let start = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1);
    text.get(start..).and_then(|rest| rest.split('\n').next()).unwrap_or("")
}
