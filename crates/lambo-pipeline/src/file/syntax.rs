//! What is not TOML: the parser's complaints in words that say what to write, and texts that it must not be given.

use toml::de::Error;

use super::problem::Findings;

/// The deepest nesting of dotted keys and headers; the parser limits brackets and braces itself.
const DEEPEST_KEY: usize = 30;

/// The most syntax errors that are shown: the later ones often follow from the first.
const MOST_SHOWN: usize = 3;

/// Whether the text may be given to the parser: it has something in it, and no key that is absurdly deep.
pub(super) fn check(findings: &mut Findings<'_>) -> bool {
    let text = findings.text();
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        findings.error(&(0..0), "the file is empty", "`lambo init` writes a file to start from");
        return false;
    }
    // A key of a hundred thousand dots would make a table that deep, which no stack can walk down.
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let dots = line.split(['"', '\'', '#', '=']).map(|part| part.matches('.').count()).max().unwrap_or(0);
        if dots > DEEPEST_KEY && !line.trim_start().starts_with('#') && key_dots(line) > DEEPEST_KEY {
            findings.error(
                &(start..start + line.trim_end().len()),
                "a key with that many dots is nested too deeply",
                "the deepest key of a pipeline file is `stage.params.name.float`",
            );
            return false;
        }
        start += line.len();
    }
    true
}

/// The most dots in a row of bare or quoted words.
fn key_dots(line: &str) -> usize {
    let (mut most, mut now) = (0, 0);
    for c in line.chars() {
        match c {
            '.' => {
                now += 1;
                most = most.max(now);
            }
            '=' | ',' | '{' | '}' | '[' | ']' => now = 0,
            _ => {}
        }
    }
    most
}

/// Reports the parser's errors, the first of each line.
pub(super) fn report(errors: &[Error], findings: &mut Findings<'_>) {
    let mut lines = Vec::new();
    let mut sorted: Vec<&Error> = errors.iter().collect();
    sorted.sort_by_key(|error| error.span().map_or(0, |span| span.start));
    for error in sorted {
        let span = error.span().unwrap_or(0..0);
        let line = findings.line(span.start);
        if lines.contains(&line) || lines.len() == MOST_SHOWN {
            continue;
        }
        lines.push(line);
        let message = error.message();
        findings.error(&span, format!("this is not TOML: {message}"), remedy(message));
    }
}

fn remedy(message: &str) -> String {
    message.to_owned()
}
