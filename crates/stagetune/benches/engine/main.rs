//! Benchmarks of what one suggestion is made of, in 8 dimensions, and of one step of the bandit: `cargo bench -p stagetune`, or a part of it by name.
//!
//! With `-- --test` each runs once, and only at small sizes, to show that it still works.

#![allow(clippy::unwrap_used)] // A benchmark may fail loudly.

mod ask;
mod bandit;
mod data;
mod forecast;
mod kernels;
mod strategy;
mod study;
mod surrogate;
mod wide;

fn main() {
    divan::main();
}
