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
    cargo: &'static [&'static str],
}

/// New evidence is a line here.
const ITEMS: &[Item] = &[
    Item {
        name: "reference",
        about: "the engine's numbers, optimised build, against the laboratory's reference files",
        cargo: &[
            "run",
            "--release",
            "-p",
            "lambo-lab",
            "--",
            "reference",
            "crates/lambo-lab/tests/fixtures/good",
        ],
    },
    Item {
        name: "maximiser",
        about: "the default acquisition maximiser reaches 99% of a brute-force search in 95% of random problems",
        cargo: &[
            "run",
            "--release",
            "-p",
            "lambo-lab",
            "--",
            "evidence",
            "maximiser",
            "--out",
            "experiments/engine/maximiser.json",
        ],
    },
    Item {
        name: "kernels",
        about: "dense kernels run at half the speed of a matrix product or more, on one thread",
        cargo: &[
            "run",
            "--release",
            "-p",
            "lambo-lab",
            "--",
            "evidence",
            "kernels",
            "--out",
            "experiments/engine/kernels.json",
        ],
    },
    Item {
        name: "memory",
        about: "a fit and a suggestion with 5,000 observations stay below three matrices of covariances",
        cargo: &[
            "run",
            "--release",
            "-p",
            "lambo-lab",
            "--",
            "evidence",
            "memory",
            "--out",
            "experiments/engine/memory.json",
        ],
    },
    Item {
        name: "scaling",
        about: "a suggestion without a refit costs no more than O(n²) up to 5,000 observations",
        cargo: &[
            "run",
            "--release",
            "-p",
            "lambo-lab",
            "--",
            "evidence",
            "scaling",
            "--out",
            "experiments/engine/scaling.json",
        ],
    },
    Item {
        name: "peers",
        about: "one suggestion timed against BoTorch and Optuna, with the acquisition value each reached",
        cargo: &["xtask", "peers"],
    },
];

/// Lists the runs, or does those that are named.
pub fn run(options: &Options) -> Result<()> {
    if options.names.is_empty() {
        for item in ITEMS {
            println!("{:<12} {}\n{:<12} $ cargo {}", item.name, item.about, "", item.cargo.join(" "));
        }
        return Ok(());
    }
    for item in select(&options.names)? {
        step::timed(item.name, || step::run(&mut step::cargo(item.cargo)))?;
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
        assert_eq!(select(&["all".to_owned()]).map(|items| items.len()).ok(), Some(ITEMS.len()));
    }
}
