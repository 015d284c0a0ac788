//! What people read, on its way out: text from outside is data there, and only styles of this
//! program steer a terminal.
//!
//! Everything for people goes through [`say`], [`warn`] or [`safe`], where every letter that steers
//! is escaped, wherever it comes from. Styles carry a mark that nobody outside can know, so that
//! they stay.

use anstyle::Style;
use stagetune_pipeline::text::push_escaped;
use std::fmt::Display;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Write};
use std::sync::LazyLock;

/// Stands for the escape character of a style of ours; another one in every process.
static MARK: LazyLock<String> =
    LazyLock::new(|| format!("\u{1b}{:016x}", RandomState::new().build_hasher().finish()));

/// A text in a style, for [`safe`].
pub fn styled(style: Style, text: impl Display) -> String {
    let marked = |codes: String| codes.replace('\u{1b}', &MARK);
    format!("{}{text}{}", marked(style.to_string()), marked(format!("{style:#}")))
}

/// A text as a terminal may have it: line feeds, tabs and our styles as they are, all else that
/// steers escaped.
pub fn safe(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, part) in text.split(MARK.as_str()).enumerate() {
        if at > 0 {
            out.push('\u{1b}');
        }
        for letter in part.chars() {
            if matches!(letter, '\n' | '\t') { out.push(letter) } else { push_escaped(&mut out, letter) }
        }
    }
    out
}

/// Writes a text to standard output.
pub fn say(text: &str) -> io::Result<()> {
    raw(safe(text).as_bytes())
}

/// Writes a line to standard error, which may be closed or full.
pub fn warn(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", safe(line));
}

/// Writes what programs read to standard output: JSON, and pages and tables that are files.
pub fn raw(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use anstyle::AnsiColor;
    use std::fs;
    use std::path::Path;

    #[test]
    fn our_styles_stay_and_everything_else_that_steers_is_escaped() {
        let green = AnsiColor::Green.on_default().bold();
        let evil = "\u{1b}[31m\u{9b}2J\r\u{202e}\u{1b}0123456789abcdef[1m";
        let shown = safe(&format!("a\n\t{} {evil}", styled(green, format!("ok {evil}"))));
        let escaped = "\\u{1b}[31m\\u{9b}2J\\r\\u{202e}\\u{1b}0123456789abcdef[1m";
        assert_eq!(shown, format!("a\n\t{green}ok {escaped}{green:#} {escaped}"));
        assert_eq!(safe(&styled(Style::new(), "plain")), "plain");
    }

    /// The files that may name a stream: this one, and the writer of tables that programs read.
    const WRITERS: [&str; 2] = ["terminal.rs", "commands/export.rs"];

    #[test]
    fn nothing_is_printed_past_this_file() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut ahead = vec![root.clone()];
        while let Some(folder) = ahead.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    ahead.push(path);
                    continue;
                }
                let name = path.strip_prefix(&root).unwrap().display().to_string();
                if WRITERS.contains(&name.as_str()) || !name.ends_with(".rs") {
                    continue;
                }
                let text = fs::read_to_string(&path).unwrap();
                let past =
                    ["println!", "print!", "stdout().lock", "stderr().lock", "(io::stdout", "(io::stderr"];
                let found = past.iter().find(|word| text.contains(**word));
                assert_eq!(found, None, "{name}: print with `terminal::say` or `terminal::warn`");
            }
        }
    }
}
