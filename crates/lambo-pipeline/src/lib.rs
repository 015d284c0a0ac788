//! Runs real pipelines for lambo: a file of stages, the runner, the stage cache, the journal, and the loop that ties them to a study.

pub mod file;
pub mod record;
