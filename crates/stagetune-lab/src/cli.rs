//! The command line of `stagetune-lab`: what can be asked for, and who answers.

use crate::experiment::raw::place;
use crate::experiment::summary::Summary;
use crate::experiment::{
    best_of, compare, games, halves, outcome, output, run as experiment_run, switching, tournament,
};
use crate::problems::table;
use crate::write::write_out;
use crate::{evidence, reference, suggest};
use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// Experiments around the engine.
#[derive(Debug, Parser)]
#[command(name = "stagetune-lab", version, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the experiment of a plan: curves, summary and figure; stop it at any time and start it again to go on.
    #[command(after_help = RUN_HELP)]
    Run(experiment_run::Options),
    /// What changed from one summary to another, strategy by strategy, with 95% intervals.
    #[command(after_help = COMPARE_HELP)]
    Compare {
        /// The results to compare with: a plan that was run, its folder, a part of it, or a summary.json.
        a: PathBuf,
        /// The results that are compared.
        b: PathBuf,
        /// A strategy of A and another of B, separated by a comma, instead of those that both have; A and B may be the same file.
        #[arg(long, value_delimiter = ',', value_name = "OF_A,OF_B")]
        labels: Vec<String>,
        /// Print JSON instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// Average rank and geometric mean of cost ratios over several experiments, with 95% intervals.
    #[command(after_help = TOURNAMENT_HELP)]
    Tournament {
        /// Experiments: plans that were run, their folders, parts of these or summary.json files.
        #[arg(required = true, value_name = "PLAN|FOLDER|PART|SUMMARY")]
        experiments: Vec<PathBuf>,
        /// Labels of those who take part, separated by commas; all by default.
        #[arg(long, value_delimiter = ',')]
        strategies: Option<Vec<String>>,
        /// The strategy that costs are divided by.
        #[arg(long, default_value = "random")]
        baseline: String,
        /// Compare costs to this regret only: 0.10, 0.05 or 0.02.
        #[arg(long)]
        threshold: Option<String>,
        /// Hold it twice, on the odd runs and on the even ones, and say where they contradict each other.
        #[arg(long)]
        halves: bool,
        /// Print JSON instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// One strategy beside the best of several rivals: what getting within 5% of the optimum costs, problem by problem and over all.
    #[command(after_help = BEST_OF_HELP)]
    BestOf {
        /// Experiments: plans that were run, their folders, parts of these or summary.json files; those of the same rules count as one.
        #[arg(required = true, value_name = "PLAN|FOLDER|PART|SUMMARY")]
        experiments: Vec<PathBuf>,
        /// The strategy.
        #[arg(long, default_value = "auto")]
        strategy: String,
        /// Labels of its rivals, separated by commas.
        #[arg(long, value_delimiter = ',', required = true)]
        rivals: Vec<String>,
        /// Print JSON instead of a table.
        #[arg(long)]
        json: bool,
    },
    /// The numbers of experiments as tables in Markdown.
    #[command(after_help = TABLE_HELP)]
    Table {
        /// Experiments: plans that were run, their folders, parts of these or summary.json files.
        #[arg(required = true, value_name = "PLAN|FOLDER|PART|SUMMARY")]
        experiments: Vec<PathBuf>,
        /// Labels to show, separated by commas, in this order; all by default, best first.
        #[arg(long, value_delimiter = ',')]
        strategies: Option<Vec<String>>,
    },
    /// The results in folders, as paths that the other commands take: of a folder with parts, each part.
    #[command(after_help = PARTS_HELP)]
    Parts {
        /// Folders with a runs.jsonl.zst.
        #[arg(required = true, value_name = "FOLDER")]
        folders: Vec<PathBuf>,
        /// Parts of these names, separated by commas; all by default.
        #[arg(long, value_delimiter = ',')]
        only: Option<Vec<String>>,
        /// Print digests of the summary and of the steps beside each.
        #[arg(long)]
        digests: bool,
    },
    /// Write summary.json and steps.csv of raw results.
    #[command(after_help = UNPACK_HELP)]
    Unpack {
        /// Results: a plan that was run, its folder, or a part of it.
        #[arg(value_name = "PLAN|FOLDER|PART")]
        results: PathBuf,
        /// Folder for the files.
        #[arg(long)]
        out: PathBuf,
    },
    /// Compress tables: f1.u16.zst takes the place of f1.u16.
    Pack {
        /// Folders with table.json and f1.u16.
        #[arg(required = true, value_name = "TABLE")]
        tables: Vec<PathBuf>,
    },
    /// Write the plans of the switching-cost protocol: seven functions, d = 2 to 4, switching costs 1 to 31.
    #[command(after_help = SWITCHING_HELP)]
    Switching {
        /// Folder in which every plan gets a folder of its own.
        dir: PathBuf,
        /// Strategies, separated by commas.
        #[arg(long, value_delimiter = ',', default_value = "random,gp-ucb,lambo")]
        strategies: Vec<String>,
    },
    /// Let optimisers from outside play on the problems of plans; `cargo xtask peers play` sets them up and calls this.
    #[command(after_help = PEERS_HELP)]
    Peers(games::Options),
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

const RUN_HELP: &str = "\
A plan is a TOML file:
  title = \"Panel A\"             of the figure
  problem = \"hartmann6\"         a function and its dimension; ackley8@7 is shifted by seed 7, \
  gp4@7 is draw 7 of a Gaussian process
  table = \"../tables/microct-2\"  instead of a problem: a folder with table.json and f1.u16 or \
  f1.u16.zst, beside this file; its modules and seconds are
                                the default of split and costs, and noise is 0 unless given
  split = [3, 3]                variables of each module
  costs = [10, 1]               what each module costs
  cost_spread = 0.5             if there: costs are measured, not given, and vary by so much in \
  their logarithm
  choices = [3, 0, 0, 0, 0, 4]  if there: variables that are so many choices without an order; 0 \
  leaves a number
  steps = 25                    if there: the metric moves in so many steps
  noise = 0.01                  standard deviation on values in [0, 1]; default 0.01
  cost_model = \"previous\"       outputs at hand: of the trial before (default), or of all trials (\"cache\")
  budget = 60                   what a run may spend, in full runs of the pipeline, starting points included
  trials = 200                  if there: a run also ends after so many trials; without a budget \
  strategies are told of these alone
  until = 0.05                  if there: a run is over at this regret, and only summary.json is \
  written, for costs to be compared
  start = { uniform = 15 }      or { sobol = 15 } or { nested = { points = 15, every = 3 } }; \
  default uniform = 15
  lambda = 0.1                  weight of cost in the movement regret; default 0.1
  movement = true               if there: the figure also shows the movement regret
  sims = 100                    runs per strategy; default 100
  seed = 1                      of everything random; default 1
  strategies = [\"random\", \"gp-ucb\", \"lambo\"]
  [[variant]]                   strategies with another start, as lambo-nested and so on; start \
  = \"own\" is what a strategy does by itself
  suffix = \"nested\"
  start = { nested = { points = 15, every = 3 } }
  strategies = [\"lambo\"]
  [peers]                       optimisers from outside, from games that were played
  games = \"../peers\"            beside this file; written by `cargo xtask peers play`
  names = [\"optuna-tpe\", \"optuna-gp\", \"botorch-logei\", \"smac3\"]
  [[row]]                       if there: a row of the figure, instead of all together
  title = \"The same start for all\"
  show = [\"gp-ucb\", \"lambo\"]

Strategies are those of the engine, and for the paper's versions of its baselines gp-ei-paper, \
mes-paper, eipu-paper, carbo-paper, ca-mobo-paper;
gp-ucb-modern is gp-ucb with today's model and the root of β; eipu-prefix-careful refits at every \
trial and searches as hard as gp-ei;
gp-ei-matern, gp-ei-se and gp-ei-paper-ard are gp-ei with other kernels; lambo-lcb, lambo-ei, \
lambo-rescaled, lambo-one-anchor,
lambo-abandon and lambo-small-start are lambo with one ingredient put back or exchanged.

Run k of every strategy has the same starting points and the same noise. A run ends with the trial \
that brings its cost to the budget.

A file may hold several plans, each a [[plan]] with a name = \"…\"; the results of each go into a \
folder of its name.

Written into the plan's folder or --out:
  runs.jsonl.zst  a line for each run, compressed: what every other command reads; with --part one \
  of several parts, and all other files go
                  into a folder of the part's name
  curves.csv    cost, value, regret and movement regret of every trial; the same for any number of \
  threads but for ask_seconds
  steps.csv     the rows of curves.csv at which the best value improved, and the last of each run
  points.csv    every point that was tried, and the value that was seen
  summary.json  cost to regrets of 0.10, 0.05 and 0.02, final regret and more, with 95% intervals; \
  over a table also the hours to a score
                within 5% of the best, with and without the starting points
  figure.svg, figure.png
  runs/         a file for each finished run, with all its events; runs that are there are not made again

Exit code: 0 done, 2 something failed; finished runs are kept.

Examples:
  stagetune-lab run experiments/panel-a/plan.toml
  stagetune-lab run experiments/panel-a/plan.toml --sims 3 --strategies gp-ucb,lambo --out target/panel-a";

const COMPARE_HELP: &str = "\
Differences are B minus A; all measures are better when smaller. Runs of the same number are paired \
where both sides have the same
problem, rules and seed. The interval is a 95% bootstrap interval of the mean difference.

Examples:
  stagetune-lab compare experiments/panel-a/summary.json target/panel-a/summary.json
  stagetune-lab compare experiments/panel-a experiments/panel-a --labels botorch-logei,gp-ei
  stagetune-lab compare before.json after.json --json | jq '.rows[] | select(.verdict == \"worse\")'";

const TOURNAMENT_HELP: &str = "\
Average rank: by final regret, run by run, 1 the best. Cost ratio: geometric mean of what reaching \
regrets of 0.10, 0.05 and 0.02 cost,
over what it cost the baseline in the same run; a regret that is not reached counts as the budget. \
Intervals resample runs, not problems.
Strategies that an experiment lacks are left out, and said so. Experiments on one problem with one \
seed share their resamples; the same experiment twice is refused.

Exit code: 0 done, 1 with --halves if the halves contradict each other, 2 something failed.

Examples:
  stagetune-lab tournament experiments/panel-?/ --baseline gp-ucb
  stagetune-lab tournament experiments/panel-a/plan.toml experiments/panel-b/plan.toml --threshold 0.05 --json
  stagetune-lab tournament experiments/panel-a --halves";

const BEST_OF_HELP: &str = "\
Costs are geometric means over runs in full runs of the pipeline, starting points included, to a \
regret of 0.05, on tables to a score within 5% of the best;
a run that does not get there counts as the budget. The best rival is chosen afterwards on every \
problem, by its cost there. Rivals with fewer than five
runs in common are left out.

Example:
  stagetune-lab best-of $(stagetune-lab parts experiments/auto/report-* --only auto,rivals) \
  experiments/panel-? --rivals gp-ei,eipu,random";

const TABLE_HELP: &str = "\
Costs are medians over runs in full runs of the pipeline, starting points included; a run that does \
not get there counts as the budget, and the
share that does stands in brackets. Regret: mean at the end of the budget, with its 95% bootstrap \
interval. Over a table also the median hours
to a score within 5% of the best, minutes where the budget is less than two hours, with their \
interval, starting points counted and not.

Examples:
  stagetune-lab table experiments/panel-a
  stagetune-lab table experiments/panel-?/ --strategies gp-ei,lambo,lambo-nested";

const PARTS_HELP: &str = "\
A folder with the runs of several occasions under one plan has one runs.jsonl.zst with a part for \
each, written with `run --part`.
A part is named like a folder in it, which need not be there: experiments/auto/report-gp4-1/rivals.

Examples:
  stagetune-lab parts experiments/auto/report-gp4-1
  stagetune-lab best-of $(stagetune-lab parts experiments/auto/report-cache-* --only auto,rivals) \
  --rivals gp-ei,eipu";

const UNPACK_HELP: &str = "\
steps.csv is left out where runs ended at a regret (`until`), whose curves were not kept.

Examples:
  stagetune-lab unpack experiments/panel-a --out target/panel-a
  stagetune-lab unpack experiments/auto/report-gp4-1/auto --out target/gp4-1";

const SWITCHING_HELP: &str = "\
A trial costs 1, and c_sw more if one of the first d/2 variables changed; the budget is 10 d (c_sw + 1).

Example:
  stagetune-lab switching target/switching --strategies random,gp-ucb,lambo
  stagetune-lab run target/switching/*/plan.toml --sims 3
  stagetune-lab tournament target/switching/*/";

const PEERS_HELP: &str = "\
Every game starts with the points that run k of a plan gives to all, and sees the same noise. Games \
that are there are not played again.
A peer sees points of the unit cube and values, neither modules nor costs. A player reads one line \
of JSON per turn, the trials that are
new to it, {\"x\": [[..]], \"y\": [..]}, and answers {\"x\": [..], \"seconds\": 0.4}.

Examples:
  cargo xtask peers play
  stagetune-lab peers experiments/panel-a/plan.toml --peers optuna-tpe --sims 3 --out target/games \
  --player python3 xtask/peers/player.py";

const REFERENCE_HELP: &str = "\
What is measured:
  |got - want| / max(1, |want|), that is absolute up to 1 and relative beyond (so for log EI = -5e17, too);
  expected improvement: |got - want| / max(1e-300, |want|), relative wherever a double has all its digits;
  the minimum of a test function: to the digits that the file prints;
  fit: how far the log marginal likelihood that our fit reaches stays below the stated one.
A result that is not finite counts as an infinite error.

Exit code: 0 all within tolerance, 1 a number past it, 2 a file or the directory could not be checked.

Examples:
  stagetune-lab reference crates/stagetune-lab/tests/fixtures/good
  stagetune-lab reference DIR --json | jq '.files[] | select(.ok | not)'";

const SUGGEST_HELP: &str = "\
Reads JSON: x, rows in the unit cube; y, the value of each, to be minimised; and perhaps seed (0), \
threads (1), repeats (1).
Prints JSON: x, the point with the largest log expected improvement; seconds, fit_seconds and \
maximise_seconds of each
repeat, from the raw arrays; peak_rss_mb; hyper, the fitted hyper-parameters in units of the \
standardised values.

Example:
  echo '{\"x\": [[0.1], [0.5], [0.9]], \"y\": [1.0, 0.2, 0.7], \"seed\": 1, \"threads\": \
  2, \"repeats\": 5}' | stagetune-lab suggest";

const EVIDENCE_HELP: &str = "\
Exit code: 0 the claim holds, 1 it does not, 2 the run failed. Timings mean something in an \
optimised build on a quiet machine only.

Examples:
  stagetune-lab evidence maximiser --out experiments/engine/maximiser.json
  stagetune-lab evidence maximiser --problems 4 --points 2000 | jq .result.log_ei.share_close";

/// Does what the command line asks for.
pub fn run(cli: Cli) -> Result<ExitCode> {
    match cli.command {
        Command::Run(options) => {
            experiment_run::run(&options)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Compare { a, b, labels, json } => {
            let labels = match labels.as_slice() {
                [] => None,
                [of_a, of_b] => Some([of_a.as_str(), of_b.as_str()]),
                _ => anyhow::bail!("--labels takes two: one of A and one of B"),
            };
            let comparison = compare::compare(&Summary::read(&a)?, &Summary::read(&b)?, labels)?;
            print(&comparison, json)
        }
        Command::Tournament { experiments, strategies, baseline, threshold, halves, json } => {
            let summaries =
                experiments.iter().map(|path| Summary::read(path)).collect::<Result<Vec<Summary>>>()?;
            let (labels, threshold) = (strategies.as_deref(), threshold.as_deref());
            if halves {
                let halves = halves::hold(&summaries, labels, &baseline, threshold)?;
                print(&halves, json)?;
                return Ok(ExitCode::from(u8::from(!halves.contradictions.is_empty())));
            }
            print(&tournament::hold(&summaries, labels, &baseline, threshold)?, json)
        }
        Command::BestOf { experiments, strategy, rivals, json } => {
            let summaries =
                experiments.iter().map(|path| Summary::read(path)).collect::<Result<Vec<Summary>>>()?;
            print(&best_of::best_of(&summaries, &strategy, &rivals)?, json)
        }
        Command::Table { experiments, strategies } => {
            for path in &experiments {
                write_out(format_args!(
                    "{}",
                    outcome::markdown(&Summary::read(path)?, strategies.as_deref())?
                ))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Command::Parts { folders, only, digests } => {
            for (path, results) in place::parts(&folders, only.as_deref())? {
                let digest = if digests { format!(" {}", output::digest(&results)?) } else { String::new() };
                write_out(format_args!("{}{digest}\n", path.display()))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Command::Unpack { results, out } => {
            output::unpack(&place::raw(&results)?, &out)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Pack { tables } => {
            tables.iter().try_for_each(|folder| table::pack(folder))?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Peers(options) => {
            games::play(&options)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Switching { dir, strategies } => {
            for path in switching::write_plans(&dir, &strategies)? {
                write_out(format_args!("{}\n", path.display()))?;
            }
            Ok(ExitCode::SUCCESS)
        }
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
                .context("standard input is not a request; see `stagetune-lab suggest --help`")?;
            write_out(format_args!("{}\n", serde_json::to_string(&suggest::answer(&request)?)?))?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Evidence(options) => {
            Ok(if evidence::run(&options)? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
    }
}

/// Prints facts as a table or as JSON.
fn print(facts: &(impl std::fmt::Display + serde::Serialize), json: bool) -> Result<ExitCode> {
    if json {
        write_out(format_args!("{}\n", serde_json::to_string_pretty(facts)?))?;
    } else {
        write_out(format_args!("{facts}"))?;
    }
    Ok(ExitCode::SUCCESS)
}
