//! `cargo xtask microct`: builds the imaging example, makes its volume, tunes its pipeline and
//! writes the report; or measures its stages and computes its tables.

use crate::quickstart::{shown, target_directory};
use crate::step;
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use std::path::Path;
use std::process::Command;

/// What to do with the imaging example.
#[derive(Debug, Args)]
pub struct Options {
    /// What to do.
    #[arg(value_enum, default_value_t = Task::Run)]
    task: Task,
    /// The day to be written into tables and measurements, such as 2026-11-16.
    #[arg(long)]
    date: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Task {
    /// Tune the three stages for five minutes and write the report.
    Run,
    /// Measure what the stages take; wants an idle machine.
    Measure,
    /// Compute both tables, 985 trainings; goes on where it was stopped.
    Tables,
}

/// The volume and its truth, beside the pipeline files that name them.
const DATA: &str = "examples/microct/data";
/// The pipeline that is tuned.
const PIPELINE: &str = "examples/microct/pipeline.toml";
/// What the stages take, measured.
const SECONDS: &str = "experiments/tables/seconds.json";

/// Runs everything, each command shown before it runs.
pub fn run(options: &Options) -> Result<()> {
    let date = options.date.as_deref().unwrap_or_default();
    if options.task != Task::Run && date.is_empty() {
        bail!("what is published carries its day; give --date, such as --date 2026-11-16");
    }
    for mut command in commands(&target_directory(), options.task, date) {
        println!("$ {}", shown(&command));
        step::run(&mut command)?;
    }
    Ok(())
}

fn commands(target: &Path, task: Task, date: &str) -> Vec<Command> {
    let program = |name: &str, line: &str| {
        let file = target.join("release").join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
        let mut command = Command::new(file);
        command.args(line.split(' ')).current_dir(step::root());
        command
    };
    // Both at once: packages that are built together share the features of what they share.
    let mut all = vec![
        step::cargo(&["build", "--release", "--package", "stagetune-cli", "--package", "microct"]),
        program("microct", &format!("phantom --out {DATA}")),
    ];
    match task {
        Task::Run => {
            all.push(program("stagetune", &format!("run {PIPELINE}")));
            let mut report = program("stagetune", &format!("report {PIPELINE} -o"));
            report.arg(target.join("microct-report.html"));
            all.push(report);
        }
        Task::Measure => {
            all.push(program(
                "microct",
                &format!("measure --runs 8 --data {DATA} --out {SECONDS} --date {date}"),
            ));
        }
        Task::Tables => {
            for stages in [2, 3] {
                let mut table = program(
                    "microct",
                    &format!(
                        "table --stages {stages} --data {DATA} --seconds {SECONDS} --out \
                            experiments/tables/microct-{stages} --date {date} --rows"
                    ),
                );
                table.arg(target.join(format!("microct/rows-{stages}")));
                all.push(table);
            }
            let tables = "experiments/tables/microct-2 experiments/tables/microct-3";
            let pack = format!("run --release --package stagetune-lab -- pack {tables}");
            all.push(step::cargo(&pack.split(' ').collect::<Vec<&str>>()));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(task: Task) -> Vec<String> {
        commands(&step::root().join("target"), task, "2026-11-16").iter().map(shown).collect()
    }

    #[test]
    fn a_study_is_built_given_its_volume_run_and_reported() {
        let lines = lines(Task::Run);
        assert_eq!(lines[0], "cargo build --release --package stagetune-cli --package microct");
        assert_eq!(lines[1], "target/release/microct phantom --out examples/microct/data");
        assert_eq!(lines[2], "target/release/stagetune run examples/microct/pipeline.toml");
        assert!(lines[3].ends_with("-o target/microct-report.html"), "{}", lines[3]);
    }

    #[test]
    fn both_tables_keep_their_rows_apart() {
        let lines = lines(Task::Tables);
        assert!(lines[2].contains("--stages 2") && lines[2].ends_with("--rows target/microct/rows-2"));
        assert!(lines[3].contains("--stages 3") && lines[3].ends_with("--rows target/microct/rows-3"));
        assert!(lines[3].contains("--out experiments/tables/microct-3 --date 2026-11-16"));
        assert!(lines[4].ends_with("pack experiments/tables/microct-2 experiments/tables/microct-3"));
    }

    #[test]
    fn numbers_without_a_day_are_not_made() {
        let complaint = run(&Options { task: Task::Tables, date: None }).err().map(|error| error.to_string());
        assert!(complaint.is_some_and(|text| text.contains("--date")));
    }
}
