//! What a long study of small outputs leaves on the disk: a real run, and every file counted afterwards.

use super::Finding;
use super::overhead::program;
use anyhow::{Result, ensure};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

pub const CLAIM: &str = "20,000 trials with outputs of a few bytes leave fewer than 1,000 files";

/// How many files are allowed.
const ALLOWED: usize = 1_000;

/// The size of the study.
#[derive(Debug, Args)]
pub struct Options {
    /// Trials to run.
    #[arg(long, default_value_t = 20_000)]
    trials: usize,
    /// Trials at a time.
    #[arg(long, default_value_t = 2)]
    workers: usize,
    /// The program that runs them; without it the one beside this program.
    #[arg(long)]
    stagetune: Option<PathBuf>,
}

/// What lies in a directory.
#[derive(Debug, Default)]
struct Found {
    files: usize,
    dirs: usize,
    bytes: u64,
}

/// Runs the study, counts, and has every output verified.
pub fn run(options: &Options, seed: u64) -> Result<Finding> {
    ensure!(options.trials > 0, "there must be something to run");
    let stagetune = program(options.stagetune.as_ref())?;
    let dir = tempfile::tempdir()?;
    std::fs::write(dir.path().join("pipeline.toml"), pipeline(options.trials, seed))?;
    let command = |arguments: &[&str]| -> Result<()> {
        let mut command = Command::new(&stagetune);
        let status = command.args(arguments).current_dir(dir.path()).stdout(Stdio::null()).status()?;
        ensure!(status.success(), "stagetune {arguments:?} ended with {status}");
        Ok(())
    };
    let started = Instant::now();
    command(&["run", "--quiet", "--workers", &options.workers.to_string()])?;
    let run_seconds = started.elapsed().as_secs_f64();
    let mut found = Found::default();
    count(&dir.path().join(".stagetune"), &mut found)?;
    let started = Instant::now();
    command(&["cache", "verify"])?;
    Finding::new(
        found.files < ALLOWED,
        &serde_json::json!({
            "trials": options.trials, "workers": options.workers, "files": found.files, "allowed_files": ALLOWED,
            "directories": found.dirs, "bytes": found.bytes, "run_seconds": run_seconds,
            "verify_seconds": started.elapsed().as_secs_f64(),
        }),
    )
}

/// Three stages that write a few bytes and say a few words; nearly every trial runs all of them.
fn pipeline(trials: usize, seed: u64) -> String {
    let head = format!(
        "[study]\nname = \"files\"\nmetric = \"f\"\ndirection = \"minimize\"\nstrategy = \"random\"\nseed = {seed}\nbudget = {{ trials = {trials} }}\n"
    );
    let stages = [("a", "echo $1 > \"$2/v\""), ("b", "echo $1 > \"$2/v\"; echo b is done"), ("c", METRIC)];
    let stage = |(name, script): (&str, &str)| {
        let above = match name {
            "b" => ", \"{a}\"",
            "c" => ", \"{b}\"",
            _ => "",
        };
        format!(
            "[[stage]]\nname = \"{name}\"\ncost = 1\nrun = [\"sh\", \"-c\", '{script}', \"sh\", \"{{{name}_x}}\", \"{{out}}\"{above}]\n[stage.params]\n{name}_x = {{ int = [0, 1000000] }}\n"
        )
    };
    head + &stages.map(stage).concat()
}

/// What the last stage runs.
const METRIC: &str = "echo \"{{\\\"f\\\": $1}}\" > \"$2/result.json\"";

/// Adds all that lies below a directory.
fn count(dir: &Path, found: &mut Found) -> Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let about = entry.metadata()?;
        if about.is_dir() {
            found.dirs += 1;
            count(&entry.path(), found)?;
        } else {
            found.files += 1;
            found.bytes += about.len();
        }
    }
    Ok(())
}
