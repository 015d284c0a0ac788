//! What the bandit refuses.

use thiserror::Error;

/// Why the bandit refused.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum BanditError {
    /// The learning rate.
    #[error("the learning rate eta is {eta}; it must be finite and above 0")]
    Eta {
        /// What was given.
        eta: f64,
    },
    /// One number is needed for each arm.
    #[error("{found} {what} for {arms} arms; give one for each arm")]
    Arms {
        /// Losses or probabilities.
        what: &'static str,
        /// How many were given.
        found: usize,
        /// How many arms there are.
        arms: usize,
    },
    /// One sign is needed for each level below the root.
    #[error("{found} signs for a tree of height {height}; give one for each level below the root")]
    Signs {
        /// How many were given.
        found: usize,
        /// H.
        height: usize,
    },
    /// A loss that is not a number.
    #[error("the loss of arm {arm} is {loss}; losses must be finite")]
    Loss {
        /// The arm.
        arm: usize,
        /// What was given.
        loss: f64,
    },
    /// Losses whose estimate no double can hold.
    #[error("the estimated loss of arm {arm} overflows; rescale the losses to [0, 1]")]
    Overflow {
        /// The arm.
        arm: usize,
    },
    /// A probability that is none.
    #[error("the probability of arm {arm} is {p}; probabilities lie in [0, 1]")]
    Probability {
        /// The arm.
        arm: usize,
        /// What was given.
        p: f64,
    },
    /// Probabilities that do not add up.
    #[error("the probabilities add up to {sum}, not 1; normalise them")]
    Sum {
        /// Their sum.
        sum: f64,
    },
    /// No such arm.
    #[error("there is no arm {arm}; arms count from 0 to {last}")]
    NoSuchArm {
        /// What was given.
        arm: usize,
        /// The last one.
        last: usize,
    },
    /// Weighting by a probability of 0.
    #[error("arm {arm} has probability 0, so its loss cannot be weighted; draw arms with this bandit")]
    Impossible {
        /// The arm.
        arm: usize,
    },
    /// A weight that is none.
    #[error(
        "the log-weight of arm {arm} is {log_weight}; give a finite number, or minus infinity for no weight"
    )]
    Weight {
        /// The arm.
        arm: usize,
        /// What was given.
        log_weight: f64,
    },
    /// No arm is left to draw.
    #[error("no arm has any weight; leave at least one arm alive")]
    NoMass,
}
