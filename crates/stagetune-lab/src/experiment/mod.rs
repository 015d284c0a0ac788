//! Experiments: strategies on one problem under the same rules, their curves, figures and comparisons.
//!
//! A [`Plan`] says what is run. [`run`] does the runs that are not done yet, each kept in a file of
//! its own, and writes the outcome: `runs.jsonl.zst`, a line for each run ([`raw`]), and for people
//! `curves.csv`, `points.csv`, `steps.csv`, `summary.json`, `figure.svg` and `figure.png`.
//! [`compare`], [`tournament`] and [`best_of`] work out summaries from the raw results.

pub mod best_of;
pub mod compare;
pub mod curve;
pub mod figure;
pub mod games;
pub mod halves;
pub mod outcome;
pub mod output;
pub mod plan;
pub mod raw;
pub mod record;
pub mod run;
pub mod start;
pub mod stats;
pub mod store;
pub mod summary;
pub mod switching;
mod table;
pub mod tournament;

pub use plan::{Entry, Plan, PlanError};
