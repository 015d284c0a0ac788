//! `microct measure`: what each stage takes, as processes run it, at settings drawn at random.

use crate::table::{Grid, Seconds, spread_of};
use anyhow::{Context, Result, ensure};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Measure what each stage takes as a process, at random settings.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Directory that `microct phantom` has written
    #[arg(long, value_name = "DATA")]
    pub data: PathBuf,
    /// Runs of the whole pipeline
    #[arg(long, default_value_t = 10)]
    pub runs: usize,
    /// What the settings come from
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// File to write
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// The day, to be written into the file
    #[arg(long, default_value = "", value_parser = crate::parse_day)]
    pub date: String,
}

/// Runs the subcommand.
pub fn run(options: &Options) -> Result<()> {
    ensure!(options.runs >= 2, "--runs is {}; give at least 2, so that there is a spread", options.runs);
    // What can be wrong is found out now, not after the minutes.
    if let Some(folder) = options.out.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        crate::volume::directory(folder)?;
    }
    ensure!(!options.out.is_dir(), "--out {} is a directory; name a file", options.out.display());
    let scratch = std::env::temp_dir().join(format!("microct-measure-{}", std::process::id()));
    crate::volume::directory(&scratch)?;
    let done =
        measured(options, &scratch).and_then(|found| write(&options.out, &Grid::three(), &found, options));
    let removed = std::fs::remove_dir_all(&scratch);
    done?;
    removed.with_context(|| format!("cannot remove {}", scratch.display()))
}

/// Seconds of every run, stage by stage.
fn measured(options: &Options, scratch: &Path) -> Result<Vec<Vec<f64>>> {
    let grid = Grid::three();
    let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
    let mut found: Vec<Vec<f64>> = vec![Vec::new(); grid.stages.len()];
    for run in 0..options.runs {
        let mut before = options.data.clone();
        for (stage, (name, axes)) in grid.stages.iter().enumerate() {
            let out = scratch.join(name);
            let mut command = Command::new(std::env::current_exe().context("cannot find this program")?);
            command.arg(name).arg("--in").arg(&before).arg("--out").arg(&out).stdout(Stdio::null());
            if *name != "denoise" {
                command.arg("--truth").arg(&options.data);
            }
            for axis in axes {
                let value = axis.values[rng.random_range(0..axis.values.len())];
                command.arg(format!("--{}", axis.name)).arg(value.to_string());
            }
            let started = Instant::now();
            let status = command.status().with_context(|| format!("cannot run microct {name}"))?;
            ensure!(status.success(), "microct {name} failed ({status}); what it says is above");
            let seconds = started.elapsed().as_secs_f64();
            eprintln!("run {} of {}: {name} {seconds:.2} s", run + 1, options.runs);
            found[stage].push(seconds);
            before = out;
        }
    }
    Ok(found)
}

fn write(file: &Path, grid: &Grid, found: &[Vec<f64>], options: &Options) -> Result<()> {
    let stages: Vec<(&str, Seconds)> =
        grid.stages.iter().zip(found).map(|((name, _), seconds)| (*name, spread_of(seconds))).collect();
    let mut report = serde_json::Map::new();
    for (name, seconds) in &stages {
        println!("{name:>12}: {:.2} ± {:.2} s", seconds.mean, seconds.sd);
        report.insert((*name).to_owned(), serde_json::to_value(seconds)?);
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    report.insert(
        "made".to_owned(),
        serde_json::json!({
            "command": "cargo xtask microct measure", "runs": options.runs, "seed": options.seed, "date": options.date,
            "cores": cores, "version": env!("CARGO_PKG_VERSION"),
        }),
    );
    std::fs::write(file, serde_json::to_string_pretty(&report)? + "\n")
        .with_context(|| format!("cannot write {}", file.display()))
}
