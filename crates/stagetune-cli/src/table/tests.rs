//! What the plain table of trials keeps to.

use super::*;
use crate::sample;

const PLAIN: Options = Options { which: Which::All, width: None, colour: false, ascii: false };

#[test]
fn every_trial_has_a_line_and_the_best_a_star() {
    let record = sample::study(60);
    let text = trials(&record, PLAIN);
    assert_eq!(text.lines().count(), 61);
    let starred: Vec<&str> = text.lines().filter(|line| line.contains('★')).collect();
    assert_eq!(starred.len(), 1);
    assert!(starred[0].trim_start().starts_with(&record.best.unwrap().to_string()));
    assert!(text.contains("■■■") && text.contains("□□■") && text.contains('✗') && text.contains("open"));
    assert!(text.contains("loss is NaN"));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for width in [0, 1, 20, 40, 80, 100, 133] {
        for ascii in [false, true] {
            let text = trials(&sample::study(60), Options { width: Some(width), ascii, ..PLAIN });
            // The sign for what is missing is never left out.
            let most = width.max(if ascii { 3 } else { 1 });
            assert!(text.lines().all(|line| super::width(line) <= most), "{width}:\n{text}");
        }
    }
}

#[test]
fn parameters_that_do_not_fit_are_counted() {
    let text = trials(&sample::study(60), Options { width: Some(80), ..PLAIN });
    assert!(text.lines().next().unwrap().contains("strength"), "{text}");
    assert!(text.lines().last().unwrap().contains("more parameters do not fit"), "{text}");
}

#[test]
fn the_last_and_the_best_can_be_chosen() {
    let record = sample::study(60);
    let last = trials(&record, Options { which: Which::Last(3), ..PLAIN });
    assert_eq!(
        last.lines().skip(1).map(|l| l.trim_start()[..2].to_owned()).collect::<Vec<_>>(),
        ["57", "58", "59"]
    );
    let best = trials(&record, Options { which: Which::Best(2), ..PLAIN });
    assert!(best.lines().nth(1).unwrap().contains('★'));
    assert_eq!(best.lines().count(), 3);
    assert_eq!(trials(&sample::empty(), PLAIN), "no trials yet\n");
    assert_eq!(
        trials(&sample::all_failed(4), Options { which: Which::Best(2), ..PLAIN }),
        "no trial has a value\n"
    );
}

#[test]
fn ascii_means_ascii_and_colour_is_only_there_if_wanted() {
    let record = sample::study(60);
    assert!(trials(&record, Options { ascii: true, ..PLAIN }).is_ascii());
    assert!(!trials(&record, PLAIN).contains('\u{1b}'));
    assert!(trials(&record, Options { colour: true, ..PLAIN }).contains("\u{1b}["));
}

#[test]
fn no_text_of_the_user_steers_the_terminal() {
    let text = trials(&sample::with_text("a\u{1b}[2J\r\n\u{7}b\u{202e}"), PLAIN);
    assert_eq!(text.lines().count(), 13);
    assert!(!text.contains(['\u{1b}', '\r', '\u{7}', '\u{202e}']));
}
