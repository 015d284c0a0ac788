//! Every chore of the workspace as `cargo xtask …`.

mod book;
mod deny;
mod evidence;
mod fuzz;
mod microct;
mod peers;
mod quickstart;
mod step;
mod test;
mod tidy;
mod tool;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Every chore of the workspace.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// Everything that must hold before a change is submitted: format, lints, documentation,
    /// tidiness, tests, references.
    #[command(after_help = "Examples:\n  cargo xtask test\n  cargo xtask test --without-deny")]
    Test(test::Options),
    /// The book of `docs/`: built into `target/book` with mdbook, which is installed if it is
    /// missing, and every link checked.
    #[command(after_help = "Examples:\n  cargo xtask book\n  cargo xtask book --write    after a change \
            of the command line or of a strategy's options")]
    Book(book::Options),
    /// Licences, duplicates, sources and known faults of everything in the tree, by cargo-deny,
    /// which is installed if it is missing.
    #[command(after_help = "Example:\n  cargo xtask deny")]
    Deny,
    /// The house rules that no compiler checks: sizes, module docs, the arrow between modules, the map.
    #[command(after_help = "Example:\n  cargo xtask tidy")]
    Tidy,
    /// Slow evidence by name; without a name, what there is.
    #[command(after_help = "Examples:\n  cargo xtask evidence\n  cargo xtask evidence peers\n  cargo \
            xtask evidence all")]
    Evidence(evidence::Options),
    /// Give every reader of files, journals, results and conditions hostile input for a while.
    #[command(after_help = "Examples:\n  cargo xtask fuzz\n  cargo xtask fuzz pipeline_file --seconds \
            600\n  cargo xtask fuzz --count 100000000")]
    Fuzz(fuzz::Options),
    /// Time one suggestion against BoTorch and Optuna, or let them and SMAC3 play for the figures
    /// (needs python3, pip and the network once).
    #[command(after_help = "Examples:\n  cargo xtask peers\n  cargo xtask peers --n 50 --objective smooth \
            --repeats 3\n  cargo xtask peers --json > peers.json\n  cargo xtask peers play\n  cargo \
            xtask peers play experiments/panel-a/plan.toml --peers botorch-logei --sims 30")]
    Peers(peers::Options),
    /// Build the imaging example, tune its pipeline and write its report; or measure its stages, or
    /// compute its tables.
    #[command(after_help = "Examples:\n  cargo xtask microct\n  cargo xtask microct measure --date \
            2026-11-16\n  cargo xtask microct tables --date 2026-11-16")]
    Microct(microct::Options),
    /// Build stagetune and the quickstart example, tune the example's pipeline and write its report.
    #[command(after_help = "Example:\n  cargo xtask quickstart")]
    Quickstart,
}

fn main() -> ExitCode {
    if let Some(code) = fuzz::stand_in() {
        return code;
    }
    let done = match Cli::parse().chore {
        Chore::Test(options) => test::run(&options),
        Chore::Book(options) => book::run(&options),
        Chore::Deny => deny::run(),
        Chore::Tidy => tidy::run(),
        Chore::Evidence(options) => evidence::run(&options),
        Chore::Fuzz(options) => fuzz::run(&options),
        Chore::Microct(options) => microct::run(&options),
        Chore::Peers(options) => peers::run(&options),
        Chore::Quickstart => quickstart::run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_chore_that_a_page_shows_is_one() {
        let mut shown = 0;
        for page in book::markdown::pages(&step::root()).unwrap() {
            for line in page.text.lines() {
                let Some(command) = line.strip_prefix("$ cargo xtask ") else { continue };
                let words = command.split(" #").next().unwrap_or(command).split_whitespace();
                let parsed = Cli::try_parse_from(std::iter::once("cargo xtask").chain(words));
                let is_help = command.starts_with("--help");
                assert!(is_help || parsed.is_ok(), "{}: {line}", page.path.display());
                shown += 1;
            }
        }
        assert!(shown >= 5, "{shown}");
    }
}
