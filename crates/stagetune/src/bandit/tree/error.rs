//! Why a tree is refused.

use std::ops::Range;

use super::{MAX_ARMS, MAX_HEIGHT};
use thiserror::Error;

/// Why there is no such tree.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TreeError {
    /// Nothing to choose.
    #[error("a module tree needs at least one module with regions; a pipeline of one module has no arms")]
    NoModules,
    /// One depth is needed for each module.
    #[error(
        "{regions} modules have regions but {depths} have a depth; give one depth for each module but the last"
    )]
    Lengths {
        /// Modules with a number of regions.
        regions: usize,
        /// Modules with a depth.
        depths: usize,
    },
    /// A module without a region.
    #[error("module {module} (from 0) has no region; leave it whole by giving it 1")]
    NoRegions {
        /// Its position.
        module: usize,
    },
    /// A module without a level of its own.
    #[error("module {module} (from 0) has depth 0; depths start at 1")]
    NoDepth {
        /// Its position.
        module: usize,
    },
    /// The product of the regions is too large.
    #[error(
        "the regions {regions:?} make more than {MAX_ARMS} arms; cut fewer modules or into fewer regions"
    )]
    TooManyArms {
        /// Regions of each module.
        regions: Vec<usize>,
    },
    /// The sum of the depths is too large.
    #[error("the depths {depths:?} add up to more than {MAX_HEIGHT} levels; make them smaller")]
    TooHigh {
        /// Depth of each module.
        depths: Vec<usize>,
    },
    /// Too many arms, or none.
    #[error("a tree of {arms} arms; give it between 1 and {MAX_ARMS}")]
    Arms {
        /// How many were asked for.
        arms: usize,
    },
    /// Too many levels.
    #[error("{levels} levels between the arms and the root; leave some out, at most {} fit", MAX_HEIGHT - 1)]
    Levels {
        /// How many were given.
        levels: usize,
    },
    /// A subtree of no arm.
    #[error("subtree {subtree} (from 0) of level {level}, before arm {arm}, has size 0; leave it out")]
    EmptySubtree {
        /// The level, counted from 1.
        level: usize,
        /// Its position in the level.
        subtree: usize,
        /// Where it would start.
        arm: usize,
    },
    /// A subtree that ends after the last arm.
    #[error(
        "the first {subtree} subtrees of level {level} hold {arm} of the {arms} arms, so the next cannot hold {size}; make \
         it smaller or leave it out"
    )]
    PastTheEnd {
        /// The level, counted from 1.
        level: usize,
        /// Its position in the level.
        subtree: usize,
        /// Where it starts.
        arm: usize,
        /// The size given.
        size: usize,
        /// How many arms there are.
        arms: usize,
    },
    /// Arms outside of every subtree of a level.
    #[error(
        "the sizes of level {level} add up to {arm}, but there are {arms} arms; add a subtree for arm {arm} and those after it"
    )]
    Uncovered {
        /// The level, counted from 1.
        level: usize,
        /// The first arm left out.
        arm: usize,
        /// How many arms there are.
        arms: usize,
    },
    /// A level that cuts a subtree of the one below.
    #[error(
        "level {level} cuts before arm {arm}, but arms {} to {} are one subtree of level {}; keep them in one of level \
         {level} too",
        below.start,
        below.end - 1,
        level - 1
    )]
    Torn {
        /// The level, counted from 1.
        level: usize,
        /// The first arm after the cut.
        arm: usize,
        /// The subtree of the level below.
        below: Range<usize>,
    },
}
