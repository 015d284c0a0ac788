//! `cargo xtask deny`: licences, duplicates and sources of everything in the tree, by cargo-deny
//! and `deny.toml`.

use crate::step;
use crate::tool::Tool;
use anyhow::{Context, Result};
use std::path::PathBuf;
use std::process::Command;

/// The release that is used: another one may find other things.
const CARGO_DENY: Tool = Tool {
    name: "cargo-deny",
    version: "0.20.2",
    features: &[],
    without: "run `cargo xtask test --without-deny`",
};

/// A set of crates that are built together, and what is said of it that is no fault.
struct Tree {
    manifest: &'static str,
    arguments: &'static [&'static str],
}

/// Exceptions are for both, so each of them misses some; the skipped duplicates of the workspace
/// must all be there.
const TREES: [Tree; 2] = [
    Tree {
        manifest: "Cargo.toml",
        arguments: &["--allow", "license-exception-not-encountered", "--deny", "unmatched-skip"],
    },
    Tree {
        manifest: "fuzz/Cargo.toml",
        arguments: &["--allow", "license-exception-not-encountered", "--allow", "unmatched-skip"],
    },
];

/// Checks both trees, and known faults where the database of advisories can be had.
pub fn run() -> Result<()> {
    let program = CARGO_DENY.get()?;
    for tree in &TREES {
        let mut deny = Command::new(&program);
        deny.args(["--manifest-path", tree.manifest, "--config", "deny.toml", "check"]);
        deny.args(tree.arguments).args(["licenses", "bans", "sources"]).current_dir(step::root());
        step::run(&mut deny)?;
    }
    advisories(&program)
}

/// Known faults. The database is a repository elsewhere, which some machines cannot reach.
fn advisories(program: &PathBuf) -> Result<()> {
    let mut fetch = Command::new(program);
    let fetched = fetch.args(["--log-level", "off", "fetch", "db"]).current_dir(step::root()).output();
    if !fetched.context("cannot start cargo-deny")?.status.success() {
        println!("advisories: NOT CHECKED, for their database cannot be fetched from here");
        return Ok(());
    }
    for tree in &TREES {
        let mut deny = Command::new(program);
        deny.args(["--manifest-path", tree.manifest, "--config", "deny.toml", "check", "--disable-fetch"]);
        step::run(deny.arg("advisories").current_dir(step::root()))?;
    }
    Ok(())
}
