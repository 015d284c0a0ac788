//! Runs real pipelines for stagetune.
//!
//! A [`file`](mod@file) describes the stages. An [`owner`] asks the study what to try, has an
//! [`executor`] run the stages whose [`outputs`] are not there yet, and appends all that happens to
//! a [`log`]. A [`ledger`] is what the log comes to, for people.

pub mod clock;
pub mod disk;
pub mod executor;
pub mod file;
pub mod filesystem;
mod host;
pub mod ledger;
pub mod log;
pub mod outputs;
pub mod owner;
pub mod records;
mod regular;
mod sqlite_file;
pub mod state_dir;
pub mod stop;
pub mod text;
