//! The arms of a space: joint regions, one cell of the partition of each module that has one; the last module never has.
//!
//! ```text
//! K = P_1 × … × P_{N−1} in lexicographic order, as in the tree
//! m(i) = the first module whose region in i differs from the one that holds the last point; N if none differs
//! prior loss of i = Σ over scores s of s · share of the box of i where the condition of s holds
//! ```
//!
//! An arm is dead if no allowed point is found in its box, or once it was dropped. Dead arms keep their place among the others until a
//! cell has no other arms; then the cell goes, and they with it.
//!
//! Glossary: K `arms`, P_m `partitions`, m(i) `first_difference`; modules count from 0 here.

use rand::Rng;

use super::partition::{Partition, PartitionError, Side, box_allowed};
use super::{Tree, TreeError};
use crate::numeric::sobol::Sobol;
use crate::space::{Batch, Expr, Space, SpaceError, Verdict};

/// Points that estimate which share of a box a condition holds in: within about a hundredth for one plane.
const SHARE_POINTS: usize = 128;
/// The seed of those points' scrambling; any would do, but it must stay the same.
const SHARE_SEED: u64 = 0;

/// What a user believes of a part of the space, added to the losses of the arms there.
#[derive(Clone, Debug)]
pub struct PriorScore {
    /// Where; read with [`Space::condition`].
    pub condition: Expr,
    /// The loss that is added where the condition holds; negative for what is believed to be good.
    pub score: f64,
}

/// Joint regions of modules before the last, as arms of a bandit.
///
/// ```
/// use stagetune::bandit::{Partition, Regions};
/// use stagetune::space::{Module, Param, Space};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let first = Module::new("first", [Param::float("x", 0.0, 1.0)?])?.cut("x", [0.5])?;
/// let second = Module::new("second", [Param::int("n", 1, 4)?])?.cut("n", [2.0, 3.0])?;
/// let last = Module::new("last", [Param::float("y", 0.0, 1.0)?])?;
/// let space = Space::new([first, second, last])?.forbid("x < 0.5 and n >= 3")?;
/// let regions = Regions::new(&space, vec![Partition::by_cuts(&space, 0)?, Partition::by_cuts(&space, 1)?])?;
/// assert_eq!((regions.arms(), regions.live()), (6, 5));
/// let held = regions.locate(&space, &space.encode(&space.decode(&[0.7, 0.3, 0.5])?)?);
/// assert_eq!(held, [Some(1), Some(1)]);
/// assert_eq!((0..6).map(|arm| regions.first_difference(&held, arm)).collect::<Vec<_>>(), [0, 0, 0, 1, 2, 1]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Regions {
    partitions: Vec<Partition>,
    /// The arms' order; its depths are all 1 and mean nothing here.
    order: Tree,
    alive: Vec<bool>,
    /// The space's last module.
    last: usize,
}

impl Regions {
    /// The arms of these partitions, in the order of their modules; modules without one, among them the last, are not divided.
    pub fn new(space: &Space, partitions: Vec<Partition>) -> Result<Self, PartitionError> {
        let order = order(space, &partitions)?;
        let last = space.modules().len().saturating_sub(1);
        let mut regions = Self { alive: vec![true; order.arms()], partitions, order, last };
        regions.bury_forbidden(space)?;
        Ok(regions)
    }

    /// The partition of each divided module.
    pub fn partitions(&self) -> &[Partition] {
        &self.partitions
    }

    /// Cells of each divided module.
    pub fn counts(&self) -> Vec<usize> {
        self.order.regions().to_vec()
    }

    /// |K|, dead arms included.
    pub fn arms(&self) -> usize {
        self.order.arms()
    }

    /// Whether each arm can be drawn.
    pub fn alive(&self) -> &[bool] {
        &self.alive
    }

    /// How many arms can be drawn; at least one.
    pub fn live(&self) -> usize {
        self.alive.iter().filter(|alive| **alive).count()
    }

    /// The cell of each divided module in an arm; `None` if there is no such arm.
    pub fn regions_of(&self, arm: usize) -> Option<Vec<usize>> {
        self.order.regions_of(arm)
    }

    /// The arm with these cells; `None` if there is none.
    pub fn arm_of(&self, regions: &[usize]) -> Option<usize> {
        self.order.arm_of(regions)
    }

    /// The arm's box of the whole cube, undivided modules free; `None` if there is no such arm, or the space is another one.
    pub fn corners(&self, space: &Space, arm: usize) -> Option<(Vec<f64>, Vec<f64>)> {
        let (mut lower, mut upper) = (vec![0.0; space.dim()], vec![1.0; space.dim()]);
        self.write_corners(space, arm, &mut lower, &mut upper).then_some((lower, upper))
    }

