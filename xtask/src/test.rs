//! `cargo xtask test`: everything that must hold before a change is submitted, stopping at the first failure.

use crate::{fuzz, quickstart, step, tidy};
use anyhow::Result;
use std::process::Command;
use std::time::Instant;

/// The reference files that come with the laboratory.
const FIXTURES: &str = "crates/stagetune-lab/tests/fixtures/good";

/// Runs every step.
pub fn run() -> Result<()> {
    let started = Instant::now();
    let cargo = |arguments: &[&str]| step::run(&mut step::cargo(arguments));
    step::timed("format", || cargo(&["fmt", "--all", "--check"]))?;
    step::timed("tidy", tidy::run)?;
    step::timed("lints", || {
        cargo(&["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"])
    })?;
    step::timed("documentation", || {
        let mut doc = step::cargo(&["doc", "--workspace", "--no-deps", "--quiet"]);
        step::run(doc.env("RUSTDOCFLAGS", "-Dwarnings"))
    })?;
    step::timed("tests", || cargo(&["test", "--workspace", "--quiet"]))?;
    // The program that the tests have just built: `cargo run` of one package resolves other features, and builds half of everything anew.
    let lab = quickstart::target_directory().join("debug/stagetune-lab");
    step::timed("references", || {
        step::run(Command::new(&lab).args(["reference", FIXTURES]).current_dir(step::root()))
    })?;
    // Each benchmark runs once, so that none rots unseen; nothing is measured, so what the tests have built will do.
    step::timed("benchmarks, once each", || {
        cargo(&["test", "--workspace", "--bench", "*", "--quiet", "--", "--test"])
    })?;
    step::timed("fuzzing, for a moment", || fuzz::run(&fuzz::Options::briefly()))?;
    println!("\nall steps passed in {:.0} s", started.elapsed().as_secs_f64());
    Ok(())
}
