//! Every chore of the workspace as `cargo xtask …`.
fn main() {}
