//! Words to a tree, by precedence climbing (Pratt, 1973).

use std::ops::Range;

use super::lexer::{Token, Word};
use super::{ExprErrorKind, Fault, MAX_DEPTH, shown};

/// The tallest tree: chains such as `a + a + …` grow it without nesting.
const MAX_HEIGHT: usize = 256;

/// A piece of a condition and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Node {
    pub kind: Kind,
    pub span: Range<usize>,
    height: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Number(f64),
    Text(String),
    Truth(bool),
    Name(String),
    Not(Box<Node>),
    Negate(Box<Node>),
    And(Vec<Node>),
    Or(Vec<Node>),
    /// The operator is one of + − * / % ^.
    Arithmetic(Word, Box<Node>, Box<Node>),
    /// A chain of comparisons.
    Compare(Box<Node>, Vec<(Word, Node)>),
    In {
        value: Box<Node>,
        list: Vec<Node>,
        negated: bool,
    },
    /// The place of the name is kept for errors.
    Call(String, Vec<Node>),
}

/// How tightly an operator binds; a larger number binds first.
mod binding {
    pub const OR: u8 = 1;
    pub const AND: u8 = 2;
    pub const NOT: u8 = 3;
    pub const COMPARE: u8 = 4;
    pub const SUM: u8 = 5;
    pub const PRODUCT: u8 = 6;
    pub const NEGATE: u8 = 7;
    pub const POWER: u8 = 8;
}

/// Reads a whole condition.
pub(super) fn parse(source: &str, tokens: Vec<Token>) -> Result<Node, Fault> {
    let mut parser = Parser { source, tokens, next: 0, depth: 0 };
    let node = parser.expression(0)?;
    match parser.peek() {
        Word::End => Ok(node),
        _ => Err(parser.unexpected("an operator such as `and`, `<` or `+`, or the end")),
    }
}

struct Parser<'a> {
    source: &'a str,
    tokens: Vec<Token>,
    next: usize,
    depth: usize,
}

