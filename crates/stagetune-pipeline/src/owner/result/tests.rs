//! Tests of `result.json` as stages leave it.

use super::read::{LONGEST_NAME, MOST_BYTES, MOST_NUMBERS};
use super::*;
use std::fs;

fn said(text: impl AsRef<[u8]>) -> Result<f64, String> {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("result.json"), text).unwrap();
    number(dir.path(), "f1")
}

#[test]
fn anything_but_a_number_is_said_plainly() {
    assert!(number(tempfile::tempdir().unwrap().path(), "f1").unwrap_err().contains("wrote no result.json"));
    assert_eq!(said(r#"{"f1": 0.25, "x": "y"}"#), Ok(0.25));
    assert_eq!(said(r#"{"f1": 3}"#), Ok(3.0));
    assert_eq!(said(r#"{"f1": 1, "f1": -2}"#), Ok(-2.0));
    for (text, expected) in [
        (r#"{"f1": NaN}"#, "`f1` is NaN, not a number (line 1, column 8)"),
        (r#"{"f1": nan}"#, "`f1` is nan, not a number"),
        ("{\"a\": 1,\n \"f1\": -Infinity}", "`f1` is -Infinity, not a number (line 2"),
        (r#"{"f1": null}"#, "`f1` is null, not a number"),
        (r#"{"f1": true}"#, "`f1` is true, not a number"),
        (r#"{"f1": [1, {"a": 2}]}"#, "`f1` is a list, not a number"),
        (r#"{"f1": {"a": 2}}"#, "`f1` is an object, not a number"),
        (r#"{"f1": "0.5"}"#, "is the text \"0.5\", not a number; write the number without quotes"),
        (r#"{"f1": "NaN"}"#, "is the text \"NaN\", not a number: the metric has no value"),
        (r#"{"f1": "good"}"#, "is the text \"good\", not a number"),
        (r#"{"f1": 1e999}"#, "`f1` is larger than any number"),
        (r#"{"F1": 1}"#, "without `f1`; it has `F1`"),
        ("{}", "without `f1`; it is empty"),
        ("[1]", "is a list, not an object such as {\"f1\": 0.5}"),
        ("0.5", "is a number, not an object"),
        ("", "is empty"),
        (" \n", "is empty"),
        ("{\"a\": 1,\n 'f1': 2}", "is not JSON: key must be a string (line 2, column 2), at `'`"),
        (r#"{"f1": 0.5"#, "is not JSON: EOF while parsing an object (line 1, column 10)"),
        (r#"{"f1": 0.5} trailing"#, "is not JSON: trailing characters (line 1, column 13), at `trailing`"),
    ] {
        let problem = said(text).unwrap_err();
        assert!(problem.contains(expected), "{text}: {problem}");
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_result_and_other_encodings_have_words() {
    assert_eq!(said("\u{feff}{\"f1\": 0.5}"), Ok(0.5));
    assert!(said("\u{feff}").unwrap_err().contains("is empty"));
    let utf16: Vec<u8> = "\u{feff}{}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(said(utf16).unwrap_err().contains("UTF-16"));
    let latin = said(b"{\n\"f1\": \"\xe4\"}").unwrap_err();
    assert!(latin.contains("not UTF-8: line 2"), "{latin}");
}

#[test]
fn what_is_said_of_a_result_is_short_and_steers_nothing() {
    let long = "x".repeat(9_000_000);
    let hostile = "\\u001b]0;evil\\u0007\u{202e}\u{9b}2J";
    for text in [
        format!(r#"{{"f1": "{long}"}}"#),
        format!(r#"{{"{long}": 1}}"#),
        format!("{{{long}}}"),
        format!(r#"{{"f1": "{hostile}"}}"#),
        format!(r#"{{"{hostile}": 1}}"#),
        format!("{{\u{1b}[2J{hostile}}}"),
        format!(r#"{{"{hostile}": 1e999}}"#),
        format!("{{{}\"z\": 1}}", (0..100_000).map(|i| format!("\"k{i}\": 1,")).collect::<String>()),
    ] {
        let problem = said(&text).unwrap_err();
        assert!(problem.len() < 2_000, "{}", problem.len());
        assert!(!problem.chars().any(crate::text::steers), "{problem:?}");
    }
}

#[test]
fn a_result_that_is_too_large_is_not_read_and_says_its_size() {
    let dir = tempfile::tempdir().unwrap();
    let file = fs::File::create(dir.path().join("result.json")).unwrap();
    file.set_len(MOST_BYTES + 1).unwrap();
    let problem = number(dir.path(), "f1").unwrap_err();
    assert!(problem.contains("of 16777217 bytes; it is read up to 16777216"), "{problem}");
    let longest = format!(r#"{{"f1": 1, "pad": "{}"}}"#, "x".repeat(MOST_BYTES as usize - 20));
    assert_eq!((said(&longest), longest.len() as u64), (Ok(1.0), MOST_BYTES));
}

#[test]
fn all_numbers_are_found_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    assert!(numbers(dir.path()).is_empty());
    let text = r#"{"f1": 0.25, "n": 3, "name": "x", "deep": {"a": 1}, "b\u0007ell": 1, "n2": 1, "n2": null}"#;
    fs::write(dir.path().join("result.json"), text).unwrap();
    let found: Vec<_> = numbers(dir.path()).into_iter().collect();
    assert_eq!(found, [("f1".to_owned(), 0.25), ("n".to_owned(), 3.0)]);
    fs::write(dir.path().join("result.json"), "[1]").unwrap();
    assert!(numbers(dir.path()).is_empty());
}

#[test]
fn of_many_numbers_some_are_kept_and_the_metric_always() {
    let dir = tempfile::tempdir().unwrap();
    let many: String = (0..3 * MOST_NUMBERS).map(|i| format!("\"k{i:05}\": {i}, ")).collect();
    let (kept, long) = ("é".repeat(LONGEST_NAME), "é".repeat(LONGEST_NAME + 1));
    let text = format!(r#"{{"{kept}": 1, "{long}": 2, {many} "zz": 7}}"#);
    fs::write(dir.path().join("result.json"), text).unwrap();
    let found = numbers_with(dir.path(), Some("zz"));
    assert_eq!(found.len(), MOST_NUMBERS + 1);
    assert_eq!((found["zz"], found["k00000"]), (7.0, 0.0));
    assert!(found.contains_key(&kept) && !found.contains_key(&long));
    assert_eq!(numbers(dir.path()).len(), MOST_NUMBERS);
}

#[test]
fn a_deep_result_is_gone_over_or_refused_but_never_too_deep_for_the_stack() {
    let deep = format!("{}1{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
    let _ = said(format!(r#"{{"f1": 1, "deep": {deep}}}"#));
    assert!(said(deep).unwrap_err().contains("a list"));
}
