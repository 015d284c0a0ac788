//! The module tree (MSET): which arms are near each other.
//!
//! ```text
//! arms i = (i_1, …, i_{N−1}), i_m a region of module m; K all of them, in lexicographic order
//! H = Σ d_m;  L_m = d_m + … + d_{N−1}, the level at which module m forks; leaves are level 0, the root is level H
//! A_h(i) = { j : j_m = i_m for every m with L_m > h },  A_0(i) = {i},  A_H(i) = K
//! ```
//!
//! L_m falls with m, so A_h(i) fixes the first modules and frees the rest: in lexicographic order it is a run of arms whose
//! length, the product of the freed modules' regions, depends on h alone. The whole tree is these lengths.
//!
//! Glossary: d_m `depths`, H `height`, L_m `fork_level`, A_h(i) `subtree`; modules count from 0 here, and the last of the N has no place.

use std::ops::Range;

use thiserror::Error;

/// The most arms that a tree may have: every step of the bandit visits all of them.
pub const MAX_ARMS: usize = 1 << 20;
/// The greatest height: the bandit moves at level 64 once in 2⁶⁴ steps, so a greater one changes nothing.
pub const MAX_HEIGHT: usize = 64;

/// Arms, levels and the subtrees that they span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    regions: Vec<usize>,
    depths: Vec<usize>,
    /// Arms in a subtree of level h, for h = 0 … H.
    widths: Vec<usize>,
}

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
}

impl Tree {
    /// The tree of modules with these numbers of regions and these depths, the pipeline's last module left out.
    pub fn new(regions: &[usize], depths: &[usize]) -> Result<Self, TreeError> {
        if regions.is_empty() && depths.is_empty() {
            return Err(TreeError::NoModules);
        }
        if regions.len() != depths.len() {
            return Err(TreeError::Lengths { regions: regions.len(), depths: depths.len() });
        }
        if let Some(module) = regions.iter().position(|r| *r == 0) {
            return Err(TreeError::NoRegions { module });
        }
        if let Some(module) = depths.iter().position(|d| *d == 0) {
            return Err(TreeError::NoDepth { module });
        }
        let height = depths.iter().try_fold(0usize, |h, d| h.checked_add(*d).filter(|h| *h <= MAX_HEIGHT));
        let arms = regions.iter().try_fold(1usize, |n, r| n.checked_mul(*r).filter(|n| *n <= MAX_ARMS));
        if arms.is_none() {
            return Err(TreeError::TooManyArms { regions: regions.to_vec() });
        }
        if height.is_none() {
            return Err(TreeError::TooHigh { depths: depths.to_vec() });
        }
        let mut widths = vec![1];
        let mut width = 1;
        for (r, d) in regions.iter().zip(depths).rev() {
            // Module m stays fixed on the levels below L_m and is free from L_m on.
            widths.extend(std::iter::repeat_n(width, d - 1));
            width *= r;
            widths.push(width);
        }
        Ok(Self { regions: regions.to_vec(), depths: depths.to_vec(), widths })
    }

    /// |K|.
    pub fn arms(&self) -> usize {
        self.width(self.height())
    }

    /// H, the level of the root.
    pub fn height(&self) -> usize {
        self.widths.len() - 1
    }

    /// Regions of each module.
    pub fn regions(&self) -> &[usize] {
        &self.regions
    }

    /// Depth of each module.
    pub fn depths(&self) -> &[usize] {
        &self.depths
    }

    /// L_m, the level at which `module` (from 0) forks; `None` if there is no such module.
    pub fn fork_level(&self, module: usize) -> Option<usize> {
        self.depths.get(module..).filter(|d| !d.is_empty()).map(|d| d.iter().sum())
    }

    /// How many arms a subtree of level `h` holds; from the root up, all of them.
    pub fn width(&self, h: usize) -> usize {
        self.widths[h.min(self.widths.len() - 1)]
    }

    /// A_h(arm), a run of arms; `None` if there is no such arm.
    pub fn subtree(&self, h: usize, arm: usize) -> Option<Range<usize>> {
        let width = self.width(h);
        let first = arm - arm % width;
        (arm < self.arms()).then(|| first..first + width)
    }

