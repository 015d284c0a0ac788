//! The `stagetune` command: tune a pipeline of commands without re-running its expensive stages.

mod cli;
mod commands;
mod detail;
mod exit;
mod export;
mod format;
mod paint;
mod progress;
#[cfg(test)]
mod reference;
mod report;
mod rows;
#[cfg(test)]
mod sample;
mod table;
mod terminal;

use clap::Parser;
use cli::{CacheCommand, Cli, Command};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

fn main() -> ExitCode {
    // Beyond a limit on file sizes a write is then an error like others, and not the end of this process.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::<AtomicBool>::default());
    if commands::attempt::is_asked_for() {
        return commands::attempt::run();
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return commands::misused(&error),
    };
    paint::choose(cli.color);
    let json = cli.command.wants_json();
    let done = match cli.command {
        Command::Init { file, force } => commands::init::run(&file, force),
        Command::Check(args) => commands::check::run(&args),
        Command::Run(args) => commands::run::run(&args),
        Command::Status(args) => commands::status::run(&args),
        Command::Best(args) => commands::best::run(&args),
        Command::Trials(args) => commands::trials::run(&args),
        Command::Export(args) => commands::export::run(&args),
        Command::Report(args) => commands::report::run(&args),
        Command::Forget(args) => commands::control::forget(&args),
        Command::Rerun(args) => commands::control::rerun(&args),
        Command::Pause(args) => commands::control::pause(&args),
        Command::Resume(args) => commands::control::resume(&args),
        Command::Note(args) => commands::control::note(&args),
        Command::Repair(args) => commands::repair::run(&args),
        Command::Cache(CacheCommand::Ls(args)) => commands::cache::ls(&args),
        Command::Cache(CacheCommand::Why(args)) => commands::cache::why(&args),
        Command::Cache(CacheCommand::Verify { common, remove }) => commands::cache::verify(&common, remove),
        Command::Cache(CacheCommand::Gc { common, to, logs, dry_run }) => {
            commands::cache::gc(&common, to.as_deref(), logs, dry_run)
        }
        Command::Strategies { name, json } => commands::strategies::run(name.as_deref(), json),
        Command::Schema => commands::schema::run(),
    };
    commands::end(done, json)
}
