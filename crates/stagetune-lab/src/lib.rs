//! The laboratory around the `stagetune` engine: what experiments, tests and benches share.
//!
//! - [`coarse`]: variables that are choices and metrics that move in steps.
//! - [`evidence`]: slow runs that back what is claimed of the engine.
//! - [`experiment`]: strategies on one problem under the same rules: plans, runs, curves, figures,
//!   comparisons.
//! - [`packed`]: compressed files.
//! - [`peers`]: optimisers from outside, which play on the same problems and take part in the figures.
//! - [`problems`]: test functions with exactly known minima, plain or shifted by a seeded offset.
//! - [`provenance`]: how a file of results came about.
//! - [`mod@reference`]: the engine's numbers against files of independently computed ones.
//! - [`simulate`]: runs of a strategy on a test problem that is split into modules.
//! - [`suggest`]: one suggestion from raw arrays, timed.
//!
//! The `stagetune-lab` binary is a thin face over these.

pub mod cli;
mod clock;
pub mod coarse;
pub mod evidence;
pub mod experiment;
pub mod packed;
pub mod peers;
pub mod problems;
pub mod provenance;
pub mod reference;
pub mod simulate;
pub mod suggest;
mod write;
