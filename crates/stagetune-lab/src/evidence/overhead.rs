//! What `stagetune run` adds to the commands that it runs: the whole command against a shell loop over the same commands.
//!
//! ```text
//! executed   (seconds of a study in which every stage runs − seconds of the shell loop) / stages
//! reused     seconds of a study whose every stage is in the cache / stages
//! ```
//!
//! Start-up, journal and cache are all in it. Shell loop and studies take turns within a repeat; medians over repeats are compared.

use super::Finding;
use anyhow::{Context, Result, ensure};
use clap::Args;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

pub const CLAIM: &str =
    "stagetune adds under 1 ms to a reused stage and under 5 ms to an executed one, beyond the bare process";

/// What is allowed for a reused and for an executed stage, in milliseconds.
const ALLOWED: (f64, f64) = (1.0, 5.0);

/// Stages of the pipeline.
const STAGES: usize = 3;

/// The size of the measurement.
#[derive(Debug, Args)]
pub struct Options {
    /// Trials of each study.
    #[arg(long, default_value_t = 100)]
    trials: usize,
    /// How often everything is measured.
    #[arg(long, default_value_t = 7)]
    repeats: usize,
    /// The program to measure; without it the one beside this program.
    #[arg(long)]
    stagetune: Option<PathBuf>,
}

/// The `stagetune` command to measure.
pub(super) fn program(given: Option<&PathBuf>) -> Result<PathBuf> {
    let beside = || Some(std::env::current_exe().ok()?.parent()?.join("stagetune"));
    let program =
        given.cloned().or_else(beside).context("no `stagetune` to measure; name one with --stagetune")?;
    ensure!(
        program.is_file(),
        "there is no {}; build it with `cargo build --release -p stagetune-cli`, or name one with --stagetune",
        program.display()
    );
    Ok(program)
}

/// Measures, taking turns.
pub fn run(options: &Options, seed: u64) -> Result<Finding> {
    ensure!(options.trials > 0 && options.repeats > 0, "there must be something to measure");
    let stagetune = program(options.stagetune.as_ref())?;
    let stages = (options.trials * STAGES) as f64;
    let (mut executed, mut reused, mut bare) = (Vec::new(), Vec::new(), Vec::new());
    // All directories stay to the end: for five seconds ext4 does not use a deleted file's inode again, and looks at
    // every one of them whenever a file is made.
    let mut dirs = Vec::new();
    for repeat in 0..options.repeats {
        let dir = tempfile::tempdir()?;
        bare.push(shell_loop(dir.path(), options.trials)? / stages * 1e3);
        fs::write(dir.path().join("first.toml"), pipeline("first", options.trials, seed))?;
        fs::write(dir.path().join("again.toml"), pipeline("again", options.trials, seed))?;
        executed.push(study(&stagetune, dir.path(), "first.toml")? / stages * 1e3);
        reused.push(study(&stagetune, dir.path(), "again.toml")? / stages * 1e3);
        eprintln!(
            "overhead: repeat {} of {}: bare {:.2}, executed {:.2}, reused {:.2} ms a stage",
            repeat + 1,
            options.repeats,
            bare[repeat],
            executed[repeat],
            reused[repeat]
        );
        dirs.push(dir);
    }
    let (bare, executed, reused) = (median(&mut bare), median(&mut executed), median(&mut reused));
    let added = executed - bare;
    Finding::new(
        added < ALLOWED.1 && reused < ALLOWED.0,
        &serde_json::json!({
            "trials": options.trials, "stages": STAGES, "repeats": options.repeats,
            "bare_ms": bare, "executed_ms": executed,
            "added_to_executed_ms": added, "allowed_executed_ms": ALLOWED.1,
            "reused_ms": reused, "allowed_reused_ms": ALLOWED.0,
        }),
    )
}

const SCRIPT: &str = r#"echo "{\"f\": $2}" > "$1/result.json""#;

fn pipeline(name: &str, trials: usize, seed: u64) -> String {
    let mut text = format!(
        "[study]\nname = \"{name}\"\nmetric = \"f\"\ndirection = \"minimize\"\nstrategy = \"random\"\nseed = {seed}\nbudget = {{ trials = {trials} }}\n"
    );
    let script = SCRIPT.replace('{', "{{").replace('}', "}}");
    for stage in 0..STAGES {
        text.push_str(&format!(
            "[[stage]]\nname = \"s{stage}\"\nrun = [\"sh\", \"-c\", '{script}', \"sh\", \"{{out}}\", \"{{x{stage}}}\"]\n[stage.params]\nx{stage} = {{ float = [0, 1] }}\n"
        ));
    }
    text
}

fn study(stagetune: &Path, dir: &Path, file: &str) -> Result<f64> {
    let mut command = Command::new(stagetune);
    command.args(["run", file]).current_dir(dir).stdout(Stdio::null()).stderr(Stdio::null());
    timed(&mut command)
}

/// The same commands without stagetune, each with a directory of its own.
fn shell_loop(dir: &Path, trials: usize) -> Result<f64> {
    // Made beforehand: a shell needs a process for each.
    (0..trials * STAGES).try_for_each(|i| fs::create_dir_all(dir.join(format!("bare/{i}"))))?;
    let script = format!(
        "i=0; while [ $i -lt {} ]; do sh -c '{SCRIPT}' sh bare/$i 0.5; i=$((i+1)); done",
        trials * STAGES
    );
    let mut command = Command::new("sh");
    command.args(["-c", &script]).current_dir(dir);
    timed(&mut command)
}

fn timed(command: &mut Command) -> Result<f64> {
    let started = Instant::now();
    let status = command.status().with_context(|| format!("cannot start {:?}", command.get_program()))?;
    ensure!(status.success(), "{command:?} ended with {status}");
    Ok(started.elapsed().as_secs_f64())
}

pub(super) fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