impl Parser<'_> {
    /// An expression whose operators all bind at least as tightly as `least`.
    fn expression(&mut self, least: u8) -> Result<Node, Fault> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err((self.span(), ExprErrorKind::Deep));
        }
        let mut left = self.prefix()?;
        while let Some(strength) = strength(self.peek()).filter(|&strength| strength >= least) {
            left = match strength {
                binding::OR => self.series(left, Word::Or, strength, Kind::Or)?,
                binding::AND => self.series(left, Word::And, strength, Kind::And)?,
                binding::COMPARE => self.comparison(left)?,
                _ => {
                    let operator = self.advance();
                    // The power alone groups to the right, and takes a signed exponent.
                    let right = if strength == binding::POWER { binding::NEGATE } else { strength + 1 };
                    let right = self.expression(right)?;
                    let height = left.height.max(right.height);
                    let span = left.span.start..right.span.end;
                    node(Kind::Arithmetic(operator, left.into(), right.into()), span, height)?
                }
            };
        }
        self.depth -= 1;
        Ok(left)
    }

    /// A value, or a sign or `not` before one.
    fn prefix(&mut self) -> Result<Node, Fault> {
        let span = self.span();
        match self.peek().clone() {
            Word::Number(x) => self.leaf(Kind::Number(x)),
            Word::Text(text) => self.leaf(Kind::Text(text)),
            Word::True => self.leaf(Kind::Truth(true)),
            Word::False => self.leaf(Kind::Truth(false)),
            Word::Quoted(name) => self.leaf(Kind::Name(name)),
            Word::Name(name) => {
                self.advance();
                if *self.peek() != Word::Open {
                    return node(Kind::Name(name), span, 0);
                }
                self.advance();
                let (arguments, height) = self.list(Word::Close, "`,` or `)`")?;
                node(Kind::Call(name, arguments), span.start..self.end(), height)
            }
            Word::Not => {
                self.advance();
                let inner = self.expression(binding::NOT)?;
                let (height, end) = (inner.height, inner.span.end);
                node(Kind::Not(inner.into()), span.start..end, height)
            }
            Word::Minus => {
                self.advance();
                let inner = self.expression(binding::NEGATE)?;
                let (height, end) = (inner.height, inner.span.end);
                node(Kind::Negate(inner.into()), span.start..end, height)
            }
            Word::Open => {
                self.advance();
                let inner = self.expression(0)?;
                self.expect(Word::Close, "an operator or `)`")?;
                Ok(Node { span: span.start..self.end(), ..inner })
            }
            _ => Err(self.unexpected("a parameter, a number, a quoted value, `not`, `-` or `(`")),
        }
    }

    /// `left op right op …` for `and` and `or`, kept flat so that long lists stay shallow.
    fn series(
        &mut self,
        left: Node,
        word: Word,
        strength: u8,
        kind: impl Fn(Vec<Node>) -> Kind,
    ) -> Result<Node, Fault> {
        let (start, mut height) = (left.span.start, left.height);
        let mut parts = vec![left];
        while *self.peek() == word {
            self.advance();
            let part = self.expression(strength + 1)?;
            height = height.max(part.height);
            parts.push(part);
        }
        node(kind(parts), start..self.end(), height)
    }

    /// What follows the first side of `a < b < c`, `a in […]` or `a not in […]`.
    fn comparison(&mut self, left: Node) -> Result<Node, Fault> {
        let (start, mut height) = (left.span.start, left.height);
        let negated = *self.peek() == Word::Not;
        if negated || *self.peek() == Word::In {
            self.advance();
            if negated {
                self.expect(Word::In, "`in` after `not`")?;
            }
            self.expect(Word::OpenList, "a list such as `[1, 2]`")?;
            let (list, tallest) = self.list(Word::CloseList, "`,` or `]`")?;
            let kind = Kind::In { value: left.into(), list, negated };
            return node(kind, start..self.end(), height.max(tallest));
        }
        let mut chain = Vec::new();
        while strength(self.peek()) == Some(binding::COMPARE) && !matches!(self.peek(), Word::In | Word::Not)
        {
            let operator = self.advance();
            let right = self.expression(binding::COMPARE + 1)?;
            height = height.max(right.height);
            chain.push((operator, right));
        }
        node(Kind::Compare(left.into(), chain), start..self.end(), height)
    }

    /// Expressions between commas up to the closing word, and the greatest height among them.
    fn list(&mut self, close: Word, expected: &str) -> Result<(Vec<Node>, usize), Fault> {
        let (mut nodes, mut height) = (Vec::new(), 0);
        if *self.peek() == close {
            self.advance();
            return Ok((nodes, height));
        }
        loop {
            let element = self.expression(0)?;
            height = height.max(element.height);
            nodes.push(element);
            if *self.peek() == Word::Comma {
                self.advance();
            } else {
                self.expect(close, expected)?;
                return Ok((nodes, height));
            }
        }
    }

    fn leaf(&mut self, kind: Kind) -> Result<Node, Fault> {
        let span = self.span();
        self.advance();
        node(kind, span, 0)
    }

    fn expect(&mut self, word: Word, expected: &str) -> Result<(), Fault> {
        if *self.peek() != word {
            return Err(self.unexpected(expected));
        }
        self.advance();
        Ok(())
    }

    fn unexpected(&self, expected: &str) -> Fault {
        let span = self.span();
        let found = match self.source.get(span.clone()) {
            Some(text) if !text.is_empty() => format!("`{}`", shown(text)),
            _ => "the end".to_owned(),
        };
        (span, ExprErrorKind::Unexpected { expected: expected.to_owned(), found })
    }

    /// The next word; the last one, [`Word::End`], is never passed.
    fn peek(&self) -> &Word {
        self.tokens.get(self.next).map_or(&Word::End, |token| &token.word)
    }

    fn span(&self) -> Range<usize> {
        let end = self.source.len();
        self.tokens.get(self.next).map_or(end..end, |token| token.span.clone())
    }

    fn advance(&mut self) -> Word {
        let word = self.peek().clone();
        self.next += usize::from(word != Word::End);
        word
    }

    /// Where the word before the next one ends.
    fn end(&self) -> usize {
        self.next.checked_sub(1).and_then(|i| self.tokens.get(i)).map_or(0, |token| token.span.end)
    }
}

fn node(kind: Kind, span: Range<usize>, height: usize) -> Result<Node, Fault> {
    if height >= MAX_HEIGHT {
        return Err((span, ExprErrorKind::Deep));
    }
    Ok(Node { kind, span, height: height + 1 })
}

/// How tightly a word binds as an operator between two values.
fn strength(word: &Word) -> Option<u8> {
    Some(match word {
        Word::Or => binding::OR,
        Word::And => binding::AND,
        Word::Less | Word::LessEqual | Word::Greater | Word::GreaterEqual => binding::COMPARE,
        // `not` after a value can only begin `not in`.
        Word::Equal | Word::NotEqual | Word::In | Word::Not => binding::COMPARE,
        Word::Plus | Word::Minus => binding::SUM,
        Word::Times | Word::Over | Word::Percent => binding::PRODUCT,
        Word::Power => binding::POWER,
        _ => return None,
    })
}
