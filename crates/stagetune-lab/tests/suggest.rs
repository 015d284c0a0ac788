//! `stagetune-lab suggest` as another program calls it.

// Clippy lets tests unwrap but not the helpers beside them.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Output, Stdio};

fn suggest(request: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_stagetune-lab"))
        .arg("suggest")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(request.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn request(threads: usize) -> String {
    let x: Vec<[f64; 2]> =
        (0..12).map(|i| [f64::from(i) / 11.0, (f64::from(i) * 0.618_034).fract()]).collect();
    let y: Vec<f64> = x.iter().map(|[a, b]| (a - 0.3) * (a - 0.3) + (b - 0.6) * (b - 0.6)).collect();
    json!({"x": x, "y": y, "seed": 3, "threads": threads, "repeats": 2}).to_string()
}

#[test]
fn the_answer_holds_a_point_of_the_cube_and_a_time_for_each_repeat() {
    let output = suggest(&request(1));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let x: Vec<f64> = serde_json::from_value(answer["x"].clone()).unwrap();
    assert!(x.len() == 2 && x.iter().all(|u| (0.0..=1.0).contains(u)), "{answer}");
    for key in ["seconds", "fit_seconds", "maximise_seconds"] {
        assert_eq!(answer[key].as_array().unwrap().len(), 2, "{key}");
    }
    assert_eq!(answer["hyper"]["lengthscales"].as_array().unwrap().len(), 2);
}

#[test]
fn the_point_does_not_depend_on_the_number_of_threads() {
    let point = |threads| {
        let answer: Value = serde_json::from_slice(&suggest(&request(threads)).stdout).unwrap();
        answer["x"].clone()
    };
    assert_eq!(point(1), point(2));
}

#[test]
fn a_bad_request_is_an_error_that_says_what_is_wrong() {
    for (request, complaint) in [
        ("", "not a request"),
        (r#"{"x": [[0.5]]}"#, "missing field `y`"),
        (r#"{"x": [], "y": []}"#, "no points"),
        (r#"{"x": [[0.5]], "y": [1, 2]}"#, "x has 1 rows and y 2 values"),
        (r#"{"x": [[0.5], [0.5, 0.5]], "y": [1, 2]}"#, "differ in length"),
        (r#"{"x": [[0.5], [1.5]], "y": [1, 2]}"#, "x[1] is outside the unit cube"),
        (r#"{"x": [[0.5]], "y": [1], "repeats": 0}"#, "repeats is 0"),
        (r#"{"x": [[0.5]], "y": [1], "sead": 1}"#, "unknown field `sead`"),
    ] {
        let output = suggest(request);
        assert_eq!(output.status.code(), Some(2), "{request}");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains(complaint), "{request}: {message}");
    }
}
