//! Numerical building blocks.

pub mod normal;
