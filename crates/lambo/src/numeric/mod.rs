//! Numerical building blocks.

mod joe_kuo;
pub mod normal;
pub mod sobol;
pub mod uniform;
