//! The hidden command of a supervisor, which stands between stagetune and a stage.
//!
//! It starts with every stage that runs, so that it is looked for before the command line is read.

use std::process::ExitCode;

use stagetune_pipeline::executor::{SUPERVISOR_COMMAND, supervise};

/// Whether this process was started as a supervisor.
pub fn is_asked_for() -> bool {
    std::env::args_os().nth(1).is_some_and(|argument| argument == SUPERVISOR_COMMAND)
}

/// Runs the attempt that stands on the standard input.
pub fn run() -> ExitCode {
    supervise()
}
