//! `stagetune-lab evidence`: slow runs, each of which backs one claim about the engine with a file
//! of numbers.
//!
//! | run | claim |
//! | --- | --- |
//! | `maximiser` | the default maximiser comes within 1% of a brute-force search in 95% of random problems |
//! | `kernels` | the dense kernels run at half the speed of a matrix product or more, on one thread |
//! | `memory` | a fit and a suggestion need less than three matrices of covariances |
//! | `scaling` | a suggestion without a refit costs O(n²) |
//! | `laziness` | LaMBO moves the first module as rarely as its depth promises |
//! | `regret` | the movement regret of LaMBO grows sublinearly, that of GP-UCB does not |
//! | `ask` | one ask with eight arms costs no more than four of GP-UCB |
//! | `settings` | the default settings of LaMBO beat the paper's |
//! | `resume` | a study of 1,000 trials resumes in under 2 seconds and goes on as if nothing had happened |
//! | `overhead` | `stagetune run` adds little to the commands that it runs |
//! | `files` | a long study of small outputs leaves few files |
//! | `long-study` | a study of 20,000 trials opens in under 2 s and its status is there at once |
//! | `campaign` | kills, damage, random pipelines and writes that fail lose no result and make none wrong |
//!
//! A file says how it came about: command, seed, date, cores and version. Progress goes to standard error.

mod ask;
mod campaign;
mod data;
mod files;
mod kernels;
mod laziness;
mod long_study;
mod maximiser;
mod memory;
mod overhead;
mod regret;
mod resume;
mod scaling;
mod settings;

use crate::provenance::provenance;
use crate::write::write_out;
use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::Value;
use std::path::PathBuf;

/// Which claim, and how much effort.
#[derive(Debug, Args)]
pub struct Options {
    #[command(subcommand)]
    run: Run,
    /// Seed of everything random.
    #[arg(long, default_value_t = 1, global = true)]
    seed: u64,
    /// Write the JSON to this file, in directories made for it, instead of to standard output.
    #[arg(long, global = true)]
    out: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Run {
    /// The default maximiser against a brute-force search that shares no code with it but the last polish.
    Maximiser(maximiser::Options),
    /// GFLOP/s of the dense kernels beside those of a matrix product.
    Kernels(kernels::Options),
    /// Peak memory of a fit and a suggestion, in matrices of covariances.
    Memory(memory::Options),
    /// The exponent of n in the time of a suggestion without a refit.
    Scaling(scaling::Options),
    /// How often LaMBO moves the first module, at depths 1 and 4.
    Laziness(laziness::Options),
    /// How fast the movement regret grows.
    Regret(regret::Options),
    /// One ask with eight arms beside one of GP-UCB.
    Ask(ask::Options),
    /// Which settings of LaMBO are worth having.
    Settings(settings::Options),
    /// What it takes to resume a long study.
    Resume(resume::Options),
    /// What `stagetune run` adds to the commands that it runs.
    Overhead(overhead::Options),
    /// What a long study of small outputs leaves on the disk.
    Files(files::Options),
    /// What a study of 20,000 trials costs to open and to look at.
    LongStudy(long_study::Options),
    /// Kills, damage, random pipelines and writes that fail, against an oracle.
    Campaign(campaign::Options),
    /// An owner whose disk fails at a certain write, in a process of its own.
    #[command(hide = true)]
    CampaignOwner(campaign::owner::Options),
    /// What `memory` measures, in a process of its own.
    #[command(hide = true)]
    MemoryOfThisProcess(memory::Options),
}

/// What a run found: whether the claim holds, and the numbers.
struct Finding {
    holds: bool,
    numbers: Value,
}

impl Finding {
    fn new(holds: bool, numbers: &impl Serialize) -> Result<Self> {
        Ok(Self { holds, numbers: serde_json::to_value(numbers)? })
    }
}

/// A file of evidence.
#[derive(Serialize)]
struct File {
    name: &'static str,
    claim: &'static str,
    holds: bool,
    command: String,
    seed: u64,
    date: String,
    cores: usize,
    version: &'static str,
    optimised: bool,
    result: Value,
}

/// Does the run; the answer is whether its claim holds.
pub fn run(options: &Options) -> Result<bool> {
    let seed = options.seed;
    let (name, claim, finding) = match &options.run {
        Run::Maximiser(run) => ("maximiser", maximiser::CLAIM, maximiser::run(run, seed)?),
        Run::Kernels(run) => ("kernels", kernels::CLAIM, kernels::run(run, seed)?),
        Run::Memory(run) => ("memory", memory::CLAIM, memory::run(run, seed)?),
        Run::Scaling(run) => ("scaling", scaling::CLAIM, scaling::run(run, seed)?),
        Run::Laziness(run) => ("laziness", laziness::CLAIM, laziness::run(run, seed)?),
        Run::Regret(run) => ("regret", regret::CLAIM, regret::run(run, seed)?),
        Run::Ask(run) => ("ask", ask::CLAIM, ask::run(run, seed)?),
        Run::Settings(run) => ("settings", settings::CLAIM, settings::run(run, seed)?),
        Run::Resume(run) => ("resume", resume::CLAIM, resume::run(run, seed)?),
        Run::Overhead(run) => ("overhead", overhead::CLAIM, overhead::run(run, seed)?),
        Run::Files(run) => ("files", files::CLAIM, files::run(run, seed)?),
        Run::LongStudy(run) => ("long-study", long_study::CLAIM, long_study::run(run, seed)?),
        Run::Campaign(run) => ("campaign", campaign::CLAIM, campaign::run(run, seed)?),
        Run::CampaignOwner(run) => {
            campaign::owner::run(run)?;
            return Ok(true);
        }
        Run::MemoryOfThisProcess(run) => {
            write_out(format_args!("{}\n", serde_json::to_string(&memory::measure(run, seed)?)?))?;
            return Ok(true);
        }
    };
    let about = provenance()?;
    let file = File {
        name,
        claim,
        holds: finding.holds,
        command: about.command,
        seed,
        date: about.date,
        cores: about.cores,
        version: about.version,
        optimised: about.optimised,
        result: finding.numbers,
    };
    let text = format!("{}\n", serde_json::to_string_pretty(&file)?);
    match &options.out {
        None => write_out(format_args!("{text}"))?,
        Some(path) => {
            let writing = || format!("cannot write {}", path.display());
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder).with_context(writing)?;
            }
            std::fs::write(path, text).with_context(writing)?;
        }
    }
    eprintln!("{name}: the claim {}", if finding.holds { "holds" } else { "does NOT hold" });
    Ok(finding.holds)
}
