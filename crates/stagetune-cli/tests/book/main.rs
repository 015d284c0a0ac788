//! The examples of the book and of README: every pipeline file in them is checked and run, and
//! every key of the schema has its entry.
//!
//! A block of TOML with `[study]` or `[[stage]]` is a pipeline file. What an example leaves out is
//! put in: the keys that `[study]` must have, and a stage. Programs that an example names are
//! stand-ins, which write a `result.json`.

// Clippy lets tests unwrap and panic but not the helpers beside them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod examples;
mod keys;
mod python;
