//! Rules about one file: how it opens, how long it is, which words it must not hold.

use super::Source;

/// Past this a file holds more than one concept, or its tests belong in a sibling file.
pub const MOST_LINES: usize = 500;

/// Words that must not stand anywhere, and why. They are joined from halves so that this file does not hold them.
const FORBIDDEN: [(&str, &str); 9] = [
    (concat!("/wo", "rk/"), MACHINE),
    (concat!("/tm", "p/"), MACHINE),
    (concat!("/ro", "ot/"), MACHINE),
    (concat!("/ho", "me/"), MACHINE),
    (concat!("TO", "DO"), UNFINISHED),
    (concat!("FIX", "ME"), UNFINISHED),
    (concat!("db", "g!("), UNFINISHED),
    (concat!("to", "do!("), UNFINISHED),
    (concat!("#[ign", "ore"), "a test that does not run shows nothing: make it fast or make it evidence"),
];
const MACHINE: &str = "names a directory of one machine: use a path from the root of the workspace";
const UNFINISHED: &str = "reads as unfinished: finish it or take it out";

/// The findings about one file.
pub fn check(source: &Source) -> Vec<String> {
    let Source { path, text } = source;
    let (rust, python) = (path.ends_with(".rs"), path.ends_with(".py"));
    let mut findings = Vec::new();
    if rust && !text.starts_with("//!") {
        findings.push(format!("{path}:1: open with a //! line that says what the file is for"));
    }
    if python && !text.starts_with("\"\"\"") {
        findings.push(format!("{path}:1: open with a docstring that says what the file is for"));
    }
    let lines = text.lines().count();
    if (rust || python) && lines > MOST_LINES {
        findings.push(format!("{path}:{lines}: {lines} lines, more than {MOST_LINES}: split it by concept"));
    }
    for (number, line) in (1..).zip(text.lines()) {
        for (word, why) in FORBIDDEN {
            if holds(line, word) {
                findings.push(format!("{path}:{number}: `{word}` {why}"));
            }
        }
    }
    findings
}

/// Whether the word stands in the line; a path only counts from its start, so that `some/folder/` is no machine's.
fn holds(line: &str, word: &str) -> bool {
    let part_of_longer = |before: char| before.is_alphanumeric() || "_.-}".contains(before);
    line.match_indices(word)
        .any(|(at, _)| !word.starts_with('/') || !line[..at].chars().next_back().is_some_and(part_of_longer))
}
