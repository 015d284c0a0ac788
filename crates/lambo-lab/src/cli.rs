//! The command line of `lambo-lab`: what can be asked for, and who answers.

use crate::{evidence, reference, suggest};
use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use std::fmt::Arguments;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Experiments around the lambo engine.
#[derive(Debug, Parser)]
#[command(name = "lambo-lab", version, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Check the engine's numbers against files of independently computed ones.
    #[command(after_help = REFERENCE_HELP)]
    Reference {
        /// Directory whose .json files are checked; each is recognised by its keys, not by its name.
        dir: PathBuf,
        /// Print JSON instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// Suggest one point from observations on standard input, and time it.
    #[command(after_help = SUGGEST_HELP)]
    Suggest,
    /// Back a claim about the engine with a file of numbers; minutes long at the default sizes.
    #[command(after_help = EVIDENCE_HELP)]
    Evidence(evidence::Options),
}

const REFERENCE_HELP: &str = "\
What is measured:
  |got - want| / max(1, |want|), that is absolute up to 1 and relative beyond (so for log EI = -5e17, too);
  expected improvement: |got - want| / max(1e-300, |want|), relative wherever a double has all its digits;
  the minimum of a test function: to the digits that the file prints;
  fit: how far the log marginal likelihood that our fit reaches stays below the stated one.
A result that is not finite counts as an infinite error.

Exit code: 0 all within tolerance, 1 a number past it, 2 a file or the directory could not be checked.

Examples:
  lambo-lab reference crates/lambo-lab/tests/fixtures/good
  lambo-lab reference DIR --json | jq '.files[] | select(.ok | not)'";

const SUGGEST_HELP: &str = "\
Reads JSON: x, rows in the unit cube; y, the value of each, to be minimised; and perhaps seed (0), threads (1), repeats (1).
Prints JSON: x, the point with the largest log expected improvement; seconds, fit_seconds and maximise_seconds of each
repeat, from the raw arrays; peak_rss_mb; hyper, the fitted hyper-parameters in units of the standardised values.

Example:
  echo '{\"x\": [[0.1], [0.5], [0.9]], \"y\": [1.0, 0.2, 0.7], \"seed\": 1, \"threads\": 2, \"repeats\": 5}' | lambo-lab suggest";

const EVIDENCE_HELP: &str = "\
Exit code: 0 the claim holds, 1 it does not, 2 the run failed. Timings mean something in an optimised build on a quiet machine only.

Examples:
  lambo-lab evidence maximiser --out experiments/engine/maximiser.json
  lambo-lab evidence maximiser --problems 4 --points 2000 | jq .result.log_ei.share_close";

/// Writes to standard output; a full disk or a closed pipe is an error like any other, not a panic.
pub(crate) fn write_out(text: Arguments<'_>) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_fmt(text).and_then(|()| out.flush()).context("cannot write to standard output")
}

/// Does what the command line asks for.
pub fn run(cli: Cli) -> Result<ExitCode> {
    match cli.command {
        Command::Reference { dir, json } => {
            let report = reference::check_directory(&dir)?;
            if json {
                write_out(format_args!("{:#}\n", report.to_json()))?;
            } else {
                write_out(format_args!("{report}"))?;
            }
            Ok(ExitCode::from(report.exit_code()))
        }
        Command::Suggest => {
            let request = serde_json::from_reader(std::io::stdin().lock())
                .context("standard input is not a request; see `lambo-lab suggest --help`")?;
            write_out(format_args!("{}\n", serde_json::to_string(&suggest::answer(&request)?)?))?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Evidence(options) => {
            Ok(if evidence::run(&options)? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
    }
}
