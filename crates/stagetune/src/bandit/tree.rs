//! The tree of the bandit: which arms are near each other. From the regions of modules it is the paper's MSET.
//!
//! ```text
//! leaves are level 0 and the arms, the root is level H; A_h(i) the arms under the node of level h above arm i
//! A_0(i) = {i},  A_{h−1}(i) ⊆ A_h(i),  A_H(i) = K
//! of modules: arms i = (i_1, …, i_{N−1}), i_m a region of module m; K all of them, in lexicographic order
//! H = Σ d_m;  L_m = d_m + … + d_{N−1}, the level at which module m forks
//! A_h(i) = { j : j_m = i_m for every m with L_m > h }
//! ```
//!
//! Arms are numbered so that each subtree is a run of them, and a level is where its runs end. L_m falls with m, so the A_h(i) of modules
//! fixes the first modules and frees the rest: in lexicographic order it is a run whose length, the product of the freed modules'
//! regions, depends on h alone.
//!
//! Glossary: K `arms`, d_m `depths`, H `height`, L_m `fork_level`, A_h(i) `subtree`; modules count from 0 here, and the last of the N has no place.

use std::ops::Range;

mod error;
mod level;

pub use error::TreeError;
use level::Level;

/// The most arms that a tree may have: every step of the bandit visits all of them.
pub const MAX_ARMS: usize = 1 << 20;
/// The greatest height: the bandit moves at level 64 once in 2⁶⁴ steps, so a greater one changes nothing.
pub const MAX_HEIGHT: usize = 64;

