//! Reads typed values out of a TOML document and says for each that is of another type what to write, without stopping at the first.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeFloat, DeInteger, DeTable, DeValue};

use super::names::{clipped, listed, nearest};
use super::problem::Findings;

/// A value and where it stands.
pub(super) type Node<'i> = Spanned<DeValue<'i>>;

/// A text and where it stands.
pub(super) type Text = Spanned<String>;

/// A table of the document with the name that messages call it by.
pub(super) struct Section<'t, 'i> {
    pub(super) title: String,
    pub(super) span: Range<usize>,
    pub(super) entries: &'t DeTable<'i>,
}

impl<'t, 'i> Section<'t, 'i> {
    /// The table of a node, or a problem.
    pub(super) fn of(
        node: &'t Node<'i>,
        title: impl Into<String>,
        example: &str,
        findings: &mut Findings<'_>,
    ) -> Option<Self> {
        let title = title.into();
        match node.get_ref() {
            DeValue::Table(entries) => Some(Self { title, span: node.span(), entries }),
            other => {
                findings.error(
                    &node.span(),
                    format!("{title} is {}, not a table", described(other)),
                    format!("write {example}"),
                );
                None
            }
        }
    }

    /// The value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&'t Node<'i>> {
        self.entries.get(key)
    }

    /// Keys and values in the order of the file.
    pub(super) fn in_order(&self) -> Vec<(Range<usize>, &'t str, &'t Node<'i>)> {
        let mut entries: Vec<_> =
            self.entries.iter().map(|(key, node)| (key.span(), key.get_ref().as_ref(), node)).collect();
        entries.sort_by_key(|(span, _, _)| span.start);
        entries
    }

    /// The value of a key that must be there, or a problem at the table's head.
    pub(super) fn needs(
        &self,
        key: &str,
        why: &str,
        example: &str,
        findings: &mut Findings<'_>,
    ) -> Option<&'t Node<'i>> {
        let found = self.get(key);
        if found.is_none() {
            findings.error(
                &self.span,
                format!("{} has no `{key}`: {why}", self.title),
                format!("add `{key} = {example}`"),
            );
        }
        found
    }

    /// Reports every key that is not one of the known ones, and says whether there was none; `elsewhere` knows where some of them belong.
    pub(super) fn knows(
        &self,
        known: &[&str],
        elsewhere: impl Fn(&str) -> Option<String>,
        findings: &mut Findings<'_>,
    ) -> bool {
        let before = findings.count();
        for (span, key, _) in self.in_order() {
            if findings.is_full() {
                break;
            }
            if known.contains(&key) {
                continue;
            }
            let help = match (elsewhere(key), nearest(key, known.iter().copied())) {
                (Some(help), _) => help,
                (None, Some(meant)) => format!("did you mean `{meant}`?"),
                (None, None) => {
                    format!("remove it; the keys of {} are {}", self.title, listed(known.iter().copied()))
                }
            };
            findings.error(&span, format!("{} has no key `{}`", self.title, clipped(key)), help);
        }
        findings.count() == before
    }
}

