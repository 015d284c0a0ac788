//! `cargo xtask evidence`: slow runs that back what the documents claim, each a named cargo command.

use crate::step;
use anyhow::{Result, bail};
use clap::Args;

/// Which runs to do.
#[derive(Debug, Args)]
pub struct Options {
    /// Names of runs, or `all`; without any, they are listed.
    names: Vec<String>,
}

/// A claim and the command that shows it.
struct Item {
    name: &'static str,
    about: &'static str,
    how: How,
}

/// Who shows it.
enum How {
    /// `stagetune-lab evidence NAME`, optimised, which writes `NAME.json` into this folder of `experiments/`.
    Lab(&'static str),
    /// The same, about the `stagetune` command, which is built first.
    Command(&'static str),
    /// `stagetune-lab run` on the plan of this name of every panel.
    Panels(&'static str),
    /// `stagetune-lab run` on the plans of the folders of `experiments/auto` whose names begin with this.
    Tournament(&'static str),
    /// Another cargo command.
    Cargo(&'static str),
}

impl Item {
    /// The words after `cargo`.
    fn command(&self) -> Vec<String> {
        let name = self.name;
        let line = match self.how {
            How::Lab(folder) | How::Command(folder) => {
                format!(
                    "run --release -p stagetune-lab -- evidence {name} --out experiments/{folder}/{name}.json"
                )
            }
            How::Panels(plan) => {
                let plans = PANELS.map(|panel| format!("experiments/panel-{panel}/{plan}"));
                format!("run --release -p stagetune-lab -- run {}", plans.join(" "))
            }
            How::Tournament(prefix) => {
                let plans = tournament(prefix).join(" ");
                format!("run --release -p stagetune-lab -- run --part whole {plans}")
            }
            How::Cargo(line) => line.to_owned(),
        };
        line.split(' ').map(str::to_owned).collect()
    }
}

/// The plans below `experiments/auto` in folders whose names begin with this, in alphabetical order.
fn tournament(prefix: &str) -> Vec<String> {
    let entries = std::fs::read_dir(step::root().join("experiments/auto")).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut plans: Vec<String> = names
        .filter(|name| name.starts_with(prefix))
        .map(|name| format!("experiments/auto/{name}/plan.toml"))
        .collect();
    plans.sort();
    plans
}

/// The panels of the paper that need no images.
pub const PANELS: [&str; 12] =
    ["a", "b", "c26", "c44", "c62", "d", "e", "f", "s-ackley", "s-griewank", "s-hartmann", "s-rastrigin"];

/// New evidence is a line here.
const ITEMS: &[Item] = &[
    Item {
        name: "reference",
        about: "the engine's numbers, optimised build, against the laboratory's reference files",
        how: How::Cargo(
            "run --release -p stagetune-lab -- reference crates/stagetune-lab/tests/fixtures/good",
        ),
    },
    Item {
        name: "maximiser",
        about: "the default acquisition maximiser reaches 99% of a brute-force search in 95% of \
            random problems",
        how: How::Lab("engine"),
    },
    Item {
        name: "kernels",
        about: "dense kernels run at half the speed of a matrix product or more, on one thread",
        how: How::Lab("engine"),
    },
    Item {
        name: "memory",
        about: "a fit and a suggestion with 5,000 observations stay below three matrices of covariances",
        how: How::Lab("engine"),
    },
    Item {
        name: "scaling",
        about: "a suggestion without a refit costs no more than O(n²) up to 5,000 observations",
        how: How::Lab("engine"),
    },
    Item {
        name: "laziness",
        about: "LaMBO moves the first module in at most half of the iterations at depth 1, one of \
            eight at depth 4",
        how: How::Lab("lambo"),
    },
    Item {
        name: "regret",
        about: "the movement regret of stagetune grows sublinearly over 400 trials, that of gp-ucb does not",
        how: How::Lab("lambo"),
    },
    Item {
        name: "ask",
        about: "one ask with 8 arms at 200 trials costs no more than 4 of plain GP-UCB",
        how: How::Lab("lambo"),
    },
    Item {
        name: "resume",
        about: "a study of 1,000 trials resumes in under 2 seconds and proposes what it would have proposed",
        how: How::Lab("lambo"),
    },
    Item {
        name: "settings",
        about: "variants of LaMBO's settings on six problems; the default ones beat the paper's",
        how: How::Lab("lambo"),
    },
    Item {
        name: "overhead",
        about: "stagetune adds under 1 ms to a reused stage and under 5 ms to an executed one, \
            beyond the bare process",
        how: How::Command("pipeline"),
    },
    Item {
        name: "long-study",
        about: "a study with 20,000 trials and 160,000 records opens in under 1 s",
        how: How::Command("pipeline"),
    },
    Item {
        name: "files",
        about: "20,000 trials with outputs of a few bytes leave fewer than 1,000 files",
        how: How::Command("pipeline"),
    },
    Item {
        name: "campaign",
        about: "10,000 kills, 2,000 damages, 1,000 random pipelines, every write failing: nothing \
            lost, nothing wrong (an hour)",
        how: How::Command("pipeline"),
    },
    Item {
        name: "panels",
        about: "the paper's panels A to F and S, 100 runs a curve (hours); runs that are there are \
            not made again",
        how: How::Panels("plan.toml"),
    },
    Item {
        name: "panels-shifted",
        about: "the same with every optimum shifted away from the middle",
        how: How::Panels("shifted/plan.toml"),
    },
    Item {
        name: "microct",
        about: "stagetune tunes the imaging pipeline, U-Nets and all, within five minutes of commands",
        how: How::Cargo("xtask microct"),
    },
    Item {
        name: "panels-tables",
        about: "panels G and H over the tables of the neuroimaging pipeline, with the paper's costs \
            and with measured ones",
        how: How::Cargo(
            "run --release -p stagetune-lab -- run experiments/panel-g/plan.toml \
                experiments/panel-g/measured/plan.toml experiments/panel-h/plan.toml \
                experiments/panel-h/measured/plan.toml",
        ),
    },
    Item {
        name: "auto",
        about: "the tournament of the default strategy on all that it was not tuned on, as the \
            plans have it (a day)",
        how: How::Tournament("report-"),
    },
    Item {
        name: "play",
        about: "games of Optuna, BoTorch and SMAC3 on the panels' problems, for their figures (hours)",
        how: How::Cargo("xtask peers play"),
    },
    Item {
        name: "peers",
        about: "one suggestion timed against BoTorch and Optuna, with the acquisition value each reached",
        how: How::Cargo("xtask peers"),
    },
];

/// Lists the runs, or does those that are named.
pub fn run(options: &Options) -> Result<()> {
    if options.names.is_empty() {
        for item in ITEMS {
            println!("{:<12} {}\n{:<12} $ cargo {}", item.name, item.about, "", item.command().join(" "));
        }
        return Ok(());
    }
    for item in select(&options.names)? {
        if matches!(item.how, How::Command(_)) {
            step::run(&mut step::cargo(&["build", "--release", "--package", "stagetune-cli"]))?;
        }
        let command = item.command();
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        step::timed(item.name, || step::run(&mut step::cargo(&words)))?;
    }
    Ok(())
}

fn select(names: &[String]) -> Result<Vec<&'static Item>> {
    if names.iter().any(|name| name == "all") {
        return Ok(ITEMS.iter().collect());
    }
    let find = |name: &String| match ITEMS.iter().find(|item| item.name == name) {
        Some(item) => Ok(item),
        None => bail!(
            "no evidence is called `{name}`; there are {}",
            ITEMS.iter().map(|item| item.name).collect::<Vec<_>>().join(", ")
        ),
    };
    names.iter().map(find).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_an_unknown_one_lists_them() {
        let names: std::collections::BTreeSet<_> = ITEMS.iter().map(|item| item.name).collect();
        assert_eq!(names.len(), ITEMS.len());
        let complaint = select(&["pears".to_owned()]).err().map(|error| error.to_string());
        assert!(complaint.is_some_and(|text| text.contains("reference, maximiser")));
        let auto = select(&["auto".to_owned()]).map(|items| items[0].command().join(" ")).unwrap_or_default();
        assert!(
            auto.contains("experiments/auto/report-panel-a/plan.toml") && !auto.contains("/tune-"),
            "{auto}"
        );
        assert_eq!(select(&["all".to_owned()]).map(|items| items.len()).ok(), Some(ITEMS.len()));
    }
}
