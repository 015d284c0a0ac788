//! Numerical building blocks that know nothing of optimisation problems: vector loops, special functions,
//! quasi-random points, a quasi-Newton minimiser.

mod batch;
pub mod dense;
mod joe_kuo;
pub mod normal;
pub mod quasi_newton;
pub mod sobol;
pub mod uniform;
pub(crate) mod vector;

pub use batch::Batch;
