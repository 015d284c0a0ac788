//! The last lines of a log: what people look at when a stage has failed.

use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::regular;
use crate::text::{shortened, steers};

/// However long a log is, only its end is read.
const END: u64 = 16 * 1024;

/// The most letters of a line.
const LONGEST_LINE: usize = 1_000;

/// The last `count` lines, without colours, and without anything that would play tricks on a terminal.
pub fn last_lines(path: &Path, count: usize) -> io::Result<Vec<String>> {
    let mut file = regular::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(END)))?;
    let mut end = Vec::new();
    file.take(END).read_to_end(&mut end)?;
    let text = String::from_utf8_lossy(&end);
    // A progress bar rewrites its line: only what it said last counts.
    let last_word = |line: &str| plain(line.trim_end_matches('\r').rsplit('\r').next().unwrap_or_default());
    let lines: Vec<String> = text.lines().map(last_word).collect();
    let first = lines.len().saturating_sub(count);
    Ok(lines.into_iter().skip(first).map(|line| shortened(&line, LONGEST_LINE)).collect())
}

/// A line without what steers a terminal: colours and movements of the cursor as a whole, other
/// letters one by one.
fn plain(line: &str) -> String {
    let mut out = String::new();
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == '\u{1b}' && letters.next_if_eq(&'[').is_some() {
            // Parameters, then one letter that says what they are for.
            while letters.next_if(|c| matches!(c, ' '..='?')).is_some() {}
            letters.next_if(|c| matches!(c, '@'..='~'));
        } else if letter == '\t' {
            out.push(' ');
        } else if !steers(letter) {
            out.push(letter);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_long_log_is_shown_without_tricks() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let mut text = "line\n".repeat(100_000);
        text.push_str(
            "10%\r90%\r\n\u{1b}[2Jcleared \u{1b}[1;31mred\u{1b}[0m\u{202e}\u{9b}\n\u{1b}]0;title\u{7}last",
        );
        std::fs::write(&path, text).unwrap();
        assert_eq!(last_lines(&path, 4).unwrap(), ["line", "90%", "cleared red", "]0;titlelast"]);
        std::fs::write(&path, b"\xff\xfe").unwrap();
        assert_eq!(last_lines(&path, 4).unwrap().len(), 1);
        std::fs::write(&path, b"").unwrap();
        assert!(last_lines(&path, 4).unwrap().is_empty());
        std::fs::write(&path, "x".repeat(100_000)).unwrap();
        assert_eq!(last_lines(&path, 4).unwrap()[0].chars().count(), LONGEST_LINE + 1);
    }
}
