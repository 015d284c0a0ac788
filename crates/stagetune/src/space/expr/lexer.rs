//! Text to words.

use std::ops::Range;

use super::{ExprErrorKind, Fault};

/// A word of the grammar.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Word {
    Number(f64),
    Text(String),
    /// A plain name, which can be a function's.
    Name(String),
    /// A back-quoted name, which is always a parameter's.
    Quoted(String),
    And,
    Or,
    Not,
    In,
    True,
    False,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    Plus,
    Minus,
    Times,
    Over,
    Percent,
    Power,
    Open,
    Close,
    OpenList,
    CloseList,
    Comma,
    End,
}

/// A word and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub word: Word,
    pub span: Range<usize>,
}

/// Splits a condition into words; the last one is [`Word::End`].
pub(super) fn tokens(source: &str) -> Result<Vec<Token>, Fault> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(c) = source[at..].chars().next() {
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        let (word, len) = word(source, at, c)?;
        tokens.push(Token { word, span: at..at + len });
        at += len;
    }
    tokens.push(Token { word: Word::End, span: source.len()..source.len() });
    Ok(tokens)
}

/// The word that starts at byte `at` with the character `c`, and its length in bytes.
fn word(source: &str, at: usize, c: char) -> Result<(Word, usize), Fault> {
    let rest = &source[at..];
    let bytes = rest.as_bytes();
    if c.is_ascii_digit() || (c == '.' && bytes.get(1).is_some_and(u8::is_ascii_digit)) {
        return number(rest, at);
    }
    if c.is_alphabetic() || c == '_' {
        let len = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        return Ok((keyword(&rest[..len]), len));
    }
    match c {
        '\'' | '"' => return quoted(rest, at, c, "text").map(|(text, len)| (Word::Text(text), len)),
        '`' => return quoted(rest, at, c, "name").map(|(text, len)| (Word::Quoted(text), len)),
        _ => {}
    }
    let pair = match bytes.get(..2) {
        Some(b"<=") => Some(Word::LessEqual),
        Some(b">=") => Some(Word::GreaterEqual),
        Some(b"==") => Some(Word::Equal),
        Some(b"!=") => Some(Word::NotEqual),
        Some(b"**") => return Err(unknown(at, c, Some("write `^` for a power"))),
        _ => None,
    };
    if let Some(word) = pair {
        return Ok((word, 2));
    }
    let word = match c {
        '<' => Word::Less,
        '>' => Word::Greater,
        '+' => Word::Plus,
        '-' => Word::Minus,
        '*' => Word::Times,
        '/' => Word::Over,
        '%' => Word::Percent,
        '^' => Word::Power,
        '(' => Word::Open,
        ')' => Word::Close,
        '[' => Word::OpenList,
        ']' => Word::CloseList,
        ',' => Word::Comma,
        '=' => return Err(unknown(at, c, Some("write `==` to compare"))),
        '&' => return Err(unknown(at, c, Some("write `and`"))),
        '|' => return Err(unknown(at, c, Some("write `or`"))),
        '!' => return Err(unknown(at, c, Some("write `not`"))),
        '≤' => return Err(unknown(at, c, Some("write `<=`"))),
        '≥' => return Err(unknown(at, c, Some("write `>=`"))),
        '≠' => return Err(unknown(at, c, Some("write `!=`"))),
        '−' => return Err(unknown(at, c, Some("write the plain minus `-`"))),
        _ => return Err(unknown(at, c, None)),
    };
    Ok((word, 1))
}

fn unknown(at: usize, found: char, remedy: Option<&'static str>) -> Fault {
    (at..at + found.len_utf8(), ExprErrorKind::Character { found, remedy })
}

fn keyword(text: &str) -> Word {
    match text {
        "and" => Word::And,
        "or" => Word::Or,
        "not" => Word::Not,
        "in" => Word::In,
        "true" => Word::True,
        "false" => Word::False,
        _ => Word::Name(text.to_owned()),
    }
}

fn number(rest: &str, at: usize) -> Result<(Word, usize), Fault> {
    let bytes = rest.as_bytes();
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut len = digits(0);
    if bytes.get(len) == Some(&b'.') {
        len += 1 + digits(len + 1);
    }
    if matches!(bytes.get(len), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(len + 1), Some(b'+' | b'-')));
        len += 1 + sign + digits(len + 1 + sign);
    }
    // Letters that touch the number belong to the mistake, as in `2x`.
    let tail = rest[len..].find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'));
    let whole = len + tail.unwrap_or(rest.len() - len);
    let text = &rest[..whole];
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() && whole == len => Ok((Word::Number(x), len)),
        _ => Err((at..at + whole, ExprErrorKind::Number { text: text.to_owned() })),
    }
}

/// A text between quotes, in which a doubled quote stands for itself.
fn quoted(rest: &str, at: usize, quote: char, what: &'static str) -> Result<(String, usize), Fault> {
    let mut text = String::new();
    let mut characters = rest.char_indices().skip(1).peekable();
    while let Some((i, c)) = characters.next() {
        if c != quote {
            text.push(c);
        } else if characters.next_if(|&(_, next)| next == quote).is_some() {
            text.push(quote);
        } else {
            return Ok((text, i + 1));
        }
    }
    Err((at..at + rest.len(), ExprErrorKind::Unclosed { what, quote }))
}
