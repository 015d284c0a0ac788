//! `cargo xtask fuzz`: hostile input for every reader, for a while or until a number of executions is reached.

mod build;
mod count;
mod target;

use crate::step;
use anyhow::{Result, bail};
use std::time::Instant;

pub use build::stand_in;
use target::{Limit, TARGETS, Target};

/// What to fuzz, and for how long.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// One target; all of them without.
    target: Option<String>,
    /// Seconds for each target.
    #[arg(long, default_value_t = 60, conflicts_with = "count")]
    seconds: u64,
    /// Go on until every target has so many executions, over all runs with this option, and record each slice.
    #[arg(long)]
    count: Option<u64>,
    /// Seconds of a slice: what is lost when a run with `--count` is interrupted.
    #[arg(long, default_value_t = 120, requires = "count")]
    slice: u64,
}

impl Options {
    /// Every target for as long as a check before a change can wait.
    pub fn briefly() -> Self {
        Self { target: None, seconds: 8, count: None, slice: 0 }
    }
}

/// Builds and runs the targets.
pub fn run(options: &Options) -> Result<()> {
    let only = options.target.as_deref();
    let chosen: Vec<_> =
        TARGETS.iter().filter(|target| only.is_none_or(|only| only == target.name)).collect();
    if chosen.is_empty() {
        bail!("there is no such fuzz target; there are {}", TARGETS.map(|target| target.name).join(", "));
    }
    let started = Instant::now();
    build::all()?;
    println!("built in {:.0} s", started.elapsed().as_secs_f64());
    if let Some(count) = options.count {
        return count::run(&chosen, count, options.slice);
    }
    for target in chosen {
        step::timed(&format!("fuzz {}", target.name), || briefly(target, options.seconds))?;
    }
    Ok(())
}

fn briefly(target: &Target, seconds: u64) -> Result<()> {
    let done = target.run(&build::program(target.name), Limit { seconds, executions: None })?;
    println!(
        "{} executions, {:.0} a second",
        done.executions,
        done.executions as f64 / done.seconds.max(0.001)
    );
    done.ended
}
