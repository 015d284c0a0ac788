//! An owner in a process of its own whose disk fails, or kills it, at a certain write.

use super::world::World;
use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};
use stagetune_pipeline::disk::Disk;
use stagetune_pipeline::executor::{Local, LocalOptions};
use stagetune_pipeline::file::Pipeline;
use stagetune_pipeline::owner::{Owner, OwnerOptions, Quiet};
use stagetune_pipeline::state_dir::StateDir;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// What becomes of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Fault {
    /// The process is killed.
    Killed,
    /// It fails for want of room, and so do all after it.
    Full,
    /// It may not be made, and so may none after it.
    Refused,
    /// It alone fails for want of room.
    FullOnce,
}

/// Which study, and which write.
#[derive(Debug, Args)]
pub struct Options {
    /// The pipeline file.
    file: PathBuf,
    /// Trials at a time.
    #[arg(long)]
    workers: usize,
    /// The number of the write, from 1; 0 for none.
    #[arg(long)]
    at: u64,
    #[arg(long)]
    fault: Fault,
    /// The program that supervises stages; without it a thread does, whose writes count too.
    #[arg(long)]
    supervisor: Option<PathBuf>,
}

/// What the process says before its error when the write was reached.
pub const REACHED: &str = "the write was reached";

/// The command for it.
pub fn command(world: &World, fault: Fault, at: u64) -> Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["evidence", "campaign-owner", "pipeline.toml", "--workers"]);
    command.arg(world.sketch.workers.to_string()).args(["--at", &at.to_string(), "--fault"]);
    command.arg(fault.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned()));
    if fault == Fault::Killed {
        command.arg("--supervisor").arg(world.stagetune());
    }
    Ok(command)
}

/// Runs the study; fails as `stagetune run` does.
pub fn run(options: &Options) -> Result<()> {
    let disk = match options.fault {
        _ if options.at == 0 => Disk::default(),
        Fault::Killed => Disk::killing_at(options.at),
        Fault::Full => Disk::failing_at(options.at, ErrorKind::StorageFull),
        Fault::Refused => Disk::failing_at(options.at, ErrorKind::PermissionDenied),
        Fault::FullOnce => Disk::failing_once_at(options.at, ErrorKind::StorageFull),
    };
    let done = own(&options.file, options, &disk);
    if disk.has_failed() {
        println!("{REACHED}");
    }
    done
}

fn own(file: &Path, options: &Options, disk: &Disk) -> Result<()> {
    let pipeline = Pipeline::load(file)?;
    let executor = Local::new(LocalOptions {
        supervisor: options.supervisor.clone(),
        attempts: StateDir::of(&pipeline.root).attempts(),
        disk: disk.clone(),
    });
    let chosen = OwnerOptions { workers: options.workers, disk: disk.clone(), ..OwnerOptions::default() };
    let ended = Owner::open(&pipeline, chosen, Arc::new(executor), &Quiet)?.run()?;
    ensure!(ended.reached.is_finished(), "the study did not come to its end: {}", ended.reached);
    Ok(())
}
