//! Text from outside (keys, names, paths, words of stages) is data: what steers a terminal is
//! escaped, what is long is cut.

use std::fmt::Write;

/// The longest reason that goes into a log, in letters.
pub const LONGEST_REASON: usize = 2_000;

/// Whether a letter steers whatever shows it, or cannot be seen: control characters, line
/// separators, marks that turn the direction of the text, letters without width, invisible tags.
pub fn steers(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// A text on one line, with every letter that steers in the form `\u{1b}`.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    text.chars().for_each(|letter| push_escaped(&mut out, letter));
    out
}

/// Adds a letter, escaped if it steers.
pub fn push_escaped(out: &mut String, letter: char) {
    match letter {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        letter if steers(letter) => drop(write!(out, "{}", letter.escape_unicode())),
        letter => out.push(letter),
    }
}

/// At most so many letters of a text, escaped; `…` stands for the rest.
pub fn shortened(text: &str, longest: usize) -> String {
    let mut out = String::new();
    text.chars().take(longest).for_each(|letter| push_escaped(&mut out, letter));
    if text.chars().nth(longest).is_some() {
        out.push('…');
    }
    out
}

/// A text as it is, without its end if it has more letters than these; says how many are missing.
pub fn bounded(text: String, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        None => text,
        Some((end, _)) => {
            let missing = text.get(end..).map_or(0, |rest| rest.chars().count());
            format!("{}… ({missing} more letters)", text.get(..end).unwrap_or_default())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_steers_a_terminal_is_escaped_and_all_else_is_as_it_was() {
        let plain = "plain, Ünïcode 学 ★ 😀 \\ \"";
        assert_eq!(escaped(plain), plain);
        assert_eq!(escaped("a\u{1b}[2J\r\n\tb"), "a\\u{1b}[2J\\r\\n\\tb");
        for hidden in ['\0', '\u{7f}', '\u{9b}', '\u{202e}', '\u{2066}', '\u{200b}', '\u{feff}', '\u{e0041}']
        {
            let shown = escaped(&format!("a{hidden}b"));
            assert_eq!(shown, format!("a\\u{{{:x}}}b", u32::from(hidden)));
        }
    }

    #[test]
    fn long_texts_lose_their_end_and_say_so() {
        assert_eq!(shortened("äöü", 3), "äöü");
        assert_eq!(shortened("äöüx", 3), "äöü…");
        assert_eq!(bounded("äöü".into(), 3), "äöü");
        assert_eq!(bounded("äöüxyz".into(), 3), "äöü… (3 more letters)");
    }
}
