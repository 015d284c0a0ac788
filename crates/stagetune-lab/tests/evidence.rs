//! `stagetune-lab evidence` at toy sizes: the files say what they must, and a run's numbers depend on its seed alone.

// Clippy lets tests unwrap and panic but not the helpers beside them.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{evidence, lab};
use serde_json::Value;

const MAXIMISER: [&str; 12] = [
    "maximiser",
    "--each",
    "--problems",
    "4",
    "--points",
    "2000",
    "--polished",
    "6",
    "--n",
    "20",
    "--dim",
    "3",
];

#[test]
fn brute_force_is_beaten_by_rounding_at_most_and_the_maximiser_comes_close() {
    let result = evidence(&MAXIMISER);
    let each = result["listed"].as_array().unwrap();
    assert_eq!(each.len(), 4);
    for outcome in each {
        for name in ["ei", "log_ei"] {
            let ratio = outcome[name].as_f64().unwrap();
            assert!(ratio > 0.5 && ratio < 1.01, "{outcome}");
        }
    }
    for name in ["ei", "log_ei"] {
        let share = result[name]["share_close"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&share));
        assert_eq!(result[name]["worst"].as_array().unwrap().len(), 4);
    }
}

#[test]
fn the_same_seed_gives_the_same_numbers_and_another_one_others() {
    let first = evidence(&MAXIMISER);
    assert_eq!(first, evidence(&MAXIMISER));
    let mut other = MAXIMISER.to_vec();
    other.extend(["--seed", "2"]);
    let other: Value = serde_json::from_slice(&lab(&other).stdout).unwrap();
    assert_ne!(first["listed"], other["result"]["listed"]);
}

#[test]
fn every_kernel_has_a_speed_and_the_product_is_its_own_measure() {
    let result = evidence(&["kernels", "--n", "60", "--q", "8", "--repeats", "2"]);
    let kernels = result["kernels"].as_array().unwrap();
    let names: Vec<&str> = kernels.iter().map(|kernel| kernel["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        ["matrix product", "factorisation", "building a process", "prediction", "likelihood gradient"]
    );
    assert_eq!(kernels[0]["share_of_product"], 1.0);
    assert!(kernels.iter().all(|kernel| kernel["gflops"].as_f64().unwrap() > 0.0));
}

#[cfg(target_os = "linux")]
#[test]
fn memory_is_that_of_a_process_of_its_own() {
    let result = evidence(&["memory", "--n", "150", "--dim", "3"]);
    let peak = |name: &str| result["peaks"][name].as_f64().unwrap();
    assert!(0.0 < peak("before_mb"));
    assert!(peak("before_mb") <= peak("after_fit_mb"), "{result}");
    assert!(peak("after_fit_mb") <= peak("after_suggestion_mb"), "{result}");
    assert!(result["matrices"].as_f64().unwrap() > 0.0);
}

#[test]
fn scaling_reports_a_row_for_every_size_and_a_finite_exponent() {
    let result = evidence(&["scaling", "--points", "20,40,80", "--dim", "2", "--repeats", "2"]);
    let sizes: Vec<u64> =
        result["rows"].as_array().unwrap().iter().map(|row| row["n"].as_u64().unwrap()).collect();
    assert_eq!(sizes, [20, 40, 80]);
    assert!(result["exponent"].as_f64().unwrap().is_finite());
    assert!(result["fit_exponent"].as_f64().unwrap().is_finite());
}

#[test]
fn a_file_is_written_into_folders_made_for_it() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("evidence/new");
    let path = folder.join("kernels.json");
    let _ = std::fs::remove_dir_all(&folder);
    let output =
        lab(&["kernels", "--n", "20", "--q", "2", "--repeats", "1", "--out", path.to_str().unwrap()]);
    assert!(output.stdout.is_empty());
    let file: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(file["name"], "kernels");
}

#[test]
fn sizes_that_make_no_sense_are_refused() {
    for (arguments, complaint) in [
        (&["scaling", "--points", "50"][..], "two numbers of observations"),
        (&["scaling", "--points", "1,50"], "two observations or more"),
        (&["scaling", "--points", "20,40", "--repeats", "0"], "at least one"),
        (&["kernels", "--n", "0"], "at least 1"),
        (&["memory", "--n", "1"], "two observations or more"),
        (&["maximiser", "--problems", "0"], "at least 1"),
        (&["maximiser", "--points", "0"], "at least 1"),
    ] {
        let output = lab(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(message.contains(complaint), "{arguments:?}: {message}");
    }
}
