//! What a study promises: every outcome told once, nothing lost on errors, costs as both models charge them, and events that replay
//! to the same state, bit for bit.

#![allow(clippy::unwrap_used)] // Helpers of tests may fail loudly, too.

mod account;
mod conversation;
mod events;
mod replay;
mod script;
mod seeds;
mod stopping;
mod worth;
