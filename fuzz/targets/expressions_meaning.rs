//! What a condition means, read from the grammar once more: it is evaluated while it is read, without types or a tree.

use stagetune::space::{Point, Value};

#[derive(Clone, Debug, PartialEq)]
enum Word {
    Number(f64),
    Text(String),
    /// A name, and whether it stands in back quotes.
    Name(String, bool),
    /// A keyword, an operator, a bracket or a comma.
    Sign(String),
}

/// What a part of a condition comes to at a point.
#[derive(Clone, Debug, PartialEq)]
enum Meaning {
    Number(f64),
    Truth(bool),
    /// The value of a choice, or a text in quotes.
    Text(String),
}

/// Whether an accepted condition holds at a point.
pub fn holds(text: &str, point: &Point) -> bool {
    let words = words(text).into_iter().map(|(word, _)| word).collect();
    let mut reader = Reader { words, next: 0, point };
    let truth = reader.condition().truth();
    assert_eq!(reader.next, reader.words.len(), "something is left over in {text:?}");
    truth
}

/// The same words with other spaces between them.
pub fn respaced(text: &str) -> String {
    words(text).into_iter().map(|(_, written)| written).collect::<Vec<_>>().join("\n ")
}

/// The words of an accepted condition, each as it was written too.
fn words(text: &str) -> Vec<(Word, &str)> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = length(rest, first);
        let (written, after) = rest.split_at(length);
        words.push((word(written, first), written));
        rest = after.trim_start();
    }
    words
}

/// The bytes of the word that a text begins with.
fn length(text: &str, first: char) -> usize {
    let bytes = text.as_bytes();
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    match first {
        '0'..='9' | '.' => {
            let is_signed =
                |at: usize| at > 0 && b"+-".contains(&bytes[at]) && b"eE".contains(&bytes[at - 1]);
            (0..bytes.len())
                .find(|&at| !bytes[at].is_ascii_alphanumeric() && bytes[at] != b'.' && !is_signed(at))
                .unwrap_or(bytes.len())
        }
        '\'' | '"' | '`' => {
            let mut at = 1;
            loop {
                at += text[at..].find(first).expect("every quote is closed") + 1;
                match text[at..].starts_with(first) {
                    true => at += 1,
                    false => return at,
                }
            }
        }
        '<' | '>' | '=' | '!' if bytes.get(1) == Some(&b'=') => 2,
        _ if is_part(first) => text.find(|c| !is_part(c)).unwrap_or(text.len()),
        _ => first.len_utf8(),
    }
}

fn word(written: &str, first: char) -> Word {
    let unquoted = || {
        let inner = &written[1..written.len() - 1];
        inner.replace(&format!("{first}{first}"), &first.to_string())
    };
    match first {
        '0'..='9' | '.' => Word::Number(written.parse().expect("a number is one")),
        '\'' | '"' => Word::Text(unquoted()),
        '`' => Word::Name(unquoted(), true),
        _ if ["and", "or", "not", "in", "true", "false"].contains(&written) => Word::Sign(written.into()),
        _ if first.is_alphabetic() || first == '_' => Word::Name(written.into(), false),
        _ => Word::Sign(written.into()),
    }
}

struct Reader<'a> {
    words: Vec<Word>,
    next: usize,
    point: &'a Point,
}

