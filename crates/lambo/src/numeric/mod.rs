//! Numerical building blocks.

pub mod normal;
pub mod uniform;
