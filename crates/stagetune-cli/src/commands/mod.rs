//! The commands, a file for each, and what they share.

pub mod attempt;
pub mod best;
pub mod cache;
pub mod check;
pub mod control;
pub mod export;
pub mod init;
pub mod repair;
pub mod report;
pub mod run;
pub mod schema;
pub mod status;
pub mod strategies;
pub mod trials;

use crate::cli::{CacheCommand, Command};
use crate::exit::Code;
use crate::paint::{BAD, paint};
use crate::terminal;
use serde::Serialize;
use serde_json::json;
use stagetune_pipeline::file::{FileError, Pipeline};
use stagetune_pipeline::ledger::Ledger;
use stagetune_pipeline::log::{Log, Look, Sqlite};
use stagetune_pipeline::state_dir::StateDir;
use stagetune_pipeline::text::steers;
use std::io;
use std::path::Path;
use std::process::ExitCode;

/// Prints a line; a closed pipe ends the command quietly.
macro_rules! say {
    ($($part:tt)*) => {
        $crate::commands::print(&format!("{}\n", format_args!($($part)*)))?
    };
}
pub(crate) use say;

/// What a command ends with.
pub type Done = anyhow::Result<Code>;

/// Says what went wrong, and ends with its code.
pub fn end(done: Done, json: bool) -> ExitCode {
    let code = match done {
        Ok(code) => code,
        // Whoever closed the pipe has seen enough.
        Err(error) if is_closed_pipe(&error) => Code::Done,
        Err(error) => {
            let code = Code::of(&error);
            if json {
                let problems = error.downcast_ref::<FileError>().map(|file| &file.problems);
                let said = json!({"error": told(&error), "code": code as u8, "problems": problems});
                let _ = print_line(&said);
            } else {
                terminal::warn(&format!("{}: {}", paint(BAD, "error"), told(&error)));
            }
            code
        }
    };
    ExitCode::from(code as u8)
}

/// An error with its causes, each said once: most of ours name theirs themselves.
fn told(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text.push_str(&format!(": {cause}"));
        }
    }
    text
}

/// Prints facts as JSON.
pub fn print_json(facts: &impl Serialize) -> anyhow::Result<()> {
    Ok(terminal::raw(format!("{}\n", serde_json::to_string_pretty(facts)?).as_bytes())?)
}

/// Prints JSON on one line.
pub fn print_line(json: &serde_json::Value) -> anyhow::Result<()> {
    Ok(terminal::raw(format!("{json}\n").as_bytes())?)
}

/// Prints a text for people; a closed pipe ends the command quietly.
pub fn print(text: &str) -> anyhow::Result<()> {
    Ok(terminal::say(text)?)
}

/// Says what is wrong with the command line, or shows the help that was asked for.
pub fn misused(error: &clap::Error) -> ExitCode {
    // Arguments are text from outside too, such as names of files that a shell has put in.
    let hostile = std::env::args_os().any(|argument| argument.to_string_lossy().chars().any(steers));
    if hostile && error.use_stderr() {
        terminal::warn(error.render().to_string().trim_end());
        return ExitCode::from(2);
    }
    error.exit()
}

/// The study of a file, from its journal.
pub fn study_of(file: &Path) -> anyhow::Result<(Pipeline, Look)> {
    let pipeline = Pipeline::read(file)?;
    let journal = Sqlite::look(&StateDir::of(&pipeline.root).journal(), &pipeline.study.name)?;
    journal.check_begun()?;
    Ok((pipeline, journal))
}

/// What the study of a file comes to.
pub fn ledger_of(file: &Path) -> anyhow::Result<Ledger> {
    let (pipeline, journal) = study_of(file)?;
    Ok(Ledger::of(&pipeline.study.name, &journal.read(0)?))
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    let closed = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    error.downcast_ref::<io::Error>().is_some_and(closed)
        || error
            .downcast_ref::<serde_json::Error>()
            .is_some_and(|error| error.io_error_kind() == Some(io::ErrorKind::BrokenPipe))
}

impl Command {
    /// Whether errors are wanted as JSON too.
    pub fn wants_json(&self) -> bool {
        match self {
            Self::Check(args) | Self::Status(args) | Self::Best(args) => args.json,
            Self::Run(args) => args.common.json,
            Self::Trials(args) => args.common.json,
            Self::Cache(CacheCommand::Ls(args)) => args.json,
            Self::Cache(CacheCommand::Why(args)) => args.common.json,
            Self::Cache(CacheCommand::Verify { common, .. } | CacheCommand::Gc { common, .. }) => common.json,
            Self::Forget(args) => args.common.json,
            Self::Rerun(args) => args.common.json,
            Self::Pause(args) => args.common.json,
            Self::Resume(args) => args.json,
            Self::Note(args) => args.common.json,
            Self::Repair(args) => args.json,
            Self::Strategies { json, .. } => *json,
            Self::Init { .. } | Self::Export(_) | Self::Report(_) | Self::Schema => false,
        }
    }
}
