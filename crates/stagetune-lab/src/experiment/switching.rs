//! Plans of the switching-cost protocol: seven functions that exist in every dimension, d = 2 to 4, switching costs 1 to 31.
//!
//! ```text
//! cost of a trial   1 + c_sw · 1{a costly variable changed};  costs of the modules are c_sw and 1
//! costly variables  the first ⌊d/2⌋
//! budget            10·d·(c_sw + 1), which is 10·d full runs
//! ```
//!
//! Pricopie, Allmendinger, López-Ibáñez, Fare, Benatan and Knowles, *An adaptive approach to Bayesian optimization with switching
//! costs*, 2024 (arXiv 2405.08973), is where the costs, dimensions, budget and the number of functions come from. Which variables
//! are costly, the seven functions and 2·(d + 1) uniform starting points are our choice. Functions are shifted by seed 1, since
//! four of the seven have their optimum in the middle of the box.

use super::plan::Plan;
use crate::write::write_whole;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// The functions.
pub const FUNCTIONS: [&str; 7] =
    ["ackley", "rastrigin", "griewank", "levy", "rosenbrock", "michalewicz", "styblinski"];

/// The dimensions.
pub const DIMENSIONS: [usize; 3] = [2, 3, 4];

/// c_sw.
pub const SWITCHING_COSTS: [u32; 5] = [1, 3, 7, 15, 31];

/// Runs a curve.
const SIMS: usize = 20;

/// Writes `DIR/NAME/plan.toml` for every combination, and says which.
pub fn write_plans(folder: &Path, strategies: &[String]) -> Result<Vec<PathBuf>> {
    let (function, dim, cost) = (FUNCTIONS[0], DIMENSIONS[0], SWITCHING_COSTS[0]);
    Plan::parse("--strategies", &plan(function, dim, cost, strategies))?;
    let mut plans = Vec::new();
    for function in FUNCTIONS {
        for dim in DIMENSIONS {
            for cost in SWITCHING_COSTS {
                let own = folder.join(format!("{function}{dim}-sw{cost}"));
                std::fs::create_dir_all(&own).with_context(|| format!("cannot make {}", own.display()))?;
                let path = own.join("plan.toml");
                write_whole(&path, plan(function, dim, cost, strategies).as_bytes())?;
                plans.push(path);
            }
        }
    }
    Ok(plans)
}

/// The plan of one combination.
pub fn plan(function: &str, dim: usize, cost: u32, strategies: &[String]) -> String {
    let costly = dim / 2;
    let names: Vec<String> = strategies.iter().map(|name| format!("{name:?}")).collect();
    format!(
        "title = \"Switching cost {cost}\"\nproblem = \"{function}{dim}@1\"\nsplit = [{costly}, {}]\ncosts = [{cost}, 1]\n\
         budget = {}\nstart = {{ uniform = {} }}\nsims = {SIMS}\nstrategies = [{}]\n",
        dim - costly,
        10 * dim,
        2 * (dim + 1),
        names.join(", ")
    )
}
