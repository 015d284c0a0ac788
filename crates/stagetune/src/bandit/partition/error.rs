//! Why there is no such partition, or no such set of regions.

use std::sync::Arc;

use thiserror::Error;

use crate::bandit::{MAX_ARMS, MAX_HEIGHT};
use crate::space::SpaceError;

/// Why a module cannot be divided like this, or regions cannot be arms.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum PartitionError {
    /// The space refused a box or a condition.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// No such module.
    #[error("there is no module {module}; the {modules} modules count from 0")]
    NoModule {
        /// What was given.
        module: usize,
        /// How many there are.
        modules: usize,
    },
    /// Forbidden regions leave no cell.
    #[error("module `{module}`: no allowed point was found in any of its regions; loosen a forbidden region")]
    NothingAllowed {
        /// The module.
        module: Arc<str>,
    },
    /// More cells than can be held.
    #[error("module `{module}`: its cuts make more than {limit} regions; remove some cuts")]
    TooManyCells {
        /// The module.
        module: Arc<str>,
        /// How many are possible.
        limit: usize,
    },
    /// A diameter that is none.
    #[error("the diameter of a region is {diameter}; give a number of at least 0")]
    Diameter {
        /// What was given.
        diameter: f64,
    },
    /// One flag is needed for each cell or arm.
    #[error("{found} flags for {expected} {what}; give one for each")]
    Flags {
        /// Cells or arms.
        what: &'static str,
        /// How many were given.
        found: usize,
        /// How many are needed.
        expected: usize,
    },
    /// All would be dropped.
    #[error("none of the {what} would be left; keep at least one")]
    NothingLeft {
        /// Cells or arms.
        what: &'static str,
    },
    /// A partition is needed for each module but the last, and there must be one.
    #[error("{found} partitions for {modules} modules; give at least one, and none for the last module")]
    Partitions {
        /// How many were given.
        found: usize,
        /// How many modules the space has.
        modules: usize,
    },
    /// A partition of another module, or of another space.
    #[error(
        "partition {position} (from 0) is not one of this space, or of a module before that of the one before it; make it from this space and keep the order of the modules"
    )]
    Foreign {
        /// Its position.
        position: usize,
    },
    /// The product of the cells is too large.
    #[error(
        "the regions {counts:?} make more than {MAX_ARMS} arms; divide fewer modules or into fewer regions"
    )]
    TooManyArms {
        /// Cells of each module.
        counts: Vec<usize>,
    },
    /// More modules than a tree has levels.
    #[error("{modules} modules have regions; a tree has room for {MAX_HEIGHT}, so join some modules")]
    TooManyModules {
        /// How many there are.
        modules: usize,
    },
    /// Every arm is forbidden.
    #[error("no allowed point was found in any joint region; loosen a forbidden region or cut elsewhere")]
    EveryArmForbidden,
    /// A prior score that is not a number.
    #[error("the score of `{condition}` is {score}; give a finite number")]
    Score {
        /// Where it was to be added.
        condition: Arc<str>,
        /// What was given.
        score: f64,
    },
}
