//! Builds the fuzz targets on stable Rust: LLVM's coverage pass without a sanitizer.
//!
//! Only the crates whose paths the fuzzer should learn are instrumented, so that those of the linear algebra do not lead it astray: this program stands
//! in for `rustc` and adds the flags for these.

use crate::step;
use anyhow::{Context, Result};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

/// Set for the compiler's stand-in.
const STAND_IN: &str = "STAGETUNE_FUZZ_RUSTC";

/// The crates whose paths the fuzzer learns, beside the targets themselves.
const INSTRUMENTED: [&str; 4] = ["stagetune", "stagetune_pipeline", "toml", "toml_parser"];

/// What makes a program tell the fuzzer where it has been.
const COVERAGE: [&str; 6] = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

/// Where the targets, their corpora and what they say are.
pub fn folder() -> PathBuf {
    step::root().join("target/fuzz")
}

/// The program of a target that was built.
pub fn program(target: &str) -> PathBuf {
    folder().join("debug").join(target)
}

/// Builds every target.
pub fn all() -> Result<()> {
    let mut cargo = step::cargo(&["build", "--quiet", "--manifest-path", "fuzz/Cargo.toml"]);
    cargo
        .env("RUSTC_WRAPPER", std::env::current_exe().context("cannot find this program")?)
        .env(STAND_IN, "1")
        .env("CARGO_TARGET_DIR", folder());
    step::run(&mut cargo)
}

/// The compiler's stand-in, if this process was started as one.
pub fn stand_in() -> Option<ExitCode> {
    std::env::var_os(STAND_IN)?;
    let mut arguments = std::env::args_os().skip(1);
    let mut rustc = Command::new(arguments.next()?);
    let arguments: Vec<OsString> = arguments.collect();
    let named = arguments.iter().position(|argument| argument == "--crate-name").map(|at| at + 1);
    let name = named.and_then(|at| arguments.get(at)).map(|name| name.to_string_lossy());
    let is_target = |name: &str| super::TARGETS.iter().any(|target| target.name == name);
    if name.is_some_and(|name| INSTRUMENTED.contains(&name.as_ref()) || is_target(&name)) {
        rustc.args(COVERAGE);
    }
    match rustc.args(arguments).status() {
        Ok(status) => Some(ExitCode::from(u8::try_from(status.code().unwrap_or(1)).unwrap_or(1))),
        Err(error) => {
            eprintln!("cannot start rustc: {error}");
            Some(ExitCode::FAILURE)
        }
    }
}
