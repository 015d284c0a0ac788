//! `cargo xtask peers`: sets up Python's side once, builds ours, and lets `peers/peers.py` measure.

use crate::evidence::PANELS;
use crate::step;
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What to do with the peers.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Options {
    #[command(subcommand)]
    play: Option<Play>,
    #[command(flatten)]
    speed: Speed,
}

/// Games on the problems of the figures.
#[derive(Debug, Subcommand)]
enum Play {
    /// Let the peers play on the problems of plans, for the figures; games that are there are not played again.
    Play {
        /// Plans; all of experiments/panel-* by default.
        plans: Vec<PathBuf>,
        /// Who plays, separated by commas; all four by default.
        #[arg(long)]
        peers: Option<String>,
        /// Games of each on every problem.
        #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
        sims: u32,
        /// Folder of the games.
        #[arg(long, default_value = "experiments/peers")]
        out: PathBuf,
    },
}

/// What to measure.
#[derive(Debug, Args)]
struct Speed {
    /// Numbers of points, separated by commas.
    #[arg(long, default_value = "50,200,500", value_delimiter = ',')]
    n: Vec<u32>,
    /// Which objective: the peers' time depends on it.
    #[arg(long, default_value = "both", value_parser = ["smooth", "ackley", "both"])]
    objective: String,
    /// Timed suggestions of each contestant per cell; medians are reported.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    repeats: u32,
    /// Seed of the data and of everybody's random numbers.
    #[arg(long, default_value_t = 1)]
    seed: u32,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
}

/// Plays or measures, after setting up what is missing.
pub fn run(options: &Options) -> Result<()> {
    match &options.play {
        Some(Play::Play { plans, peers, sims, out }) => play(plans, peers.as_deref(), *sims, out),
        None => measure(&options.speed),
    }
}

fn play(plans: &[PathBuf], peers: Option<&str>, sims: u32, out: &Path) -> Result<()> {
    let folder = step::root().join("xtask/peers");
    let python = environment(&folder)?;
    let panel = |panel: &str| step::root().join(format!("experiments/panel-{panel}/plan.toml"));
    let plans = if plans.is_empty() { PANELS.map(panel).to_vec() } else { plans.to_vec() };
    let mut play = step::cargo(&["run", "--release", "--quiet", "--package", "stagetune-lab", "--", "peers"]);
    play.env("PYTHONDONTWRITEBYTECODE", "1").args(plans).args(["--sims", &sims.to_string()]);
    play.arg("--out").arg(out);
    if let Some(peers) = peers {
        play.args(["--peers", peers]);
    }
    step::run(play.arg("--player").arg(python).arg(folder.join("player.py")))
}

fn measure(options: &Speed) -> Result<()> {
    if let Some(n) = options.n.iter().find(|&&n| n < 2) {
        bail!("--n {n}: a model needs at least 2 points");
    }
    let folder = step::root().join("xtask/peers");
    let python = environment(&folder)?;
    step::run(&mut step::cargo(&["build", "--release", "--quiet", "--package", "stagetune-lab"]))?;
    let numbers: Vec<String> = options.n.iter().map(u32::to_string).collect();
    let mut measure = Command::new(python);
    // Compiled Python files beside the sources would show up as changes.
    measure.env("PYTHONDONTWRITEBYTECODE", "1").arg(folder.join("peers.py"));
    measure.arg("--stagetune").arg(target().join("release/stagetune-lab"));
    measure.args(["--n", &numbers.join(","), "--objective", &options.objective]);
    measure.args(["--repeats", &options.repeats.to_string(), "--seed", &options.seed.to_string()]);
    if options.json {
        measure.arg("--json");
    }
    step::run(&mut measure)
}

/// The Python of an environment that holds exactly what `requirements.txt` pins; made at the first call.
fn environment(folder: &Path) -> Result<PathBuf> {
    let requirements = folder.join("requirements.txt");
    let pinned = std::fs::read_to_string(&requirements)
        .with_context(|| format!("cannot read {}", requirements.display()))?;
    let venv = target().join("peers-venv");
    let python = venv.join("bin/python");
    let stamp = venv.join("installed-requirements.txt");
    if std::fs::read_to_string(&stamp).is_ok_and(|installed| installed == pinned) {
        return Ok(python);
    }
    eprintln!("installing the peers into {} (several GB, once)", venv.display());
    step::run(Command::new("python3").args(["-m", "venv"]).arg(&venv))
        .context("cannot make a Python environment; install python3 (3.11 or later) with its venv module")?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"];
    // Standard output is for the table or the JSON alone.
    step::run(Command::new(&python).args(pip).arg(&requirements).stdout(std::io::stderr())).context(
        "pip could not install the peers; it needs the network (or PIP_INDEX_URL set to a mirror) and about 6 GB of disk",
    )?;
    std::fs::write(&stamp, pinned).with_context(|| format!("cannot write {}", stamp.display()))?;
    Ok(python)
}

fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| step::root().join("target"), |dir| step::root().join(dir))
}
