//! What an owner promises: nobody waits for a fit, ends are adopted, others may append, a newer owner wins, functions are stages.

// Clippy lets tests unwrap and panic but not the helpers beside them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod adopted;
mod blocked;
mod bodies;
mod control;
mod harness;
