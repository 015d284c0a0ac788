//! What the tests share: toy plans, folders, and the files of results read back.

use stagetune_lab::experiment::plan::Plan;
use stagetune_lab::experiment::run::execute;
use stagetune_lab::experiment::store::Store;
use std::path::{Path, PathBuf};

/// Runs of a toy experiment.
pub const SIMS: usize = 3;

/// A plan that runs in a moment.
pub const TOY: &str = r#"
problem = "hartmann3"
split = [1, 2]
costs = [10, 1]
budget = 5
start = { uniform = 4 }
sims = 3
strategies = ["random", "gp-ucb", "lambo"]
"#;

/// A row of a CSV file.
pub type Line = Vec<String>;

/// An empty folder for one test.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A plan from its text.
pub fn plan(text: &str) -> Plan {
    Plan::parse("toy.toml", text).unwrap()
}

/// Runs a plan in an empty folder.
pub fn run(plan: &Plan, name: &str, threads: usize) -> PathBuf {
    let folder = folder(name);
    execute(plan, &Store::open(&folder).unwrap(), threads).unwrap();
    folder
}

/// The rows of a CSV file below its header.
pub fn rows(folder: &Path, name: &str) -> Vec<Line> {
    parse(&std::fs::read_to_string(folder.join(name)).unwrap())
}

/// The rows of a CSV text below its header.
pub fn parse(text: &str) -> Vec<Line> {
    text.lines().skip(1).map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

/// `curves.csv` without the times, which no two runs share.
pub fn timeless(folder: &Path) -> Vec<Line> {
    let mut rows = rows(folder, "curves.csv");
    rows.iter_mut().for_each(|row| drop(row.pop()));
    rows
}

/// A cell as a number.
pub fn number(row: &Line, column: usize) -> f64 {
    row[column].parse().unwrap()
}

/// Rows of each run: those with the same strategy and number.
pub fn by_run(rows: &[Line]) -> Vec<&[Line]> {
    rows.chunk_by(|a, b| a[1..3] == b[1..3]).collect()
}
