//! Conditions are read as the grammar says, mean what they say, and complain where they are wrong.

use std::sync::Arc;

use super::*;
use crate::space::point::Value;
use crate::space::reach::Typed;

fn params() -> Arc<[Param]> {
    [
        Param::float("lr", 1e-5, 1.0).unwrap(),
        Param::int("batch", 2, 14).unwrap().step(2).unwrap(),
        Param::choice("norm", ["batch", "group", "none"]).unwrap(),
        Param::choice("other norm", ["group", "batch"]).unwrap(),
        Param::bool("augment").unwrap(),
        Param::float("λ", -1.0, 1.0).unwrap(),
        Param::float("log", -4.0, 4.0).unwrap(),
    ]
    .into()
}

/// lr = 0.5, batch = 4, norm = group, other norm = group, augment = true, λ = −0.5, log = 3.
fn holds(source: &str) -> bool {
    let params = params();
    let values: [Value; 7] =
        [0.5.into(), 4.into(), "group".into(), "group".into(), true.into(), (-0.5).into(), 3.0.into()];
    let expr = Expr::parse(source, &params).unwrap_or_else(|error| panic!("{error}"));
    expr.holds(&Typed { params: &params, values: &values })
}

fn error(source: &str) -> String {
    Expr::parse(source, &params()).expect_err(source).to_string()
}

#[test]
fn operators_bind_as_in_mathematics() {
    for source in [
        "1 + 2 * 3 == 7",
        "(1 + 2) * 3 == 9",
        "2 ^ 3 ^ 2 == 512",
        "-2 ^ 2 == -4",
        "2 ^ -1 == 0.5",
        "7 - 2 - 1 == 4",
        "8 / 4 / 2 == 1",
        "7 % 4 == 3 and -7 % 4 == 1 and 7 % -4 == -1",
        "1e-3 == .001 and 1E+2 == 100 and 2. == 2",
        "- - 1 == 1",
        "abs(-2) == 2 and sqrt(9) == 3 and exp(0) == 1 and log(1) == 0",
        "log10(1000) == 3 and log2(8) == 3 and min(3, 1, 2) == 1 and max(3, 1, 2) == 3",
        "true or false and false",
        "not false and true",
        "not (true and false)",
        "1 < 2 < 3 and not 1 < 2 < 2",
        "not lr == 0.6",
        "(1 < 2) == true",
    ] {
        assert!(holds(source), "{source}");
    }
}

#[test]
fn parameters_are_read_by_name_in_any_script() {
    for source in [
        "lr == 0.5 and batch == 4",
        "λ < 0",
        "`λ` == -0.5",
        "log == 3 and log(1) == 0",
        "`log` == 3",
        "augment",
        "augment == true and augment != false and augment in [true]",
        "norm == 'group' and \"group\" == norm and norm != 'batch'",
        "norm in ['batch', \"group\"] and norm not in ['none']",
        "norm == `other norm`",
        "batch in [2, 4, 6] and batch not in [8] and not batch in []",
    ] {
        assert!(holds(source), "{source}");
    }
}

#[test]
fn comparisons_with_undefined_numbers_are_false() {
    for source in
        ["log(λ) < 0", "log(λ) >= 0", "log(λ) == log(λ)", "log(λ) != 1", "0/0 in [0]", "0/0 not in []"]
    {
        assert!(!holds(source), "{source}");
    }
    assert!(holds("not log(λ) < 0"));
    assert!(!holds("min(1, log(λ)) == 1"));
    assert!(!holds("(0/0)^0 == 1"));
}