impl Reader<'_> {
    /// Takes the next word if it is this sign.
    fn takes(&mut self, sign: &str) -> bool {
        let found = matches!(self.words.get(self.next), Some(Word::Sign(found)) if found == sign);
        self.next += usize::from(found);
        found
    }

    /// Takes the next word if it is one of these signs.
    fn takes_one<'s>(&mut self, signs: &[&'s str]) -> Option<&'s str> {
        signs.iter().copied().find(|sign| self.takes(sign))
    }

    fn condition(&mut self) -> Meaning {
        let mut left = self.and();
        while self.takes("or") {
            let right = self.and().truth();
            left = Meaning::Truth(left.truth() || right);
        }
        left
    }

    fn and(&mut self) -> Meaning {
        let mut left = self.not();
        while self.takes("and") {
            let right = self.not().truth();
            left = Meaning::Truth(left.truth() && right);
        }
        left
    }

    fn not(&mut self) -> Meaning {
        if self.takes("not") { Meaning::Truth(!self.not().truth()) } else { self.comparison() }
    }

    fn comparison(&mut self) -> Meaning {
        let mut left = self.sum();
        loop {
            let mut chain = None;
            while let Some(sign) = self.takes_one(&["<=", ">=", "==", "!=", "<", ">"]) {
                let right = self.sum();
                chain = Some(chain.unwrap_or(true) && compare(sign, &left, &right));
                left = right;
            }
            if let Some(chain) = chain {
                left = Meaning::Truth(chain);
            }
            let negated = self.takes("not");
            if !self.takes("in") {
                assert!(!negated, "`not` without `in`");
                return left;
            }
            assert!(self.takes("["));
            let list = self.list("]");
            left = Meaning::Truth(match negated {
                true => list.iter().all(|element| compare("!=", &left, element)) && !left.is_undefined(),
                false => list.iter().any(|element| compare("==", &left, element)),
            });
        }
    }

    fn list(&mut self, end: &str) -> Vec<Meaning> {
        let mut list = Vec::new();
        if self.takes(end) {
            return list;
        }
        loop {
            list.push(self.condition());
            if !self.takes(",") {
                assert!(self.takes(end));
                return list;
            }
        }
    }

    fn sum(&mut self) -> Meaning {
        let mut left = self.product();
        while let Some(sign) = self.takes_one(&["+", "-"]) {
            let (a, b) = (left.number(), self.product().number());
            left = Meaning::Number(if sign == "+" { a + b } else { a - b });
        }
        left
    }

    fn product(&mut self) -> Meaning {
        let mut left = self.unary();
        while let Some(sign) = self.takes_one(&["*", "/", "%"]) {
            let (a, b) = (left.number(), self.unary().number());
            left = Meaning::Number(match sign {
                "*" => a * b,
                "/" => a / b,
                // The sign is that of the right side.
                _ if a % b != 0.0 && (a % b < 0.0) != (b < 0.0) => a % b + b,
                _ => a % b,
            });
        }
        left
    }

    fn unary(&mut self) -> Meaning {
        if self.takes("-") { Meaning::Number(-self.unary().number()) } else { self.power() }
    }

    fn power(&mut self) -> Meaning {
        let base = self.atom();
        if !self.takes("^") {
            return base;
        }
        let (a, b) = (base.number(), self.unary().number());
        Meaning::Number(if a.is_nan() || b.is_nan() { f64::NAN } else { libm::pow(a, b) })
    }

    fn atom(&mut self) -> Meaning {
        // Beyond the grammar, `not` may stand wherever a value may.
        if self.takes("not") {
            return Meaning::Truth(!self.not().truth());
        }
        if self.takes("(") {
            let inner = self.condition();
            assert!(self.takes(")"));
            return inner;
        }
        let word = self.words.get(self.next).cloned();
        self.next += 1;
        match word {
            Some(Word::Number(x)) => Meaning::Number(x),
            Some(Word::Text(text)) => Meaning::Text(text),
            Some(Word::Sign(sign)) if sign == "true" || sign == "false" => Meaning::Truth(sign == "true"),
            Some(Word::Name(name, quoted)) => match !quoted && self.takes("(") {
                true => Meaning::Number(call(&name, &self.list(")"))),
                false => self.value(&name),
            },
            word => panic!("{word:?} is no value"),
        }
    }

    fn value(&self, name: &str) -> Meaning {
        match self.point.get(name) {
            Some(Value::Float(x)) => Meaning::Number(*x),
            Some(Value::Int(i)) => Meaning::Number(*i as f64),
            Some(Value::Choice(text)) => Meaning::Text(text.to_string()),
            Some(Value::Bool(truth)) => Meaning::Truth(*truth),
            None => panic!("there is no parameter {name:?}"),
        }
    }
}

impl Meaning {
    fn number(&self) -> f64 {
        match self {
            Self::Number(x) => *x,
            Self::Truth(_) | Self::Text(_) => panic!("{self:?} is no number"),
        }
    }

    fn truth(&self) -> bool {
        match self {
            Self::Truth(truth) => *truth,
            Self::Number(_) | Self::Text(_) => panic!("{self:?} is not true or false"),
        }
    }

    fn is_undefined(&self) -> bool {
        matches!(self, Self::Number(x) if x.is_nan())
    }
}

fn compare(sign: &str, a: &Meaning, b: &Meaning) -> bool {
    let defined = !a.is_undefined() && !b.is_undefined();
    defined
        && match sign {
            "==" => a.same(b),
            "!=" => !a.same(b),
            "<" => a.number() < b.number(),
            ">" => a.number() > b.number(),
            "<=" => a.number() <= b.number(),
            _ => a.number() >= b.number(),
        }
}

impl Meaning {
    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a == b,
            (Self::Truth(a), Self::Truth(b)) => a == b,
            (Self::Text(a), Self::Text(b)) => a == b,
            _ => panic!("{self:?} and {other:?} cannot be compared"),
        }
    }
}

fn call(name: &str, arguments: &[Meaning]) -> f64 {
    let numbers: Vec<f64> = arguments.iter().map(Meaning::number).collect();
    if numbers.iter().any(|x| x.is_nan()) {
        return f64::NAN;
    }
    match (name, numbers.as_slice()) {
        ("min", list) => list.iter().copied().fold(f64::INFINITY, f64::min),
        ("max", list) => list.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        ("abs", [x]) => x.abs(),
        ("log", [x]) => libm::log(*x),
        ("log10", [x]) => libm::log10(*x),
        ("log2", [x]) => libm::log2(*x),
        ("exp", [x]) => libm::exp(*x),
        ("sqrt", [x]) => x.sqrt(),
        _ => panic!("there is no function {name:?} of {} numbers", numbers.len()),
    }
}
