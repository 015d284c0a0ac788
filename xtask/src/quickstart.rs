//! `cargo xtask quickstart`: builds `stagetune` and the example, runs the example's study and writes its report.

use crate::step;
use anyhow::Result;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The pipeline that is tuned.
const PIPELINE: &str = "examples/quickstart/pipeline.toml";

/// Runs everything, each command shown before it runs.
pub fn run() -> Result<()> {
    let target = target_directory();
    let report = target.join("quickstart-report.html");
    for mut command in commands(&target, &report) {
        println!("$ {}", shown(&command));
        step::run(&mut command)?;
    }
    println!("the report: {}", report.display());
    Ok(())
}

/// Build, study, report, in that order, from the root of the workspace.
fn commands(target: &Path, report: &Path) -> [Command; 3] {
    // Without Parquet, whose build takes as long as the study.
    let build = step::cargo(&[
        "build",
        "--release",
        "--package",
        "stagetune-cli",
        "--package",
        "quickstart",
        "--no-default-features",
    ]);
    let program = target.join("release").join(format!("stagetune{}", std::env::consts::EXE_SUFFIX));
    let stagetune = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(arguments).current_dir(step::root());
        command
    };
    let study = stagetune(&["run", PIPELINE]);
    let mut written = stagetune(&["report", PIPELINE, "-o"]);
    written.arg(report);
    [build, study, written]
}

/// Where cargo builds.
pub fn target_directory() -> PathBuf {
    below_root(std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from))
}

/// A relative directory is one of the root, where cargo is started.
fn below_root(named: Option<PathBuf>) -> PathBuf {
    step::root().join(named.unwrap_or_else(|| PathBuf::from("target")))
}

/// The command as one would type it in the root of the workspace.
pub fn shown(command: &Command) -> String {
    let short = |text: &std::ffi::OsStr| {
        let path = Path::new(text);
        path.strip_prefix(step::root()).unwrap_or(path).display().to_string()
    };
    let program = match step::describe(command).split(' ').next() {
        Some(name) if name.starts_with("cargo") => name.to_owned(),
        _ => short(command.get_program()),
    };
    std::iter::once(program).chain(command.get_args().map(short)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_build_then_the_study_then_its_report() {
        let target = below_root(None);
        let shown = commands(&target, &target.join("quickstart-report.html")).map(|command| shown(&command));
        assert_eq!(
            shown[0],
            "cargo build --release --package stagetune-cli --package quickstart --no-default-features"
        );
        assert!(
            shown[1].ends_with("target/release/stagetune run examples/quickstart/pipeline.toml"),
            "{}",
            shown[1]
        );
        assert_eq!(
            shown[2],
            "target/release/stagetune report examples/quickstart/pipeline.toml -o target/quickstart-report.html"
        );
    }

    #[test]
    fn another_target_directory_is_respected() {
        assert_eq!(below_root(Some("elsewhere".into())), step::root().join("elsewhere"));
        let absolute = step::root().join("deep/target");
        assert_eq!(below_root(Some(absolute.clone())), absolute);
    }
}
