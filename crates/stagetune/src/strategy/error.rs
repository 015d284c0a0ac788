//! Why a strategy has nothing to propose.

use crate::acquisition::{AcquisitionError, MaximiseError};
use crate::bandit::{BanditError, PartitionError, TreeError};
use crate::space::{ExprError, SpaceError};
use crate::surrogate::SurrogateError;

/// Why a strategy has nothing to propose, or cannot be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StrategyError {
    /// No strategy of that name.
    #[error("there is no strategy `{name}`; use one of {}", super::NAMES.join(", "))]
    Unknown {
        /// What was asked for.
        name: String,
    },
    /// An option that makes no sense.
    #[error("option `{option}`: {problem}")]
    Option {
        /// Its name.
        option: &'static str,
        /// What is wrong and how to mend it.
        problem: String,
    },
    /// An option that was given by name and does not exist or fit.
    #[error("option `{option}` of strategy `{strategy}`: {problem}")]
    Given {
        /// The strategy.
        strategy: String,
        /// The option's name; that of an option inside another has a dot.
        option: String,
        /// What is wrong and how to mend it.
        problem: String,
    },
    /// Every point of a finite space is open.
    #[error("every point that is allowed is being tried already; tell a result before asking again")]
    Exhausted,
    /// A proposal that this strategy cannot have made.
    #[error("the proposal of trial {trial} was not made by this strategy with these options: {problem}")]
    Foreign {
        /// The trial.
        trial: usize,
        /// What does not fit.
        problem: String,
    },
    /// Something that a proposal cannot remember.
    #[error("what the proposal has to remember cannot be written down: {problem}")]
    Unwritable {
        /// What is wrong.
        problem: String,
    },
    /// The space refused.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// A condition cannot be read.
    #[error(transparent)]
    Expr(#[from] ExprError),
    /// The surrogate refused.
    #[error(transparent)]
    Surrogate(#[from] SurrogateError),
    /// The acquisition function refused.
    #[error(transparent)]
    Acquisition(#[from] AcquisitionError),
    /// The maximiser found nothing.
    #[error(transparent)]
    Maximise(#[from] MaximiseError),
    /// A module has no partition.
    #[error(transparent)]
    Partition(#[from] PartitionError),
    /// The module tree cannot be built.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// The bandit refused.
    #[error(transparent)]
    Bandit(#[from] BanditError),
}
