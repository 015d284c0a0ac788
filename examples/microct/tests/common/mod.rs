//! What the tests of the program share: running it, and a small phantom.
#![allow(dead_code, clippy::unwrap_used)]

use std::path::Path;
use std::process::{Command, Output};

/// Runs `microct` in a directory.
pub fn microct(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_microct")).args(arguments).current_dir(folder).output().unwrap()
}

/// Runs it, and it works.
pub fn fine(folder: &Path, arguments: &[&str]) -> String {
    let output = microct(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Runs it, it fails, and says why in one line of words.
pub fn refused(folder: &Path, arguments: &[&str], words: &[&str]) {
    let output = microct(folder, arguments);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success(), "{arguments:?} worked");
    assert!(message.starts_with("error: ") && !message.contains("panicked"), "{message}");
    for word in words {
        assert!(message.contains(word), "{arguments:?}: `{word}` is not in: {message}");
    }
}

/// A phantom of 16 × 48 × 52 voxels in `data`.
pub fn small_phantom(folder: &Path) {
    fine(folder, &["phantom", "--out", "data", "--size", "16,48,52", "--seed", "3"]);
}

/// A number of a JSON file.
pub fn number(file: &Path, key: &str) -> f64 {
    let json: serde_json::Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    json[key].as_f64().unwrap()
}
