//! Tree to a typed condition: names become parameters, and every operation gets what it can work on.

use std::collections::BTreeSet;
use std::ops::Range;

use super::super::name::nearest;
use super::super::param::{Domain, Param};
use super::lexer::Word;
use super::parser::{Kind, Node};
use super::{ExprErrorKind, Fault, shown};

/// Something that is true or false at a point.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Truth {
    Constant(bool),
    /// A bool parameter.
    Param(usize),
    Not(Box<Truth>),
    And(Vec<Truth>),
    Or(Vec<Truth>),
    /// Both sides are true or both are false.
    Same(Box<Truth>, Box<Truth>),
    Compare(Compare, Number, Number),
    /// The number equals one of the list; `negated`, it differs from all of them.
    In {
        value: Number,
        list: Vec<Number>,
        negated: bool,
    },
    /// The choice has one of these values; the list has an entry for each.
    Choice {
        param: usize,
        holds: Vec<bool>,
    },
    /// Two choices have the same text: the pairs of value indices for which they do.
    SameChoice {
        a: usize,
        b: usize,
        pairs: BTreeSet<(usize, usize)>,
    },
}

/// A number at a point; NaN where it is undefined.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Number {
    Constant(f64),
    /// A float or int parameter.
    Param(usize),
    Negate(Box<Number>),
    Binary(Binary, Box<Number>, Box<Number>),
    Unary(Unary, Box<Number>),
    Min(Vec<Number>),
    Max(Vec<Number>),
}

/// A comparison of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compare {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
}

/// An operation on two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
}

/// A function of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    Abs,
    Log,
    Log10,
    Log2,
    Exp,
    Sqrt,
}

/// A typed condition and what it takes to evaluate it.
pub(super) struct Checked {
    pub truth: Truth,
    pub params: Vec<usize>,
    pub size: usize,
}

pub(super) fn check(source: &str, tree: &Node, params: &[Param]) -> Result<Checked, Fault> {
    let mut checker = Checker { source, params, used: BTreeSet::new(), size: 0 };
    let truth = checker.truth(tree)?;
    Ok(Checked { truth, params: checker.used.into_iter().collect(), size: checker.size })
}

/// What a node turned out to be.
enum Typed {
    Truth(Truth),
    Number(Number),
    /// A choice parameter.
    Choice(usize),
    Text(String),
}

struct Checker<'a> {
    source: &'a str,
    params: &'a [Param],
    used: BTreeSet<usize>,
    size: usize,
}

