//! The `lambo` command as people use it: real files, real processes, real signals.

mod commands;
mod disk;
mod failures;
mod graph;
mod harness;
mod hostile;
mod killed;
mod once;
mod signals;
