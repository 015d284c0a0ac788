//! What is wrong with a file and where: the place, the line with a marker under it, and what to write instead.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Serialize;

/// The most characters of a source line that are shown; longer lines are shown around the place.
const MOST_SHOWN: usize = 100;

/// The most problems that are collected: whoever has more mends these first.
const MOST_PROBLEMS: usize = 20;

/// Something wrong, or surprising, in a pipeline file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Counted from 1; 0 if the file could not be read at all.
    pub line: usize,
    /// In characters, counted from 1; 0 if the file could not be read at all.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What to write or do.
    pub help: String,
    /// The source line, as shown.
    #[serde(skip)]
    shown: String,
    /// Blanks and carets to stand under it.
    #[serde(skip)]
    marker: String,
}

/// Everything that is wrong with a pipeline file, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
pub struct FileError {
    /// The file, as it was named.
    pub file: PathBuf,
    /// At least one.
    pub problems: Vec<Problem>,
}

impl Problem {
    /// A problem of the whole file, which could not be read.
    pub(super) fn unread(message: String, help: String) -> Self {
        Self { line: 0, column: 0, message, help, shown: String::new(), marker: String::new() }
    }

    /// As a person reads it: place, message, the marked line, help.
    pub fn render(&self, file: &Path) -> String {
        if self.line == 0 {
            return format!("{}: {}\n  help: {}\n", file.display(), self.message, self.help);
        }
        let number = self.line.to_string();
        let gutter = " ".repeat(number.len());
        let place = format!("{}:{}:{}", file.display(), self.line, self.column);
        let Self { message, help, shown, marker, .. } = self;
        let help = help.replace('\n', &format!("\n {gutter}         "));
        format!(
            "{place}: {message}\n {gutter} |\n {number} | {shown}\n {gutter} | {marker}\n {gutter} = help: {help}\n"
        )
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: Vec<String> = self.problems.iter().map(|problem| problem.render(&self.file)).collect();
        f.write_str(shown.join("\n").trim_end())
    }
}

/// A text whose offsets can be told as lines and columns, and what was found in it.
#[derive(Debug)]
pub(super) struct Findings<'t> {
    text: &'t str,
    /// Where each line starts.
    starts: Vec<usize>,
    errors: Vec<(usize, Problem)>,
    warnings: Vec<(usize, Problem)>,
}

impl<'t> Findings<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { text, starts, errors: Vec::new(), warnings: Vec::new() }
    }

    pub(super) fn text(&self) -> &'t str {
        self.text
    }

    /// Something that must be mended.
    pub(super) fn error(&mut self, span: &Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        if self.errors.len() < MOST_PROBLEMS {
            let problem = self.problem(span, message.into(), help.into());
            self.errors.push((span.start, problem));
        }
    }

    /// Something that works but surprises.
    pub(super) fn warn(&mut self, span: &Range<usize>, message: impl Into<String>, help: impl Into<String>) {
        if self.warnings.len() < MOST_PROBLEMS {
            let problem = self.problem(span, message.into(), help.into());
            self.warnings.push((span.start, problem));
        }
    }

    pub(super) fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    /// Whether no more errors are kept, so that loops over hostile input can end.
    pub(super) fn is_full(&self) -> bool {
        self.errors.len() >= MOST_PROBLEMS
    }

    /// How many errors there are, to see whether there are more later.
    pub(super) fn count(&self) -> usize {
        self.errors.len()
    }

    /// The errors, if there are any, otherwise the warnings; in the order of the text.
    pub(super) fn finish(self, file: &Path) -> Result<Vec<Problem>, FileError> {
        let sorted = |mut found: Vec<(usize, Problem)>| {
            found.sort_by_key(|(at, _)| *at);
            found.dedup_by(|a, b| a.1 == b.1);
            found.into_iter().map(|(_, problem)| problem).collect::<Vec<_>>()
        };
        if self.errors.is_empty() {
            Ok(sorted(self.warnings))
        } else {
            Err(FileError { file: file.to_owned(), problems: sorted(self.errors) })
        }
    }

    /// The line of an offset, counted from 1.
    pub(super) fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|&start| start <= offset)
    }

    fn problem(&self, span: &Range<usize>, message: String, help: String) -> Problem {
        let mut at = span.start.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        // A place behind the last line break is a line that nobody sees: the end of the line before it is meant.
        if at == self.text.len() && at > 0 && span.is_empty() {
            at = self.text.trim_end().len();
        }
        let line = self.line(at);
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let rest = self.text.get(start..).unwrap_or("");
        let whole = rest.split('\n').next().unwrap_or("").trim_end_matches('\r');
        let before = self.text.get(start..at).unwrap_or("").chars().count();
        let marked = self.text.get(at..span.end.max(at)).unwrap_or("").lines().next().unwrap_or("");
        let (shown, marker) = snippet(whole, before, marked.trim_end().chars().count());
        Problem { line, column: before + 1, message, help, shown, marker }
    }
}

