//! The `stagetune` command as people use it: real files, real processes, real signals.

// Clippy lets tests unwrap and panic but not the helpers beside them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod commands;
mod control;
mod damage;
mod disk;
mod ends;
mod failures;
mod graph;
mod harness;
mod hostile;
mod killed;
mod metrics;
mod once;
mod outside;
mod owner_killed;
mod repair;
mod signals;
mod world;
mod worth;
