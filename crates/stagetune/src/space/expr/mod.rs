//! Conditions over parameters, such as `lr > 0.05 and batch < 4`: what forbidden regions and cuts are written in.
//!
//! ```text
//! condition  = and { "or" and } ;
//! and        = not { "and" not } ;
//! not        = "not" not | comparison ;
//! comparison = sum { ( "<" | "<=" | ">" | ">=" | "==" | "!=" ) sum | [ "not" ] "in" list } ;
//! list       = "[" [ sum { "," sum } ] "]" ;
//! sum        = product { ( "+" | "-" ) product } ;
//! product    = unary { ( "*" | "/" | "%" ) unary } ;
//! unary      = "-" unary | power ;
//! power      = atom [ "^" unary ] ;
//! atom       = number | text | "true" | "false" | name | function "(" sum { "," sum } ")" | "(" condition ")" ;
//! function   = "abs" | "log" | "log10" | "log2" | "exp" | "sqrt" | "min" | "max" ;
//! number     = digits [ "." digits ] [ ( "e" | "E" ) [ "+" | "-" ] digits ] ;
//! text       = "'" characters "'" | '"' characters '"' ;          a doubled quote stands for itself
//! name       = letter { letter | digit | "_" } | "`" characters "`" ;   letters of any script
//! ```
//!
//! A chain `1 < x < 3` means `1 < x and x < 3`. Numbers are doubles; `%` takes the sign of its right side; `-2^2` is −4.
//! A function's name without `(` after it is a parameter's name. A comparison with an undefined number (`log(-1)`,
//! `0/0`) is false, also `!=`, `in` and `not in`; hence `not (log(x) < 0)` holds where the logarithm is undefined.

mod check;
mod eval;
mod interval;
mod lexer;
mod parser;

#[cfg(test)]
mod tests;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::name::hint;
use super::param::Param;

pub(super) use check::{Compare, Number, Truth};
pub(super) use eval::{Assignment, constant};
pub(super) use interval::{Interval, Reaches};

/// The longest condition in bytes.
pub const MAX_SOURCE: usize = 10_000;

/// The deepest nesting of parentheses, `not`, `-` and `^`; it keeps the recursion far from the end of the stack.
pub const MAX_DEPTH: usize = 64;

/// The most letters of a condition in the words of an error, spaces aside; the line below them shows the place.
const LONGEST_SHOWN: usize = 60;

/// A condition that has been parsed and checked against the parameters it speaks of.
#[derive(Clone, Debug)]
pub struct Expr {
    source: Arc<str>,
    truth: Truth,
    scope: Arc<[Param]>,
    params: Vec<usize>,
    size: usize,
}

/// What a condition is over all points of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds at every point.
    Always,
    /// It holds at no point.
    Never,
    /// It may hold at some points and not at others.
    Sometimes,
}

/// What is wrong with a condition, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct ExprError {
    source: Arc<str>,
    span: Range<usize>,
    kind: ExprErrorKind,
}

/// What is wrong with a condition.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExprErrorKind {
    /// The next word is not one that can stand there.
    #[error("expected {expected}, found {found}")]
    Unexpected {
        /// What could stand there.
        expected: String,
        /// What stands there.
        found: String,
    },
    /// A character outside the grammar.
    #[error("the character {found:?} means nothing here{}", remedy_clause(.remedy))]
    Character {
        /// The character.
        found: char,
        /// What to write instead.
        remedy: Option<&'static str>,
    },
    /// A text or a back-quoted name without an end.
    #[error("the {what} has no end; close it with {quote}")]
    Unclosed {
        /// `text` or `name`.
        what: &'static str,
        /// The quote that is missing.
        quote: char,
    },
    /// A number that is malformed or past the largest double.
    #[error("`{}` is not a number that can be used; write a finite number such as 0.001 or 1e-3", shown(.text))]
    Number {
        /// What was written.
        text: String,
    },
    /// A name that is not a parameter in reach.
    #[error("there is no parameter `{}` here{}", shown(.name), hint(.suggestion))]
    UnknownName {
        /// What was written.
        name: String,
        /// The nearest name that exists.
        suggestion: Option<String>,
    },
    /// A call of something that is no function.
    #[error("there is no function `{}`; there are abs, log, log10, log2, exp, sqrt, min and max", shown(.name))]
    UnknownFunction {
        /// What was written.
        name: String,
    },
    /// Too few or too many arguments.
    #[error("`{name}` takes {expected}, not {found}")]
    Arguments {
        /// The function.
        name: &'static str,
        /// How many it takes.
        expected: &'static str,
        /// How many were given.
        found: usize,
    },
    /// A text that is not a value of the choice it is compared with.
    #[error("`{name}` is never {:?}; it is {values}", shown(.text))]
    NotAValue {
        /// The choice.
        name: String,
        /// The text.
        text: String,
        /// What it can be.
        values: String,
    },
    /// Longer than [`MAX_SOURCE`].
    #[error("the condition has {len} bytes; use at most {MAX_SOURCE}, in several conditions if need be")]
    Long {
        /// Its length.
        len: usize,
    },
    /// Deeper than [`MAX_DEPTH`], or a chain of sums or products of more than 256 terms.
    #[error("the condition is nested too deeply; simplify it or split it into several conditions")]
    Deep,
}