    /// The cell of each divided module that holds a coded point of the whole cube; `None` where that part was dropped.
    pub fn locate(&self, space: &Space, u: &[f64]) -> Vec<Option<usize>> {
        let of = |partition: &Partition| {
            u.get(space.module_coordinates(partition.module())).and_then(|u| partition.locate(u))
        };
        self.partitions.iter().map(of).collect()
    }

    /// m(arm): the first module whose cell in the arm is not the held one; the space's last module if all are.
    ///
    /// If there is no such arm, nothing can be kept: module 0.
    pub fn first_difference(&self, held: &[Option<usize>], arm: usize) -> usize {
        let Some(regions) = self.regions_of(arm) else { return 0 };
        let differs = |(m, region): (usize, &usize)| held.get(m) != Some(&Some(*region));
        let first = regions.iter().enumerate().position(differs);
        first.and_then(|k| self.partitions.get(k)).map_or(self.last, Partition::module)
    }

    /// The same arms without those dropped, and the arm that each of the new ones was.
    ///
    /// A cell goes when all its arms are dead.
    pub fn drop_arms(&self, dropped: &[bool]) -> Result<(Self, Vec<usize>), PartitionError> {
        let (found, expected) = (dropped.len(), self.arms());
        if found != expected {
            return Err(PartitionError::Flags { what: "arms", found, expected });
        }
        let alive: Vec<bool> =
            self.alive.iter().zip(dropped).map(|(alive, dropped)| *alive && !dropped).collect();
        let mut keep: Vec<Vec<bool>> = self.partitions.iter().map(|p| vec![false; p.len()]).collect();
        for arm in (0..alive.len()).filter(|arm| alive[*arm]) {
            for (keep, region) in keep.iter_mut().zip(self.regions_of(arm).unwrap_or_default()) {
                keep[region] = true;
            }
        }
        if !alive.contains(&true) {
            return Err(PartitionError::NothingLeft { what: "arms" });
        }
        // The cells left, by their old numbers.
        let kept: Vec<Vec<usize>> =
            keep.iter().map(|keep| (0..keep.len()).filter(|i| keep[*i]).collect()).collect();
        let partitions: Vec<Partition> =
            self.partitions.iter().zip(&keep).map(|(p, keep)| p.keep(keep)).collect::<Result<_, _>>()?;
        let order = lexicographic(&partitions)?;
        let olds = ancestors(&order, &self.order, &kept);
        let alive = olds.iter().map(|old| alive[*old]).collect();
        Ok((Self { partitions, order, alive, last: self.last }, olds))
    }

    /// Every cell halved, and the arm that each new one is part of; parts of dead arms are dead.
    ///
    /// Modules whose halves would make more than `limit` arms stay as they are; the first ones are halved first.
    pub fn refine<R: Rng + ?Sized>(
        &self,
        space: &Space,
        limit: usize,
        rng: &mut R,
    ) -> Result<(Self, Vec<usize>), PartitionError> {
        let (mut partitions, mut parents) = (self.partitions.clone(), Vec::new());
        for m in 0..partitions.len() {
            let (halves, of) = partitions[m].bisect(space, rng);
            let others = partitions.iter().enumerate().filter(|(k, _)| *k != m).map(|(_, p)| p.len());
            let arms = others.fold(halves.len(), usize::saturating_mul);
            if arms <= limit {
                partitions[m] = halves;
                parents.push(of);
            } else {
                parents.push((0..partitions[m].len()).collect());
            }
        }
        let order = order(space, &partitions)?;
        let olds = ancestors(&order, &self.order, &parents);
        let alive = olds.iter().map(|old| self.alive[*old]).collect();
        let mut regions = Self { partitions, order, alive, last: self.last };
        regions.bury_forbidden(space)?;
        Ok((regions, olds))
    }

    /// The prior loss of every arm: each score times the share of the arm's box where its condition holds; 0 for a dead arm.
    ///
    /// Where interval arithmetic does not decide, the share is that of 128 fixed points.
    pub fn scores(&self, space: &Space, scores: &[PriorScore]) -> Result<Vec<f64>, PartitionError> {
        if let Some(PriorScore { condition, score }) = scores.iter().find(|s| !s.score.is_finite()) {
            return Err(PartitionError::Score { condition: condition.source().clone(), score: *score });
        }
        let mut losses = vec![0.0; self.arms()];
        if scores.is_empty() {
            return Ok(losses);
        }
        let mut points = Batch::zeros(SHARE_POINTS, space.params().len());
        // The batch was made with the dimension of the sequence.
        let _ = Sobol::new(space.params().len(), SHARE_SEED).fill(&mut points);
        for (arm, loss) in losses.iter_mut().enumerate().filter(|(arm, _)| self.alive[*arm]) {
            let corners = self.corners(space, arm).ok_or(PartitionError::Foreign { position: 0 })?;
            for score in scores {
                *loss += score.score * share(space, &score.condition, &corners, &points)?;
            }
        }
        Ok(losses)
    }

