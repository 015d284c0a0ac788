//! What looks promising: acquisition functions, each a number that is larger where a trial is worth more.
//!
//! An acquisition function sees a posterior, never a model: the mean and the standard deviation of f at one point.

/// What an acquisition function says of one point, and how that changes with the posterior there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// The acquisition value; larger is more promising.
    pub value: f64,
    /// ∂ value / ∂ mean.
    pub d_mean: f64,
    /// ∂ value / ∂ sd.
    pub d_sd: f64,
}

/// Whether values of an acquisition function are themselves or logarithms: dividing by a cost differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// `value` is the quantity itself.
    Linear,
    /// `value` is its natural logarithm.
    Log,
}

/// An acquisition function of a minimisation problem.
pub trait Acquisition: Sync {
    /// The value and its derivatives where f is believed to have this mean and standard deviation.
    fn score(&self, mean: f64, sd: f64) -> Score;

    /// Whether values are logarithms.
    fn scale(&self) -> Scale {
        Scale::Linear
    }
}
