//! The guard: outlives a killed lambo to end its stages.

use super::Done;
use crate::exit::Code;

/// Listens until lambo has ended.
pub fn run() -> Done {
    lambo_pipeline::runner::watch_over(std::io::stdin().lock());
    Ok(Code::Done)
}
