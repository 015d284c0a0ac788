//! The `lambo-lab` binary: experiments around the engine.
fn main() {}
