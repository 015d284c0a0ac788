//! An argument with placeholders: whatever is put in stays inside that one argument.
//!
//! `{out}`, `{denoise}` and `{lr}` are placeholders; `{{` and `}}` stand for single braces.

use std::ffi::OsString;
use std::ops::Range;

use stagetune::space::Value;

/// One argument of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    /// As it stands in the file.
    pub source: String,
    /// What it is made of.
    pub pieces: Vec<Piece>,
}

/// A part of an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Itself.
    Text(String),
    /// `{out}`: the fresh directory of this run.
    Out,
    /// `{denoise}`: the finished output directory of the stage of that number.
    Stage(usize),
    /// `{lr}`: a parameter of this stage.
    Param(String),
}

/// A placeholder for which nothing was given.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the argument `{source_text}` needs {piece:?}, which was not given; give a value for every placeholder"
)]
pub struct Unfilled {
    /// The argument as it stands in the file.
    pub source_text: String,
    /// What was missing.
    pub piece: Piece,
}

impl Template {
    /// An argument without placeholders.
    pub fn literal(text: impl Into<String>) -> Self {
        let text = text.into();
        let source = text.replace('{', "{{").replace('}', "}}");
        let pieces = if text.is_empty() { Vec::new() } else { vec![Piece::Text(text)] };
        Self { source, pieces }
    }

    /// The argument with every placeholder replaced by what `value` gives for it; texts stand for themselves.
    pub fn fill(&self, mut value: impl FnMut(&Piece) -> Option<OsString>) -> Result<OsString, Unfilled> {
        let mut filled = OsString::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => filled.push(text),
                hole => filled.push(
                    value(hole)
                        .ok_or_else(|| Unfilled { source_text: self.source.clone(), piece: hole.clone() })?,
                ),
            }
        }
        Ok(filled)
    }

    /// The text, if nothing is to be put in.
    pub fn as_literal(&self) -> Option<&str> {
        match &self.pieces[..] {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The placeholders in order.
    pub fn holes(&self) -> impl Iterator<Item = &Piece> {
        self.pieces.iter().filter(|piece| !matches!(piece, Piece::Text(_)))
    }
}

/// A value as a command is given it: a number that reads back as the same number, the text of a choice, `true` or `false`.
pub fn value_text(value: &Value) -> String {
    match value {
        // The shortest digits that read back as the same double.
        Value::Float(x) => format!("{x:?}"),
        Value::Int(i) => i.to_string(),
        Value::Choice(text) => text.to_string(),
        Value::Bool(b) => b.to_string(),
    }
}

/// A part of an argument before anybody looked up what the names mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Text(String),
    /// What stands between braces.
    Hole(String),
}

/// What is wrong with the braces of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Brace {
    /// `{` without its `}`.
    Open,
    /// `}` without its `{`.
    Close,
    /// `{}`.
    Empty,
}

/// Something with the bytes of the argument where it stands.
pub(super) type Placed<T> = (T, Range<usize>);

/// Splits an argument at its braces, with the bytes of each part.
pub(super) fn tokens(source: &str) -> Result<Vec<Placed<Token>>, Placed<Brace>> {
    let mut found: Vec<Placed<Token>> = Vec::new();
    let mut text = String::new();
    let mut from = 0;
    let mut chars = source.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let doubled = chars.peek().is_some_and(|&(_, next)| next == c);
        match c {
            '{' | '}' if doubled => {
                chars.next();
                text.push(c);
            }
            '}' => return Err((Brace::Close, at..at + 1)),
            '{' => {
                let rest = source.get(at + 1..).unwrap_or("");
                let Some(len) = rest.find(['{', '}']).filter(|&i| rest.as_bytes().get(i) == Some(&b'}'))
                else {
                    return Err((Brace::Open, at..at + 1));
                };
                let end = at + len + 2;
                if len == 0 {
                    return Err((Brace::Empty, at..end));
                }
                if !text.is_empty() {
                    found.push((Token::Text(std::mem::take(&mut text)), from..at));
                }
                found.push((Token::Hole(rest.get(..len).unwrap_or("").to_owned()), at..end));
                from = end;
                while chars.next_if(|&(i, _)| i < end).is_some() {}
            }
            c => text.push(c),
        }
    }
    if !text.is_empty() {
        found.push((Token::Text(text), from..source.len()));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kinds(source: &str) -> Vec<Token> {
        tokens(source).unwrap().into_iter().map(|(token, _)| token).collect()
    }

    #[test]
    fn braces_are_placeholders_and_doubled_braces_are_braces() {
        let text = |t: &str| Token::Text(t.to_owned());
        let hole = |t: &str| Token::Hole(t.to_owned());
        assert_eq!(kinds(""), vec![]);
        assert_eq!(kinds("--lr={lr}"), vec![text("--lr="), hole("lr")]);
        assert_eq!(kinds("{a}{b}"), vec![hole("a"), hole("b")]);
        assert_eq!(kinds("{{a}}"), vec![text("{a}")]);
        assert_eq!(kinds("{{{a}}}"), vec![text("{"), hole("a"), text("}")]);
        assert_eq!(tokens("x{"), Err((Brace::Open, 1..2)));
        assert_eq!(tokens("x}"), Err((Brace::Close, 1..2)));
        assert_eq!(tokens("x{}"), Err((Brace::Empty, 1..3)));
        assert_eq!(tokens("{a{b}"), Err((Brace::Open, 0..1)));
    }

    #[test]
    fn whatever_is_put_in_stays_one_argument() {
        let pieces = vec![Piece::Text("--x=".into()), Piece::Param("x".into()), Piece::Out];
        let template = Template { source: "--x={x}{out}".into(), pieces };
        let filled =
            template.fill(|piece| Some(if *piece == Piece::Out { "/o" } else { "a b; rm \"$c\"" }.into()));
        assert_eq!(filled, Ok("--x=a b; rm \"$c\"/o".into()));
        assert!(template.fill(|_| None).unwrap_err().to_string().contains("--x={x}{out}"));
    }

    #[test]
    fn choices_are_given_without_quotes() {
        assert_eq!(value_text(&Value::from("two words")), "two words");
        assert_eq!(value_text(&Value::from(true)), "true");
        assert_eq!(value_text(&Value::from(-3)), "-3");
        assert_eq!(value_text(&Value::from(1e-5)), "1e-5");
    }

    proptest! {
        #[test]
        fn a_number_reads_back_as_the_same_number(bits: u64, whole: i64) {
            let x = f64::from_bits(bits);
            prop_assume!(x.is_finite());
            prop_assert_eq!(value_text(&Value::from(x)).parse::<f64>().unwrap().to_bits(), bits);
            prop_assert_eq!(value_text(&Value::from(whole)).parse::<i64>().unwrap(), whole);
        }

        #[test]
        fn a_literal_is_read_as_itself(text in ".*") {
            let template = Template::literal(text.clone());
            let read: String = kinds(&template.source).into_iter().map(|token| match token {
                Token::Text(text) => text,
                Token::Hole(name) => panic!("a hole {name}"),
            }).collect();
            prop_assert_eq!(&read, &text);
            prop_assert_eq!(template.as_literal(), Some(text.as_str()));
        }

        #[test]
        fn any_text_is_split_or_refused(source in "[{}a ]{0,12}") {
            if let Ok(found) = tokens(&source) {
                prop_assert!(found.iter().all(|(_, span)| source.get(span.clone()).is_some()));
            }
        }
    }
}
