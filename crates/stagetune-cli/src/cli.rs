//! The command line.

use std::path::PathBuf;

use crate::export::Format;
use clap::{Args, Parser, Subcommand, ValueEnum};

/// Tune a pipeline of commands without re-running its expensive stages.
#[derive(Debug, Parser)]
#[command(name = "stagetune", version, arg_required_else_help = true, after_help = crate::exit::TABLE)]
pub struct Cli {
    /// When to use colours.
    #[arg(long, global = true, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    pub color: Colour,
    #[command(subcommand)]
    pub command: Command,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    /// On a terminal, unless NO_COLOR is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write a commented starter file.
    #[command(after_help = "Examples:\n  stagetune init\n  stagetune init tuning/pipeline.toml")]
    Init {
        /// Where to write it.
        #[arg(default_value = "pipeline.toml")]
        file: PathBuf,
        /// Replace a file that is there.
        #[arg(long)]
        force: bool,
    },
    /// Check a pipeline file: every error with its line, and what to write instead.
    #[command(after_help = "Examples:\n  stagetune check\n  stagetune check pipeline.toml --json")]
    Check(FileArgs),
    /// Run a study: begins it, or continues it where it was.
    #[command(
        after_help = "Examples:\n  stagetune run\n  stagetune run pipeline.toml --workers 4\n  stagetune run --dry-run        what would run next, without running it\n  stagetune run --json | jq .    the news as JSON, one object a line\n\nCtrl-C once finishes the trials that are running; twice stops at once. Either way the same command continues the study.\n\nThe budget of the file ends it: trials, cost, wall, target, or price, such as \"0.01 per hour\": then no next trials are expected to gain as much for their cost. `budget = \"auto\"` asks of a full run's worth of cost a thousandth of the distance from the median of the values to the best one."
    )]
    Run(RunArgs),
    /// How the study stands and what going on is expected to gain, also while it runs elsewhere.
    #[command(
        after_help = "Examples:\n  stagetune status\n  watch stagetune status pipeline.toml\n\nThe forecast is for an hour of stages, or for ten full runs where costs are in a unit of yours, or for the rest of the budget where that is less; what open trials will bring is not counted."
    )]
    Status(FileArgs),
    /// The best trial: its value, its parameters, the outputs of its stages.
    #[command(after_help = "Examples:\n  stagetune best\n  stagetune best --json | jq .point")]
    Best(FileArgs),
    /// The trials: values, costs, which stages ran, what they reported.
    #[command(
        after_help = "Examples:\n  stagetune trials\n  stagetune trials --best 10\n  stagetune trials --trial 12\n  stagetune trials --all --json"
    )]
    Trials(TrialsArgs),
    /// All trials as CSV, JSON or Parquet.
    #[command(
        after_help = "Examples:\n  stagetune export -o trials.csv\n  stagetune export --format parquet -o trials.parquet"
    )]
    Export(ExportArgs),
    /// One self-contained HTML page about the study.
    #[command(after_help = "Examples:\n  stagetune report\n  stagetune report pipeline.toml -o report.html")]
    Report(ReportArgs),
    /// Leave trials out, as if they had never been: nothing is learned from them. What ran stays charged and reusable.
    #[command(
        after_help = "Examples:\n  stagetune forget 12\n  stagetune forget 12 13 --because \"the disk was full\"\n\nThe budget of trials counts them all the same; `stagetune rerun` tries their settings once more."
    )]
    Forget(ForgetArgs),
    /// Run trials once more with the same settings, in place of what came of them.
    #[command(
        after_help = "Examples:\n  stagetune rerun --failed\n  stagetune rerun --failed --because \"No space left\"\n  stagetune rerun 12\n\nThe trials are open afterwards, and `stagetune run` begins with them; a study that is running takes them up by itself."
    )]
    Rerun(RerunArgs),
    /// Begin no new trials until `resume`; what runs goes on.
    #[command(after_help = "Examples:\n  stagetune pause\n  stagetune pause \"the disk is being replaced\"")]
    Pause(WordsArgs),
    /// Begin new trials again.
    #[command(after_help = "Example:\n  stagetune resume")]
    Resume(ControlArgs),
    /// Write a note into the study's log, about a trial or about the study.
    #[command(
        after_help = "Examples:\n  stagetune note \"new microscope from here on\"\n  stagetune note --trial 12 \"blurred\""
    )]
    Note(NoteArgs),
    /// Keep of a damaged journal all that is sound, and put the damaged files aside.
    #[command(
        after_help = "Examples:\n  stagetune repair --dry-run       what is wrong, and what would be kept\n  stagetune repair\n\nOf every study in the journal the longest beginning is kept whose checksums hold. Records that vanished are given up; what is in the cache is reused by `stagetune run`. Nothing is deleted: the damaged files are in `.stagetune/damaged-…`."
    )]
    Repair(RepairArgs),
    /// The stage cache: what it holds, why a stage would run, whether it is sound, making room.
    #[command(subcommand, arg_required_else_help = true)]
    Cache(CacheCommand),
    /// The strategies and their options.
    #[command(after_help = "Examples:\n  stagetune strategies\n  stagetune strategies lambo")]
    Strategies {
        /// Only this one, with its options.
        name: Option<String>,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// The JSON schema of pipeline files, for editors.
    #[command(after_help = "Example:\n  stagetune schema > pipeline.schema.json")]
    Schema,
}

