//! The guard: outlives a killed stagetune to end its stages.

use super::Done;
use crate::exit::Code;

/// Listens until stagetune has ended.
pub fn run() -> Done {
    stagetune_pipeline::runner::watch_over(std::io::stdin().lock());
    Ok(Code::Done)
}
