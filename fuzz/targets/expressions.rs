//! Any text is a condition that means what a second, simpler evaluator says, or an error with a place.
#![no_main]

mod expressions_meaning;

use std::sync::LazyLock;

use expressions_meaning::{holds, respaced};
use stagetune::space::{Expr, ExprError, Module, Param, Point, Space, Verdict};

/// Parameters of every kind, with names that need quotes, a name of a function, and one of another script.
static SPACE: LazyLock<Space> = LazyLock::new(|| {
    let log = |name, low, high| Param::float(name, low, high).and_then(Param::log);
    let params = [
        log("lr", 1e-5, 1.0),
        Param::int("batch", 2, 14).and_then(|batch| batch.step(2)),
        Param::choice("norm", ["batch", "group", "it's"]),
        Param::choice("other norm", ["group", "batch"]),
        Param::bool("augment"),
        Param::float("λ", -1.0, 1.0),
        Param::float("log", -4.0, 4.0),
    ];
    let params = params.map(|param| param.expect("the parameter is in order"));
    let module = Module::new("fit", params).expect("the module is in order");
    Space::new([module]).expect("the space is in order")
});

/// How many points each condition is looked at.
const POINTS: usize = 4;

/// What is wrong, a line of the condition, and carets under it, in bytes.
const LONGEST_ERROR: usize = 2_000;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match SPACE.condition(text) {
        Ok(condition) => check(&condition, text, &mut Dice::new(data)),
        Err(error) => check_error(&error, text),
    }
});

fn check(condition: &Expr, text: &str, dice: &mut Dice) {
    assert_eq!(condition.to_string(), text);
    assert!(condition.params().is_sorted() && condition.params().iter().all(|&p| p < SPACE.params().len()));
    let again = respaced(text);
    let again = SPACE.condition(&again).unwrap_or_else(|error| panic!("{error}"));
    let (mut lower, mut upper) = (vec![1.0_f64; SPACE.dim()], vec![0.0_f64; SPACE.dim()]);
    let mut found = Vec::new();
    for _ in 0..POINTS {
        let u: Vec<f64> = (0..SPACE.dim()).map(|_| dice.coordinate()).collect();
        for (i, x) in u.iter().enumerate() {
            (lower[i], upper[i]) = (lower[i].min(*x), upper[i].max(*x));
        }
        let point = SPACE.decode(&u).expect("the coordinates are those of a cube");
        let truth = truth_of(condition, &point);
        assert_eq!(truth, holds(text, &point), "{text:?} at {point}");
        assert_eq!(truth, truth_of(&again, &point), "{text:?} with other spaces, at {point}");
        found.push(truth);
    }
    // What is said of a box is true of the points in it.
    for (lower, upper) in [(lower, upper), (vec![0.0; SPACE.dim()], vec![1.0; SPACE.dim()])] {
        let verdict = SPACE.verdict(condition, &lower, &upper).expect("the box is in order");
        let wrong = match verdict {
            Verdict::Always => found.contains(&false),
            Verdict::Never => found.contains(&true),
            Verdict::Sometimes => false,
        };
        assert!(!wrong, "{text:?} is {verdict:?} from {lower:?} to {upper:?}, but {found:?} at points of it");
    }
}

fn truth_of(condition: &Expr, point: &Point) -> bool {
    SPACE.holds(condition, point).expect("the condition belongs to the space")
}

fn check_error(error: &ExprError, text: &str) {
    assert_eq!(error.source_text(), text);
    assert!(text.get(error.span()).is_some(), "{:?} is no place in {text:?}", error.span());
    assert!(!error.kind().to_string().is_empty());
    let shown = error.to_string();
    assert!(shown.lines().count() <= 3 && shown.len() <= LONGEST_ERROR, "{shown}");
    assert!(!shown.chars().any(|letter| letter.is_control() && letter != '\n'), "{shown:?}");
}

/// Numbers that follow from the input.
struct Dice(u64);

impl Dice {
    /// The hash of Fowler, Noll and Vo.
    fn new(data: &[u8]) -> Self {
        let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        Self(data.iter().fold(0xcbf2_9ce4_8422_2325, step))
    }

    /// A coordinate of the unit cube, often an end or the middle of it.
    fn coordinate(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        match self.0 >> 61 {
            0 => 0.0,
            1 => 1.0,
            2 => 0.5,
            _ => (self.0 >> 11 & 0xffff) as f64 / 65_535.0,
        }
    }
}
