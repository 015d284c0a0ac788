//! What the plain table of trials keeps to.

use super::*;
use crate::sample;

const PLAIN: Options = Options { which: Which::All, width: None, colour: false, ascii: false };

#[test]
fn every_trial_has_a_line_and_the_best_a_star() {
    let ledger = sample::study(60);
    let text = trials(&ledger, PLAIN);
    assert_eq!(text.lines().count(), 61);
    let starred: Vec<&str> = text.lines().filter(|line| line.contains('★')).collect();
    assert_eq!(starred.len(), 1);
    assert!(starred[0].trim_start().starts_with(&ledger.best_trial().unwrap().to_string()));
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
fn metrics_beside_the_objective_are_columns_where_they_fit_and_counted_where_not() {
    let ledger = sample::study(60);
    let head = |width| trials(&ledger, Options { width, ..PLAIN }).lines().next().unwrap().to_owned();
    let words = |line: &str| line.split_whitespace().map(String::from).collect::<Vec<_>>();
    assert_eq!(words(&head(None))[..8], ["trial", "f1", "cost", "stages", "psnr", "loss", "iou", "strength"]);
    assert_eq!(words(&head(Some(80)))[4..6], ["psnr", "strength"], "{}", head(Some(80)));
    let text = trials(&ledger, Options { width: Some(80), ..PLAIN });
    assert!(
        text.ends_with("2 more metrics and 7 more parameters do not fit; see `--trial N` or `export`\n"),
        "{text}"
    );
    let psnr = ledger.trials[0].stages[0].metrics["psnr"];
    assert!(text.lines().nth(1).unwrap().contains(&format::number(psnr)), "{text}");
}

#[test]
fn metrics_of_one_name_are_told_apart_by_their_stages_and_many_are_counted() {
    let mut ledger = sample::study(5);
    for name in ["f1", "loss"] {
        ledger.trials[0].stages[0].metrics.insert(name.into(), 1.0);
    }
    let text = trials(&ledger, PLAIN);
    let head = text.lines().next().unwrap();
    assert!(
        head.contains("denoise.f1") && head.contains("denoise.loss") && head.contains("unet.loss"),
        "{head}"
    );
    for number in 0..30 {
        ledger.trials[0].stages[0].metrics.insert(format!("m{number}"), 1.0);
    }
    let text = trials(&ledger, PLAIN);
    assert!(text.lines().last().unwrap().starts_with("29 more metrics do not fit"), "{text}");
}

#[test]
fn trials_that_were_given_up_or_withdrawn_are_called_so() {
    let mut ledger = sample::study(60);
    (ledger.trials[1].state, ledger.trials[2].state) = (TrialState::Abandoned, TrialState::Withdrawn);
    sample::settle(&mut ledger);
    let text = trials(&ledger, PLAIN);
    assert!(text.lines().nth(2).unwrap().contains("abandoned"), "{text}");
    assert!(text.lines().nth(3).unwrap().contains("withdrawn"), "{text}");
}

#[test]
fn the_last_and_the_best_can_be_chosen() {
    let ledger = sample::study(60);
    let last = trials(&ledger, Options { which: Which::Last(3), ..PLAIN });
    assert_eq!(
        last.lines().skip(1).map(|l| l.trim_start()[..2].to_owned()).collect::<Vec<_>>(),
        ["57", "58", "59"]
    );
    let best = trials(&ledger, Options { which: Which::Best(2), ..PLAIN });
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
    let ledger = sample::study(60);
    assert!(trials(&ledger, Options { ascii: true, ..PLAIN }).is_ascii());
    assert!(!trials(&ledger, PLAIN).contains('\u{1b}'));
    let coloured = trials(&ledger, Options { colour: true, ..PLAIN });
    assert!(crate::terminal::safe(&coloured).contains("\u{1b}["));
}

#[test]
fn no_text_of_the_user_steers_the_terminal() {
    let text = trials(&sample::with_text("a\u{1b}[2J\r\n\u{7}b\u{202e}"), PLAIN);
    assert_eq!(text.lines().count(), 13);
    assert!(!text.contains(['\u{1b}', '\r', '\u{7}', '\u{202e}']));
}
