//! Runs real pipelines for stagetune: a file of stages, the runner, the stage cache, the journal, and the loop that ties them to a study.

pub mod cache;
mod clock;
pub mod disk;
pub mod file;
pub mod journal;
pub mod record;
pub mod run_loop;
pub mod runner;
pub mod state_dir;
pub mod stop;