    /// The region of each module in `arm`; `None` if there is no such arm.
    pub fn regions_of(&self, arm: usize) -> Option<Vec<usize>> {
        if arm >= self.arms() {
            return None;
        }
        let mut rest = arm;
        let mut regions: Vec<usize> = self
            .regions
            .iter()
            .rev()
            .map(|r| {
                let region = rest % r;
                rest /= r;
                region
            })
            .collect();
        regions.reverse();
        Some(regions)
    }

    /// The arm with these regions; `None` if a module has no such region or the count of modules differs.
    pub fn arm_of(&self, regions: &[usize]) -> Option<usize> {
        let fits =
            regions.len() == self.regions.len() && regions.iter().zip(&self.regions).all(|(i, r)| i < r);
        fits.then(|| regions.iter().zip(&self.regions).fold(0, |arm, (i, r)| arm * r + i))
    }

    /// The first module (from 0) whose region differs between two arms; `None` if they are the same.
    pub fn first_difference(&self, a: usize, b: usize) -> Option<usize> {
        let (a, b) = (self.regions_of(a)?, self.regions_of(b)?);
        a.iter().zip(&b).position(|(a, b)| a != b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_count_from_the_leaves_and_modules_fork_where_their_depths_say() {
        let tree = Tree::new(&[2, 3], &[2, 3]).unwrap();
        assert_eq!((tree.arms(), tree.height()), (6, 5));
        assert_eq!([tree.fork_level(0), tree.fork_level(1), tree.fork_level(2)], [Some(5), Some(3), None]);
        let subtrees: Vec<_> = (0..=5).map(|h| tree.subtree(h, 4).unwrap()).collect();
        assert_eq!(subtrees, [4..5, 4..5, 4..5, 3..6, 3..6, 0..6]);
    }

    #[test]
    fn subtrees_are_the_arms_that_agree_on_every_module_that_forks_above() {
        let tree = Tree::new(&[3, 1, 2, 2], &[1, 2, 1, 3]).unwrap();
        for h in 0..=tree.height() {
            for i in 0..tree.arms() {
                let fixed = (0..4).filter(|m| tree.fork_level(*m).unwrap() > h).count();
                let agrees =
                    |j: &usize| tree.regions_of(i).unwrap()[..fixed] == tree.regions_of(*j).unwrap()[..fixed];
                assert!((0..tree.arms()).filter(agrees).eq(tree.subtree(h, i).unwrap()));
            }
        }
    }

    #[test]
    fn arms_are_in_lexicographic_order() {
        let tree = Tree::new(&[2, 3], &[1, 1]).unwrap();
        assert_eq!(tree.regions_of(4), Some(vec![1, 1]));
        assert!((0..6).all(|arm| tree.arm_of(&tree.regions_of(arm).unwrap()) == Some(arm)));
        assert_eq!([tree.arm_of(&[0, 3]), tree.arm_of(&[0])], [None, None]);
        assert_eq!((tree.regions_of(6), tree.subtree(0, 6)), (None, None));
        assert_eq!(
            [(0, 5), (3, 5), (5, 5)].map(|(a, b)| tree.first_difference(a, b)),
            [Some(0), Some(1), None]
        );
    }

    #[test]
    fn trees_that_make_no_sense_are_refused() {
        assert_eq!(Tree::new(&[], &[]), Err(TreeError::NoModules));
        assert_eq!(Tree::new(&[2], &[]), Err(TreeError::Lengths { regions: 1, depths: 0 }));
        assert_eq!(Tree::new(&[2, 0], &[1, 1]), Err(TreeError::NoRegions { module: 1 }));
        assert_eq!(Tree::new(&[2, 2], &[0, 1]), Err(TreeError::NoDepth { module: 0 }));
        assert!(matches!(Tree::new(&[usize::MAX; 3], &[1; 3]), Err(TreeError::TooManyArms { .. })));
        assert!(matches!(Tree::new(&[2; 21], &[1; 21]), Err(TreeError::TooManyArms { .. })));
        assert!(matches!(Tree::new(&[2, 2], &[usize::MAX, 1]), Err(TreeError::TooHigh { .. })));
    }
}