impl Checker<'_> {
    fn truth(&mut self, node: &Node) -> Result<Truth, Fault> {
        match self.typed(node)? {
            Typed::Truth(truth) => Ok(truth),
            Typed::Number(Number::Param(p)) => {
                let example = match self.params.get(p).map(Param::domain) {
                    Some(Domain::Float(range)) => format!("{:?}", range.low() / 2.0 + range.high() / 2.0),
                    Some(Domain::Int(range)) => range.value(range.len() / 2).to_string(),
                    _ => "0.05".to_owned(),
                };
                let text = self.text(&node.span);
                Err(self.mismatch(node, &format!("a comparison such as `{text} > {example}`")))
            }
            Typed::Choice(p) => {
                let example = self.choices(p).first().map_or("", |value| &**value).to_owned();
                let text = self.text(&node.span);
                Err(self.mismatch(node, &format!("a comparison such as `{text} == {example:?}`")))
            }
            _ => Err(self.mismatch(node, "a comparison such as `lr > 0.05`")),
        }
    }

    fn number(&mut self, node: &Node) -> Result<Number, Fault> {
        match self.typed(node)? {
            Typed::Number(number) => Ok(number),
            Typed::Choice(_) => {
                Err(self.mismatch(node, "a number (a choice has no order; compare it with `==`)"))
            }
            _ => Err(self.mismatch(node, "a number")),
        }
    }

    fn typed(&mut self, node: &Node) -> Result<Typed, Fault> {
        self.size += 1;
        Ok(match &node.kind {
            Kind::Number(x) => Typed::Number(Number::Constant(*x)),
            Kind::Text(text) => Typed::Text(text.clone()),
            Kind::Truth(b) => Typed::Truth(Truth::Constant(*b)),
            Kind::Name(name) => self.name(name, node)?,
            Kind::Not(inner) => Typed::Truth(Truth::Not(self.truth(inner)?.into())),
            Kind::And(parts) => Typed::Truth(Truth::And(self.truths(parts)?)),
            Kind::Or(parts) => Typed::Truth(Truth::Or(self.truths(parts)?)),
            Kind::Negate(inner) => Typed::Number(match self.number(inner)? {
                Number::Constant(x) => Number::Constant(-x),
                number => Number::Negate(number.into()),
            }),
            Kind::Arithmetic(word, a, b) => {
                let (a, b) = (self.number(a)?, self.number(b)?);
                Typed::Number(Number::Binary(binary(word), a.into(), b.into()))
            }
            Kind::Compare(first, chain) => Typed::Truth(self.chain(first, chain)?),
            Kind::In { value, list, negated } => Typed::Truth(self.contained(value, list, *negated)?),
            Kind::Call(name, arguments) => Typed::Number(self.call(name, arguments, node)?),
        })
    }

    fn truths(&mut self, parts: &[Node]) -> Result<Vec<Truth>, Fault> {
        parts.iter().map(|part| self.truth(part)).collect()
    }

    fn name(&mut self, name: &str, node: &Node) -> Result<Typed, Fault> {
        let Some(p) = self.params.iter().position(|param| &**param.name() == name) else {
            let suggestion = nearest(name, self.params.iter().map(|param| &**param.name()));
            return Err((
                node.span.clone(),
                ExprErrorKind::UnknownName { name: name.to_owned(), suggestion },
            ));
        };
        self.used.insert(p);
        Ok(match self.params[p].domain() {
            Domain::Float(_) | Domain::Int(_) => Typed::Number(Number::Param(p)),
            Domain::Choice(_) => Typed::Choice(p),
            Domain::Bool => Typed::Truth(Truth::Param(p)),
        })
    }

    /// `a < b < c` as `a < b and b < c`; the node of `b` is checked twice, which costs nothing that matters.
    fn chain(&mut self, first: &Node, chain: &[(Word, Node)]) -> Result<Truth, Fault> {
        let mut parts = Vec::with_capacity(chain.len());
        let mut left = first;
        for (word, right) in chain {
            parts.push(self.comparison(left, word, right)?);
            left = right;
        }
        Ok(match parts.pop() {
            Some(only) if parts.is_empty() => only,
            Some(last) => {
                parts.push(last);
                Truth::And(parts)
            }
            None => Truth::Constant(true),
        })
    }

    fn comparison(&mut self, a: &Node, word: &Word, b: &Node) -> Result<Truth, Fault> {
        let (left, right) = (self.typed(a)?, self.typed(b)?);
        let compare = compare(word);
        if let (Typed::Number(_), Typed::Number(_)) = (&left, &right) {
        } else if !matches!(compare, Compare::Equal | Compare::NotEqual) {
            let odd = if matches!(left, Typed::Number(_)) { b } else { a };
            return Err(self.mismatch(odd, "a number (only numbers have an order; use `==` or `!=`)"));
        }
        let truth = match (left, right) {
            (Typed::Number(a), Typed::Number(b)) => return Ok(Truth::Compare(compare, a, b)),
            (Typed::Truth(a), Typed::Truth(b)) => Truth::Same(a.into(), b.into()),
            (Typed::Choice(p), Typed::Text(text)) => self.is_value(p, &[(text, &b.span)])?,
            (Typed::Text(text), Typed::Choice(p)) => self.is_value(p, &[(text, &a.span)])?,
            (Typed::Choice(a), Typed::Choice(b)) => {
                let (va, vb) = (self.choices(a), self.choices(b));
                let pairs = (0..va.len())
                    .filter_map(|i| vb.iter().position(|value| *value == va[i]).map(|j| (i, j)))
                    .collect();
                Truth::SameChoice { a, b, pairs }
            }
            (Typed::Choice(p), _) => return Err(self.mismatch(b, &self.quoted_value(p))),
            (_, Typed::Choice(p)) => return Err(self.mismatch(a, &self.quoted_value(p))),
            (Typed::Number(_), _) => return Err(self.mismatch(b, "a number to compare with a number")),
            (_, Typed::Number(_)) => return Err(self.mismatch(a, "a number to compare with a number")),
            (Typed::Truth(_), _) => return Err(self.mismatch(b, "`true`, `false` or a condition")),
            (_, Typed::Truth(_)) => return Err(self.mismatch(a, "`true`, `false` or a condition")),
            (Typed::Text(_), Typed::Text(_)) => return Err(self.mismatch(a, "a choice parameter")),
        };
        Ok(if compare == Compare::NotEqual { Truth::Not(truth.into()) } else { truth })
    }

    fn contained(&mut self, value: &Node, list: &[Node], negated: bool) -> Result<Truth, Fault> {
        let truth = match self.typed(value)? {
            Typed::Number(value) => {
                let list = list.iter().map(|node| self.number(node)).collect::<Result<_, _>>()?;
                return Ok(Truth::In { value, list, negated });
            }
            Typed::Truth(value) => {
                let list = self.truths(list)?;
                Truth::Or(list.into_iter().map(|t| Truth::Same(value.clone().into(), t.into())).collect())
            }
            Typed::Choice(p) => {
                let mut texts = Vec::with_capacity(list.len());
                for node in list {
                    match self.typed(node)? {
                        Typed::Text(text) => texts.push((text, &node.span)),
                        _ => return Err(self.mismatch(node, &self.quoted_value(p))),
                    }
                }
                self.is_value(p, &texts)?
            }
            Typed::Text(_) => return Err(self.mismatch(value, "a parameter before `in`")),
        };
        Ok(if negated { Truth::Not(truth.into()) } else { truth })
    }

    /// The choice `p` has one of the texts, each of which must be one of its values.
    fn is_value(&self, p: usize, texts: &[(String, &Range<usize>)]) -> Result<Truth, Fault> {
        let values = self.choices(p);
        let mut holds = vec![false; values.len()];
        for (text, span) in texts {
            match values.iter().position(|value| **value == **text) {
                Some(i) => holds[i] = true,
                None => {
                    let (name, values) = self
                        .params
                        .get(p)
                        .map_or_else(Default::default, |param| (param.name().to_string(), param.describe()));
                    let kind = ExprErrorKind::NotAValue { name, text: text.clone(), values };
                    return Err(((*span).clone(), kind));
                }
            }
        }
        Ok(Truth::Choice { param: p, holds })
    }

    fn call(&mut self, name: &str, arguments: &[Node], node: &Node) -> Result<Number, Fault> {
        let wrong = |name, expected| {
            Err((node.span.clone(), ExprErrorKind::Arguments { name, expected, found: arguments.len() }))
        };
        let unary = match name {
            "abs" => ("abs", Unary::Abs),
            "log" => ("log", Unary::Log),
            "log10" => ("log10", Unary::Log10),
            "log2" => ("log2", Unary::Log2),
            "exp" => ("exp", Unary::Exp),
            "sqrt" => ("sqrt", Unary::Sqrt),
            "min" | "max" => {
                let name = if name == "min" { "min" } else { "max" };
                if arguments.is_empty() {
                    return wrong(name, "at least one argument");
                }
                let numbers = arguments.iter().map(|node| self.number(node)).collect::<Result<_, _>>()?;
                return Ok(if name == "min" { Number::Min(numbers) } else { Number::Max(numbers) });
            }
            _ => return Err((node.span.clone(), ExprErrorKind::UnknownFunction { name: name.to_owned() })),
        };
        match arguments {
            [argument] => Ok(Number::Unary(unary.1, self.number(argument)?.into())),
            _ => wrong(unary.0, "one argument"),
        }
    }

    fn choices(&self, p: usize) -> &[std::sync::Arc<str>] {
        match self.params.get(p).map(Param::domain) {
            Some(Domain::Choice(values)) => values,
            _ => &[],
        }
    }

    fn quoted_value(&self, p: usize) -> String {
        self.params.get(p).map_or_else(String::new, Param::describe)
    }

    fn text(&self, span: &Range<usize>) -> String {
        shown(self.source.get(span.clone()).unwrap_or(""))
    }

    fn mismatch(&self, node: &Node, expected: &str) -> Fault {
        let found = format!("`{}`", self.text(&node.span));
        (node.span.clone(), ExprErrorKind::Unexpected { expected: expected.to_owned(), found })
    }
}

fn binary(word: &Word) -> Binary {
    match word {
        Word::Plus => Binary::Add,
        Word::Minus => Binary::Subtract,
        Word::Times => Binary::Multiply,
        Word::Over => Binary::Divide,
        Word::Percent => Binary::Remainder,
        _ => Binary::Power,
    }
}

fn compare(word: &Word) -> Compare {
    match word {
        Word::Less => Compare::Less,
        Word::LessEqual => Compare::LessEqual,
        Word::Greater => Compare::Greater,
        Word::GreaterEqual => Compare::GreaterEqual,
        Word::Equal => Compare::Equal,
        _ => Compare::NotEqual,
    }
}
