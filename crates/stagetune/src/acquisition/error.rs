//! What can be wrong with the settings of an acquisition function.

use thiserror::Error;

/// Why an acquisition function could not be built.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum AcquisitionError {
    /// There is no improvement over a value that is not a number.
    #[error("the value to improve on is {best}, which is not finite; pass the best value observed so far")]
    Best {
        /// What was given.
        best: f64,
    },
    /// The weight of the standard deviation.
    #[error("the confidence weight beta is {beta}; it must be finite and not negative")]
    Beta {
        /// What was given.
        beta: f64,
    },
    /// Max-value entropy search without a sample of the minimum.
    #[error("no sample of the minimum was given; draw at least one")]
    NoSamples,
    /// A sample of the minimum that is not a number.
    #[error("sample {index} of the minimum is {value}; samples must be finite")]
    Sample {
        /// Its position.
        index: usize,
        /// What was given.
        value: f64,
    },
    /// The distribution of the minimum over no points.
    #[error("the minimum over no points has no distribution; pass at least one posterior mean and sd")]
    NoPoints,
    /// Means and standard deviations that do not belong together.
    #[error("{means} means but {sds} standard deviations; there must be one of each for every point")]
    Lengths {
        /// How many means.
        means: usize,
        /// How many standard deviations.
        sds: usize,
    },
    /// A posterior that is none.
    #[error(
        "the posterior of point {index} has mean {mean} and sd {sd}; both must be finite and sd not negative"
    )]
    Posterior {
        /// The point's position.
        index: usize,
        /// Its mean.
        mean: f64,
        /// Its standard deviation.
        sd: f64,
    },
    /// The noise of the observations.
    #[error("the noise sd is {noise_sd}; it must be finite and not negative")]
    Noise {
        /// What was given.
        noise_sd: f64,
    },
    /// Posterior means so far apart that their distances overflow.
    #[error("the posterior spans more than a double can hold; standardise the observations")]
    Range,
    /// The price of a trial in units of f.
    #[error("lambda times cost is {lambda_cost}; a Gittins index needs it finite and above 0")]
    LambdaCost {
        /// What was given.
        lambda_cost: f64,
    },
    /// A cost to divide by.
    #[error(
        "the cost of a trial is {cost}; it must be finite and above 0 (add a small overhead to free trials)"
    )]
    Cost {
        /// What was given.
        cost: f64,
    },
    /// The exponent of a cooled cost.
    #[error("the exponent of the cost is {exponent}; it must lie between 0 (ignore costs) and 1 (full cost)")]
    Exponent {
        /// What was given.
        exponent: f64,
    },
    /// The account that cooling reads.
    #[error(
        "cannot cool with budget {budget}, spent {spent} and initial {initial}; all must be finite and not negative"
    )]
    Budget {
        /// The whole budget τ.
        budget: f64,
        /// What was spent, τ_k.
        spent: f64,
        /// What the initial design may spend, τ_init.
        initial: f64,
    },
}
