//! Lazy modular Bayesian optimisation.

pub mod acquisition;
pub mod bandit;
pub mod numeric;
pub mod space;
pub mod surrogate;
