//! The last lines of a log: what people look at when a stage has failed.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// However long a log is, only its end is read.
const END: u64 = 16 * 1024;

/// The last `count` lines, without control characters that would play tricks on a terminal.
pub fn last_lines(path: &Path, count: usize) -> io::Result<Vec<String>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(END)))?;
    let mut end = Vec::new();
    file.take(END).read_to_end(&mut end)?;
    let text = String::from_utf8_lossy(&end);
    // A progress bar rewrites its line: only what it said last counts.
    let last_word =
        |line: &str| line.trim_end_matches('\r').rsplit('\r').next().unwrap_or_default().to_owned();
    let plain = |line: String| line.chars().filter(|c| *c == '\t' || !c.is_control()).collect::<String>();
    let lines: Vec<String> = text.lines().map(last_word).map(plain).collect();
    let first = lines.len().saturating_sub(count);
    Ok(lines.into_iter().skip(first).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_long_log_is_shown_without_tricks() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let mut text = "line\n".repeat(100_000);
        text.push_str("10%\r90%\r\n\u{1b}[2Jcleared\nlast");
        std::fs::write(&path, text).unwrap();
        assert_eq!(last_lines(&path, 4).unwrap(), ["line", "90%", "[2Jcleared", "last"]);
        std::fs::write(&path, b"\xff\xfe").unwrap();
        assert_eq!(last_lines(&path, 4).unwrap().len(), 1);
        std::fs::write(&path, b"").unwrap();
        assert!(last_lines(&path, 4).unwrap().is_empty());
    }
}
