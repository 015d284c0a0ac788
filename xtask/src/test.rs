//! `cargo xtask test`: everything that must hold before a change is submitted, stopping at the first failure.

use crate::{book, deny, fuzz, quickstart, step, tidy};
use anyhow::{Result, bail};
use std::process::Command;
use std::time::Instant;

/// The reference files that come with the laboratory.
const FIXTURES: &str = "crates/stagetune-lab/tests/fixtures/good";

/// What to leave out.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Do not check licences, duplicates and sources: for a machine that cannot fetch cargo-deny.
    /// Refused where CI is set.
    #[arg(long)]
    without_deny: bool,
    /// Do not build the book and check its links: for a machine that cannot fetch mdbook. Refused
    /// where CI is set.
    #[arg(long)]
    without_book: bool,
}

impl Options {
    /// The steps that are left out, by the words that leave them out.
    fn left_out(&self) -> Vec<&'static str> {
        let flags = [(self.without_deny, "--without-deny"), (self.without_book, "--without-book")];
        flags.into_iter().filter(|(given, _)| *given).map(|(_, name)| name).collect()
    }
}

/// Runs every step.
pub fn run(options: &Options) -> Result<()> {
    let started = Instant::now();
    let left_out = options.left_out();
    if !left_out.is_empty() && std::env::var_os("CI").is_some() {
        bail!("{} leaves out a check, and CI is set", left_out.join(" "));
    }
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
    if options.without_deny {
        println!("\n── licences, duplicates, sources: NOT CHECKED, as --without-deny says ──");
    } else {
        step::timed("licences, duplicates, sources", deny::run)?;
    }
    if options.without_book {
        println!("\n── book: NOT CHECKED, as --without-book says ──");
    } else {
        step::timed("book", || book::run(&book::Options::default()))?;
    }
    step::timed("tests", || cargo(&["test", "--workspace", "--quiet"]))?;
    // The program that the tests have just built: `cargo run` of one package resolves other
    // features, and builds half of everything anew.
    let lab = quickstart::target_directory().join("debug/stagetune-lab");
    step::timed("references", || {
        step::run(Command::new(&lab).args(["reference", FIXTURES]).current_dir(step::root()))
    })?;
    // Each benchmark runs once, so that none rots unseen; nothing is measured, so what the tests
    // have built will do.
    step::timed("benchmarks, once each", || {
        cargo(&["test", "--workspace", "--bench", "*", "--quiet", "--", "--test"])
    })?;
    step::timed("fuzzing, for a moment", || fuzz::run(&fuzz::Options::briefly()))?;
    let which = match &left_out[..] {
        [] => "all steps".to_owned(),
        left_out => format!("all steps but those left out by {}", left_out.join(" ")),
    };
    println!("\n{which} passed in {:.0} s", started.elapsed().as_secs_f64());
    Ok(())
}
