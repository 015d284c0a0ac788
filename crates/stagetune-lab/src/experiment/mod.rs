//! Experiments: strategies on one problem under the same rules, their curves, figures and comparisons.
//!
//! A [`Plan`] says what is run. [`run`] does the runs that are not done yet, each kept in a file of its own, and writes the outcome:
//! `curves.csv`, `points.csv`, `summary.json`, `figure.svg` and `figure.png`. [`compare`] and [`tournament`] read summaries.

pub mod best_of;
pub mod compare;
pub mod curve;
pub mod figure;
pub mod games;
pub mod halves;
pub mod outcome;
pub mod output;
pub mod plan;
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