/// A command about one study.
#[derive(Debug, Args)]
pub struct FileArgs {
    /// The pipeline file.
    #[arg(default_value = "pipeline.toml")]
    pub file: PathBuf,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct RunArgs {
    #[command(flatten)]
    pub common: FileArgs,
    /// Trials at a time.
    #[arg(long, short, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub workers: u16,
    /// Show what would run next, without running or writing anything.
    #[arg(long)]
    pub dry_run: bool,
    /// Go on although commands, inputs or options of the strategy have changed since the earlier trials.
    #[arg(long)]
    pub accept_changes: bool,
    /// Only warnings and errors.
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Debug, Args)]
pub struct TrialsArgs {
    #[command(flatten)]
    pub common: FileArgs,
    /// The last so many; 20 without a choice, all of them as JSON.
    #[arg(long, conflicts_with_all = ["best", "all"])]
    pub last: Option<usize>,
    /// The best so many.
    #[arg(long, conflicts_with = "all")]
    pub best: Option<usize>,
    /// All of them.
    #[arg(long)]
    pub all: bool,
    /// One trial whole: its stages, every number that they reported, and what it ran with.
    #[arg(long, value_name = "N", conflicts_with_all = ["last", "best", "all"])]
    pub trial: Option<u64>,
}

/// A command that appends to the log of a study, whether it runs or not.
#[derive(Debug, Args)]
pub struct ControlArgs {
    /// The pipeline file.
    #[arg(long, short, default_value = "pipeline.toml")]
    pub file: PathBuf,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ForgetArgs {
    /// Their numbers.
    #[arg(required = true, value_name = "TRIAL")]
    pub trials: Vec<u64>,
    /// Why; it is kept in the log.
    #[arg(long, value_name = "TEXT", default_value = "forgotten")]
    pub because: String,
    #[command(flatten)]
    pub common: ControlArgs,
}

#[derive(Debug, Args)]
pub struct RerunArgs {
    /// Their numbers.
    #[arg(value_name = "TRIAL", required_unless_present = "failed")]
    pub trials: Vec<u64>,
    /// All trials that failed.
    #[arg(long, conflicts_with = "trials")]
    pub failed: bool,
    /// Only those of them whose reason contains this.
    #[arg(long, value_name = "TEXT", requires = "failed")]
    pub because: Option<String>,
    #[command(flatten)]
    pub common: ControlArgs,
}

#[derive(Debug, Args)]
pub struct WordsArgs {
    /// Why; it is kept in the log.
    #[arg(value_name = "TEXT", default_value = "paused by hand")]
    pub text: String,
    #[command(flatten)]
    pub common: ControlArgs,
}

#[derive(Debug, Args)]
pub struct NoteArgs {
    /// The words.
    #[arg(value_name = "TEXT")]
    pub text: String,
    /// The trial that they are about.
    #[arg(long, value_name = "TRIAL")]
    pub trial: Option<u64>,
    #[command(flatten)]
    pub common: ControlArgs,
}

#[derive(Debug, Args)]
pub struct RepairArgs {
    /// The pipeline file.
    #[arg(default_value = "pipeline.toml")]
    pub file: PathBuf,
    /// The same.
    #[arg(long = "file", short = 'f', value_name = "FILE", conflicts_with = "file")]
    pub given: Option<PathBuf>,
    /// As JSON.
    #[arg(long)]
    pub json: bool,
    /// Show what would be kept, without writing anything.
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The pipeline file.
    #[arg(default_value = "pipeline.toml")]
    pub file: PathBuf,
    /// The format; without it that of the output's name, else CSV.
    #[arg(long, short, value_enum)]
    pub format: Option<Format>,
    /// Where to; standard output without it.
    #[arg(long, short)]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The pipeline file.
    #[arg(default_value = "pipeline.toml")]
    pub file: PathBuf,
    /// Where to; `-` for standard output.
    #[arg(long, short, default_value = "report.html")]
    pub output: PathBuf,
}

#[derive(Debug, Subcommand)]
pub enum CacheCommand {
    /// What the cache holds.
    #[command(after_help = "Examples:\n  stagetune cache ls\n  stagetune cache ls --json")]
    Ls(FileArgs),
    /// Why a stage would run or be reused: its key, and what differs from the nearest entry.
    #[command(
        after_help = "Examples:\n  stagetune cache why                              the stages of the best trial\n  stagetune cache why pipeline.toml --trial 12\n  stagetune cache why --stage train --set lr=0.01    the best trial with another learning rate"
    )]
    Why(WhyArgs),
    /// Read every byte and compare it with its hash.
    #[command(after_help = "Examples:\n  stagetune cache verify\n  stagetune cache verify --remove")]
    Verify {
        #[command(flatten)]
        common: FileArgs,
        /// Take damaged entries away.
        #[arg(long)]
        remove: bool,
    },
    /// Make room: what is cheapest to recompute per byte goes first.
    #[command(
        after_help = "Examples:\n  stagetune cache gc                     what killed runs left, and what is above the file's limit\n  stagetune cache gc --to 5GB\n  stagetune cache gc --to 0 --dry-run"
    )]
    Gc {
        #[command(flatten)]
        common: FileArgs,
        /// Keep at most this much, such as 5GB; without it the limit of the file.
        #[arg(long, value_name = "SIZE")]
        to: Option<String>,
        /// Remove the logs of finished studies, too.
        #[arg(long)]
        logs: bool,
        /// Show what would go.
        #[arg(long)]
        dry_run: bool,
    },
}

#[derive(Debug, Args)]
pub struct WhyArgs {
    #[command(flatten)]
    pub common: FileArgs,
    /// The trial whose parameters to look at; the best one without it.
    #[arg(long)]
    pub trial: Option<u64>,
    /// Only this stage.
    #[arg(long)]
    pub stage: Option<String>,
    /// Other values, such as `lr=0.01`.
    #[arg(long, value_name = "NAME=VALUE")]
    pub set: Vec<String>,
}