#[test]
fn errors_show_the_place_and_the_remedy() {
    assert_eq!(error("lr"), "expected a comparison such as `lr > 0.500005`, found `lr`\n  | lr\n  | ^^");
    assert_eq!(
        error("batch > 3 and lrr < 1"),
        "there is no parameter `lrr` here; did you mean `lr`?\n  | batch > 3 and lrr < 1\n  |               ^^^"
    );
    assert_eq!(
        error("norm == 'grp'"),
        "`norm` is never \"grp\"; it is one of \"batch\", \"group\", \"none\"\n  | norm == 'grp'\n  |         ^^^^^"
    );
    assert_eq!(
        error("λ > ="),
        "the character '=' means nothing here; write `==` to compare\n  | λ > =\n  |     ^"
    );
    for (source, part) in [
        ("", "expected a parameter, a number, a quoted value, `not`, `-` or `(`, found the end"),
        ("lr >", "found the end"),
        ("lr > 1 batch", "expected an operator such as `and`, `<` or `+`, or the end, found `batch`"),
        ("(lr > 1", "expected an operator or `)`, found the end"),
        ("lr && batch", "write `and`"),
        ("2x > 1", "`2x` is not a number"),
        ("lr > 1e999", "`1e999` is not a number that can be used"),
        ("lr > 1e", "`1e` is not a number"),
        ("norm == 'x", "the text has no end; close it with '"),
        ("`lr > 1", "the name has no end; close it with `"),
        ("norm > 'batch'", "only numbers have an order"),
        ("norm + 1 > 2", "a choice has no order"),
        ("augment + 1 > 2", "expected a number, found `augment`"),
        ("norm == 1", "expected one of \"batch\", \"group\", \"none\", found `1`"),
        ("norm", "expected a comparison such as `norm == \"batch\"`"),
        ("sin(lr) > 0", "there is no function `sin`"),
        ("log(1, 2) > 0", "`log` takes one argument, not 2"),
        ("min() > 0", "`min` takes at least one argument, not 0"),
        ("lr in 3", "expected a list such as `[1, 2]`, found `3`"),
        ("lr not 3", "expected `in` after `not`, found `3`"),
        ("'a' == 'b'", "expected a choice parameter"),
        ("augment == 1", "expected a number to compare with a number, found `augment`"),
    ] {
        let message = error(source);
        assert!(message.contains(part), "{source}: {message}");
    }
}

#[test]
fn errors_quote_a_part_of_the_condition_on_one_line() {
    let spread = "not(\n\n  batch\t+\r\n 1\u{1b}[2J \n)";
    let first = error("not(\n\n  batch\n\n)");
    assert!(
        first.starts_with("expected a comparison such as `( batch ) > 8`, found `( batch )`\n"),
        "{first}"
    );
    assert!(!error(spread).contains('\u{1b}'), "{}", error(spread));
    let long = "x".repeat(5_000);
    for source in [
        format!("{long} > 1"),
        format!("norm == '{long}'"),
        format!("{long}(1) > 1"),
        format!("lr > 1{long}"),
    ] {
        assert!(error(&source).chars().count() < 300, "{}", error(&source));
        assert!(error(&source).contains("xxx…"), "{}", error(&source));
    }
}

#[test]
fn deep_or_long_conditions_are_refused_without_harm() {
    for source in [
        "(".repeat(5000),
        format!("{}lr > 0{}", "(".repeat(500), ")".repeat(500)),
        format!("{}lr > 0", "not ".repeat(2000)),
        format!("{}lr > 0", "-".repeat(9000)),
        format!("lr > 0{}", "^2".repeat(4000)),
        format!("lr > 0{}", " + 1".repeat(2000)),
    ] {
        assert!(error(&source).starts_with("the condition is nested too deeply"), "{}", error(&source));
    }
    assert!(error(&" ".repeat(20_000)).contains("20000 bytes"));
    let flat = vec!["lr > 0.9"; 700].join(" or ");
    assert!(!holds(&flat));
    assert!(holds(&format!("{}lr > 0{}", "(".repeat(60), ")".repeat(60))));
}

#[test]
fn doubled_quotes_stand_for_themselves() {
    let params: Arc<[Param]> = [Param::choice("a`b", ["it's", "so"]).unwrap()].into();
    assert!(Expr::parse("`a``b` == 'it''s'", &params).is_ok());
}