/// Arms, levels and the subtrees that they span.
///
/// Any tree whose leaves are all at level 0 will do. One that was made by [`Tree::from_levels`] knows of no modules: it has no
/// [`regions`](Tree::regions) and no [`depths`](Tree::depths), and what asks for those of a module or an arm answers `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    arms: usize,
    /// Of modules, and empty for any other tree.
    regions: Vec<usize>,
    /// Of modules, and empty for any other tree.
    depths: Vec<usize>,
    /// Level h, for h = 0 … H.
    levels: Vec<Level>,
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
        let Some(arms) = arms else {
            return Err(TreeError::TooManyArms { regions: regions.to_vec() });
        };
        if height.is_none() {
            return Err(TreeError::TooHigh { depths: depths.to_vec() });
        }
        let mut levels = vec![Level::Even(1)];
        let mut width = 1;
        for (r, d) in regions.iter().zip(depths).rev() {
            // Module m stays fixed on the levels below L_m and is free from L_m on.
            levels.extend(std::iter::repeat_n(Level::Even(width), d - 1));
            width *= r;
            levels.push(Level::Even(width));
        }
        Ok(Self { arms, regions: regions.to_vec(), depths: depths.to_vec(), levels })
    }

    /// Any tree: for the levels 1, 2, … below the root, how many arms each subtree holds, in the order of the arms.
    ///
    /// Each level must be made of whole subtrees of the one below; a subtree may be the same on many levels. The arms are level 0,
    /// and the root, which holds them all, is the level after the last one given.
    ///
    /// ```
    /// use stagetune::bandit::Tree;
    /// // level 3               ·
    /// //                  ╭────┴────╮
    /// // level 2          ·         ·
    /// //                ╭─┴─╮       │
    /// // level 1        ·   ·       ·
    /// //                │  ╭┴╮   ╭─┼─╮
    /// // level 0        0  1 2   3 4 5
    /// let tree = Tree::from_levels(6, &[vec![1, 2, 3], vec![3, 3]])?;
    /// assert_eq!(tree.height(), 3);
    /// assert_eq!([0, 1, 2, 3].map(|h| tree.subtree(h, 1)), [Some(1..2), Some(1..3), Some(0..3), Some(0..6)]);
    /// let error = Tree::from_levels(6, &[vec![1, 2, 3], vec![2, 4]]).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "level 2 cuts before arm 2, but arms 1 to 2 are one subtree of level 1; keep them in one of level 2 too"
    /// );
    /// # Ok::<(), stagetune::bandit::TreeError>(())
    /// ```
    pub fn from_levels(arms: usize, levels: &[Vec<usize>]) -> Result<Self, TreeError> {
        if !(1..=MAX_ARMS).contains(&arms) {
            return Err(TreeError::Arms { arms });
        }
        if levels.len() >= MAX_HEIGHT {
            return Err(TreeError::Levels { levels: levels.len() });
        }
        let mut below = Level::Even(1);
        let mut all = vec![below.clone()];
        for (h, sizes) in (1..).zip(levels) {
            below = coarser(&below, h, sizes, arms)?;
            all.push(below.clone());
        }
        all.push(Level::Even(arms));
        Ok(Self { arms, regions: Vec::new(), depths: Vec::new(), levels: all })
    }

    /// |K|.
    pub fn arms(&self) -> usize {
        self.arms
    }

    /// H, the level of the root.
    pub fn height(&self) -> usize {
        self.levels.len() - 1
    }

    /// Regions of each module; none if the tree is not one of modules.
    pub fn regions(&self) -> &[usize] {
        &self.regions
    }

    /// Depth of each module; none if the tree is not one of modules.
    pub fn depths(&self) -> &[usize] {
        &self.depths
    }

    /// L_m, the level at which `module` (from 0) forks; `None` if there is no such module.
    pub fn fork_level(&self, module: usize) -> Option<usize> {
        self.depths.get(module..).filter(|d| !d.is_empty()).map(|d| d.iter().sum())
    }

    /// A_h(arm), a run of arms; from the root up, all of them; `None` if there is no such arm.
    pub fn subtree(&self, h: usize, arm: usize) -> Option<Range<usize>> {
        let level = self.level(h);
        (arm < self.arms).then(|| level.run(level.holder(arm)))
    }

    /// The subtrees of level `h`, one run of arms after the other; from the root up, the only one.
    pub fn subtrees(&self, h: usize) -> impl ExactSizeIterator<Item = Range<usize>> + '_ {
        let level = self.level(h);
        (0..level.len(self.arms)).map(|subtree| level.run(subtree))
    }

    /// For each subtree of level `h`, which of the subtrees of level h − 1 it is made of.
    pub(super) fn families(&self, h: usize) -> impl ExactSizeIterator<Item = Range<usize>> + '_ {
        let below = self.level(h.saturating_sub(1));
        let mut next = 0;
        self.subtrees(h).map(move |run| {
            let first = next;
            next = below.ended(run.end, first);
            first..next
        })
    }

    /// The region of each module in `arm`; `None` if there is no such arm or the tree is not one of modules.
    pub fn regions_of(&self, arm: usize) -> Option<Vec<usize>> {
        if arm >= self.arms || self.regions.is_empty() {
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

    /// The arm with these regions; `None` if a module has no such region, the count of modules differs, or the tree is not one of modules.
    pub fn arm_of(&self, regions: &[usize]) -> Option<usize> {
        let fits = !regions.is_empty()
            && regions.len() == self.regions.len()
            && regions.iter().zip(&self.regions).all(|(i, r)| i < r);
        fits.then(|| regions.iter().zip(&self.regions).fold(0, |arm, (i, r)| arm * r + i))
    }

    /// The first module (from 0) whose region differs between two arms; `None` if they are the same, or the tree is not one of modules.
    pub fn first_difference(&self, a: usize, b: usize) -> Option<usize> {
        let (a, b) = (self.regions_of(a)?, self.regions_of(b)?);
        a.iter().zip(&b).position(|(a, b)| a != b)
    }

    fn level(&self, h: usize) -> &Level {
        &self.levels[h.min(self.levels.len() - 1)]
    }
}

/// Level `h` of subtrees with these sizes, made of whole subtrees of the level below.
fn coarser(below: &Level, h: usize, sizes: &[usize], arms: usize) -> Result<Level, TreeError> {
    let mut end = 0;
    let ends = (0..).zip(sizes).map(|(subtree, &size)| {
        let arm = end;
        if size == 0 {
            return Err(TreeError::EmptySubtree { level: h, subtree, arm });
        }
        if size > arms - arm {
            return Err(TreeError::PastTheEnd { level: h, subtree, arm, size, arms });
        }
        end = arm + size;
        let cut = below.run(below.holder(end - 1));
        if cut.end == end { Ok(end) } else { Err(TreeError::Torn { level: h, arm: end, below: cut }) }
    });
    // A list longer than the arms ends in an error before it takes more room than they do.
    let ends = ends.collect::<Result<Vec<usize>, TreeError>>()?;
    if end < arms {
        return Err(TreeError::Uncovered { level: h, arm: end, arms });
    }
    // Of levels that lie within each other, those with as many subtrees are the same.
    Ok(if ends.len() == below.len(arms) { below.clone() } else { Level::Runs(ends.into()) })
}

#[cfg(test)]
mod tests;