impl Findings<'_> {
    /// A text without NUL, which no argument, path or variable can hold.
    pub(super) fn read_text(&mut self, node: &Node<'_>, what: &str) -> Option<Text> {
        match node.get_ref() {
            DeValue::String(text) if text.contains('\0') => {
                self.error(
                    &node.span(),
                    format!("{what} contains the character NUL"),
                    "remove `\\u0000`: programs cannot be given it",
                );
                None
            }
            DeValue::String(text) => Some(Spanned::new(node.span(), text.clone().into_owned())),
            other => {
                let help = match other {
                    DeValue::Table(_) | DeValue::Array(_) => "write one text in quotes".to_owned(),
                    _ => format!("put it in quotes: \"{}\"", self.source(node)),
                };
                self.error(&node.span(), format!("{what} is {}, not a text", described(other)), help);
                None
            }
        }
    }

    /// A list of texts; one that is no text is reported and left out.
    pub(super) fn read_texts(&mut self, node: &Node<'_>, what: &str, example: &str) -> Option<Vec<Text>> {
        let items = self.read_list(node, what, example)?;
        let read = |(i, item): (usize, &Node<'_>)| self.read_text(item, &format!("item {} of {what}", i + 1));
        Some(items.iter().enumerate().filter_map(read).collect())
    }

    /// A list.
    pub(super) fn read_list<'t, 'i>(
        &mut self,
        node: &'t Node<'i>,
        what: &str,
        example: &str,
    ) -> Option<&'t [Node<'i>]> {
        match node.get_ref() {
            DeValue::Array(items) => Some(&items[..]),
            other => {
                let help = match other {
                    DeValue::Table(_) => format!("write {example}"),
                    _ => format!("put it in brackets: {example}"),
                };
                self.error(&node.span(), format!("{what} is {}, not a list", described(other)), help);
                None
            }
        }
    }

    /// A finite number, whole or not.
    pub(super) fn read_number(&mut self, node: &Node<'_>, what: &str) -> Option<f64> {
        let number = match node.get_ref() {
            DeValue::Integer(digits) => match whole(digits).and_then(|whole| i64::try_from(whole).ok()) {
                Some(whole) => Some(whole as f64),
                None => {
                    let problem =
                        format!("{what} is {}, too long for a whole number", clipped(self.source(node)));
                    self.error(&node.span(), problem, "write it with an exponent, such as 1e20");
                    return None;
                }
            },
            DeValue::Float(digits) => float(digits),
            other => {
                let help = match other {
                    DeValue::String(text) if text.trim().parse::<f64>().is_ok_and(f64::is_finite) => {
                        format!("remove the quotes: {}", text.trim())
                    }
                    _ => "write a number such as 0.5 or 1e-3".to_owned(),
                };
                self.error(&node.span(), format!("{what} is {}, not a number", described(other)), help);
                return None;
            }
        };
        let finite = number.filter(|number| number.is_finite());
        if finite.is_none() {
            self.error(
                &node.span(),
                format!("{what} is {}, which cannot be computed with", clipped(self.source(node))),
                "write a finite number such as 0.5 or 1e-3",
            );
        }
        finite
    }

    /// A whole number between two others.
    pub(super) fn read_whole(
        &mut self,
        node: &Node<'_>,
        what: &str,
        range: std::ops::RangeInclusive<i128>,
    ) -> Option<i128> {
        let (low, high) = (*range.start(), *range.end());
        let span = if high > 1_000_000_000_000 {
            format!("a whole number of at least {low}")
        } else {
            format!("a whole number from {low} to {high}")
        };
        let help = format!("write {span}");
        match node.get_ref() {
            DeValue::Integer(digits) => match whole(digits).filter(|whole| range.contains(whole)) {
                Some(whole) => return Some(whole),
                None => {
                    let problem = format!("{what} is {}, out of its range", clipped(self.source(node)));
                    let help =
                        if high > 1_000_000_000_000 { format!("{help} and at most {high}") } else { help };
                    self.error(&node.span(), problem, help);
                }
            },
            DeValue::String(text) if text.trim().parse::<i64>().is_ok() => self.error(
                &node.span(),
                format!("{what} is {}, not a number", described(node.get_ref())),
                format!("remove the quotes: {}", text.trim()),
            ),
            other => {
                self.error(&node.span(), format!("{what} is {}, not a whole number", described(other)), help);
            }
        }
        None
    }

    /// `true` or `false`.
    pub(super) fn read_flag(&mut self, node: &Node<'_>, what: &str) -> Option<bool> {
        match node.get_ref() {
            DeValue::Boolean(flag) => Some(*flag),
            other => {
                self.error(
                    &node.span(),
                    format!("{what} is {}, not true or false", described(other)),
                    "write `true` or `false`, without quotes",
                );
                None
            }
        }
    }

    /// Where a part of a text stands, if the text stands in the file as it is; otherwise the whole text.
    pub(super) fn inside(&self, text: &Text, part: Range<usize>) -> Range<usize> {
        let span = text.span();
        let raw = self.text().get(span.clone()).unwrap_or("");
        match raw.find(text.get_ref().as_str()) {
            Some(at) if !text.get_ref().is_empty() => {
                let start = span.start + at;
                start + part.start..(start + part.end).min(span.end)
            }
            _ => span,
        }
    }

    /// A value as it was written.
    fn source(&self, node: &Node<'_>) -> &str {
        self.text().get(node.span()).unwrap_or("?")
    }
}

/// A value, short enough for a message.
pub(super) fn described(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("the text \"{}\"", clipped(text)),
        DeValue::Integer(digits) => format!("the number {}", clipped(digits.as_str())),
        DeValue::Float(digits) => format!("the number {}", clipped(digits.as_str())),
        DeValue::Boolean(flag) => format!("{flag}"),
        DeValue::Datetime(_) => "a date or a time".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// A whole number, if it is not absurdly long.
pub(super) fn whole(digits: &DeInteger<'_>) -> Option<i128> {
    i128::from_str_radix(digits.as_str(), digits.radix()).ok()
}

/// A number; infinite if it is written so, none if it is merely too large.
pub(super) fn float(digits: &DeFloat<'_>) -> Option<f64> {
    digits.as_str().parse().ok()
}