/// The part of a line around a place, and what stands under it.
fn snippet(line: &str, before: usize, marked: usize) -> (String, String) {
    let chars: Vec<char> = line.chars().collect();
    let first = if before + 10 > MOST_SHOWN { before.saturating_sub(MOST_SHOWN / 2) } else { 0 };
    let last = chars.len().min(first + MOST_SHOWN);
    let (mut shown, mut marker) = (String::new(), String::new());
    if first > 0 {
        shown.push('…');
        marker.push(' ');
    }
    for (i, &c) in chars.iter().enumerate().take(last).skip(first) {
        // A tab under a tab keeps the marker in place, however wide the terminal makes it.
        let under = if c == '\t' { '\t' } else { ' ' };
        shown.push(if c.is_control() && c != '\t' { '·' } else { c });
        if i < before {
            marker.extend(std::iter::repeat_n(under, if c == '\t' { 1 } else { width(c) }));
        } else if i < before + marked {
            marker.push_str(&"^".repeat(width(c)));
        }
    }
    if last < chars.len() {
        shown.push('…');
    }
    if !marker.ends_with('^') {
        marker.push('^');
    }
    (shown.trim_end().to_owned(), marker)
}

/// How many cells of a terminal a character takes, as far as the usual scripts go.
fn width(c: char) -> usize {
    match c as u32 {
        0x0300..=0x036F | 0x200B..=0x200F | 0x202A..=0x202E | 0xFE00..=0xFE0F | 0xFEFF => 0,
        0x1100..=0x115F
        | 0x2E80..=0xA4CF
        | 0xAC00..=0xD7A3
        | 0xF900..=0xFAFF
        | 0xFE30..=0xFE6F
        | 0xFF00..=0xFF60
        | 0xFFE0..=0xFFE6
        | 0x1F300..=0x1FAFF
        | 0x20000..=0x3FFFD => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(text: &str, span: Range<usize>) -> String {
        let mut findings = Findings::new(text);
        findings.error(&span, "wrong", "mend it");
        findings.finish(Path::new("a.toml")).unwrap_err().to_string()
    }

    #[test]
    fn the_marker_stands_under_the_place() {
        assert_eq!(
            rendered("a = 1\nbc = 2\n", 11..12),
            "a.toml:2:6: wrong\n   |\n 2 | bc = 2\n   |      ^\n   = help: mend it"
        );
    }

    #[test]
    fn tabs_and_wide_letters_keep_the_marker_in_place() {
        assert!(rendered("\ta = 1", 1..2).contains("| \ta = 1\n   | \t^\n"));
        assert!(rendered("x = \"学习\" # b", 15..16).contains("a.toml:1:12: "));
        assert!(rendered("x = \"学习\", b", 14..15).contains("\n   |             ^"));
        assert!(rendered("e\u{301}x", 3..4).contains("\n   |  ^\n"));
    }

    #[test]
    fn places_outside_the_text_or_inside_a_letter_are_brought_inside() {
        assert!(rendered("", 0..0).starts_with("a.toml:1:1: "));
        assert!(rendered("abc\n", 4..4).contains("a.toml:1:4: "));
        assert!(rendered("学", 1..2).starts_with("a.toml:1:1: "));
        assert!(rendered("abc", 70..90).starts_with("a.toml:1:4: "));
    }

    #[test]
    fn a_long_line_is_shown_around_the_place() {
        let text = format!("{}HERE{}", "a".repeat(5000), "b".repeat(5000));
        let shown = rendered(&text, 5000..5004);
        assert!(shown.contains("aHEREb") && shown.contains("^^^^"), "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() < 130), "{shown}");
    }

    #[test]
    fn problems_come_in_the_order_of_the_text_and_not_without_end() {
        let text = "x\n".repeat(100);
        let mut findings = Findings::new(&text);
        for at in (0..100).rev() {
            findings.error(&(2 * at..2 * at + 1), format!("{at}"), "");
        }
        let error = findings.finish(Path::new("a")).unwrap_err();
        assert_eq!(error.problems.len(), MOST_PROBLEMS);
        assert!(error.problems.windows(2).all(|pair| pair[0].line < pair[1].line));
    }
}
