//! `stagetune-lab evidence` about LaMBO, at toy sizes.

// Clippy lets tests unwrap and panic but not the helpers beside them.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{evidence, lab};
use serde_json::Value;

fn rows(result: &Value) -> &Vec<Value> {
    result["rows"].as_array().unwrap()
}

#[test]
fn the_first_module_moves_as_rarely_as_its_depth_promises() {
    let result = evidence(&["laziness", "--runs", "6", "--iterations", "30"]);
    let shares: Vec<f64> = rows(&result).iter().map(|row| row["share"].as_f64().unwrap()).collect();
    assert!(rows(&result).iter().all(|row| row["holds"] == true), "{result}");
    assert!(shares[0] > shares[1], "a deeper module moves less: {result}");
}

#[test]
fn movement_regret_adds_up_and_eager_strategies_pay_at_every_trial() {
    let size = ["--runs", "2", "--from", "20", "--to", "40"];
    let result = evidence(&[&["regret", "--strategies", "lambo,gp-ucb,random"][..], &size].concat());
    for row in rows(&result) {
        let part = |name: &str| row[name].as_f64().unwrap();
        assert!(
            (part("movement_regret") - part("regret_part") - part("movement_part")).abs() < 1e-9,
            "{row}"
        );
        assert!(part("regret_part") > 0.0 && part("simple_regret") >= 0.0, "{row}");
        match row["strategy"].as_str().unwrap() {
            "lambo" => assert!(part("movement_part") < 35.0, "{row}"),
            // λ c_1 = 1 for each of the 40 trials; chance never repeats a value.
            "random" => assert_eq!(part("movement_part"), 40.0, "{row}"),
            // Twenty trials of two runs have no slope to speak of; that it moves nearly every time they show.
            _ => assert!(part("movement_part") > 35.0 && part("slope") > 0.0, "{row}"),
        }
    }
}

#[test]
fn an_ask_is_timed_with_eight_arms() {
    let result = evidence(&["ask", "--n", "30", "--repeats", "2"]);
    assert_eq!(result["arms"], 8);
    assert!(result["ratio"].as_f64().unwrap() > 0.0);
}

#[test]
fn a_resumed_study_goes_on_with_the_same_proposals() {
    for strategy in ["lambo", "lambo-paper", "gp-ucb", "random"] {
        let result = evidence(&["resume", "--strategy", strategy, "--trials", "45", "--after", "3"]);
        assert_eq!(result["same_proposals"], true, "{strategy}: {result}");
    }
}

#[test]
fn settings_are_compared_on_the_same_seeds() {
    let small =
        ["settings", "--runs", "2", "--trials", "22", "--problems", "1,3", "--variants", "paper,default"];
    let result = evidence(&small);
    assert_eq!(rows(&result).len(), 2);
    for row in rows(&result) {
        assert_eq!(row["problems"].as_array().unwrap().len(), 2);
        assert!(
            row["overall"].as_array().unwrap().iter().all(|r| (0.0..=1.0).contains(&r.as_f64().unwrap()))
        );
    }
}

#[test]
fn sizes_that_make_no_sense_are_refused() {
    for (arguments, complaint) in [
        (&["laziness", "--runs", "1"][..], "two runs"),
        (&["regret", "--from", "30", "--to", "20"], "slope between"),
        (&["regret", "--strategies", "luck", "--runs", "2", "--to", "60"], "no strategy `luck`"),
        (&["regret", "--split", "3,4", "--runs", "2"], "6 variables"),
        (&["ask", "--n", "3"], "at least 16"),
        (&["resume", "--after", "0"], "something to compare"),
        (&["settings", "--variants", "magic"], "no variant is called `magic`"),
        (&["settings", "--problems", "9"], "there are 6"),
    ] {
        let output = lab(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains(complaint), "{arguments:?}: {message}");
    }
}
