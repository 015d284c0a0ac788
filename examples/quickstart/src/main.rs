//! `quickstart`: the stages of a small real pipeline, each a subcommand, as `pipeline.toml` beside it runs them.

mod arguments;
mod clean;
mod data;
mod denoise;
mod features;
mod morphology;
mod perceptron;
mod picture;
mod survey;
mod train;

use arguments::Arguments;
use std::process::ExitCode;

/// What goes wrong, in words.
type Failure = Box<dyn std::error::Error + Send + Sync>;

const HELP: &str = "\
The stages of a small pipeline that finds cells in a noisy picture.

  quickstart denoise --in data/noisy.pgm --strength 0.1 --patch 2 --out DIR
  quickstart train --in DIR --truth data/truth.pgm --lr 0.01 --hidden 8 --out DIR
  quickstart clean --in DIR --truth data/truth.pgm --threshold 0.5 --opening 1 --smallest 10 --out DIR

  quickstart data --out DIR [--seed 1]        draws the picture and its truth anew
  quickstart survey [--data data] [--points 20] [--seed 1]  says what each parameter is worth
";

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let command = words.next().unwrap_or_default();
    let done = Arguments::read(words).and_then(|arguments| match command.as_str() {
        "denoise" => denoise::run(arguments),
        "train" => train::run(arguments),
        "clean" => clean::run(arguments),
        "data" => data::run(arguments),
        "survey" => survey::run(arguments),
        _ => {
            print!("{HELP}");
            if matches!(command.as_str(), "" | "help" | "--help" | "-h") {
                Ok(())
            } else {
                Err(format!("there is no subcommand `{command}`").into())
            }
        }
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::FAILURE
        }
    }
}
