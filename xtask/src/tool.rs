//! A program of others that a chore needs: one release of it, on the path or installed once into
//! `target/tools`.

use crate::step;
use anyhow::{Context, Result};
use std::path::PathBuf;
use std::process::Command;

/// A program and the release that is used: another one may find other things.
#[derive(Debug)]
pub struct Tool {
    /// The crate and its program, which have one name.
    pub name: &'static str,
    /// The release.
    pub version: &'static str,
    /// Arguments of `cargo install` that choose its parts.
    pub features: &'static [&'static str],
    /// What to do where it cannot be had.
    pub without: &'static str,
}

impl Tool {
    /// The program: on the path if it is this release, otherwise in `target/tools`, where it is
    /// installed once.
    pub fn get(&self) -> Result<PathBuf> {
        let Self { name, version, features, without } = self;
        let folder = step::root().join("target/tools").join(format!("{name}-{version}"));
        let own = folder.join("bin").join(name);
        if let Some(found) =
            [PathBuf::from(name), own.clone()].into_iter().find(|program| self.is_right(program))
        {
            return Ok(found);
        }
        println!("{name} {version} is not there; it is built once into {}", folder.display());
        // Optimised, it would take several times as long to build, and it runs for a few seconds.
        let mut install = step::cargo(&["install", name, "--locked", "--debug", "--quiet"]);
        install.args(*features).args(["--version", &format!("={version}"), "--root"]).arg(&folder);
        install.env("CARGO_PROFILE_DEV_DEBUG", "false").env_remove("CARGO_TARGET_DIR");
        step::run(&mut install).with_context(|| {
            format!(
                "{name} cannot be had, so nothing was checked: install it, or, where there is no \
                    network, {without}"
            )
        })?;
        Ok(own)
    }

    /// Whether a program is there and of the release that is used.
    fn is_right(&self, program: &PathBuf) -> bool {
        let said = Command::new(program).arg("--version").output();
        said.is_ok_and(|said| said.status.success() && self.says_version(&said.stdout))
    }

    /// Whether the program says its name and the release; some put a `v` before it.
    fn says_version(&self, said: &[u8]) -> bool {
        let said = String::from_utf8_lossy(said);
        let mut words = said.split_whitespace();
        let (name, version) = (words.next(), words.next());
        name == Some(self.name) && version.map(|v| v.trim_start_matches('v')) == Some(self.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_release_that_was_chosen_is_used() {
        let tool = Tool { name: "some-tool", version: "0.20.2", features: &[], without: "" };
        assert!(tool.says_version(b"some-tool 0.20.2\n") && tool.says_version(b"some-tool v0.20.2\n"));
        assert!(!tool.says_version(b"some-tool 0.14.2\n") && !tool.says_version(b""));
        assert!(!tool.is_right(&PathBuf::from("no-such-program-anywhere")));
    }
}
