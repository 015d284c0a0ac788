//! The `stagetune-lab` binary: experiments around the engine.

use clap::Parser;
use stagetune_lab::cli;
use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(cli::Cli::parse()).unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(2)
    })
}