    /// Declares dead what is forbidden.
    fn bury_forbidden(&mut self, space: &Space) -> Result<(), PartitionError> {
        if !space.forbidden().is_empty() {
            let (mut lower, mut upper) = (vec![0.0; space.dim()], vec![1.0; space.dim()]);
            for arm in 0..self.arms() {
                if self.alive[arm] && self.write_corners(space, arm, &mut lower, &mut upper) {
                    self.alive[arm] = box_allowed(space, &lower, &upper)?;
                }
            }
        }
        if self.alive.contains(&true) { Ok(()) } else { Err(PartitionError::EveryArmForbidden) }
    }

    /// Writes the ends of the coordinates of divided modules; `false` if there is no such arm.
    fn write_corners(&self, space: &Space, arm: usize, lower: &mut [f64], upper: &mut [f64]) -> bool {
        let Some(regions) = self.regions_of(arm) else { return false };
        self.partitions.iter().zip(regions).all(|(partition, region)| {
            let range = space.module_coordinates(partition.module());
            let (Some(cell), true) = (partition.cells().get(region), partition.fits(space)) else {
                return false;
            };
            let (Some(low), Some(high)) = (lower.get_mut(range.clone()), upper.get_mut(range)) else {
                return false;
            };
            low.copy_from_slice(cell.lower());
            high.copy_from_slice(cell.upper());
            true
        })
    }
}

/// The order of the arms, if the partitions are those of the space.
fn order(space: &Space, partitions: &[Partition]) -> Result<Tree, PartitionError> {
    let (found, modules) = (partitions.len(), space.modules().len());
    if found == 0 || found >= modules {
        return Err(PartitionError::Partitions { found, modules });
    }
    let mut next = 0;
    for (position, partition) in partitions.iter().enumerate() {
        let module = partition.module();
        if module < next || module + 1 >= modules || !partition.fits(space) {
            return Err(PartitionError::Foreign { position });
        }
        next = module + 1;
    }
    lexicographic(partitions)
}

/// All depths are 1: only the order of the arms matters, and a tree knows it.
fn lexicographic(partitions: &[Partition]) -> Result<Tree, PartitionError> {
    let counts: Vec<usize> = partitions.iter().map(Partition::len).collect();
    Tree::new(&counts, &vec![1; counts.len()]).map_err(|error| match error {
        TreeError::TooHigh { .. } => PartitionError::TooManyModules { modules: counts.len() },
        _ => PartitionError::TooManyArms { counts },
    })
}

/// The arm of `old` that each arm of `new` comes from, by the cell that each cell comes from.
fn ancestors(new: &Tree, old: &Tree, parents: &[Vec<usize>]) -> Vec<usize> {
    let of = |arm: usize| {
        let regions: Vec<usize> =
            new.regions_of(arm)?.iter().zip(parents).map(|(r, parents)| parents[*r]).collect();
        old.arm_of(&regions)
    };
    (0..new.arms()).map(|arm| of(arm).unwrap_or(0)).collect()
}

/// The share of a box in which a condition holds.
fn share(
    space: &Space,
    condition: &Expr,
    (lower, upper): &(Vec<f64>, Vec<f64>),
    points: &Batch,
) -> Result<f64, SpaceError> {
    match space.verdict(condition, lower, upper)? {
        Verdict::Always => return Ok(1.0),
        Verdict::Never => return Ok(0.0),
        Verdict::Sometimes => {}
    }
    let sides: Vec<Side> = (0..space.params().len())
        .map(|p| {
            let range = space.param_coordinates(p);
            Side::read(space, p, &lower[range.clone()], &upper[range])
        })
        .collect();
    let mut u = vec![0.0; space.dim()];
    let mut holds = 0;
    for position in points.rows() {
        for (p, (side, t)) in sides.iter().zip(position).enumerate() {
            side.write(space, p, *t, &mut u[space.param_coordinates(p)]);
        }
        holds += usize::from(space.holds(condition, &space.decode(&u)?)?);
    }
    Ok(holds as f64 / points.rows().count().max(1) as f64)
}
