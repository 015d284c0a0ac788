//! Experiments at toy size: every panel, the files they leave, interruption, threads, plans that are refused.

// Clippy lets tests unwrap but not the helpers beside them.
#![allow(clippy::unwrap_used)]

mod commands;
mod continued;
mod files;
mod held_out;
mod panels;
mod peers;
mod plans;
mod published;
mod raw;
mod tables;
mod verdicts;
