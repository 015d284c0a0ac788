//! The `lambo` command.

fn main() {}
