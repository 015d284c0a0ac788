//! Optimisers from outside in our figures: they play through a process each, and what they asked for is kept and can be replayed.
//!
//! A peer sees points and values, never modules or costs. So one game per problem, start, noise and seed serves every figure on that problem: the
//! figure charges the points by its own split and costs. [`crate::experiment::games`] has them play.
//!
//! - [`replay`]: a strategy that repeats a game.
//! - [`transcript`]: the file of a game.

pub mod replay;
pub mod transcript;

/// The peers that `xtask/peers/player.py` knows.
pub const NAMES: [&str; 4] = ["optuna-tpe", "optuna-gp", "botorch-logei", "smac3"];
