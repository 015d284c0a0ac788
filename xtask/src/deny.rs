//! `cargo xtask deny`: licences, duplicates and sources of everything in the tree, by cargo-deny and `deny.toml`.

use crate::step;
use anyhow::{Context, Result};
use std::path::PathBuf;
use std::process::Command;

/// The release that is used: another one may find other things.
const VERSION: &str = "0.20.2";

/// A set of crates that are built together, and what is said of it that is no fault.
struct Tree {
    manifest: &'static str,
    arguments: &'static [&'static str],
}

/// Exceptions are for both, so each of them misses some; the skipped duplicates of the workspace must all be there.
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
    let program = tool()?;
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

/// The program: on the path if it is this release, otherwise in `target/tools`, where it is installed once.
fn tool() -> Result<PathBuf> {
    let folder = step::root().join("target/tools").join(format!("cargo-deny-{VERSION}"));
    let own = folder.join("bin/cargo-deny");
    if let Some(found) = [PathBuf::from("cargo-deny"), own.clone()].into_iter().find(is_right) {
        return Ok(found);
    }
    println!("cargo-deny {VERSION} is not there; it is built once into {}", folder.display());
    // Optimised, it would take several times as long to build, and it runs for a few seconds.
    let mut install = step::cargo(&["install", "cargo-deny", "--locked", "--debug", "--quiet"]);
    install.args(["--version", &format!("={VERSION}"), "--root"]).arg(&folder);
    install.env("CARGO_PROFILE_DEV_DEBUG", "false").env_remove("CARGO_TARGET_DIR");
    step::run(&mut install).context(
        "cargo-deny cannot be had, so nothing was checked: install it, or, where there is no network, \
         run `cargo xtask test --without-deny`",
    )?;
    Ok(own)
}

/// Whether a program is there and of the release that is used.
fn is_right(program: &PathBuf) -> bool {
    let said = Command::new(program).arg("--version").output();
    said.is_ok_and(|said| said.status.success() && says_version(&said.stdout))
}

fn says_version(said: &[u8]) -> bool {
    String::from_utf8_lossy(said).split_whitespace().eq(["cargo-deny", VERSION])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_release_that_was_chosen_is_used() {
        assert!(says_version(format!("cargo-deny {VERSION}\n").as_bytes()));
        assert!(!says_version(b"cargo-deny 0.14.2\n") && !says_version(b""));
        assert!(!is_right(&PathBuf::from("no-such-program-anywhere")));
    }
}