impl Expr {
    /// Reads a condition over the given parameters.
    pub fn parse(source: &str, params: &Arc<[Param]>) -> Result<Self, ExprError> {
        let fail = |(span, kind)| ExprError { source: source.into(), span, kind };
        if source.len() > MAX_SOURCE {
            return Err(fail((0..0, ExprErrorKind::Long { len: source.len() })));
        }
        let tokens = lexer::tokens(source).map_err(fail)?;
        let tree = parser::parse(source, tokens).map_err(fail)?;
        let checked = check::check(source, &tree, params).map_err(fail)?;
        Ok(Self {
            source: source.into(),
            truth: checked.truth,
            scope: params.clone(),
            params: checked.params,
            size: checked.size,
        })
    }

    /// The condition as it was written.
    pub fn source(&self) -> &Arc<str> {
        &self.source
    }

    /// The indices of the parameters it speaks of, rising, in the list it was checked against.
    pub fn params(&self) -> &[usize] {
        &self.params
    }

    pub(super) fn truth(&self) -> &Truth {
        &self.truth
    }

    /// How many operations it takes to evaluate.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Whether it was checked against these parameters.
    pub(super) fn belongs_to(&self, params: &Arc<[Param]>) -> bool {
        Arc::ptr_eq(&self.scope, params) || self.scope == *params
    }

    pub(super) fn holds(&self, at: &impl Assignment) -> bool {
        eval::truth(&self.truth, at)
    }

    pub(super) fn verdict(&self, over: &impl Reaches) -> Verdict {
        interval::verdict(&self.truth, over)
    }

    /// An error about the whole condition, worded like those of the parser.
    pub(super) fn reject(&self, expected: &str) -> ExprError {
        let found = format!("`{}`", shown(&self.source));
        let kind = ExprErrorKind::Unexpected { expected: expected.to_owned(), found };
        ExprError { source: self.source.clone(), span: 0..self.source.len(), kind }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

impl std::ops::Not for Verdict {
    type Output = Self;

    fn not(self) -> Self {
        match self {
            Self::Always => Self::Never,
            Self::Never => Self::Always,
            Self::Sometimes => Self::Sometimes,
        }
    }
}

impl ExprError {
    /// The condition as it was written.
    pub fn source_text(&self) -> &str {
        &self.source
    }

    /// The bytes of the condition that are wrong.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// What is wrong with them.
    pub fn kind(&self) -> &ExprErrorKind {
        &self.kind
    }
}

impl std::error::Error for ExprError {}

impl fmt::Display for ExprError {
    /// The message, the line, and carets under the place.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        let (before, rest) = self.source.split_at_checked(self.span.start).unwrap_or((&self.source, ""));
        let start = before.rfind('\n').map_or(0, |i| i + 1);
        let lead = &before[start..];
        let line: String = lead.chars().chain(rest.chars().take_while(|&c| c != '\n')).collect();
        if line.len() > 200 {
            // A line that no terminal shows whole: the position has to do.
            return write!(f, " (at byte {})", self.span.start);
        }
        let marked = self.source.get(self.span.clone()).unwrap_or("");
        let marked = marked.chars().take_while(|&c| c != '\n').count().max(1);
        let shown: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        write!(f, "\n  | {shown}\n  | {}{}", " ".repeat(lead.chars().count()), "^".repeat(marked))
    }
}

/// A part of a condition in a message: on one line, and at most [`LONGEST_SHOWN`] letters of it.
fn shown(text: &str) -> String {
    let mut shown = String::new();
    let mut space = false;
    let mut letters = 0;
    for letter in text.chars() {
        if letter.is_whitespace() || letter.is_control() {
            space = !shown.is_empty();
            continue;
        }
        if letters >= LONGEST_SHOWN {
            shown.push('…');
            return shown;
        }
        if std::mem::take(&mut space) {
            shown.push(' ');
        }
        shown.push(letter);
        letters += 1;
    }
    shown
}

/// A place and what is wrong there; [`Expr::parse`] adds the source.
type Fault = (Range<usize>, ExprErrorKind);

fn remedy_clause(remedy: &Option<&'static str>) -> String {
    remedy.map_or_else(String::new, |remedy| format!("; {remedy}"))
}
