//! Numerical building blocks.
