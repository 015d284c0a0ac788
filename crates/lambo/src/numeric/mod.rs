//! Numerical building blocks that know nothing of optimisation problems: vector loops, special functions,
//! quasi-random points, a quasi-Newton minimiser.

pub mod quasi_newton;
pub(crate) mod vector;
